// The BullMQ queue of due deliveries on a Redis that may come, go, hang or forget. It is a timer and a dispatcher only:
// jobs carry ids, storage holds the truth, and whatever is lost here is found by the sweep.
import { randomUUID } from 'node:crypto';
import { ErrorCode, Queue, Worker } from 'bullmq';
import { Redis, type RedisOptions } from 'ioredis';
import type { Log } from '../../log.ts';
import { MAX_IN_FLIGHT } from './dispatcher.ts';

/** While Redis was never up, an add waits for ever (bullmq#995): nobody waits longer than this. */
const ADD_TIMEOUT_MS = 500;
/** A connection that is away for no longer than this is not missed. */
const LOST_AFTER_MS = 10_000;
/** Workers can stay connected and yet stop, mostly around reconnects (bullmq#3185): a job of our own tells. */
const HEARTBEAT_MS = 30_000;
const HEARTBEAT_LATE_MS = 90_000;
/** Each is even odds to find the right one of two. */
const MAX_HOPS = 20;
const CLOSE_TIMEOUT_MS = 5000;
const COMMAND_TIMEOUT_MS = 5000;
const MAX_RECONNECT_MS = 5000;

export type RedisTarget = { url: string } | { socketPath: string };

export interface QueueLink {
  /** Jobs go round: connected (or away for a moment), and the heart beats. */
  healthy(): boolean;
  /** Queues a delivery for its time, by the wall clock. False when that is not certain; never rejects, never takes longer than a moment. */
  add(job: { id: string; attempt: number; atMs: number; again?: string }): Promise<boolean>;
  health(): { connected: boolean; heartbeatAgeMs: number | null };
  close(): Promise<void>;
}

export interface QueueOptions {
  target: RedisTarget;
  /** Keeps the keys of this data folder apart from others' in a shared Redis. */
  prefix: string;
  log: Log;
  /** The wall clock, which the queue goes by. */
  now(): Date;
  work(id: string, attempt: number): Promise<void>;
  /** `healthy()` changed. */
  onChange(healthy: boolean): void;
  /** A connection is there, first or again: what was queued may be gone. */
  onReady(): void;
  heartbeatMs?: number;
  heartbeatLateMs?: number;
  lostAfterMs?: number;
}

/** A delivery, or the beat of a link. */
type JobData = { id: string; attempt: number } | { beatOf: string; hops: number };

/** Resolves to `fallback` when the promise takes longer, or rejects. */
function within<T>(promise: Promise<T>, ms: number, fallback: T): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => {
    timer = setTimeout(() => resolve(fallback), ms);
  });
  return Promise.race([promise.catch(() => fallback), late]).finally(() => clearTimeout(timer));
}

/**
 * Starts to connect, and goes on trying until closed; nothing of it is waited for.
 * @throws when the target cannot be a Redis at all.
 */
