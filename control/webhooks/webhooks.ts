// Webhook delivery put together: what storage says is due goes to the queue when there is a Redis, to a timer in memory
// when there is none, and a sweep over storage finds what either of them lost.
//
//   storage commit ─► listener ─┬─ Redis well ─► BullMQ job ──┐
//                               └─ else ───────► due timer ───┼─► dispatcher (limits) ─► claim ─► post ─► record ─┐
//   boot, every sweep, Redis is back ─► storage.dueDeliveries ┘                                                   │
//   ◄──────────────────────────── a retry is a commit again ◄─────────────────────────────────────────────────────┘
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../clock.ts';
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import type { Egress } from '../egress/egress.ts';
import { openDelivery } from './delivery.ts';
import { type Dispatcher, openDispatcher } from './dispatcher.ts';
import { type DueTimer, openDueTimer } from './due-timer.ts';
import { openQueueLink, type QueueLink } from './queue.ts';
import { openRedisChild, type RedisChild } from './redis-child.ts';
import { RETRY_SECONDS } from './schedule.ts';

const SWEEP_MS = 15_000;
/** Without a queue the sweep is what finds retries planned before a restart; it is one query on an index. */
const DIRECT_SWEEP_MS = 5000;
const SWEEP_LIMIT = 500;
/** What the queue is told anew when the clock was set; what is later, the sweep finds in time. */
const PLANNED_ANEW_MS = 15 * 60_000;
/** A page full of deliveries already in hand hides those behind it: the page grows up to this. */
const MAX_SWEEP_LIMIT = 32_000;
/** Younger than this, a due delivery is on its way through the queue. */
const OVERDUE_MS = 5000;
/** Older than this, the queue has had its chance. */
const OVERDUE_DIRECT_MS = 20_000;
/** Names of queue jobs that the sweep adds change with this period, so that a lost one can be added again. */
const SWEEP_JOB_MS = 30_000;
/** What is under way, or due, at a stop may still go out for so long. */
const CLOSE_GRACE_MS = 5000;

export type WebhookMode = 'redis' | 'child' | 'direct';

export interface WebhooksHealth {
  mode: WebhookMode;
  inFlight: number;
  waiting: number;
  /** Retries kept in memory for their time. */
  planned: number;
  redis: { connected: boolean; heartbeatAgeMs: number | null; childPid: number | null } | null;
  /** Deliveries that a sweep had to bring back to the queue; rises steadily only when the queue is unwell. */
  swept: number;
}

export interface Webhooks {
  /** How due deliveries travel now. */
  mode(): WebhookMode;
  health(): WebhooksHealth;
  /**
   * Lets what is due go out for a moment, then stops; what did not make it stays pending, uncharged. In a hurry, what is
   * due or under way is left to the next start, and costs no attempt.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

export interface WebhooksOptions {
  store: Store;
  egress: Egress;
  log: Log;
  dataDir: string;
  /** The operator's Redis; null: one found on this machine. */
  redisUrl: string | null;
  /** `none`: deliver without any Redis. */
  redisMode: 'auto' | 'none';
  /** Scales the retry schedule; 1 but in tests. */
  retryScale: number;
  version: string;
  /** Of which storage is told when it is set. */
  clock?: Clock;
  /** For tests: other periods, other names of servers. */
  tuning?: {
    servers?: readonly string[];
    sweepMs?: number;
    leaseMs?: number;
    lostAfterMs?: number;
    heartbeatMs?: number;
    heartbeatLateMs?: number;
    watchMs?: number;
    silentKillMs?: number;
    graceMs?: number;
    openQueue?: typeof openQueueLink;
  };
}

