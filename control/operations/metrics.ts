// Prometheus metrics of the process, of HTTP and of what the store and the bridge hold. Others add theirs to the registry.
import type { RequestHandler } from 'express';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Calls } from '../../bridge/calls/calls.ts';
import type { Log } from '../../log.ts';
import type { Integrity, IntegrityCheck } from '../../storage/integrity.ts';
import type { Store } from '../../storage/store.ts';
import { contextOf } from '../http/request-context.ts';

/** How often the control thread is woken to see how late its loop is; each time costs more than all it does when idle. */
const LAG_SAMPLE_MS = 100;

/** A registry with the process's own metrics. */
export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LAG_SAMPLE_MS });
  return registry;
}

/** Measures every request: seconds by method, route (the path with its parameters' names) and status. */
export function observeHttp(
  registry: Registry,
  seconds: () => number = () => performance.now() / 1000,
): RequestHandler {
  const histogram = new Histogram({
    name: 'offhook_http_request_seconds',
    help: 'Seconds from a request to the end of its answer',
    labelNames: ['method', 'route', 'status'] as const,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  });
  return (req, res, next) => {
    const begun = seconds();
    res.once('close', () => {
      // A path that no route knows is the client's to invent: one label for all of them.
      const route = contextOf(res).route ?? 'none';
      histogram.observe(
        { method: methodLabel(req.method), route, status: res.statusCode },
        seconds() - begun,
      );
    });
    next();
  };
}

function methodLabel(method: string): string {
  return /^(GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS)$/.test(method) ? method : 'other';
}

/** Counts what strangers do, written or not. */
export function observeStrangers(registry: Registry): (event: string, count: number) => void {
  const counter = new Counter({
    name: 'offhook_strangers_total',
    help: 'What came without a key, a session or a signature, by what the log calls it',
    labelNames: ['event'] as const,
    registers: [registry],
  });
  return (event, count) => counter.inc({ event }, count);
}

/** Counts what came here for calls of other daemons on the folder. */
export function observePeers(registry: Registry): (what: string, taken: boolean) => void {
  const counter = new Counter({
    name: 'offhook_passed_on_total',
    help: 'Hooks and commands that came here for a call of another daemon, and whether one took them: yes, no',
    labelNames: ['what', 'taken'] as const,
    registers: [registry],
  });
  return (what, taken) => counter.inc({ what, taken: taken ? 'yes' : 'no' });
}

/** Measures what storage does: writes hold the control thread, reads a thread beside it. */
export function observeStorage(registry: Registry): (what: 'write' | 'read', ms: number) => void {
  const histogram = new Histogram({
    name: 'offhook_storage_seconds',
    help: 'Seconds of write transactions, on the control thread and with their sync, and of reads beside it',
    labelNames: ['what'] as const,
    buckets: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  return (what, ms) => histogram.observe({ what }, ms / 1000);
}

const CHECK_STATES: readonly Integrity['state'][] = ['running', 'ok', 'damaged', 'unknown'];

/** How the check of the database file stands. */
export function observeIntegrity(registry: Registry, check: Pick<IntegrityCheck, 'now'>): void {
  new Gauge({
    name: 'offhook_storage_check',
    help: 'The check of the database file since the start: 1 at the state it is in',
    labelNames: ['state'] as const,
    registers: [registry],
    collect() {
      for (const state of CHECK_STATES) this.set({ state }, check.now().state === state ? 1 : 0);
    },
  });
}

/** Gauges of the store and of live calls, read when the metrics are asked for. */
export function watchDaemon(
  registry: Registry,
  o: { store: Pick<Store, 'stats'>; calls: Pick<Calls, 'live' | 'accepting'>; log: Pick<Log, 'error'> },
): void {
  type Stats = Awaited<ReturnType<Store['stats']>>;
  let asked: Promise<Stats | null> | null = null;
  /** One question a scrape: all gauges are collected at once. Null when storage fails: other metrics are wanted then most. */
  function stats(): Promise<Stats | null> {
    asked ??= o.store
      .stats()
      .catch((error: unknown) => {
        o.log.error({ err: error }, 'metrics.storage_failed');
        return null;
      })
      .finally(() => {
        asked = null;
      });
    return asked;
  }

  const registers = [registry];
  const ofStore: [name: string, help: string, key: keyof Stats][] = [
    ['offhook_deliveries_pending', 'Webhook deliveries that wait for an attempt', 'pendingDeliveries'],
    [
      'offhook_deliveries_oldest_overdue_seconds',
      'How late the most overdue delivery is',
      'oldestPendingSeconds',
    ],
    ['offhook_calls_unfinished', 'Calls without a terminal status', 'unfinishedCalls'],
    ['offhook_storage_wal_bytes', 'Bytes of the write-ahead log', 'walBytes'],
    ['offhook_storage_kept_writes', 'Writes in memory that the disk does not take', 'keptWrites'],
  ];
  for (const [name, help, key] of ofStore) {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        this.set((await stats())?.[key] ?? Number.NaN);
      },
    });
  }
  new Gauge({
    name: 'offhook_calls_live',
    help: 'Live calls by media thread',
    labelNames: ['thread'] as const,
    registers,
    collect() {
      this.reset();
      for (const call of o.calls.live()) this.inc({ thread: call.thread });
    },
  });
  new Gauge({
    name: 'offhook_calls_accepting',
    help: '1 while new calls are taken, 0 while draining',
    registers,
    collect() {
      this.set(o.calls.accepting() ? 1 : 0);
    },
  });
}
