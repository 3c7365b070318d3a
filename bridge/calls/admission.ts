// PURE. Which media threads take new calls. A thread that runs late takes none until it has kept time for a while, so that
// the calls it has stay as good as they were; and how soon a thread that died is started again.
import type { ThreadLoad } from '../protocol/messages.ts';

/** What of a media thread's account of its last second says whether it keeps time. */
export type Reading = Pick<ThreadLoad, 'loopDelayP99Ms' | 'frameAgeP50Ms' | 'skippedTicks'>;

export interface AdmissionRules {
  /** Event-loop delay beyond which a second counts as late; half of it, and it counts as on time. 0: nothing is late. */
  lateMs: number;
}

export type Lateness = 'loop_delay' | 'frame_age' | 'skipped_ticks' | 'silent';

export type Pace =
  /** `lateSeconds`: how many in a row were late. */
  | { at: 'on_time'; lateSeconds: number }
  /** `goodSeconds`: how many in a row were on time. */
  | { at: 'late'; why: Lateness; goodSeconds: number };

/** One late second is a pause of the host; the second in a row is load. */
const LATE_SECONDS = 2;
/** On time for so long, a thread takes calls again. */
const GOOD_SECONDS = 5;
/** Of the clock that paces the frames. */
const TICK_MS = 20;
/** A frame's age holds the line's own jitter too, so it may be this much more than the loop's delay. */
const FRAME_AGE_FACTOR = 2.5;
/** Seconds without a report after which a thread is taken for stuck. */
const SILENT_SECONDS = 5;

export const ON_TIME: Pace = { at: 'on_time', lateSeconds: 0 };

function judge(reading: Reading, limitMs: number): Lateness | null {
  // What was given up was late by all of it.
  if (reading.skippedTicks * TICK_MS > limitMs) return 'skipped_ticks';
  if (reading.loopDelayP99Ms > limitMs) return 'loop_delay';
  if ((reading.frameAgeP50Ms ?? 0) > limitMs * FRAME_AGE_FACTOR) return 'frame_age';
  return null;
}

/** The pace after a report. Between half the limit and the limit a thread stays what it is. */
export function afterReport(pace: Pace, reading: Reading, rules: AdmissionRules): Pace {
  if (rules.lateMs === 0) return ON_TIME;
  if (pace.at === 'on_time') {
    const why = judge(reading, rules.lateMs);
    if (why === null) return pace.lateSeconds === 0 ? pace : ON_TIME;
    const lateSeconds = pace.lateSeconds + 1;
    return lateSeconds >= LATE_SECONDS ? { at: 'late', why, goodSeconds: 0 } : { at: 'on_time', lateSeconds };
  }
  if (judge(reading, rules.lateMs / 2) !== null)
    return pace.goodSeconds === 0 ? pace : { ...pace, goodSeconds: 0 };
  const goodSeconds = pace.goodSeconds + 1;
  return goodSeconds >= GOOD_SECONDS ? ON_TIME : { ...pace, goodSeconds };
}

/** The pace of a thread that has said nothing for `seconds`: it cannot even tell that it is late. */
export function afterSilence(pace: Pace, seconds: number, rules: AdmissionRules): Pace {
  if (rules.lateMs === 0 || seconds < SILENT_SECONDS || (pace.at === 'late' && pace.why === 'silent'))
    return pace;
  return { at: 'late', why: 'silent', goodSeconds: 0 };
}

export interface RunningThread {
  thread: number;
  /** How many it has. */
  calls: number;
  pace: Pace;
}

/** Whether any of the running threads may take a call. */
export function admits(threads: Iterable<RunningThread>): boolean {
  for (const { pace } of threads) if (pace.at === 'on_time') return true;
  return false;
}

/**
 * The thread for a call that has been admitted: the one with the fewest calls of those on time. When all have become late
 * since, the one with the fewest: the call is there already. Null: none runs.
 */
export function choose(threads: Iterable<RunningThread>): number | null {
  let best: RunningThread | null = null;
  for (const one of threads) {
    if (best === null || burden(one) < burden(best)) best = one;
  }
  return best?.thread ?? null;
}

const burden = ({ pace, calls }: RunningThread) => (pace.at === 'late' ? 1e6 : 0) + calls;

/** Calls begun a second, before anything is known of the machine; from there on it is learned. */
export const RAMP_START = 10;
const RAMP_LEAST = 1;
const RAMP_MOST = 100;
const RAMP_GROWTH = 1.5;
/** A carrier's hook may wait this many times as long as a frame: its call only begins. */
const HOOK_WAIT_FACTOR = 12.5;

/** What a second showed of the calls that were begun in it and before. */
export interface RampSecond {
  begun: number;
  /** The longest that a request waited for the control thread, in milliseconds. */
  requestWaitMs: number;
  /** A media thread was late in it. */
  late: boolean;
}

/** Calls to begin a second at most. A call costs most while it begins, and a report of load knows nothing of those to come. */
export function afterRampSecond(perSecond: number, second: RampSecond, rules: AdmissionRules): number {
  if (second.late || second.requestWaitMs > rules.lateMs * HOOK_WAIT_FACTOR)
    return Math.max(RAMP_LEAST, perSecond / 2);
  const isUsed = second.begun >= perSecond / 2;
  return isUsed || perSecond < RAMP_START ? Math.min(RAMP_MOST, perSecond * RAMP_GROWTH) : perSecond;
}

/** Whether the last second that a thread told of was late. */
export function wasLate(pace: Pace): boolean {
  return pace.at === 'late' ? pace.goodSeconds === 0 : pace.lateSeconds > 0;
}

/** A thread that lived for so long was healthy: what it died of is not what the one before died of. */
export const HEALTHY_MS = 60_000;
/** A thread that keeps dying is started again more and more slowly. */
const RESTART_MS = [0, 250, 1_000, 5_000] as const;

/** What follows a thread's death. `deaths`: in a row, this one not counted; answers the count with it. */
export function afterDeath(deaths: number, livedMs: number): { deaths: number; restartMs: number } {
  const before = livedMs >= HEALTHY_MS ? 0 : deaths;
  return {
    deaths: before + 1,
    restartMs: RESTART_MS[Math.min(before, RESTART_MS.length - 1)] ?? 0,
  };
}
