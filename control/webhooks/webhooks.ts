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
import { systemClock, type WatchedClock } from '../../clock.ts';
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import type { Egress } from '../egress/egress.ts';
import { openDelivery } from './delivery.ts';
import { openDispatcher } from './dispatcher.ts';
import { openDueTimer } from './due-timer.ts';
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
  /** Tells when the wall clock was set: the times of retries are stored by it, and move with it. */
  clock?: WatchedClock;
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
  const { store, log } = o;
  const tuning = o.tuning ?? {};
  const clock = o.clock ?? systemClock;
  let link: QueueLink | null = null;
  let child: RedisChild | null = null;
  let closing: Promise<void> | null = null;
  let sweepTimer: NodeJS.Timeout | undefined;
  let sweeping: Promise<void> | null = null;
  let sweepAgain = false;
  let swept = 0;
  let ending: Promise<void> | null = null;

  const delivery = openDelivery({
    ...o,
    ...(tuning.leaseMs === undefined ? {} : { leaseMs: tuning.leaseMs }),
  });
  const dispatcher = openDispatcher({
    delivery,
    log,
    ...(tuning.leaseMs === undefined ? {} : { leaseMs: tuning.leaseMs }),
  });
  const dueTimer = openDueTimer((id, attempt) => void dispatcher.run(id, attempt));
  const mode = (): WebhookMode => (link?.healthy() ? (child === null ? 'redis' : 'child') : 'direct');

  /** Hands over a delivery for its time; returns before that is done. */
  function plan(id: string, attempt: number, atMs: number): void {
    const inMs = atMs - clock.now().getTime();
    if (!link?.healthy()) {
      dueTimer.set(id, attempt, inMs);
      return;
    }
    void link.add({ id, attempt, atMs }).then((queued) => {
      failpoint('after_enqueue');
      if (!queued && closing === null) dueTimer.set(id, attempt, inMs);
    });
  }

  /** The wall clock was set: every retry stays as far off as it was. The queue goes by that clock, and is told anew. */
  async function onClockSet(byMs: number): Promise<void> {
    log.warn({ by_seconds: Math.round(byMs / 1000) }, 'clock.set');
    if (!link?.healthy()) return;
    const soon = new Date(clock.now().getTime() + PLANNED_ANEW_MS).toISOString();
    for (const { id, attempt, at } of await store.dueDeliveries(soon, SWEEP_LIMIT)) {
      if (!dispatcher.has(id)) plan(id, attempt, Date.parse(at));
    }
  }

  async function sweepPage(limit: number): Promise<{ full: boolean; fresh: number }> {
    const now = clock.now().getTime();
    const due = await store.dueDeliveries(new Date(now).toISOString(), limit);
    let fresh = 0;
    for (const one of due) {
      const { id, attempt, at } = one;
      if (dispatcher.has(id)) continue;
      dispatcher.know(one);
      const overdueMs = now - Date.parse(at);
      if (!link?.healthy() || overdueMs > OVERDUE_DIRECT_MS) {
        void dispatcher.run(id, attempt);
        // Not so when the lines are full: then the next ordinary sweep is early enough.
        if (dispatcher.has(id)) fresh++;
      } else if (overdueMs > OVERDUE_MS) {
        fresh++;
        swept++;
        const again = `s${Math.floor(now / SWEEP_JOB_MS)}`;
        void link.add({ id, attempt, atMs: now, again }).then((queued) => {
          if (!queued && closing === null) void dispatcher.run(id, attempt);
        });
      }
    }
    return { full: due.length >= limit, fresh };
  }

  async function sweepAll(): Promise<void> {
    let limit = SWEEP_LIMIT;
    while (closing === null) {
      const { full, fresh } = await sweepPage(limit);
      if (!full) return;
      if (fresh > 0) return scheduleSweep(100);
      if (limit >= MAX_SWEEP_LIMIT) return;
      limit *= 4;
    }
  }

  /** What deleted endpoints were owed, however much: other work comes in between. */
  async function endDeleted(): Promise<void> {
    while (closing === null && (await store.endDeletedDeliveries()))
      await new Promise((next) => setImmediate(next));
  }

  function sweep(): void {
    if (closing !== null) return;
    // Nothing can be taken while the disk takes no writes; storage says when it does.
    if (!store.writable()) {
      scheduleSweep(tuning.sweepMs ?? DIRECT_SWEEP_MS);
      return;
    }
    if (sweeping !== null) {
      sweepAgain = true;
      return;
    }
    scheduleSweep(tuning.sweepMs ?? (link?.healthy() ? SWEEP_MS : DIRECT_SWEEP_MS));
    ending ??= endDeleted()
      .catch((err: unknown) => log.error({ err }, 'webhooks.sweep_failed'))
      .finally(() => {
        ending = null;
      });
    sweeping = sweepAll()
      .catch((err: unknown) => log.error({ err }, 'webhooks.sweep_failed'))
      .finally(() => {
        sweeping = null;
        if (sweepAgain) {
          sweepAgain = false;
          sweep();
        }
      });
  }

  function scheduleSweep(ms: number): void {
    clearTimeout(sweepTimer);
    if (closing === null) sweepTimer = setTimeout(sweep, ms);
  }

  async function connectQueue(): Promise<void> {
    if (o.redisMode === 'none') {
      log.info({ mode: 'direct' }, 'webhooks.mode');
      return;
    }
    if (o.redisUrl === null) {
      const present = () => store.daemons();
      child = await openRedisChild({
        ...o,
        ...tuning,
        mayStart: async () => (await present())[0]?.epoch === store.self().epoch,
        mayEnd: async () => (await present()).length === 1,
      });
      if (child === null) {
        log.info({ mode: 'direct' }, 'webhooks.mode');
        return;
      }
    }
    if (closing !== null) return;
    link = (tuning.openQueue ?? openQueueLink)({
      ...tuning,
      now: clock.now,
      target: child === null ? { url: o.redisUrl ?? '' } : { socketPath: child.socketPath },
      prefix: queuePrefix(o.dataDir),
      log,
      work: (id, attempt) => dispatcher.run(id, attempt),
      onChange(healthy) {
        const message = healthy
          ? 'webhooks are delivered through Redis'
          : 'Redis is away: webhooks are delivered without it';
        log[healthy ? 'info' : 'warn']({ mode: mode(), why: message }, 'webhooks.mode');
        sweep();
      },
      onReady: sweep,
    });
  }

  // Stored before the clock was set back, while nobody ran: no retry is further off than its own wait.
  const waitsMs = [0, ...RETRY_SECONDS].map((seconds) => seconds * 1000 * o.retryScale);
  await store.pullDueDeliveries(clock.now().toISOString(), waitsMs);
  o.clock?.onSet((byMs) => {
    if (closing !== null) return;
    onClockSet(byMs).catch((err: unknown) => log.error({ err }, 'webhooks.not_planned_anew'));
  });
  const unsubscribe = store.subscribe({
    deliveries(due) {
      for (const one of due) {
        const { id, attempt, at } = one;
        dispatcher.know(one);
        failpoint(attempt === 0 ? 'commit_before_enqueue' : 'recorded_before_requeue');
        plan(id, attempt, Date.parse(at));
      }
    },
    recovered() {
      sweep();
      // Jobs that came meanwhile found nothing to take, and are gone from the queue.
      scheduleSweep(OVERDUE_MS + 200);
    },
  });
  sweep();
  const connecting = connectQueue().catch((err: unknown) => {
    log.warn({ mode: 'direct', err }, 'webhooks.mode');
  });

  async function end(hurry: AbortSignal): Promise<void> {
    unsubscribe();
    clearTimeout(sweepTimer);
    dueTimer.close();
    const graceMs = tuning.graceMs ?? CLOSE_GRACE_MS;
    await ending;
    if (hurry.aborted) return stop(0, hurry);
    await connecting;
    await sweeping;
    // The last events of ended calls are due now, and nobody would send them before the next start.
    const due = await store.dueDeliveries(clock.now().toISOString(), SWEEP_LIMIT).catch(() => []);
    for (const { id, attempt } of due) if (!dispatcher.has(id)) void dispatcher.run(id, attempt);
    await stop(graceMs, hurry);
  }

  async function stop(graceMs: number, hurry: AbortSignal): Promise<void> {
    await dispatcher.close(graceMs, hurry);
    await link?.close();
    await child?.close();
  }

  return {
    mode,
    health: () => ({
      mode: mode(),
      inFlight: dispatcher.inFlight(),
      waiting: dispatcher.waiting(),
      planned: dueTimer.size(),
      redis: link === null ? null : { ...link.health(), childPid: child?.pid() ?? null },
      swept,
    }),
    close(hurry = new AbortController().signal) {
      closing ??= end(hurry);
      return closing;
    },
  };
}
