// PURE. What a soak shows: memory of its second half against the first, how the threads kept time, and whether every call
// ended as it should.
import type { Account } from './callers.ts';
import { held, type Reading, type Sample } from './samples.ts';

export interface Check {
  name: string;
  /** calls and frames hold on any machine; memory wants a long run, time a quiet machine. */
  of: 'calls' | 'memory' | 'time';
  value: string;
  violations: string[];
}

/** The second half may be this much above the first. */
const MOST_GROWTH = 0.05;
/** What a heap may grow by without being called growth: a page more or less of each thread. */
const LEAST_BYTES = 2 * 1024 * 1024;
/** Handles and files come and go with the calls. */
const LEAST_FILES = 8;
const MOST_WAL_BYTES = 64 * 1024 * 1024;
const MOST_DELAY_MS = 20;
/** One frame in a hundred may wait for 20 ms or more: the 99th of a hundred is below that. */
const MOST_LATE = 0.01;
const MB = 1024 * 1024;
const SHOWN = 20;

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Growth an hour by least squares. */
export function slopeAnHour(samples: readonly Sample[], read: (sample: Sample) => number): number {
  const points = samples.map((sample) => [sample.seconds / 3600, read(sample)] as const);
  const mean = (at: 0 | 1) => points.reduce((all, point) => all + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  let over = 0;
  let under = 0;
  for (const [hours, value] of points) {
    over += (hours - x) * (value - y);
    under += (hours - x) ** 2;
  }
  return under === 0 ? Number.NaN : over / under;
}

function growth(
  name: string,
  o: {
    halves: readonly [Sample[], Sample[]];
    read: (sample: Sample) => number;
    /** Which of a half's samples stands for it: the middle, or nearly the lowest, as after a collection. */
    share: number;
    unit: 'MB' | '';
    least: number;
  },
): Check {
  const [first, second] = o.halves.map((half) => quantile(half.map(o.read), o.share)) as [number, number];
  const scale = o.unit === 'MB' ? MB : 1;
  const shown = (value: number) =>
    `${(value / scale).toFixed(o.unit === 'MB' ? 1 : 0)}${o.unit && ` ${o.unit}`}`;
  const percent = (second / first - 1) * 100;
  const slope = slopeAnHour(o.halves[1], o.read);
  const value = `${shown(first)} -> ${shown(second)} (${percent >= 0 ? '+' : ''}${percent.toFixed(1)} %; within the second half ${shown(slope)} an hour)`;
  const grew = second - first > Math.max(first * MOST_GROWTH, o.least);
  return { name, of: 'memory', value, violations: grew ? [`${name} grew: ${value}`] : [] };
}

/** `settleSeconds` from the start on count for neither half: caches fill, code is compiled. */
export function judgeMemory(samples: readonly Sample[], settleSeconds: number): Check[] {
  const counted = samples.filter(({ seconds }) => seconds >= settleSeconds);
  if (counted.length < 4) return [];
  const middle = Math.floor(counted.length / 2);
  const halves = [counted.slice(0, middle), counted.slice(middle)] as const;
  const heap = (where: 'control' | 'media', kind: string) => (sample: Sample) => held(sample, where, kind);
  const middleOf = { halves, share: 0.5, unit: 'MB', least: 0 } as const;
  const lowestOf = { halves, share: 0.1, unit: 'MB', least: LEAST_BYTES } as const;
  const checks = [
    growth('resident set', { ...middleOf, read: ({ residentBytes }) => residentBytes }),
    growth('control thread: heap after collections', { ...lowestOf, read: heap('control', 'heap_used') }),
    growth('control thread: external memory', { ...lowestOf, read: heap('control', 'external') }),
    growth('media threads: heap after collections', { ...lowestOf, read: heap('media', 'heap_used') }),
    growth('media threads: external memory', { ...lowestOf, read: heap('media', 'external') }),
    growth('open files', { ...middleOf, unit: '', least: LEAST_FILES, read: ({ fds }) => fds }),
    growth('handles of the control thread', {
      ...middleOf,
      unit: '',
      least: LEAST_FILES,
      read: ({ handles }) => handles,
    }),
  ];
  const wal = Math.max(...samples.map(({ walBytes }) => walBytes));
  checks.push({
    name: 'write-ahead log, at most',
    of: 'memory',
    value: `${(wal / MB).toFixed(1)} MB`,
    violations: wal > MOST_WAL_BYTES ? [`the write-ahead log grew to ${(wal / MB).toFixed(0)} MB`] : [],
  });
  return checks;
}

/** Over all frames of the run: bursts of a second weigh what they weigh in the sound. */
function lateFrames(readings: readonly Reading[]): Check {
  const [first, last] = [readings[0], readings.at(-1)];
  const frames = (last?.framesIn ?? 0) - (first?.framesIn ?? 0);
  const late = (last?.framesLate ?? 0) - (first?.framesLate ?? 0);
  const value = `${late} of ${frames} (${((late / Math.max(1, frames)) * 100).toFixed(2)} %)`;
  const name = 'frames that waited 20 ms or more';
  return { name, of: 'time', value, violations: late <= frames * MOST_LATE ? [] : [`${name}: ${value}`] };
}

/** Over every second that was read. */
export function judgeTime(readings: readonly Reading[]): Check[] {
  const check = (name: string, read: (reading: Reading) => number, limitMs: number | null): Check => {
    const all = readings.map(read);
    const [p50, p99] = [quantile(all, 0.5), quantile(all, 0.99)];
    const value = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms of ${all.length} seconds`;
    return {
      name,
      of: 'time',
      value,
      violations: limitMs === null || p99 < limitMs ? [] : [`${name}: ${value}`],
    };
  };
  return [
    check("media threads' loop delay (the worst thread's p99)", (one) => one.mediaLoopP99Ms, MOST_DELAY_MS),
    check("frames' wait for their thread (the worst thread's p99)", (one) => one.frameAgeP99Ms, null),
    lateFrames(readings),
    check("control thread's loop delay (p99)", (one) => one.controlLoopP99Ms, null),
  ];
}

export function judgeCalls(account: Account, left: { callsLive: number; callsHeld: number }): Check[] {
  const { unexplained, violations } = account;
  const share = account.framesSent === 0 ? 0 : account.framesLost / account.framesSent;
  const leftOver = left.callsLive + left.callsHeld;
  return [
    {
      name: 'calls',
      of: 'calls',
      value: `${account.calls}, ${(account.talkSeconds / 3600).toFixed(1)} hours of talk; ${account.refused} refused before they rang, ${account.unanswered} requests cut off`,
      violations: account.calls === 0 ? ['there was no call'] : [],
    },
    {
      name: 'ends that nothing explains',
      of: 'calls',
      value: String(unexplained.length),
      violations: unexplained.slice(0, SHOWN),
    },
    {
      name: 'frames lost on the way in',
      of: 'calls',
      value: `${account.framesLost} of ${account.framesSent}; ${Math.round(account.framesFilled)} filled in`,
      violations: share > 0 ? [`${account.framesLost} frames were sent and never worked on`] : [],
    },
    {
      name: "holes in the agent's speech",
      of: 'time',
      value: `${account.holes}, ${Math.round(account.holeMs)} ms in all, the longest ${Math.round(account.longestHoleMs)} ms`,
      violations: [],
    },
    {
      name: "the carrier's complaints",
      of: 'calls',
      value: String(violations.length),
      violations: violations.slice(0, SHOWN),
    },
    {
      name: 'calls left behind',
      of: 'calls',
      value: String(leftOver),
      violations: leftOver > 0 ? [`${left.callsLive} live, ${left.callsHeld} held by media threads`] : [],
    },
  ];
}
