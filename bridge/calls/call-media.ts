// The media side of one call, as the control thread has it: its thread, its stream's one-time token, and the messages to it.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { StreamOffer } from '../carriers/carrier.ts';
import type { MachinePlan, Resumed, ToMedia } from '../protocol/messages.ts';
import type { CallContext } from './call-context.ts';
import { planCall, streamPath, streamUrl } from './call-plan.ts';
import { partOf } from './recording-parts.ts';

/** How often it is looked for a thread that runs. */
const THREAD_LOOK_MS = 50;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const newToken = () => randomBytes(32).toString('base64url');

export class CallMedia {
  readonly #o: CallContext;
  readonly #callId: string;
  readonly #carrier: string;
  #thread: number | null = null;
  #token = newToken();

  constructor(o: CallContext, call: Pick<CallRecord, 'id' | 'carrier'>) {
    this.#o = o;
    this.#callId = call.id;
    this.#carrier = call.carrier;
  }

  /** Its media thread; null before it has one. */
  get thread(): number | null {
    return this.#thread;
  }

  /** Resolves with whether a thread runs, once one does or after so long. */
  async threadRuns(withinMs: number): Promise<boolean> {
    for (let waitedMs = 0; this.#o.threads()?.ready() !== true; waitedMs += THREAD_LOOK_MS) {
      if (waitedMs >= withinMs) return false;
      await this.#o.pause(THREAD_LOOK_MS);
    }
    return true;
  }

  /** Puts the call on a thread, which opens its model. @throws AppError at_capacity when none runs */
  prepare(
    call: CallRecord,
    { resumed, ...how }: { machine: MachinePlan; patience: number; resumed: Resumed | null },
  ): void {
    const { texts, dataDir, maxSeconds } = this.#o;
    const threads = this.#o.threads();
    if (threads === null)
      throw new AppError('at_capacity', 'The daemon is still starting.', { retryAfterSeconds: 1 });
    this.#thread = threads.assign(this.#callId);
    // Whoever had it before may have told its token, or used it.
    this.#token = newToken();
    const recording = this.#recordingOf(call, resumed);
    const plan = planCall(call, {
      ...how,
      tokenHash: hashOf(this.#token),
      texts,
      access: this.#o.access(call),
      recordingPath: recording === null ? null : join(dataDir, recording),
      resumed,
      maxSeconds,
      language: call.chosen_language,
    });
    this.tell({ type: 'prepare', ...plan });
  }

  /** Where it is recorded; null: it is not. Whoever goes on with it has a part of its own, and none on a disk that is low. */
  #recordingOf({ recording_path }: CallRecord, resumed: Resumed | null): string | null {
    if (recording_path === null || resumed === null) return recording_path;
    return this.#o.storageLow?.() === true ? null : partOf(recording_path, resumed.elapsedMs);
  }

  tell(message: ToMedia): void {
    this.#o.threads()?.post(this.#callId, message);
  }

  /** Another stream will come, with a token of its own. */
  expectStream(): void {
    this.#token = newToken();
    this.tell({ type: 'expect-stream', callId: this.#callId, tokenHash: hashOf(this.#token) });
  }

  /** Has the thread let go of the call; false when no thread has it any more. */
  release(): boolean {
    if ((this.#o.threads()?.threadOf(this.#callId) ?? null) === null) return false;
    this.tell({ type: 'release', callId: this.#callId });
    return true;
  }

  /** The call is gone from its thread. */
  leave(): void {
    this.#o.threads()?.unassign(this.#callId);
  }

  /** Where the stream is awaited, and the token that it must bring. */
  get awaited(): { path: string; token: string } {
    const { epoch } = this.#o.store.self();
    const where = { epoch, thread: this.#thread ?? 0, carrier: this.#carrier, callId: this.#callId };
    return { path: streamPath(where), token: this.#token };
  }

  /** What the carrier is told of the call's next stream. */
  get offer(): StreamOffer {
    const { path, token } = this.awaited;
    return { callId: this.#callId, url: streamUrl(this.#o.publicUrl, path), token };
  }
}
