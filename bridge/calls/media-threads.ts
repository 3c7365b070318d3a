// The media threads of this daemon: starts them, places calls on them, hands them messages and replaces one that dies; with
// them the public port: the only one listens there itself, and beside several there is a thread that does nothing else. What one
// of them is doing is media-worker.ts and listening-worker.ts.
import type { IncomingMessage } from 'node:http';
import { AppError } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import { streamCarriers } from '../carriers/media.ts';
import { type Client, refuseUpgrade } from '../connection-limits.ts';
import type { ListeningLoad, Placement } from '../listener/listening-messages.ts';
import { MediaUpgrades, type MediaUpgradesOptions } from '../listener/media-upgrades.ts';
import type { ListenAddress } from '../listening.ts';
import { every } from '../loop-timer.ts';
import type { ThreadLoad, ToMedia } from '../protocol/messages.ts';
import type { Upgrade } from '../upgrade.ts';
import { admits, afterDeath, choose, type RunningThread } from './admission.ts';
import { ListeningWorker } from './listening-worker.ts';
import { MediaWorker, type MediaWorkerOptions } from './media-worker.ts';

export interface MediaThreadsOptions
  extends Pick<MediaUpgradesOptions, 'answerMs' | 'portElsewhere'>,
    Pick<
      MediaWorkerOptions,
      'data' | 'mediaSide' | 'admission' | 'codeCache' | 'log' | 'onMessage' | 'onConnection'
    > {
  count: number;
  /**
   * The public port, to listen there in place of the control thread. Null, where a system lets only one thread listen on a port:
   * all that comes is the control thread's then, and it joins streams to their threads itself.
   */
  publicPort: ListenAddress | null;
  /** Told of media upgrades that are refused. */
  strangers: Pick<StrangerLog, 'saw'>;
  /** Who sends a request, for that. */
  clientOf(request: IncomingMessage): Client;
  /** Port of the first thread's listener, the next ones for the others; 0: any free ones. */
  firstPort: number;
  /** One of them listens on the public port now, or none does any more. */
  onPublic(any: boolean): void;
  /** A thread has died, after it had said nothing for `silentMs`; these calls have none any more. */
  onLost(callIds: readonly string[], silentMs: number): void;
}

/** A thread that has said nothing is looked after this often. */
const SECOND_MS = 1_000;
const PARTED_LOOK_MS = 50;

export class MediaThreads {
  readonly #o: MediaThreadsOptions;
  /** The run of each thread, by its number: the one there is, or the last that ended. */
  readonly #workers = new Map<number, MediaWorker>();
  readonly #upgrades: MediaUpgrades;
  /** Null where there is none. */
  #listening: ListeningWorker | null = null;
  readonly #stopWatching: () => void;
  #isPublic = false;
  /** Another process has the public port. */
  #left = false;
  #closing = false;
  #isFirst = true;