/** The name of this data folder in a Redis that others may use too. The braces keep its keys on one cluster node. */
function queuePrefix(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const file = join(dataDir, 'queue-id');
  try {
    writeFileSync(file, randomUUID(), { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there already, from an earlier start.
  }
  return `{offhook-${readFileSync(file, 'utf8').trim()}}`;
}

/**
 * Starts delivering. Resolves at once in every mode: until a Redis is up, and whenever it is not, deliveries go directly.
 */
export async function openWebhooks(o: WebhooksOptions): Promise<Webhooks> {
  const webhooks = new Outgoing(o);
  await webhooks.begin();
  return webhooks;
}

/** What is due goes to the queue, to a timer, or straight to the dispatcher; a sweep finds what was lost on the way. */
class Outgoing implements Webhooks {
  readonly #o: WebhooksOptions;
  readonly #tuning: NonNullable<WebhooksOptions['tuning']>;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #dispatcher: Dispatcher;
  readonly #dueTimer: DueTimer;
  #link: QueueLink | null = null;
  #child: RedisChild | null = null;
  #closing: Promise<void> | null = null;
  #sweepTimer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | null = null;
  #sweepAgain = false;
  #swept = 0;
  #ending: Promise<void> | null = null;
  #connecting: Promise<void> = Promise.resolve();
  #unsubscribe = () => {};

  constructor(o: WebhooksOptions) {
    this.#o = o;
    this.#tuning = o.tuning ?? {};
    this.#clock = o.clock ?? systemClock;
    const { leaseMs } = this.#tuning;
    const lease = leaseMs === undefined ? {} : { leaseMs };
    this.#dispatcher = openDispatcher({ delivery: openDelivery({ ...o, ...lease }), log: o.log, ...lease });
    this.#dueTimer = openDueTimer((id, attempt) => void this.#dispatcher.run(id, attempt));
  }

  /** Reads what is due, listens for more, and connects to Redis in its own time. */
  async begin(): Promise<void> {
    const { store, log } = this.#o;
    // Stored before the clock was set back, while nobody ran: no retry is further off than its own wait.
    const waitsMs = [0, ...RETRY_SECONDS].map((seconds) => seconds * 1000 * this.#o.retryScale);
    store.pullDueDeliveries(this.#clock.now().toISOString(), waitsMs).catch((err: unknown) => {
      log.error({ err }, 'webhooks.retries_not_pulled');
    });
    this.#unsubscribe = store.subscribe({
      moved: (byMs) => {
        this.#onClockSet(byMs).catch((err: unknown) => log.error({ err }, 'webhooks.not_planned_anew'));
      },
      deliveries: (due) => {
        for (const one of due) {
          const { id, attempt, at } = one;
          this.#dispatcher.know(one);
          failpoint(attempt === 0 ? 'commit_before_enqueue' : 'recorded_before_requeue');
          this.#plan(id, attempt, Date.parse(at));
        }
      },
      recovered: () => {
        this.#sweep();
        // Jobs that came meanwhile found nothing to take, and are gone from the queue.
        this.#scheduleSweep(OVERDUE_MS + 200);
      },
    });
    this.#sweep();
    this.#connecting = this.#connectQueue().catch((err: unknown) => {
      log.warn({ mode: 'direct', err }, 'webhooks.mode');
    });
  }

  mode(): WebhookMode {
    if (!this.#link?.healthy()) return 'direct';
    return this.#child === null ? 'redis' : 'child';
  }

  health(): WebhooksHealth {
    return {
      mode: this.mode(),
      inFlight: this.#dispatcher.inFlight(),
      waiting: this.#dispatcher.waiting(),
      planned: this.#dueTimer.size(),
      redis: this.#link === null ? null : { ...this.#link.health(), childPid: this.#child?.pid() ?? null },
      swept: this.#swept,
    };
  }

  close(hurry = new AbortController().signal): Promise<void> {
    this.#closing ??= this.#end(hurry);
    return this.#closing;
  }

  /** Hands over a delivery for its time; returns before that is done. */
  #plan(id: string, attempt: number, atMs: number): void {
    const inMs = atMs - this.#clock.now().getTime();
    if (!this.#link?.healthy()) {
      this.#dueTimer.set(id, attempt, inMs);
      return;
    }
    void this.#link.add({ id, attempt, atMs }).then((queued) => {
      failpoint('after_enqueue');
      if (!queued && this.#closing === null) this.#dueTimer.set(id, attempt, inMs);
    });
  }

  /** The wall clock was set: every retry stays as far off as it was. The queue goes by that clock, and is told anew. */
  async #onClockSet(byMs: number): Promise<void> {
    this.#o.log.warn({ by_seconds: Math.round(byMs / 1000) }, 'clock.set');
    if (!this.#link?.healthy()) return;
    const soon = new Date(this.#clock.now().getTime() + PLANNED_ANEW_MS).toISOString();
    for (const { id, attempt, at } of await this.#o.store.dueDeliveries(soon, SWEEP_LIMIT)) {
      if (!this.#dispatcher.has(id)) this.#plan(id, attempt, Date.parse(at));
    }
  }

  async #sweepPage(limit: number): Promise<{ full: boolean; fresh: number }> {
    const now = this.#clock.now().getTime();
    const due = await this.#o.store.dueDeliveries(new Date(now).toISOString(), limit);
    let fresh = 0;
    for (const one of due) {
      const { id, attempt, at } = one;
      if (this.#dispatcher.has(id)) continue;
      this.#dispatcher.know(one);
      const overdueMs = now - Date.parse(at);
      if (!this.#link?.healthy() || overdueMs > OVERDUE_DIRECT_MS) {
        void this.#dispatcher.run(id, attempt);
        // Not so when the lines are full: then the next ordinary sweep is early enough.
        if (this.#dispatcher.has(id)) fresh++;
      } else if (overdueMs > OVERDUE_MS) {
        fresh++;
        this.#swept++;
        const again = `s${Math.floor(now / SWEEP_JOB_MS)}`;
        void this.#link.add({ id, attempt, atMs: now, again }).then((queued) => {
          if (!queued && this.#closing === null) void this.#dispatcher.run(id, attempt);
        });
      }
    }
    return { full: due.length >= limit, fresh };
  }

  async #sweepAll(): Promise<void> {
    let limit = SWEEP_LIMIT;
    while (this.#closing === null) {
      const { full, fresh } = await this.#sweepPage(limit);
      if (!full) return;
      if (fresh > 0) return this.#scheduleSweep(100);
      if (limit >= MAX_SWEEP_LIMIT) return;
      limit *= 4;
    }
  }

  /** What deleted endpoints were owed, however much: other work comes in between. */
  async #endDeleted(): Promise<void> {
    while (this.#closing === null && (await this.#o.store.endDeletedDeliveries()))
      await new Promise((next) => setImmediate(next));
  }

  #sweep(): void {
    if (this.#closing !== null) return;
    // Nothing can be taken while the disk takes no writes; storage says when it does.
    if (!this.#o.store.writable()) {
      this.#scheduleSweep(this.#tuning.sweepMs ?? DIRECT_SWEEP_MS);
      return;
    }
    if (this.#sweeping !== null) {
      this.#sweepAgain = true;
      return;
    }
    this.#scheduleSweep(this.#tuning.sweepMs ?? (this.#link?.healthy() ? SWEEP_MS : DIRECT_SWEEP_MS));
    this.#ending ??= this.#endDeleted()
      .catch((err: unknown) => this.#o.log.error({ err }, 'webhooks.sweep_failed'))
      .finally(() => {
        this.#ending = null;
      });
    this.#sweeping = this.#sweepAll()
      .catch((err: unknown) => this.#o.log.error({ err }, 'webhooks.sweep_failed'))
      .finally(() => {
        this.#sweeping = null;
        if (this.#sweepAgain) {
          this.#sweepAgain = false;
          this.#sweep();
        }
      });
  }

  #scheduleSweep(ms: number): void {
    clearTimeout(this.#sweepTimer);
    if (this.#closing === null) this.#sweepTimer = setTimeout(() => this.#sweep(), ms);
  }

  async #connectQueue(): Promise<void> {
    if (this.#o.redisMode === 'none') {
      this.#o.log.info({ mode: 'direct' }, 'webhooks.mode');
      return;
    }
    if (this.#o.redisUrl === null) {
      const present = () => this.#o.store.daemons();
      this.#child = await openRedisChild({
        ...this.#o,
        ...this.#tuning,
        mayStart: async () => (await present())[0]?.epoch === this.#o.store.self().epoch,
        mayEnd: async () => (await present()).length === 1,
      });
      if (this.#child === null) {
        this.#o.log.info({ mode: 'direct' }, 'webhooks.mode');
        return;
      }
    }
    if (this.#closing !== null) return;
    this.#link = (this.#tuning.openQueue ?? openQueueLink)({
      ...this.#tuning,
      now: this.#clock.now,
      target: this.#child === null ? { url: this.#o.redisUrl ?? '' } : { socketPath: this.#child.socketPath },
      prefix: queuePrefix(this.#o.dataDir),
      log: this.#o.log,
      work: (id, attempt) => this.#dispatcher.run(id, attempt),
      onChange: (healthy) => {
        const message = healthy
          ? 'webhooks are delivered through Redis'
          : 'Redis is away: webhooks are delivered without it';
        this.#o.log[healthy ? 'info' : 'warn']({ mode: this.mode(), why: message }, 'webhooks.mode');
        this.#sweep();
      },
      onReady: () => this.#sweep(),
    });
  }

  async #end(hurry: AbortSignal): Promise<void> {
    this.#unsubscribe();
    clearTimeout(this.#sweepTimer);
    this.#dueTimer.close();
    const graceMs = this.#tuning.graceMs ?? CLOSE_GRACE_MS;
    await this.#ending;
    if (hurry.aborted) return this.#stop(0, hurry);
    await this.#connecting;
    await this.#sweeping;
    // The last events of ended calls are due now, and nobody would send them before the next start.
    const due = await this.#o.store
      .dueDeliveries(this.#clock.now().toISOString(), SWEEP_LIMIT)
      .catch(() => []);
    for (const { id, attempt } of due) if (!this.#dispatcher.has(id)) void this.#dispatcher.run(id, attempt);
    await this.#stop(graceMs, hurry);
  }

  async #stop(graceMs: number, hurry: AbortSignal): Promise<void> {
    await this.#dispatcher.close(graceMs, hurry);
    await this.#link?.close();
    await this.#child?.close();
  }
}
