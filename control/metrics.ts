// Prometheus metrics of the process, of HTTP and of what the store and the bridge hold. Others add theirs to the registry.
import type { RequestHandler } from 'express';
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Calls } from '../bridge/calls.ts';
import type { Log } from '../log.ts';
import type { Store } from '../storage/store.ts';
import { contextOf } from './request-context.ts';

/** A registry with the process's own metrics. */
export function createMetrics(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
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

/** Gauges of the store and of live calls, read when the metrics are asked for. */
export function watchDaemon(
  registry: Registry,
  o: { store: Pick<Store, 'stats'>; calls: Pick<Calls, 'live' | 'accepting'>; log: Pick<Log, 'error'> },
): void {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers: [registry] });
  const pending = gauge('offhook_deliveries_pending', 'Webhook deliveries that wait for an attempt');
  const oldest = gauge('offhook_deliveries_oldest_overdue_seconds', 'How late the most overdue delivery is');
  const unfinished = gauge('offhook_calls_unfinished', 'Calls without a terminal status');
  const wal = gauge('offhook_storage_wal_bytes', 'Bytes of the write-ahead log');
  const accepting = gauge('offhook_calls_accepting', '1 while new calls are taken, 0 while draining');
  new Gauge({
    name: 'offhook_calls_live',
    help: 'Live calls by media thread',
    labelNames: ['thread'] as const,
    registers: [registry],
    // One collect fills all of them: a scrape asks the store once.
    async collect() {
      this.reset();
      for (const call of o.calls.live()) this.inc({ thread: call.thread });
      accepting.set(o.calls.accepting() ? 1 : 0);
      try {
        const stats = await o.store.stats();
        pending.set(stats.pendingDeliveries);
        oldest.set(stats.oldestPendingSeconds);
        unfinished.set(stats.unfinishedCalls);
        wal.set(stats.walBytes);
      } catch (error) {
        // The other metrics are wanted most when storage fails.
        for (const one of [pending, oldest, unfinished, wal]) one.set(Number.NaN);
        o.log.error({ err: error }, 'metrics.storage_failed');
      }
    },
  });
}
