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
  return new BullQueue(o);
}

class BullQueue implements QueueLink {
  readonly #o: QueueOptions;
  readonly #client: Redis;
  readonly #heartbeat: NodeJS.Timeout;
  readonly #self = randomUUID();
  #closing: Promise<void> | null = null;
  #connected = false;
  #healthy = false;
  #outageLogged = false;
  #lastBeatMs: number | null = null;
  #workingSinceMs = 0;
  #beats = 0;
  #lostTimer: NodeJS.Timeout | undefined;
  #queue: Queue<JobData> | null = null;
  #worker: Worker<JobData> | null = null;
  #workerClients: Redis[] = [];

  constructor(o: QueueOptions) {
    this.#o = o;
    // maxRetriesPerRequest 0: a command fails with its connection, instead of being sent again when nobody waits.
    this.#client = this.#connect({
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: COMMAND_TIMEOUT_MS,
    });
    this.#client.on('ready', () => this.#clientReady());
    this.#client.on('close', () => this.#clientClosed());
    this.#heartbeat = setInterval(() => void this.#beat(), o.heartbeatMs ?? HEARTBEAT_MS);
  }

  healthy(): boolean {
    return this.#healthy;
  }

  add({ id, attempt, atMs, again }: Parameters<QueueLink['add']>[0]): Promise<boolean> {
    // The time is part of the id: after a replay the same attempt number comes again at another time.
    const jobId = `${id}_${attempt}_${Math.floor(atMs / 1000)}${again === undefined ? '' : `_${again}`}`;
    return this.#enqueue('delivery', { id, attempt }, jobId, Math.max(0, atMs - this.#o.now().getTime()));
  }

  health(): ReturnType<QueueLink['health']> {
    return {
      connected: this.#connected,
      heartbeatAgeMs: this.#lastBeatMs === null ? null : performance.now() - this.#lastBeatMs,
    };
  }

  close(): Promise<void> {
    this.#closing ??= (async () => {
      clearInterval(this.#heartbeat);
      clearTimeout(this.#lostTimer);
      await this.#stopWork(!this.#connected);
      this.#client.disconnect();
    })();
    return this.#closing;
  }

  #clientReady(): void {
    if (this.#closing !== null) return;
    this.#connected = true;
    this.#outageLogged = false;
    clearTimeout(this.#lostTimer);
    if (this.#worker === null) this.#startWork();
    void this.#beat();
    this.#o.onReady();
  }

  #clientClosed(): void {
    if (!this.#connected) return;
    this.#connected = false;
    clearTimeout(this.#lostTimer);
    if (this.#closing !== null) return;
    this.#lostTimer = setTimeout(() => this.#setHealthy(false), this.#o.lostAfterMs ?? LOST_AFTER_MS);
  }

  /** Handed to what emits errors. */
  readonly #noteError = (err: Error): void => {
    // Redis was emptied under a running job: no outage, and storage knows the delivery.
    if ('code' in err && err.code === ErrorCode.JobNotExist) {
      this.#o.log.info({ err: err.message }, 'redis.job_forgotten');
      return;
    }
    if (this.#outageLogged || this.#closing !== null) return;
    this.#outageLogged = true;
    this.#o.log.warn({ err: err.message }, 'redis.unreachable');
  };

  #connect(options: RedisOptions): Redis {
    const all: RedisOptions = {
      ...options,
      connectTimeout: 5000,
      disconnectTimeout: 500,
      retryStrategy: (times) =>
        this.#closing === null ? Math.min(100 * 2 ** Math.min(times, 10), MAX_RECONNECT_MS) : null,
    };
    const client =
      'url' in this.#o.target
        ? new Redis(this.#o.target.url, all)
        : new Redis({ ...all, path: this.#o.target.socketPath });
    client.on('error', this.#noteError);
    return client;
  }

  #setHealthy(now: boolean): void {
    if (now === this.#healthy || this.#closing !== null) return;
    this.#healthy = now;
    this.#o.onChange(now);
  }

  #startWork(): void {
    // BullMQ copies this connection for its blocking reads; the copies are kept, to be ended with it in any state.
    const base = this.#connect({ maxRetriesPerRequest: null });
    const clients = [base];
    base.duplicate = (override) => {
      const copy = Redis.prototype.duplicate.call(base, override);
      copy.on('error', this.#noteError);
      clients.push(copy);
      return copy;
    };
    this.#workerClients = clients;
    this.#queue = new Queue<JobData>('webhooks', { connection: this.#client, prefix: this.#o.prefix });
    this.#queue.on('error', this.#noteError);
    this.#worker = new Worker<JobData>(
      'webhooks',
      async (job) => {
        // Whatever it is, this worker works.
        this.#lastBeatMs = performance.now();
        if (this.#connected) this.#setHealthy(true);
        const { data } = job;
        if ('id' in data) await this.#o.work(data.id, data.attempt);
        // Of several daemons on the queue any may get it: it goes on until it is where it belongs.
        else if (data.beatOf !== this.#self && data.hops < MAX_HOPS) {
          const hops = data.hops + 1;
          await this.#enqueue('beat', { ...data, hops }, `${job.id}_${hops}`, 0);
        }
      },
      {
        connection: base,
        prefix: this.#o.prefix,
        concurrency: MAX_IN_FLIGHT,
        // An attempt is over before its lock is; and a worker that is given up would renew for as long as the process lives.
        skipLockRenewal: true,
        // Twice killed in the middle of a job is no reason to give the job up; storage counts the attempts.
        maxStalledCount: 20,
        removeOnComplete: { count: 0 },
        removeOnFail: { count: 0 },
      },
    );
    this.#worker.on('error', this.#noteError);
    this.#workingSinceMs = performance.now();
  }

  async #stopWork(force: boolean): Promise<void> {
    const [oldQueue, oldWorker, oldClients] = [this.#queue, this.#worker, this.#workerClients];
    this.#queue = null;
    this.#worker = null;
    this.#workerClients = [];
    // A worker never finishes closing while a connection of its is away.
    const away = oldClients.some(({ status }) => status !== 'ready');
    if (oldWorker !== null) await within(oldWorker.close(force || away), CLOSE_TIMEOUT_MS, undefined);
    if (oldQueue !== null) await within(oldQueue.close(), 1000, undefined);
    for (const old of oldClients) old.disconnect();
  }

  #enqueue(name: string, data: JobData, jobId: string, delay: number): Promise<boolean> {
    if (this.#queue === null || !this.#connected || this.#closing !== null) return Promise.resolve(false);
    const added = this.#queue
      .add(name, data, { jobId, delay, attempts: 1, removeOnComplete: true, removeOnFail: true })
      .then(() => true);
    return within(added, ADD_TIMEOUT_MS, false);
  }

  async #beat(): Promise<void> {
    if (this.#connected && this.#closing === null) {
      const sinceMs = performance.now() - Math.max(this.#lastBeatMs ?? 0, this.#workingSinceMs);
      if (sinceMs > (this.#o.heartbeatLateMs ?? HEARTBEAT_LATE_MS)) {
        this.#o.log.warn({ silent_ms: sinceMs }, 'redis.worker_silent');
        this.#setHealthy(false);
        await this.#stopWork(true);
        if (this.#closing === null) this.#startWork();
      }
    }
    this.#beats += 1;
    await this.#enqueue('beat', { beatOf: this.#self, hops: 0 }, `beat_${this.#self}_${this.#beats}`, 0);
  }
}
