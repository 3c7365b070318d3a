// The listening thread as the control thread sees it: starts it, tells it where calls live, takes what it hands over, and has
// another take its place when it dies. What it does is ../listener/listening-thread.ts.
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../../log.ts';
import type {
  FromListening,
  ListeningLoad,
  ListeningThreadData,
  Placement,
  ToListening,
} from '../listener/listening-messages.ts';
import type { ListenAddress } from '../listening.ts';
import { afterDeath } from './admission.ts';
import { type HandedConnection, HandedConnections } from './handed-connections.ts';
import { HUNG_SECONDS, STOP_MS } from './media-worker.ts';

export interface ListeningWorkerOptions {
  data: ListeningThreadData;
  log: Log;
  /** The calls that live, for one that begins. */
  placements(): Iterable<Placement>;
  /** Given each connection that it has accepted, but for those of streams. */
  onConnection(connection: HandedConnection): void;
  /** It listens on the public port, or does so no longer. */
  onPublic(): void;
}

/** Bytes that pass leave little behind: of what it takes for them nothing lives for long. */
const RESOURCES = { maxYoungGenerationSizeMb: 24 };

/** One run of it. */
interface Run {
  worker: Worker;
  handed: HandedConnections;
  bornAt: number;
  listens: boolean;
  fd: number | null;
}

export class ListeningWorker {
  readonly #o: ListeningWorkerOptions;
  /** Null between one that has died and the next. */
  #run: Run | null = null;
  #load: ListeningLoad | null = null;
  /** Since its last report, by the control thread's own timer. */
  #silentSeconds = 0;
  #closing = false;
  #isFirst = true;
  /** The port is somebody else's: there is no next one. */
  #left = false;

  /** Resolves when the first of it listens, or cannot: the control thread has the port then, until another does. */
  readonly settled: Promise<void>;

  /** Starts it. */
  constructor(o: ListeningWorkerOptions) {
    this.#o = o;
    this.settled = this.#start(0);
  }

  /** It listens on the public port. */
  get isPublic(): boolean {
    return this.#run?.listens === true;
  }

  /** By which it does; null where it does not, or that is not known. */
  get publicFd(): number | null {
    return this.#run?.listens === true ? this.#run.fd : null;
  }

  /** Its last report; null before the first. */
  get load(): ListeningLoad | null {
    return this.#load;
  }

  /** Before anybody is told where the call's stream goes. */
  placed(placement: Placement): void {
    this.#tell({ type: 'placed', ...placement });
  }

  /** These calls live nowhere any more. */
  gone(callIds: readonly string[]): void {
    if (callIds.length > 0) this.#tell({ type: 'gone', callIds });
  }

  /** Has it listen no longer; streams that came by it stay. Resolves when it does not. */
  async leavePort(): Promise<void> {
    this.#left = true;
    if (this.#run?.listens === true) await this.#run.handed.leave();
  }

  /** Another second has gone by. One that is silent for too long is taken for hung and ended. */
  second(): void {
    const run = this.#run;
    if (run?.listens !== true || ++this.#silentSeconds !== HUNG_SECONDS) return;
    this.#o.log.error({ streams: this.#load?.streams }, 'listening_thread.hung');
    void run.worker.terminate();
  }

  /**
   * Ends it, and the streams that come by it, within a moment. Connections that it has handed over are waited for, a second at
   * most and in a hurry not at all.
   */
  async close(hurry: AbortSignal): Promise<void> {
    this.#closing = true;
    const run = this.#run;
    if (run === null) return;
    if (run.listens) await run.handed.finish(hurry);
    const exited = new Promise<void>((resolve) => run.worker.once('exit', () => resolve()));
    this.#tell({ type: 'stop' });
    const timer = setTimeout(() => void run.worker.terminate(), STOP_MS);
    if (run.worker.threadId !== -1) await exited;
    clearTimeout(timer);
  }

  #tell(message: ToListening): void {
    this.#run?.worker.postMessage(message);
  }

  /** `deaths`: in a row so far. Resolves when it listens, or cannot. */
  async #start(deaths: number): Promise<void> {
    const { port1, port2 } = new MessageChannel();
    const settled = Promise.withResolvers<void>();
    let worker: Worker;
    try {
      worker = new Worker(new URL('../listener/listening-thread.ts', import.meta.url), {
        name: 'listening',
        workerData: { ...this.#o.data, address: this.#nextAddress(), connections: port2 },
        transferList: [port2],
        env: {},
        resourceLimits: RESOURCES,
      });
    } catch (error) {
      // The system has none to give.
      this.#o.log.error({ err: error }, 'listening_thread.not_started');
      port1.close();
      this.#startAgain(deaths, 0);
      return;
    }
    const handed = new HandedConnections(port1, (connection) => this.#o.onConnection(connection));
    const run: Run = { worker, handed, bornAt: performance.now(), listens: false, fd: null };
    this.#run = run;
    this.#silentSeconds = 0;
    worker.on('message', (message: FromListening) => {
      if (message.type === 'load') this.#report(message);
      else {
        run.listens = true;
        run.fd = message.fd;
        if (this.#left) void run.handed.leave();
        if (!this.#closing) this.#o.onPublic();
        settled.resolve();
      }
    });
    worker.on('error', (error) => this.#o.log.error({ err: error }, 'listening_thread.died'));
    worker.on('exit', () => {
      this.#ended(run, deaths);
      settled.resolve();
    });
    for (const placement of this.#o.placements()) this.placed(placement);
    await settled.promise;
  }

  /** A socket that was there is the first one's: it ends with it. */
  #nextAddress(): ListenAddress {
    const { host, port, fd } = this.#o.data.address;
    const first = this.#isFirst;
    this.#isFirst = false;
    return first ? { host, port, fd } : { host, port };
  }

  #startAgain(deaths: number, livedMs: number): void {
    const after = afterDeath(deaths, livedMs);
    setTimeout(() => {
      if (!this.#closing && !this.#left) void this.#start(after.deaths);
    }, after.restartMs).unref();
  }

  #report(load: ListeningLoad): void {
    this.#load = load;
    this.#silentSeconds = 0;
  }

  #ended(run: Run, deaths: number): void {
    this.#run = null;
    this.#load = null;
    run.handed.close();
    if (this.#closing) return;
    // Nobody listens any more.
    if (run.listens) this.#o.onPublic();
    this.#startAgain(deaths, performance.now() - run.bornAt);
  }
}
