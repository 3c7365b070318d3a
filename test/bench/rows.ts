// PURE. What the rounds of a run come to: medians by column and number of calls, ratios of rounds that lie near each other, and
// what the threads of a process are for.
import { COLUMN_NAMES, COLUMNS, type ColumnName } from './columns.ts';
import { median } from './load/samples.ts';
import type { Results } from './results.ts';
import type { Figures } from './round.ts';

/** Of rounds: the middle one, and from where to where they reach. */
export interface Spread {
  middle: number;
  least: number;
  most: number;
}

export type Part = 'control' | 'media' | 'v8' | 'other';

export interface Row {
  column: ColumnName;
  title: string;
  calls: number;
  rounds: number;
  /** Of them, disturbed by other work on the machine; left out where others were not. */
  disturbed: number;
  cpuUs: number;
  /** CPU to that of the bare bridge under the same load, and of the Agents SDK's transport, at as many calls. */
  toFloor: Spread;
  toAgents: Spread;
  memoryKb: number;
  newestFrame: [p50: number, p99: number, max: number];
  everyFrame: [p50: number, p99: number, max: number];
  heldFrame: [p50: number, p99: number, max: number];
  firstAudio: [p50: number, p99: number, max: number];
  latenessP99: number;
  reaction: [p50: number, p99: number];
  lost: number;
  loopDelayP99Ms: number;
  /** A call and second; what a read brings on average. */
  parts: Record<Part, { cpuUs: number; wakeUps: number; bytesARead: number }>;
  /** Why more than half of the rounds were not carried well; null when they were. */
  notCarried: string | null;
}

function spreadOf(values: readonly number[]): Spread {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length === 0) return { middle: Number.NaN, least: Number.NaN, most: Number.NaN };
  return { middle: median(known), least: Math.min(...known), most: Math.max(...known) };
}

/** The rounds that nothing else on the machine disturbed; all of them when it was never quiet. */
function quietOf(rounds: readonly Figures[]): readonly Figures[] {
  const quiet = rounds.filter((figures) => !figures.disturbed);
  return quiet.length > 0 ? quiet : rounds;
}

export function roundsOf(results: Results, column: ColumnName, calls: number): Figures[] {
  return results.rounds.filter((one) => one.column === column && one.calls === calls);
}

/** Ratios of what two columns cost, a value for each round that both have at `calls` calls. */
export function ratios(results: Results, of: ColumnName, to: ColumnName, calls: number): number[] {
  const others = roundsOf(results, to, calls);
  const pairs = roundsOf(results, of, calls).flatMap((figures) => {
    const other = others.find(({ round }) => round === figures.round);
    if (other === undefined) return [];
    return [{ ratio: figures.cpuUs / other.cpuUs, quiet: !figures.disturbed && !other.disturbed }];
  });
  const quiet = pairs.filter((pair) => pair.quiet);
  return (quiet.length > 0 ? quiet : pairs).map(({ ratio }) => ratio);
}

/** What a thread is for, by its name in the system. */
function partOf(column: ColumnName, thread: string): Part {
  if (/^V8/i.test(thread)) return 'v8';
  if (/^media/.test(thread)) return 'media';
  if (thread !== 'MainThread' && thread !== 'node') return 'other';
  return COLUMNS[column].program === 'daemon' ? 'control' : 'media';
}

function partsOf(column: ColumnName, rounds: readonly Figures[]): Row['parts'] {
  const sums = (part: Part) => {
    const of = (pick: (thread: Figures['threads'][number]) => number) =>
      median(
        rounds.map(({ threads }) =>
          threads
            .filter(({ name }) => partOf(column, name) === part)
            .reduce((sum, thread) => sum + pick(thread), 0),
        ),
      );
    return {
      cpuUs: of(({ cpuUs }) => cpuUs),
      wakeUps: of(({ wakeUps }) => wakeUps),
      bytesARead: of(({ readBytes }) => readBytes) / of(({ reads }) => reads),
    };
  };
  return { control: sums('control'), media: sums('media'), v8: sums('v8'), other: sums('other') };
}

