// Call control: the calls of this daemon as the control plane and the start of the program see them. Opens the parts that
// share them and joins them to each other; each call's own doing is call.ts.
import { AppError, CallElsewhere } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { TakenCall } from '../../storage/store.ts';
import type { Carrier, CarrierEvent } from '../carriers/carrier.ts';
import type { Carriers } from '../carriers/registry.ts';
import type { CallMessage } from '../protocol/messages.ts';
import type { CallContext, CallThreads } from './call-context.ts';
import { CallDrain, type StopCause } from './call-drain.ts';
import type { CallRamp } from './call-ramp.ts';
import { recoverCalls } from './call-recovery.ts';
import { CallSlots } from './call-slots.ts';
import { isTerminal } from './call-state.ts';
import { CallWatch } from './call-watch.ts';
import type { AskedBy, Calls, EndVerb, InboundCall, LiveCall, PassOn } from './calls.ts';
import { CarrierEvents } from './carrier-events.ts';
import { refuseElsewhere } from './elsewhere.ts';
import type { Input } from './live-state.ts';
import { readMediaMessages } from './media-messages.ts';
import { NewCalls } from './new-calls.ts';
import { OwnedCalls } from './owned-calls.ts';
import { openTranscriptLog } from './transcript-log.ts';
import { openTurnLog } from './turn-log.ts';

/** What this opens or finds for its calls itself. */
type OwnParts = 'carrierOf' | 'threads' | 'transcripts' | 'turnLog';
/** What only tests are heard with. */
type ForTests = 'pause' | 'failpoint';

export interface CallControlOptions
  extends Omit<CallContext, OwnParts | ForTests>,
    Partial<Pick<CallContext, ForTests>> {
  carriers: Pick<Carriers, 'named'>;
  maxCalls: number;
  inboundCall: InboundCall;
  /** How many calls may begin in a second; without one, any number. */
  ramp?: Pick<CallRamp, 'turn'>;
  /** Has another daemon end a call of its own; without it there is no other. */
  passOn?: PassOn;
}

const pause = (ms: number) => new Promise<void>((over) => setTimeout(over, ms).unref());

export class CallControl implements Calls {
  /** What carriers tell; resolves when it is written and the commands that follow from it were given. */
  readonly onCarrier: (carrier: Carrier, event: CarrierEvent) => Promise<void>;
  /** What the media threads tell. */
  readonly onMedia: (message: CallMessage) => void;
  readonly watch: CallWatch;
  readonly #context: CallContext;
  readonly #owned = new OwnedCalls();
  readonly #slots: CallSlots;
  readonly #newCalls: NewCalls;
  readonly #drain: CallDrain;
  readonly #passOn: PassOn | undefined;
  #threads: CallThreads | null = null;

