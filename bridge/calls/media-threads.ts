// The media threads as the control thread sees them: starts them, places calls on them, joins media sockets to them,
// and replaces one that dies. Holds no call state but which call lives where.
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import { readStreamPath, streamCarriers } from '../carriers/media.ts';
import { type Client, closeSoon, refuseUpgrade } from '../connection-limits.ts';
import { afterTurning } from '../loop-timer.ts';
import { type FromMedia, MEDIA_PROTOCOL, type MediaThreadData, type ToMedia } from '../protocol/messages.ts';
import {
  type AdmissionRules,
  admits,
  afterDeath,
  afterReport,
  afterSilence,
  choose,
  ON_TIME,
  type Pace,
} from './admission.ts';

export interface MediaThreads {
  /** Whether any thread keeps time, and so may take a call. */
  admits(): boolean;
  /** Puts a call that was admitted on the least loaded thread. @throws AppError at_capacity when none runs */
  assign(callId: string): number;
  /** The thread of a call, or null when it has none (any more). */
  threadOf(callId: string): number | null;
  post(callId: string, message: ToMedia): void;
  /** The call is gone from its thread. */
  unassign(callId: string): void;
  /**
   * Hands a media upgrade on the public port to the thread that its path names, when it is its carrier's and for a call
   * that lives there: what strangers send reaches no media thread. @returns whether it was; otherwise it was refused
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): boolean;
  /** The threads' last reports of load, by thread. */
  loads(): ReadonlyMap<number, Extract<FromMedia, { type: 'load' }>>;
  /** Running threads: how many calls each has, and whether it keeps time. */
  paces(): { thread: number; calls: number; pace: Pace }[];
  ready(): boolean;
  close(): Promise<void>;
}

interface Lane {
  thread: number;
  worker: Worker;
  port: number | null;
  calls: Set<string>;
  pace: Pace;
  /** Since its last report, by the control thread's own timer: a pause of that thread is no silence of this one. */
  silentSeconds: number;
}

export interface MediaThreadsOptions {
  count: number;
  /** Port of the first thread's listener, the next ones for the others; 0: any free ones. */
  firstPort: number;
  data: Omit<MediaThreadData, 'protocol' | 'thread' | 'port'>;
  admission: AdmissionRules;
  log: Log;
  /** Told of media upgrades that are refused. */
  strangers: Pick<StrangerLog, 'saw'>;
  /** Who sends a request, for that. */
  clientOf(request: IncomingMessage): Client;
  onMessage(message: FromMedia, thread: number): void;
  /** A thread has died, and these calls with it. */
  onLost(callIds: readonly string[]): void;
  /** For tests: what runs in a thread. */
  mediaSide?: URL;
  /** For tests: what a thread has to answer an upgrade, in milliseconds. */
  joinMs?: number;
}

/** Media upgrades on their way to their thread at once; more are refused. */
const MAX_JOINING = 200;
/** What a thread has to answer one. */
const JOIN_MS = 10_000;
/**
 * New objects of a thread take 32 MB at most: left alone, V8 lets them come to 128 MB within an hour of calls, and every
 * thread of the process has its own.
 */
export const MEDIA_RESOURCES = { maxYoungGenerationSizeMb: 48 };
/** A lane that has said nothing is looked after this often. */
const SILENCE_CHECK_MS = 1_000;
/** One that has said nothing for so long does not run any more. */
const HUNG_SECONDS = 20;

/**
 * Starts the threads and waits until each listens.
 * @throws Error when a thread cannot start, or speaks another version of the protocol; then none is left
 */
