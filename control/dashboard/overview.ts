// How the phone line did over a day, a week or a month, from what storage has added up by the hour. PURE.
import { percentile } from '../../storage/latency-levels.ts';
import type { CallHour, LatencyCount } from '../../storage/store.ts';
import type { Range, Overview as Shown } from './app/session-shapes.ts';

const HOUR_MS = 3_600_000;

/** Ranges, and into how many steps of how many hours each falls. The last step is the one that is going on. */
export const RANGES = {
  '24h': { steps: 24, hours: 1 },
  '7d': { steps: 28, hours: 6 },
  '30d': { steps: 30, hours: 24 },
} as const satisfies Record<Range, unknown>;

/** Of which the route tells whom it was measured against. */
export type Overview = Omit<Shown, 'measured_against'>;

type Latency = Pick<Overview['series'][number], 'p50_ms' | 'p95_ms'>;

/** The time that a range means now: whole steps of UTC, the one that is going on included. */
export function spanOf(range: Range, nowMs: number): { fromMs: number; toMs: number; stepMs: number } {
  const { steps, hours } = RANGES[range];
  const stepMs = hours * HOUR_MS;
  const toMs = (Math.floor(nowMs / stepMs) + 1) * stepMs;
  return { fromMs: toMs - steps * stepMs, toMs, stepMs };
}

const latencyOf = (counts: readonly LatencyCount[]): Latency => ({
  p50_ms: percentile(counts, 0.5),
  p95_ms: percentile(counts, 0.95),
});

const total = (hours: readonly CallHour[], key: Exclude<keyof CallHour, 'hour' | 'costMilliCents'>) =>
  hours.reduce((sum, hour) => sum + hour[key], 0);

/** Calls that have ended, each in one class; the others may yet be answered. */
function classesOf(hours: readonly CallHour[]) {
  const [completed, failed] = [total(hours, 'completed'), total(hours, 'failed')];
  return { completed, failed, unreached: total(hours, 'ended') - completed - failed };
}

function costOf(hours: readonly CallHour[]): number | null {
  const known = hours.flatMap(({ costMilliCents }) => (costMilliCents === null ? [] : [costMilliCents]));
  return known.length === 0 ? null : Math.round(known.reduce((sum, cost) => sum + cost, 0));
}

/** Puts the overview together; `hours` and `latencies` are those of `spanOf`. */
export function overviewOf(o: {
  range: Range;
  nowMs: number;
  live: number;
  hours: readonly CallHour[];
  latencies: readonly LatencyCount[];
  failures: { reason: string; count: number }[];
}): Overview {
  const { fromMs, toMs, stepMs } = spanOf(o.range, o.nowMs);
  const stepOf = ({ hour }: { hour: string }) =>
    Math.floor((Date.parse(`${hour}:00:00.000Z`) - fromMs) / stepMs);
  const hoursOf = Map.groupBy(o.hours, stepOf);
  const latenciesOf = Map.groupBy(o.latencies, stepOf);
  const calls = total(o.hours, 'calls');
  const inbound = total(o.hours, 'inbound');
  const ended = total(o.hours, 'ended');
  return {
    range: o.range,
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    totals: {
      calls,
      inbound,
      outbound: calls - inbound,
      ...classesOf(o.hours),
      live: o.live,
      talk_seconds: total(o.hours, 'talkSeconds'),
    },
    completed_rate: ended === 0 ? null : total(o.hours, 'completed') / ended,
    latency: {
      ...latencyOf(o.latencies),
      turns: o.latencies.reduce((sum, { answers }) => sum + answers, 0),
    },
    failures: o.failures,
    spend: { billed_milli_cents: total(o.hours, 'billedMilliCents'), cost_milli_cents: costOf(o.hours) },
    series: Array.from({ length: RANGES[o.range].steps }, (_none, step) => {
      const hours = hoursOf.get(step) ?? [];
      return {
        at: new Date(fromMs + step * stepMs).toISOString(),
        calls: total(hours, 'calls'),
        ...classesOf(hours),
        ...latencyOf(latenciesOf.get(step) ?? []),
        billed_milli_cents: total(hours, 'billedMilliCents'),
        cost_milli_cents: costOf(hours),
      };
    }),
  };
}
