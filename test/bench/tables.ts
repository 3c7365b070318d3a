// PURE. A run's tables: what the terminal shows and docs/bench.md keeps. A ratio's table says of how many calls it is.
import { COLUMNS, THREAD_COLUMNS } from './columns.ts';
import type { Climb, Results } from './results.ts';
import {
  callCounts,
  climbed,
  type Part,
  type Row,
  rowOf,
  rowsOf,
  shareOfFloor,
  toOneThread,
} from './rows.ts';
import { targetsOf } from './targets.ts';
import { fixed, ranged, type Section, sideBySide, whole } from './text.ts';

export const PARTS: Readonly<Record<Part, string>> = {
  media: 'the calls',
  control: 'control thread',
  v8: 'V8: garbage collection and compiling',
  other: 'other threads',
};

function comparison(results: Results): Section {
  const at = `at ${results.options.calls}`;
  return {
    title: `Cost and latency ${at} calls`,
    head: [
      '',
      'CPU µs per call-second',
      `to bare bridge ${at}`,
      `to Agents SDK ${at}`,
      'memory per call',
      'newest frame p50 / p99 / max ms',
      'first audio p50 / p99 / max ms',
      'gap in an answer p99 ms',
      'barge-in p50 / p99 ms',
      'lost',
      'rounds (disturbed)',
    ],
    rows: rowsOf(results).map((row) => [
      row.title,
      whole(row.cpuUs),
      ranged(row.toFloor),
      ranged(row.toAgents),
      `${whole(row.memoryKb)} kB`,
      sideBySide(row.newestFrame),
      sideBySide(row.firstAudio),
      fixed(row.latenessP99),
      sideBySide(row.reaction, 0),
      String(row.lost),
      `${row.rounds} (${row.disturbed})`,
    ]),
  };
}

function uplink(results: Results): Section {
  const p = 'p50 / p99 / max ms';
  return {
    title: `From the caller's mouth to the model at ${results.options.calls} calls`,
    head: [
      '',
      `newest frame of an append ${p}`,
      `every frame of it ${p}`,
      `held until its turn was known ${p}`,
    ],
    rows: rowsOf(results).map((row) => [
      row.title,
      sideBySide(row.newestFrame),
      sideBySide(row.everyFrame),
      sideBySide(row.heldFrame),
    ]),
  };
}

function byCalls(results: Results): Section {
  const rows = callCounts(results).flatMap((calls) => {
    const daemon = rowOf(results, 'daemon', calls);
    return daemon === null ? [] : [{ calls, daemon, floor: rowOf(results, 'json', calls) }];
  });
  return {
    title: 'By the number of calls',
    head: [
      'calls',
      'Offhook, CPU µs per call-second',
      'bare bridge at as many',
      'ratio at as many',
      'newest frame p99 ms',
      'first audio p99 ms',
      'loop delay p99 ms',
      'carried',
    ],
    rows: rows.map(({ calls, daemon, floor }) => [
      String(calls),
      whole(daemon.cpuUs),
      whole(floor?.cpuUs ?? Number.NaN),
      ranged(daemon.toFloor),
      fixed(daemon.newestFrame[1]),
      fixed(daemon.firstAudio[1]),
      fixed(daemon.loopDelayP99Ms),
      daemon.notCarried ?? 'yes',
    ]),
  };
}

const ENDS: Readonly<Record<Exclude<Climb['ended']['why'], 'not carried'>, string>> = {
  ladder: 'the ladder was over',
  time: 'the time was over',
  load: 'the load could not keep up',
};

/** The most calls of a climb, and more where it was not the subject that ended it. */
export function mostOf({ calls, ended }: Climb): string {
  if (ended.why === 'not carried') return String(calls);
  return calls === 0 ? 'not measured' : `${calls} or more`;
}

const endOf = ({ ended }: Climb) => (ended.why === 'not carried' ? ended.text : ENDS[ended.why]);