  /** There are no calls yet; the media threads are attached once they run, since each needs the other. */
  constructor(o: CallControlOptions) {
    const { store, log, observer } = o;
    const threads = () => this.#threads;
    const replaced = (callIds: readonly string[]) => {
      for (const callId of callIds) this.#tell(callId, { type: 'replaced' });
    };
    const context: CallContext = {
      ...o,
      carrierOf: (name) => o.carriers.named(name),
      threads,
      transcripts: openTranscriptLog(store, log, replaced),
      turnLog: openTurnLog(store, log, replaced),
      pause: o.pause ?? pause,
      failpoint: o.failpoint ?? (() => {}),
    };
    const owned = this.#owned;
    this.#context = context;
    this.#passOn = o.passOn;
    this.#slots = new CallSlots({
      maxCalls: o.maxCalls,
      taken: () => owned.size,
      threads,
      ramp: o.ramp,
      storageLow: () => o.storageLow?.() === true || !store.writable(),
      refused: (why) => observer.refused?.(why),
      log,
    });
    const newCalls = new NewCalls(context, owned, this.#slots);
    this.#newCalls = newCalls;
    this.#drain = new CallDrain(owned, this.#slots, log);
    this.watch = new CallWatch(owned, log, o.monotonicMs);
    const events = new CarrierEvents({ context, owned, newCalls, inboundCall: o.inboundCall });
    this.onCarrier = (carrier, event) => events.take(carrier, event);
    this.onMedia = readMediaMessages(owned, context);
    store.subscribe({ replaced: () => replaced(owned.all().map(({ id }) => id)) });
  }

  attach(threads: CallThreads): void {
    this.#threads = threads;
  }

  /**
   * Calls that were taken over from a process that is dead go on, or reach their end. They are this daemon's at once, and what
   * comes for them waits; resolves when what is to become of each is decided.
   */
  recover(calls: readonly TakenCall[]): Promise<void> {
    return recoverCalls(this.#context, this.#owned, calls);
  }

  dispatch(call: CallRecord, asked?: AskedBy): Promise<CallRecord> {
    return this.#newCalls.dispatch(call, asked);
  }

  awaitStream(call: CallRecord, o: { patience: number }): ReturnType<Calls['awaitStream']> {
    return this.#newCalls.awaitStream(call, o.patience);
  }

  cancel(orgId: string, id: string): Promise<CallRecord> {
    return this.#end('cancel', orgId, id);
  }

  hangUp(orgId: string, id: string): Promise<CallRecord> {
    return this.#end('hang-up', orgId, id);
  }

  /** Ends a call of this daemon's, whoever was asked for it. @throws CallElsewhere; AppError as Calls has it */
  async endHere(verb: EndVerb, orgId: string, id: string): Promise<CallRecord> {
    const record = await this.#unfinished(orgId, id);
    if (verb === 'cancel' && record.status === 'in_progress')
      throw new AppError('conflict', 'The call was answered already; use hangup to end it.');
    const call = this.#owned.get(id);
    if (call === undefined) await refuseElsewhere(this.#context.store, record);
    return (await call?.end(verb === 'cancel' ? { cause: 'canceled', error: null } : 'requested')) ?? record;
  }

  live(): LiveCall[] {
    return this.#owned.all().flatMap(({ picture }) => picture ?? []);
  }

  accepting(): boolean {
    return this.#slots.accepting;
  }

  /** Calls that are not over, or whose last words are being written. */
  get size(): number {
    return this.#owned.size;
  }

  /** Of those, the oldest first. */
  callIds(): string[] {
    return this.#owned.all().map(({ id }) => id);
  }

  /** These calls lived on a media thread that has died. `silentMs`: for so long it had said nothing before. */
  onThreadLost(callIds: readonly string[], silentMs = 0): void {
    for (const callId of callIds) this.#tell(callId, { type: 'thread-lost', silentMs });
  }

  /** Ends the recordings of live calls; the calls go on. */
  stopRecordings(): void {
    for (const { id } of this.#owned.all()) this.#tell(id, { type: 'stop-recording' });
  }

  /** Takes no new calls, waits for live ones up to `seconds`, then has the agents say a closing line, then hangs up. */
  drain(seconds: number): Promise<void> {
    return this.#drain.drain(seconds);
  }

  /** Takes no new calls, and resolves when the last is over, however long that takes. */
  finish(): Promise<void> {
    return this.#drain.finish();
  }

  /** Takes no new calls, hangs up everything and records each end, whatever the carrier answers, in `withinMs`. */
  endAll(cause: StopCause, withinMs: number): Promise<void> {
    return this.#drain.endAll(cause, withinMs);
  }

  /** Stores what waits to be stored in batches. */
  flush(): Promise<void> {
    return this.#context.turnLog.flush();
  }

  #tell(callId: string, input: Input<'thread-lost' | 'stop-recording' | 'replaced'>): void {
    this.#owned
      .get(callId)
      ?.tell(input)
      .catch((error: unknown) => {
        this.#context.log.error({ call_id: callId, input: input.type, err: error }, 'call.step_failed');
      });
  }

  /** Here, or by the daemon that has it. @throws CallElsewhere when that does not answer */
  async #end(verb: EndVerb, orgId: string, id: string): Promise<CallRecord> {
    try {
      return await this.endHere(verb, orgId, id);
    } catch (error) {
      if (!(error instanceof CallElsewhere) || this.#passOn === undefined) throw error;
      await this.#passOn(verb, orgId, id);
      return (await this.#context.store.findCall(id)) ?? this.#unfinished(orgId, id);
    }
  }

  async #unfinished(orgId: string, id: string): Promise<CallRecord> {
    const call = await this.#context.store.getCall(orgId, id);
    if (call === null) throw new AppError('not_found', `There is no call ${id}.`);
    if (isTerminal(call.status)) throw new AppError('call_ended', `The call has ended (${call.status}).`);
    return call;
  }
}
