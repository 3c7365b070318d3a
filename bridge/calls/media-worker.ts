// One run of a media thread as the control thread sees it, from its start to its end: where it listens, which calls live on
// it, and whether it keeps time. Which of them a call gets, and what follows an end, is media-threads.ts.
import { MessageChannel, Worker } from 'node:worker_threads';
import type { Log } from '../../log.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import type { ListenAddress } from '../listening.ts';
import {
  type CallMessage,
  type FromMedia,
  MEDIA_PROTOCOL,
  type MediaThreadData,
  type ThreadLoad,
  type ToMedia,
} from '../protocol/messages.ts';
import { type AdmissionRules, afterReport, afterSilence, ON_TIME, type Pace } from './admission.ts';
import { type HandedConnection, HandedConnections } from './handed-connections.ts';

/** What all media threads are started with. */
export type SharedThreadData = Omit<MediaThreadData, 'protocol' | 'thread' | 'port' | 'publicPort'>;

export interface MediaWorkerOptions {
  data: SharedThreadData;
  thread: number;
  /** For tests: what runs in it. */
  mediaSide?: URL;
  /** Of its listener; 0: any free one. */
  port: number;
  /** Where it listens besides; null: another thread does. */
  publicPort: ListenAddress | null;
  admission: AdmissionRules;
  /** Folder in which a thread finds its files without their types, once one has left them there; null: nowhere. */
  codeCache: string | null;
  log: Log;
  /** Told of media sockets that it refused. */
  strangers: Pick<StrangerLog, 'saw'>;
  onMessage(message: CallMessage): void;
  /** Given each connection that it has accepted on the public port, but for those of streams. */
  onConnection(connection: HandedConnection): void;
  /** It listens on the public port, or does so no longer. */
  onPublic(): void;
  /** It has ended by itself after `livedMs`, the last `silentMs` without a word, and these calls are without it. */
  onDeath(lost: readonly string[], livedMs: number, silentMs: number): void;
}

/**
 * New objects of a thread take 32 MB at most: left alone, V8 lets them come to 128 MB within an hour of calls, and every
 * thread of the process has its own.
 */
export const MEDIA_RESOURCES = { maxYoungGenerationSizeMb: 48 };
/** One that has said nothing for so long does not run any more. */
export const HUNG_SECONDS = 20;
/** One that is told to stop has so long. */
export const STOP_MS = 2_000;

export class MediaWorker {
  readonly thread: number;
  readonly #o: MediaWorkerOptions;
  readonly #worker: Worker;
  readonly #bornAt = performance.now();
  readonly #listening = Promise.withResolvers<void>();
  readonly #calls = new Set<string>();
  readonly #handed: HandedConnections;
  /** Null before it listens, and once it has ended. */
  #port: number | null = null;
  #isPublic = false;
  #publicFd: number | null = null;
  #pace: Pace = ON_TIME;
  #load: ThreadLoad | null = null;
  /** Since its last report, by the control thread's own timer: a pause of that thread is no silence of this one. */
  #silentSeconds = 0;
  #closing = false;