export async function openMediaThreads(o: MediaThreadsOptions): Promise<MediaThreads> {
  const lanes = new Map<number, Lane>();
  const where = new Map<string, Lane>();
  const loads = new Map<number, Extract<FromMedia, { type: 'load' }>>();
  const joined = new Set<Socket | Duplex>();
  const carriers = streamCarriers(o.data);
  let joining = 0;
  let closing = false;

  /** A lane's pace after a report or a silence; told once a change. */
  function note(lane: Lane, pace: Pace, load = loads.get(lane.thread)): void {
    const before = lane.pace;
    lane.pace = pace;
    if (before.at === pace.at) return;
    const fields = {
      thread: lane.thread,
      calls: lane.calls.size,
      loop_delay_p99_ms: load?.loopDelayP99Ms,
      frame_age_p50_ms: load?.frameAgeP50Ms,
    };
    if (pace.at === 'late') o.log.warn({ ...fields, why: pace.why }, 'media_thread.late');
    else o.log.info(fields, 'media_thread.on_time');
  }

  const running = () =>
    [...lanes.values()]
      .filter((lane) => lane.port !== null)
      .map(({ thread, calls, pace }) => ({ thread, calls: calls.size, pace }));

  const watching = setInterval(() => {
    for (const lane of lanes.values()) {
      if (lane.port === null) continue;
      lane.silentSeconds++;
      note(lane, afterSilence(lane.pace, lane.silentSeconds, o.admission));
      if (lane.silentSeconds !== HUNG_SECONDS) continue;
      // It will not come back by itself, and its calls are silent: ended like one that died.
      o.log.error({ thread: lane.thread, calls: lane.calls.size }, 'media_thread.hung');
      void lane.worker.terminate();
    }
  }, SILENCE_CHECK_MS);
  watching.unref();

  function start(thread: number, deaths: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const worker = new Worker(o.mediaSide ?? new URL('../media/media-thread.ts', import.meta.url), {
        name: `media-${thread}`,
        workerData: {
          ...o.data,
          protocol: MEDIA_PROTOCOL,
          thread,
          port: o.firstPort === 0 ? 0 : o.firstPort + thread - 1,
        } satisfies MediaThreadData,
        env: {},
        resourceLimits: MEDIA_RESOURCES,
      });
      const lane: Lane = {
        thread,
        worker,
        port: null,
        calls: new Set(),
        pace: ON_TIME,
        silentSeconds: 0,
      };
      const bornAt = performance.now();
      lanes.set(thread, lane);
      const receive = (message: FromMedia) => {
        if (message.type === 'listening') {
          if (message.protocol !== MEDIA_PROTOCOL) {
            reject(
              new Error(
                `Media thread ${thread} speaks version ${message.protocol} of the media protocol, and this side ${MEDIA_PROTOCOL}.`,
              ),
            );
            void worker.terminate();
            return;
          }
          lane.port = message.port;
          resolve();
        } else if (message.type === 'load') {
          loads.set(thread, message);
          lane.silentSeconds = 0;
          note(lane, afterReport(lane.pace, message, o.admission), message);
          for (const [why, count] of Object.entries(message.refused))
            o.strangers.saw({
              event: 'media.refused',
              why,
              level: 'warn',
              fields: { thread },
              by: null,
              count,
            });
        } else if (message.type === 'log') o.log[message.level]({ thread, ...message.fields }, message.event);
        else o.onMessage(message, thread);
      };
      worker.on('message', (messages: readonly FromMedia[]) => {
        for (const message of messages) receive(message);
      });
      worker.on('error', (error) => {
        o.log.error({ thread, err: error }, 'media_thread.died');
        if (lane.port === null) reject(error);
      });
      worker.on('exit', () => {
        lane.port = null;
        loads.delete(thread);
        const lost = [...lane.calls];
        for (const callId of lost) where.delete(callId);
        lane.calls.clear();
        if (closing) return;
        o.onLost(lost);
        const next = afterDeath(deaths, performance.now() - bornAt);
        setTimeout(() => {
          if (closing) return;
          start(thread, next.deaths).catch((error: unknown) => {
            o.log.error({ thread, err: error }, 'media_thread.not_restarted');
          });
        }, next.restartMs).unref();
      });
    });
  }

  async function close(): Promise<void> {
    closing = true;
    clearInterval(watching);
    for (const socket of joined) socket.destroy();
    await Promise.all(
      [...lanes.values()].map(async (lane) => {
        const exited = new Promise<void>((resolve) => lane.worker.once('exit', () => resolve()));
        lane.worker.postMessage({ type: 'stop' } satisfies ToMedia);
        const timer = setTimeout(() => void lane.worker.terminate(), 2_000);
        if (lane.worker.threadId !== -1) await exited;
        clearTimeout(timer);
      }),
    );
  }

  try {
    await Promise.all(Array.from({ length: o.count }, (_, index) => start(index + 1, 0)));
  } catch (error) {
    await close();
    throw error;
  }

  /** Joins a media socket to its thread, both ways, until either side ends. */
  function join(port: number, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    joining++;
    const upstream = connect({ host: '127.0.0.1', port, noDelay: true });
    joined.add(upstream);
    joined.add(socket);
    let counted = true;
    let parted = false;
    const settled = () => {
      if (counted) joining--;
      counted = false;
    };
    const part = () => {
      if (parted) return;
      parted = true;
      settled();
      answered();
      joined.delete(upstream);
      joined.delete(socket);
      upstream.unpipe(socket);
      socket.unpipe(upstream);
      closeSoon(upstream);
      closeSoon(socket);
    };
    // This thread may stand still for longer than that, with the answer there to be read.
    const answered = afterTurning(o.joinMs ?? JOIN_MS, part);
    for (const end of [upstream, socket]) {
      end.on('error', part);
      // A websocket has said all it has to say when its connection ends one way.
      end.once('end', part);
      end.once('close', part);
    }
    upstream.once('data', answered);
    upstream.once('connect', () => {
      settled();
      const lines = [`${request.method} ${request.url} HTTP/1.1`];
      for (let i = 0; i < request.rawHeaders.length; i += 2) {
        lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
      }
      upstream.write(`${lines.join('\r\n')}\r\n\r\n`);
      if (head.length > 0) upstream.write(head);
      if ('setNoDelay' in socket) (socket as Socket).setNoDelay(true);
      socket.pipe(upstream);
      upstream.pipe(socket);
    });
  }

  return {
    admits: () => admits(running()),
    paces: running,
    assign(callId) {
      const best = lanes.get(choose(running()) ?? Number.NaN);
      if (best === undefined)
        throw new AppError('at_capacity', 'No media thread is running; try again in a moment.', {
          retryAfterSeconds: 5,
        });
      best.calls.add(callId);
      where.set(callId, best);
      return best.thread;
    },
    threadOf: (callId) => where.get(callId)?.thread ?? null,
    post(callId, message) {
      where.get(callId)?.worker.postMessage(message);
    },
    unassign(callId) {
      where.get(callId)?.calls.delete(callId);
      where.delete(callId);
    },
    upgrade(request, socket, head) {
      const refuse = (status: string, why: string) => {
        o.strangers.saw({ event: 'media.refused', why, level: 'warn', by: o.clientOf(request) });
        refuseUpgrade(socket, status);
        return false;
      };
      const path = readStreamPath(request.url);
      const carrier = carriers.get(path?.carrier ?? '');
      if (path === null || carrier === undefined) return refuse('404 Not Found', 'unknown path');
      // The signature first: a stranger learns nothing of which calls there are.
      if (!carrier.verify(request)) return refuse('403 Forbidden', 'signature');
      const lane = where.get(path.callId);
      if (lane?.thread !== path.thread || lane.port === null) return refuse('404 Not Found', 'unknown call');
      if (joining >= MAX_JOINING) return refuse('503 Service Unavailable', 'too many at once');
      join(lane.port, request, socket, head);
      return true;
    },
    loads: () => loads,
    ready: () => [...lanes.values()].some((lane) => lane.port !== null),
    close,
  };
}
