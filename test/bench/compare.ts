// PURE. Two runs held against each other: for each column what was measured then and now, and whether more has changed than the
// rounds of a run differ by among themselves. All by logarithms: a ratio of ratios is a difference there.
import { COLUMNS, type ColumnName } from './columns.ts';
import type { Results } from './results.ts';
import type { Figures } from './round.ts';
import { climbed, memoryOfOneMoreKb, ratios, roundsOf, shareOfFloor } from './rows.ts';
import { fixed, type Section, whole } from './text.ts';

/** Standard errors that make a difference: one in twenty is larger by chance. */
const ERRORS = 2;
/** With fewer rounds more than there are columns, how much rounds differ is not known. */
const LEAST_FREEDOM = 3;
/** A latency of nothing has no logarithm. */
const LEAST_MS = 0.01;

interface Measure {
  name: string;
  digits: number;
  /** A value for each round. */
  of(results: Results, column: ColumnName, calls: number): number[];
}

const each = (pick: (figures: Figures) => number) => (results: Results, column: ColumnName, calls: number) =>
  roundsOf(results, column, calls).map(pick);

const MEASURES: readonly Measure[] = [
  {
    name: 'CPU to the bare bridge',
    digits: 2,
    of: (results, column, calls) =>
      COLUMNS[column].floor === column ? [] : ratios(results, column, COLUMNS[column].floor, calls),
  },
  { name: 'memory per call, kB', digits: 0, of: each(({ memoryBytes }) => memoryBytes / 1024) },
  { name: 'newest frame p99, ms', digits: 1, of: each(({ newestFrame }) => newestFrame.p99) },
  { name: 'every frame p99, ms', digits: 1, of: each(({ everyFrame }) => everyFrame.p99) },
  { name: 'first audio p99, ms', digits: 1, of: each(({ firstAudio }) => firstAudio.p99) },
];

interface Cell {
  column: ColumnName;
  calls: number;
  before: number[];
  after: number[];
}

const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
const mean = (values: readonly number[]) => sum(values) / values.length;
const logs = (values: readonly number[]) =>
  values.filter((value) => !Number.isNaN(value)).map((value) => Math.log(Math.max(LEAST_MS, value)));

function cellsOf(measure: Measure, before: Results, after: Results): Cell[] {
  const places = new Map<string, { column: ColumnName; calls: number }>();
  for (const { column, calls } of after.rounds) places.set(`${column} ${calls}`, { column, calls });
  return [...places.values()]
    .map(({ column, calls }) => ({
      column,
      calls,
      before: logs(measure.of(before, column, calls)),
      after: logs(measure.of(after, column, calls)),
    }))
    .filter((cell) => cell.before.length > 0 && cell.after.length > 0);
}

/** How much rounds of the same column differ, a standard deviation over all of them; NaN when there are too few to know. */
function noiseOf(cells: readonly Cell[]): number {
  const groups = cells.flatMap(({ before, after }) => [before, after]);
  const freedom = sum(groups.map((group) => group.length - 1));
  if (freedom < LEAST_FREEDOM) return Number.NaN;
  const squares = groups.flatMap((group) => group.map((value) => (value - mean(group)) ** 2));
  return Math.sqrt(sum(squares) / freedom);
}

export interface Change {
  title: string;
  measure: string;
  digits: number;
  /** Geometric means of the rounds, and their ends. */
  before: { mean: number; least: number; most: number };
  after: { mean: number; least: number; most: number };
  /** New to old. */
  ratio: number;
  /** Null: there were too few rounds to know. */
  outsideNoise: boolean | null;
}

function reach(group: readonly number[]): Change['before'] {
  return {
    mean: Math.exp(mean(group)),
    least: Math.exp(Math.min(...group)),
    most: Math.exp(Math.max(...group)),
  };
}

/** What has changed from one run to another, column by column. */
export function changes(before: Results, after: Results): Change[] {
  return MEASURES.flatMap((measure) => {
    const cells = cellsOf(measure, before, after);
    const noise = noiseOf(cells);
    return cells.map((cell): Change => {
      const difference = mean(cell.after) - mean(cell.before);
      const error = noise * Math.sqrt(1 / cell.before.length + 1 / cell.after.length);
      return {
        title: `${COLUMNS[cell.column].title}, ${cell.calls} calls`,
        measure: measure.name,
        digits: measure.digits,
        before: reach(cell.before),
        after: reach(cell.after),
        ratio: Math.exp(difference),
        outsideNoise: Number.isNaN(error) ? null : Math.abs(difference) > ERRORS * error,
      };
    });
  });
}

/** What is measured once a run has no noise to be held against. */
function once(before: Results, after: Results): string[][] {
  const pairs: [string, number, number, number][] = [
    ...climbed(after)
      .filter((column) => column !== 'json')
      .map((column): [string, number, number, number] => [
        `${COLUMNS[column].title}: largest number of calls to the bare bridge's`,
        shareOfFloor(before, column),
        shareOfFloor(after, column),
        2,
      ]),
    [
      'Offhook: memory of a further call, kB',
      memoryOfOneMoreKb(before, 'daemon'),
      memoryOfOneMoreKb(after, 'daemon'),
      0,
    ],
  ];
  return pairs
    .filter(([, then, now]) => !Number.isNaN(then) && !Number.isNaN(now))
    .map(([name, then, now, digits]) => [
      name,
      fixed(then, digits),
      fixed(now, digits),
      `×${fixed(now / then, 2)}`,
      'one measure',
    ]);
}

/** What makes two runs hard to compare: another machine, another load. */
export function differences(before: Results, after: Results): string[] {
  const of = ({ environment, options, placement }: Results): Record<string, unknown> => ({
    CPU: environment.cpu,
    cores: environment.cores,
    Node: environment.node,
    system: environment.system,
    placement,
    seconds: options.seconds,
    'warm-up': [options.warmUpSeconds, options.warmUpCallSeconds],
    'turns of old calls': options.agedTurns,
    settings: options.settings,
    threads: options.threads,
  });
  const [then, now] = [of(before), of(after)];
  return Object.keys(now)
    .filter((name) => JSON.stringify(then[name]) !== JSON.stringify(now[name]))
    .map((name) => `${name}: ${JSON.stringify(then[name])} then, ${JSON.stringify(now[name])} now`);
}

/** The comparison as a table: old, new, and how they stand to each other. */
export function comparisonOf(before: Results, after: Results): Section {
  const range = ({ mean: middle, least, most }: Change['before'], digits: number) => {
    const text = (value: number) => (digits === 0 ? whole(value) : fixed(value, digits));
    return least === most ? text(middle) : `${text(middle)} (${text(least)}–${text(most)})`;
  };
  const verdict = (outside: boolean | null) =>
    outside === null ? 'too few rounds to tell' : outside ? 'changed' : 'within the noise of rounds';
  return {
    title: `From ${before.environment.commit ?? before.environment.at} to ${after.environment.commit ?? after.environment.at}`,
    head: ['', 'old', 'new', 'new to old', ''],
    rows: [
      ...changes(before, after).map((change) => [
        `${change.title}: ${change.measure}`,
        range(change.before, change.digits),
        range(change.after, change.digits),
        `×${fixed(change.ratio, 2)}`,
        verdict(change.outsideNoise),
      ]),
      ...once(before, after),
    ],
  };
}