  /** Starts the thread; `listening` says when it can be used. */
  constructor(o: MediaWorkerOptions) {
    this.#o = o;
    this.thread = o.thread;
    const { port1, port2 } = new MessageChannel();
    this.#worker = new Worker(o.mediaSide ?? new URL('../media/media-thread.ts', import.meta.url), {
      name: `media-${o.thread}`,
      workerData: {
        ...o.data,
        protocol: MEDIA_PROTOCOL,
        thread: o.thread,
        port: o.port,
        publicPort: o.publicPort,
        connections: port2,
      } satisfies MediaThreadData & { connections: unknown },
      transferList: [port2],
      // With its files compiled it does not load Node's TypeScript compiler, which it would keep: 10 MB of each thread.
      env: o.codeCache === null ? {} : { NODE_COMPILE_CACHE: o.codeCache },
      resourceLimits: MEDIA_RESOURCES,
    });
    this.#handed = new HandedConnections(port1, (connection) => o.onConnection(connection));
    this.#worker.on('message', (messages: readonly FromMedia[]) => {
      for (const message of messages) this.#receive(message);
    });
    this.#worker.on('error', (error) => {
      this.#o.log.error({ thread: this.thread, err: error }, 'media_thread.died');
      this.#listening.reject(error);
    });
    this.#worker.on('exit', () => this.#ended());
  }

  /** Resolves when it listens; rejects when it cannot start. */
  get listening(): Promise<void> {
    return this.#listening.promise;
  }

  /** Where it listens; null while it does not. */
  get port(): number | null {
    return this.#port;
  }

  /** It listens on the public port too. */
  get isPublic(): boolean {
    return this.#isPublic;
  }

  /** By which it does; null where it does not, or that is not known. */
  get publicFd(): number | null {
    return this.#isPublic ? this.#publicFd : null;
  }

  get pace(): Pace {
    return this.#pace;
  }

  /** Its last report; null before the first. */
  get load(): ThreadLoad | null {
    return this.#load;
  }

  /** How many calls live on it. */
  get calls(): number {
    return this.#calls.size;
  }

  callIds(): Iterable<string> {
    return this.#calls;
  }

  has(callId: string): boolean {
    return this.#calls.has(callId);
  }

  /** The call lives on it from now on. */
  take(callId: string): void {
    this.#calls.add(callId);
  }

  /** The call is gone from it. */
  drop(callId: string): void {
    this.#calls.delete(callId);
  }

  post(message: ToMedia): void {
    this.#worker.postMessage(message);
  }

  /** Has it listen on the public port no longer; what came by it stays. Resolves when it does not. */
  async leavePort(): Promise<void> {
    await this.listening.catch(() => {});
    if (this.#isPublic) await this.#handed.leave();
  }

  /** Another second has gone by. One that is silent for too long is late, and at last taken for hung and ended. */
  second(): void {
    if (this.#port === null) return;
    this.#silentSeconds++;
    this.#keepPace(afterSilence(this.#pace, this.#silentSeconds, this.#o.admission));
    if (this.#silentSeconds !== HUNG_SECONDS) return;
    // It will not come back by itself, and its calls are silent: ended like one that died.
    this.#o.log.error({ thread: this.thread, calls: this.calls }, 'media_thread.hung');
    void this.#worker.terminate();
  }

  /**
   * Ends it, within a moment. Its calls are told to nobody; connections that it has handed over are waited for, a second at
   * most and in a hurry not at all.
   */
  async close(hurry: AbortSignal): Promise<void> {
    this.#closing = true;
    if (this.#isPublic) await this.#handed.finish(hurry);
    const exited = new Promise<void>((resolve) => this.#worker.once('exit', () => resolve()));
    this.post({ type: 'stop' });
    const timer = setTimeout(() => void this.#worker.terminate(), STOP_MS);
    if (this.#worker.threadId !== -1) await exited;
    clearTimeout(timer);
  }

  #receive(message: FromMedia): void {
    switch (message.type) {
      case 'listening':
        this.#listens(message);
        return;
      case 'load':
        this.#report(message);
        return;
      case 'log':
        this.#o.log[message.level]({ thread: this.thread, ...message.fields }, message.event);
        return;
      default:
        this.#o.onMessage(message);
    }
  }

  #listens({ protocol, port, isPublic, publicFd }: Extract<FromMedia, { type: 'listening' }>): void {
    if (protocol === MEDIA_PROTOCOL) {
      this.#port = port;
      this.#isPublic = isPublic;
      this.#publicFd = publicFd;
      if (isPublic) this.#o.onPublic();
      this.#listening.resolve();
      return;
    }
    this.#listening.reject(
      new Error(
        `Media thread ${this.thread} speaks version ${protocol} of the media protocol, and this side ${MEDIA_PROTOCOL}.`,
      ),
    );
    void this.#worker.terminate();
  }

  #report(load: ThreadLoad): void {
    this.#load = load;
    this.#silentSeconds = 0;
    this.#keepPace(afterReport(this.#pace, load, this.#o.admission));
    for (const [why, count] of Object.entries(load.refused)) {
      const fields = { thread: this.thread };
      this.#o.strangers.saw({ event: 'media.refused', why, level: 'warn', fields, by: null, count });
    }
  }

  /** The pace after a report or a silence; told once a change. */
  #keepPace(pace: Pace): void {
    const before = this.#pace;
    this.#pace = pace;
    if (before.at === pace.at) return;
    const fields = {
      thread: this.thread,
      calls: this.calls,
      loop_delay_p99_ms: this.#load?.loopDelayP99Ms,
      frame_age_p50_ms: this.#load?.frameAgeP50Ms,
    };
    if (pace.at === 'late') this.#o.log.warn({ ...fields, why: pace.why }, 'media_thread.late');
    else this.#o.log.info(fields, 'media_thread.on_time');
  }

  #ended(): void {
    this.#port = null;
    this.#load = null;
    this.#isPublic = false;
    this.#handed.close();
    const lost = [...this.#calls];
    this.#calls.clear();
    if (this.#closing) return;
    this.#o.onPublic();
    this.#listening.reject(new Error(`Media thread ${this.thread} ended before it listened.`));
    // It tells its load once a second: what is less is no silence.
    const silentMs = this.#silentSeconds > 1 ? this.#silentSeconds * 1_000 : 0;
    this.#o.onDeath(lost, performance.now() - this.#bornAt, silentMs);
  }
}