function largest(results: Results): Section {
  return {
    title:
      'Largest number of calls, p99 of what is added under 20 ms both ways and nothing lost; steps of 50',
    head: ['', 'calls', "share of the bare bridge's", 'newest frame, first audio p99 ms there', 'ended by'],
    rows: climbed(results).map((column) => {
      const climb = results.climbs[column]!;
      const top = climb.steps.findLast(({ notCarried }) => notCarried === null);
      const share = shareOfFloor(results, column);
      return [
        COLUMNS[column].title,
        mostOf(climb),
        fixed(share, 2),
        sideBySide([top?.newestFrame.p99 ?? Number.NaN, top?.firstAudio.p99 ?? Number.NaN]),
        endOf(climb),
      ];
    }),
  };
}

function threads(results: Results): Section {
  const { calls } = results.options;
  const many = THREAD_COLUMNS.filter((column) => results.rounds.some((one) => one.column === column));
  return {
    title: 'Media threads, each with a core and as many calls',
    head: [
      'threads',
      'calls',
      'CPU µs per call-second',
      `calls for the CPU of a core, to one thread at ${calls}`,
      'newest frame, first audio p99 ms',
      'largest number of calls',
      'to one thread',
    ],
    rows: (many.length === 0 ? [] : (['daemon', ...many] as const)).flatMap((column) => {
      const { threads: count = 1 } = COLUMNS[column];
      const row = rowOf(results, column, calls * count);
      if (row === null) return [];
      const climb = results.climbs[column];
      const { byCpu, byCalls: most } = toOneThread(results, column);
      return [
        [
          String(count),
          String(row.calls),
          whole(row.cpuUs),
          ranged(byCpu),
          sideBySide([row.newestFrame[1], row.firstAudio[1]]),
          climb === undefined ? '–' : mostOf(climb),
          fixed(most, 2),
        ],
      ];
    }),
  };
}

function whereTheTimeGoes(results: Results): Section {
  const parts = Object.keys(PARTS) as Part[];
  const readers = ['media', 'control'] as const;
  /** Of a thread that the program does not have, or that did nothing. */
  const orNone = (text: string, row: Row, part: Part) => (row.parts[part].cpuUs === 0 ? '–' : text);
  return {
    title: `Where the time goes at ${results.options.calls} calls, a call and second`,
    head: [
      '',
      ...parts.map((part) => `${PARTS[part]} µs`),
      ...readers.map((part) => `wake-ups of ${PARTS[part]}`),
      ...readers.map((part) => `bytes a read of ${PARTS[part]}`),
    ],
    rows: rowsOf(results).map((row) => [
      row.title,
      ...parts.map((part) => orNone(whole(row.parts[part].cpuUs), row, part)),
      ...readers.map((part) => orNone(fixed(row.parts[part].wakeUps), row, part)),
      ...readers.map((part) => orNone(whole(row.parts[part].bytesARead), row, part)),
    ]),
  };
}

function targets(results: Results): Section {
  return {
    title: 'Targets',
    head: ['target', 'this run', ''],
    rows: targetsOf(results).map(({ text, value, met }) => [
      text,
      value,
      met === null ? '–' : met ? 'met' : 'not met',
    ]),
  };
}

/** The tables that this run has rows for. */
export function sectionsOf(results: Results): Section[] {
  return [comparison, uplink, byCalls, largest, threads, whereTheTimeGoes, targets]
    .map((section) => section(results))
    .filter(({ rows }) => rows.length > 0);
}

/** Columns that were asked for and have no figures, with why. */
export function missingFrom(results: Results): string[] {
  const { options, packages, left, rounds } = results;
  return options.columns
    .filter((column) => rounds.every((one) => one.column !== column))
    .map((column) => {
      const { title, program, threads: count } = COLUMNS[column];
      const found = program === 'agents' || program === 'framework' ? packages[program] : undefined;
      const why =
        left.find((one) => one.column === column)?.why ??
        (found !== undefined && 'missing' in found
          ? `its packages could not be installed: ${found.missing}`
          : count === undefined
            ? 'the time was over'
            : `it needs ${count} cores beside those of the load`);
      return `${title}: not measured, ${why}`;
    });
}