export function rowOf(results: Results, column: ColumnName, calls: number): Row | null {
  const all = roundsOf(results, column, calls);
  if (all.length === 0) return null;
  const rounds = quietOf(all);
  const { title, program, floor } = COLUMNS[column];
  const of = (pick: (figures: Figures) => number) => median(rounds.map(pick));
  const three = (
    name: 'newestFrame' | 'everyFrame' | 'heldFrame' | 'firstAudio',
  ): [number, number, number] => [
    of((figures) => figures[name].p50),
    of((figures) => figures[name].p99),
    of((figures) => figures[name].max),
  ];
  const reaction = program === 'daemon' ? 'audibleReaction' : 'reaction';
  const failed = rounds.filter(({ notCarried }) => notCarried !== null);
  return {
    column,
    title,
    calls,
    rounds: all.length,
    disturbed: all.filter((figures) => figures.disturbed).length,
    cpuUs: of(({ cpuUs }) => cpuUs),
    toFloor: spreadOf(ratios(results, column, floor, calls)),
    toAgents: spreadOf(ratios(results, column, 'agents', calls)),
    memoryKb: of(({ memoryBytes }) => memoryBytes / 1024),
    newestFrame: three('newestFrame'),
    everyFrame: three('everyFrame'),
    heldFrame: three('heldFrame'),
    firstAudio: three('firstAudio'),
    latenessP99: of(({ lateness }) => lateness.p99),
    reaction: [of((figures) => figures[reaction].p50), of((figures) => figures[reaction].p99)],
    lost: all.reduce((sum, { lostFrames, shortAnswers }) => sum + lostFrames + shortAnswers, 0),
    loopDelayP99Ms: of(({ loopDelayP99Ms }) => loopDelayP99Ms),
    parts: partsOf(column, rounds),
    notCarried: failed.length * 2 > rounds.length ? (failed[0]?.notCarried ?? null) : null,
  };
}

/** The columns of the comparison that have rounds, at the number of calls that most of them were measured with. */
export function rowsOf(results: Results): Row[] {
  return results.options.columns.flatMap((column) => rowOf(results, column, results.options.calls) ?? []);
}

/** Calls at which the daemon was measured, the fewest first. */
export function callCounts(results: Results): number[] {
  const { calls, scaling } = results.options;
  return [...new Set([calls, ...scaling])].sort((a, b) => a - b);
}

/** Columns whose largest number of calls was looked for. */
export function climbed(results: Results): ColumnName[] {
  return COLUMN_NAMES.filter((column) => results.climbs[column] !== undefined);
}

/** The most calls that a column carried, to those of the bare bridge; NaN where either is not known. */
export function shareOfFloor(results: Results, column: ColumnName): number {
  const { climbs } = results;
  return (climbs[column]?.calls ?? Number.NaN) / (climbs.json?.calls ?? Number.NaN);
}

/**
 * How much `threads` media threads with as many times the calls do to one: by the CPU of a call, which is what their cores are
 * left with, and by the most calls; NaN where not measured.
 */
export function toOneThread(results: Results, column: ColumnName): { byCpu: Spread; byCalls: number } {
  const threads = COLUMNS[column].threads ?? 1;
  const { calls } = results.options;
  const one = roundsOf(results, 'daemon', calls);
  const many = roundsOf(results, column, calls * threads);
  const byCpu = many.flatMap((figures) => {
    const other = one.find(({ round }) => round === figures.round);
    return other === undefined ? [] : [(threads * other.cpuUs) / figures.cpuUs];
  });
  const { climbs } = results;
  return {
    byCpu: spreadOf(byCpu),
    byCalls: (climbs[column]?.calls ?? Number.NaN) / (climbs.daemon?.calls ?? Number.NaN),
  };
}

/** Kilobytes that the process grew by for each call more, along a climb: the slope through its steps. NaN with less than two. */
export function memoryOfOneMoreKb(results: Results, column: ColumnName): number {
  const steps = (results.climbs[column]?.steps ?? []).filter(({ notCarried }) => notCarried === null);
  if (steps.length < 2) return Number.NaN;
  const mean = (pick: (step: Figures) => number) =>
    steps.reduce((sum, step) => sum + pick(step), 0) / steps.length;
  const grown = (step: Figures) => step.memoryBytes * step.calls;
  const calls = mean((step) => step.calls);
  const bytes = mean(grown);
  const up = steps.reduce((sum, step) => sum + (step.calls - calls) * (grown(step) - bytes), 0);
  return up / steps.reduce((sum, step) => sum + (step.calls - calls) ** 2, 0) / 1024;
}