  /**
   * Starts the threads and waits until each listens.
   * @throws Error when a thread cannot start, or speaks another version of the protocol; then none is left
   */
  static async open(o: MediaThreadsOptions): Promise<MediaThreads> {
    const threads = new MediaThreads(o);
    try {
      await Promise.all(Array.from({ length: o.count }, (_, index) => threads.#start(index + 1, 0)));
      if (o.count > 1 && o.publicPort !== null) await threads.#listen(o.publicPort);
    } catch (error) {
      await threads.close(AbortSignal.abort());
      throw error;
    }
    return threads;
  }

  private constructor(o: MediaThreadsOptions) {
    this.#o = o;
    this.#upgrades = new MediaUpgrades({
      ...o,
      epoch: o.data.epoch,
      carriers: streamCarriers(o.data),
      portOf: (callId, thread) => this.portOf(callId, thread),
      refuse({ request, socket }, status, why) {
        o.strangers.saw({ event: 'media.refused', why, level: 'warn', by: o.clientOf(request) });
        refuseUpgrade(socket, status);
      },
    });
    this.#stopWatching = every(SECOND_MS, () => {
      failpoint('second');
      for (const worker of this.#workers.values()) worker.second();
      this.#listening?.second();
    });
  }

  ready(): boolean {
    return this.running().length > 0;
  }

  /** Running threads: how many calls each has, and whether it keeps time. */
  running(): RunningThread[] {
    return [...this.#workers.values()]
      .filter(({ port }) => port !== null)
      .map(({ thread, calls, pace }) => ({ thread, calls, pace }));
  }

  /** The last reports of running threads. */
  loads(): { thread: number; load: ThreadLoad }[] {
    return [...this.#workers.values()].flatMap(({ thread, load }) => (load === null ? [] : { thread, load }));
  }

  /** The last report of the listening thread, where there is one. */
  listeningLoad(): ListeningLoad | null {
    return this.#listening?.load ?? null;
  }

  /** Whether any thread keeps time, and so may take a call. */
  admits(): boolean {
    return admits(this.running());
  }

  /** Puts a call that was admitted on the least loaded thread. @throws AppError at_capacity when none runs */
  assign(callId: string): number {
    const best = this.#workers.get(choose(this.running()) ?? Number.NaN);
    if (best === undefined)
      throw new AppError('at_capacity', 'No media thread is running; try again in a moment.', {
        retryAfterSeconds: 5,
      });
    best.take(callId);
    for (const placement of placementsOn(best, [callId])) this.#listening?.placed(placement);
    return best.thread;
  }

  /** The thread of a call, or null when it has none (any more). */
  threadOf(callId: string): number | null {
    return this.#workerOf(callId)?.thread ?? null;
  }

  post(callId: string, message: ToMedia): void {
    this.#workerOf(callId)?.post(message);
  }

  /** Where the thread takes media sockets, where it runs and the call lives there; else null. */
  portOf(callId: string, thread: number): number | null {
    const worker = this.#workers.get(thread);
    return worker?.has(callId) === true ? worker.port : null;
  }

  /** The call is gone from its thread. */
  unassign(callId: string): void {
    this.#workerOf(callId)?.drop(callId);
    this.#listening?.gone([callId]);
  }

  /**
   * Hands a media upgrade that came to the control thread to the thread that its path names, when it is its carrier's and
   * for a call that lives there. @returns whether it was; otherwise it was refused
   */
  upgrade(upgrade: Upgrade): boolean {
    return this.#upgrades.take(upgrade);
  }

  /** One of them listens on the public port. */
  get isPublic(): boolean {
    return this.#isPublic;
  }

  /** By which that one listens; null where none does, or it is not known. */
  publicFd(): number | null {
    const parts = [...this.#workers.values(), this.#listening];
    return parts.map((part) => part?.publicFd ?? null).find((fd) => fd !== null) ?? null;
  }

  /**
   * The public port is left to another process: none of them listens there any more, nor does one that takes another's place.
   * Streams and other connections that came by it stay. Resolves when it is left.
   */
  async leavePort(): Promise<void> {
    this.#left = true;
    const parts = [...this.#workers.values(), this.#listening];
    await Promise.all(parts.map((part) => part?.leavePort()));
  }

  /** Resolves when no stream passes here on its way to a thread, of this daemon or of another. */
  async parted(): Promise<void> {
    while (this.#upgrades.size > 0) await new Promise((look) => setTimeout(look, PARTED_LOOK_MS));
  }

  /** @param hurry aborted: connections that threads have handed over are waited for no longer */
  async close(hurry: AbortSignal): Promise<void> {
    this.#closing = true;
    this.#stopWatching();
    this.#upgrades.close();
    const parts = [...this.#workers.values(), this.#listening];
    await Promise.all(parts.map((part) => part?.close(hurry)));
  }

  async #listen(address: ListenAddress): Promise<void> {
    const { epoch, carrierSecrets, publicUrl } = this.#o.data;
    this.#listening = new ListeningWorker({
      ...this.#o,
      data: { address, epoch, carrierSecrets, publicUrl },
      placements: () =>
        [...this.#workers.values()].flatMap((worker) => placementsOn(worker, worker.callIds())),
      onPublic: () => this.#publicChanged(),
    });
    await this.#listening.settled;
  }

  /** `deaths`: of this thread in a row so far. Resolves when it listens; rejects where there is none to be had, too. */
  async #start(thread: number, deaths: number): Promise<void> {
    const { firstPort } = this.#o;
    const worker = new MediaWorker({
      ...this.#o,
      thread,
      port: firstPort === 0 ? 0 : firstPort + thread - 1,
      publicPort: this.#o.count === 1 && !this.#left ? this.#nextAddress() : null,
      onPublic: () => this.#publicChanged(),
      onDeath: (lost, livedMs, silentMs) => {
        this.#listening?.gone(lost);
        this.#o.onLost(lost, silentMs);
        this.#startAgain(thread, afterDeath(deaths, livedMs));
      },
    });
    this.#workers.set(thread, worker);
    await worker.listening;
  }

  /** A socket that was there is the first run's: it ends with it. */
  #nextAddress(): ListenAddress | null {
    const address = this.#o.publicPort;
    if (address === null || this.#isFirst) {
      this.#isFirst = false;
      return address;
    }
    return { host: address.host, port: address.port };
  }

  #startAgain(thread: number, { deaths, restartMs }: ReturnType<typeof afterDeath>): void {
    const start = () => {
      if (this.#closing) return;
      const before = this.#workers.get(thread);
      this.#start(thread, deaths).catch((error: unknown) => {
        this.#o.log.error({ thread, err: error }, 'media_thread.not_restarted');
        // One that has begun says itself when it ends; the system may have had none to give.
        if (this.#workers.get(thread) === before) this.#startAgain(thread, afterDeath(deaths, 0));
      });
    };
    setTimeout(start, restartMs).unref();
  }

  #publicChanged(): void {
    const any = [...this.#workers.values(), this.#listening].some((one) => one?.isPublic === true);
    if (any === this.#isPublic || this.#closing || this.#left) return;
    this.#isPublic = any;
    this.#o.onPublic(any);
  }

  #workerOf(callId: string): MediaWorker | undefined {
    for (const worker of this.#workers.values()) if (worker.has(callId)) return worker;
    return undefined;
  }
}

function placementsOn({ thread, port }: MediaWorker, callIds: Iterable<string>): Placement[] {
  return port === null ? [] : Array.from(callIds, (callId) => ({ callId, thread, port }));
}
