// What a rule finds, from numbers: whether it is wrong, and the sentence that says so. PURE.
import type { AlertRule } from '../../storage/alert-records.ts';
import { percentile } from '../../storage/latency-levels.ts';
import type { CallHour, EndedCall, LatencyCount } from '../../storage/store.ts';
import type { AlertReading } from './alert-step.ts';

type Numbers = Pick<AlertRule, 'threshold' | 'window_minutes'>;

/** Fewer may be chance. */
const FEW_FAILURES = 2;
const FEW_ANSWERS = 5;
const HOUR_MS = 3_600_000;

const minutes = (count: number | null) =>
  count === 60 ? 'hour' : `${count} ${count === 1 ? 'minute' : 'minutes'}`;
const dollars = (amount: number) => `$${amount.toFixed(2)}`;
const calls = (count: number) => (count === 1 ? 'the one call' : `${count} calls`);

/** `ended`: the newest, the last first. */
export function failureReading(
  { threshold, window_minutes }: Numbers,
  ended: readonly EndedCall[],
  nowMs: number,
): AlertReading {
  const since = new Date(nowMs - (window_minutes ?? 0) * 60_000).toISOString();
  const lately = ended.filter(({ ended_at }) => ended_at >= since);
  if (lately.length === 0)
    return { value: null, wrong: false, text: `No call has ended in the last ${minutes(window_minutes)}.` };
  const failed = lately.filter((call) => call.failed);
  const value = Math.round((failed.length / lately.length) * 1_000) / 10;
  const of = `of ${calls(lately.length)} that ended in the last ${minutes(window_minutes)}`;
  if (failed.length === 0) return { value, wrong: false, text: `None ${of} failed.` };
  const counts = Map.groupBy(failed, ({ reason }) => reason ?? 'unknown');
  const [most = ['unknown', []]] = [...counts].sort((a, b) => b[1].length - a[1].length);
  const by = most[1].length === failed.length ? `by ${most[0]}` : `most of them by ${most[0]}`;
  return {
    value,
    wrong: failed.length >= FEW_FAILURES && value >= (threshold ?? 0),
    text: `${failed.length} ${of} failed (${value} %), ${by}.`,
  };
}

/** From which full hour answers are counted: the hour that goes on is the last of the window. */
export function latencyFrom({ window_minutes }: Numbers, nowMs: number): number {
  const hours = Math.ceil((window_minutes ?? 60) / 60);
  return (Math.floor(nowMs / HOUR_MS) - hours) * HOUR_MS;
}

export function latencyReading({ threshold }: Numbers, counts: readonly LatencyCount[]): AlertReading {
  const value = percentile(counts, 0.95);
  const answers = counts.reduce((sum, one) => sum + one.answers, 0);
  if (value === null) return { value, wrong: false, text: 'No answer was heard in this time.' };
  return {
    value,
    wrong: answers >= FEW_ANSWERS && value >= (threshold ?? 0),
    text: `19 of 20 answers are heard within ${value} ms of the end of the caller's words, of ${answers} in this time.`,
  };
}

/** Of the day so far, UTC: what calls are charged, or cost by estimate, whichever is more. */
export function spendReading({ threshold }: Numbers, hours: readonly CallHour[]): AlertReading {
  const sum = (one: (hour: CallHour) => number) => hours.reduce((all, hour) => all + one(hour), 0);
  const milliCents = Math.max(
    sum((hour) => hour.billedMilliCents),
    sum((hour) => hour.costMilliCents ?? 0),
  );
  const value = Math.round(milliCents / 1_000) / 100;
  return {
    value,
    wrong: value >= (threshold ?? 0),
    text: `Calls made today (UTC) come to ${dollars(value)} so far.`,
  };
}

export function waitingReading({ threshold, window_minutes }: Numbers, count: number): AlertReading {
  const many = count >= 10_000 ? 'More than 10,000' : String(count);
  return {
    value: count,
    wrong: count > (threshold ?? 0),
    text:
      count === 0
        ? `No webhook waits for longer than ${window_minutes} min.`
        : `${many} ${count === 1 ? 'webhook has' : 'webhooks have'} waited for longer than ${window_minutes} min.`,
  };
}

export function diskReading({ threshold }: Numbers, freeMb: number | null): AlertReading {
  if (freeMb === null) return { value: null, wrong: null, text: 'The free space is not known.' };
  return {
    value: freeMb,
    wrong: freeMb < (threshold ?? 0),
    text: `${freeMb} MB are free on the disk of the data folder.`,
  };
}

/** Of a part that is asked how it stands. What only warns is not down. */
export function partReading({ state, text }: { state: 'ok' | 'warn' | 'down'; text: string }): AlertReading {
  return { value: null, wrong: state === 'down', text };
}