export function openQueueLink(o: QueueOptions): QueueLink {
  const { log } = o;
  const heartbeatMs = o.heartbeatMs ?? HEARTBEAT_MS;
  const heartbeatLateMs = o.heartbeatLateMs ?? HEARTBEAT_LATE_MS;
  const lostAfterMs = o.lostAfterMs ?? LOST_AFTER_MS;
  let closing: Promise<void> | null = null;
  let connected = false;
  let healthy = false;
  let outageLogged = false;
  let lastBeatMs: number | null = null;
  let workingSinceMs = 0;
  let beats = 0;
  const self = randomUUID();
  let lostTimer: NodeJS.Timeout | undefined;
  let queue: Queue<JobData> | null = null;
  let worker: Worker<JobData> | null = null;
  let workerClients: Redis[] = [];

  function connect(options: RedisOptions): Redis {
    const all: RedisOptions = {
      ...options,
      connectTimeout: 5000,
      disconnectTimeout: 500,
      retryStrategy: (times) =>
        closing === null ? Math.min(100 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS) : null,
    };
    const client =
      'url' in o.target ? new Redis(o.target.url, all) : new Redis({ ...all, path: o.target.socketPath });
    client.on('error', noteError);
    return client;
  }

  function noteError(err: Error): void {
    // Redis was emptied under a running job: no outage, and storage knows the delivery.
    if ('code' in err && err.code === ErrorCode.JobNotExist) {
      log.info({ err: err.message }, 'redis.job_forgotten');
      return;
    }
    if (outageLogged || closing !== null) return;
    outageLogged = true;
    log.warn({ err: err.message }, 'redis.unreachable');
  }

  function setHealthy(now: boolean): void {
    if (now === healthy || closing !== null) return;
    healthy = now;
    o.onChange(now);
  }

  // maxRetriesPerRequest 0: a command fails with its connection, instead of being sent again when nobody waits.
  const client = connect({
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: COMMAND_TIMEOUT_MS,
  });
  client.on('ready', () => {
    if (closing !== null) return;
    connected = true;
    outageLogged = false;
    clearTimeout(lostTimer);
    if (worker === null) startWork();
    void beat();
    o.onReady();
  });
  client.on('close', () => {
    if (!connected) return;
    connected = false;
    clearTimeout(lostTimer);
    if (closing !== null) return;
    lostTimer = setTimeout(() => setHealthy(false), lostAfterMs);
  });

  function startWork(): void {
    // BullMQ copies this connection for its blocking reads; the copies are kept, to be ended with it in any state.
    const base = connect({ maxRetriesPerRequest: null });
    const clients = [base];
    base.duplicate = (override) => {
      const copy = Redis.prototype.duplicate.call(base, override);
      copy.on('error', noteError);
      clients.push(copy);
      return copy;
    };
    workerClients = clients;
    queue = new Queue<JobData>('webhooks', { connection: client, prefix: o.prefix });
    queue.on('error', noteError);
    worker = new Worker<JobData>(
      'webhooks',
      async (job) => {
        // Whatever it is, this worker works.
        lastBeatMs = performance.now();
        if (connected) setHealthy(true);
        const { data } = job;
        if ('id' in data) await o.work(data.id, data.attempt);
        // Of several daemons on the queue any may get it: it goes on until it is where it belongs.
        else if (data.beatOf !== self && data.hops < MAX_HOPS) {
          const hops = data.hops + 1;
          await enqueue('beat', { ...data, hops }, `${job.id}_${hops}`, 0);
        }
      },
      {
        connection: base,
        prefix: o.prefix,
        concurrency: MAX_IN_FLIGHT,
        // Twice killed in the middle of a job is no reason to give the job up; storage counts the attempts.
        maxStalledCount: 20,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    worker.on('error', noteError);
    workingSinceMs = performance.now();
  }

  async function stopWork(force: boolean): Promise<void> {
    const [oldQueue, oldWorker, oldClients] = [queue, worker, workerClients];
    queue = null;
    worker = null;
    workerClients = [];
    // A worker whose Redis is away never finishes closing.
    if (oldWorker !== null) await within(oldWorker.close(force), CLOSE_TIMEOUT_MS, undefined);
    if (oldQueue !== null) await within(oldQueue.close(), 1000, undefined);
    for (const old of oldClients) old.disconnect();
  }

  function enqueue(name: string, data: JobData, jobId: string, delay: number): Promise<boolean> {
    if (queue === null || !connected || closing !== null) return Promise.resolve(false);
    const added = queue
      .add(name, data, { jobId, delay, attempts: 1, removeOnComplete: true, removeOnFail: true })
      .then(() => true);
    return within(added, ADD_TIMEOUT_MS, false);
  }

  async function beat(): Promise<void> {
    if (connected && closing === null) {
      const sinceMs = performance.now() - Math.max(lastBeatMs ?? 0, workingSinceMs);
      if (sinceMs > heartbeatLateMs) {
        log.warn({ silent_ms: sinceMs }, 'redis.worker_silent');
        setHealthy(false);
        await stopWork(true);
        if (closing === null) startWork();
      }
    }
    beats += 1;
    await enqueue('beat', { beatOf: self, hops: 0 }, `beat_${self}_${beats}`, 0);
  }
  const heartbeat = setInterval(() => void beat(), heartbeatMs);

  return {
    healthy: () => healthy,
    add({ id, attempt, atMs, again }) {
      // The time is part of the id: after a replay the same attempt number comes again at another time.
      const jobId = `${id}_${attempt}_${Math.floor(atMs / 1000)}${again === undefined ? '' : `_${again}`}`;
      return enqueue('delivery', { id, attempt }, jobId, Math.max(0, atMs - o.now().getTime()));
    },
    health: () => ({
      connected,
      heartbeatAgeMs: lastBeatMs === null ? null : performance.now() - lastBeatMs,
    }),
    close() {
      closing ??= (async () => {
        clearInterval(heartbeat);
        clearTimeout(lostTimer);
        await stopWork(!connected);
        client.disconnect();
      })();
      return closing;
    },
  };
}
