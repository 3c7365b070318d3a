// PURE. The measures beside their targets, as rows for the terminal and for docs/quality.md.
import type { Cost } from './cost.ts';
import { percentile, type Score, sum } from './scores.ts';
import type { Stream } from './set.ts';
import type { SetName } from './sounds.ts';
import type { Share, Spread, TalkScores } from './talk-scores.ts';

export interface Row {
  measure: string;
  /** A value for each column. */
  values: string[];
  target: string;
  met: boolean | null;
  /** Of several sets: those in which it is not met, where it is in others. */
  notIn?: string;
}

/** What became of a theme's calls. */
export interface ThemeRows {
  title: string;
  calls: number;
  minutes: number;
  rows: Row[];
}

/** What one detector made of every stream. */
export interface DetectorScores {
  name: string;
  scores: Score[];
}

export interface Results {
  set: SetName;
  /** What the set is made of, and what was missing. */
  sources: string[];
  missing: string[];
  streamMinutes: number;
  callMinutes: number;
  calls: number;
  vadModel: string;
  detectors: DetectorScores[];
  streams: Omit<Stream, 'pcm'>[];
  talks: TalkScores;
  themes: ThemeRows[];
}

const number = (value: number | null, digits = 0) => (value === null ? '–' : value.toFixed(digits));
const percent = (hits: number, of: number, digits = 1) =>
  of === 0 ? '–' : `${((100 * hits) / of).toFixed(digits)} %`;
const counted = ({ hits, of }: Share) => `${hits} of ${of}`;
const spread = ({ p50, p95 }: Spread) => `${number(p50)} / ${number(p95)} ms`;
const NONE: Share = { hits: 0, of: 0 };
const NOTHING: Spread = { count: 0, p50: null, p95: null, max: null };

/** Conversations: what the caller notices. */
export function talkRows(talks: TalkScores): Row[] {
  const rows: Row[] = [];
  const row = (measure: string, value: string, target = '', met: boolean | null = null) =>
    rows.push({ measure, values: [value], target, met });
  const lowered = talks.loweredMs.all ?? NOTHING;
  const silent = talks.reactionMs.all ?? NOTHING;
  const below = (value: number | null, limit: number) => value !== null && value < limit;
  row(
    'greeting heard after the stream’s start, p50 / p95',
    spread(talks.greetingMs),
    'within 300 ms',
    below(talks.greetingMs.max, 300),
  );
  row('barge-in: agent 12 dB down p50', `${number(lowered.p50)} ms`, 'under 250 ms', below(lowered.p50, 250));
  row('barge-in: agent 12 dB down p95', `${number(lowered.p95)} ms`, 'under 400 ms', below(lowered.p95, 400));
  for (const [shade, one] of Object.entries(talks.loweredMs))
    if (shade !== 'all') row(`  ${shade}, p50 / p95`, spread(one));
  row('barge-in: agent silent p50', `${number(silent.p50)} ms`, 'under 450 ms', below(silent.p50, 450));
  row('barge-in: agent silent p95', `${number(silent.p95)} ms`, 'under 800 ms', below(silent.p95, 800));
  for (const [shade, one] of Object.entries(talks.reactionMs))
    if (shade !== 'all') row(`  ${shade}, p50 / p95`, spread(one));
  row('barge-ins that did not stop the agent', counted(talks.bargeInsMissed));
  for (const [kind, label] of [
    ['echo', 'false barge-ins: the agent’s echo'],
    ['assent', 'false barge-ins: words of assent, coughs, doors'],
    ['line noise', 'false barge-ins: noise from the first second'],
  ] as const) {
    const share = talks.falseBargeIns[kind] ?? NONE;
    row(label, counted(share), 'none', share.of === 0 ? null : share.hits === 0);
    for (const [shade, one] of Object.entries(talks.falseBargeIns))
      if (shade.startsWith('assent: ') && kind === 'assent') row(`  ${shade.slice(8)}`, counted(one));
  }
  row('voice lowered for a moment: echo', counted(talks.takenBack.echo ?? NONE));
  row('voice lowered for a moment: assent, coughs, doors', counted(talks.takenBack.assent ?? NONE));
  row('voice paused for a moment: echo', counted(talks.pausedForNothing.echo ?? NONE));
  const paused = talks.pausedForNothing.assent ?? NONE;
  row(
    'voice paused for a moment: assent, coughs, doors',
    counted(paused),
    'under 10 %',
    paused.of === 0 ? null : paused.hits / paused.of < 0.1,
  );
  for (const [shade, one] of Object.entries(talks.pausedForNothing))
    if (shade.startsWith('assent: ')) row(`  ${shade.slice(8)}`, counted(one));
  row('  the agent not heard meanwhile, p50 / p95', spread(talks.pausedGapMs));
  const { clipped } = talks;
  row(
    'turns that reach the model without their beginning',
    percent(clipped.hits, clipped.of),
    'under 1 %',
    clipped.of === 0 ? null : clipped.hits / clipped.of < 0.01,
  );
  const end = talks.endOfTurnMs.all ?? NOTHING;
  row('end-of-turn decision p50', `${number(end.p50)} ms`, 'within 700 ms', below(end.p50, 700.1));
  row('end-of-turn decision p95', `${number(end.p95)} ms`);
  row('answered before the caller had finished', counted(talks.early));
  row('answered a noise, before the caller had spoken', counted(talks.answersToNoise));
  for (const [shade, share] of Object.entries(talks.cut)) {
    const audible = talks.cutAudibly[shade] ?? NONE;
    row(
      `turns cut in a pause of ${shade} (answer heard)`,
      `${counted(share)} (${audible.hits})`,
      'none',
      share.of === 0 ? null : share.hits === 0,
    );
  }
  return rows;
}

type Streams = readonly Pick<Stream, 'group' | 'levelDb' | 'snrDb' | 'name'>[];

/** Which streams a measure is taken over. */
export const SELECTIONS = {
  heard: ({ group, levelDb, snrDb }: Streams[number]) =>
    group !== 'nobody' && levelDb >= -35 && (snrDb === null || snrDb >= 10),
  hard: ({ group, snrDb }: Streams[number]) => group === 'noise' && snrDb !== null && snrDb < 10,
  faint: ({ group, levelDb }: Streams[number]) => group === 'level' && levelDb < -35,
  noise: ({ group, name }: Streams[number]) => group === 'nobody' && !/^(street|coughs|slammed)/.test(name),
  voices: ({ group, name }: Streams[number]) => group === 'nobody' && name.startsWith('street'),
  bursts: ({ group, name }: Streams[number]) => group === 'nobody' && /^(coughs|slammed)/.test(name),
} as const;

export const over = (streams: Streams, scores: readonly Score[], selection: keyof typeof SELECTIONS): Score =>
  sum(scores.filter((_, i) => SELECTIONS[selection](streams[i]!)));

/** Detectors side by side, a column each; the first is the product's and is held to the targets. */
export function detectorRows(streams: Streams, detectors: readonly DetectorScores[]): Row[] {
  const rows: Row[] = [];
  const all = (selection: keyof typeof SELECTIONS) =>
    detectors.map(({ scores }) => over(streams, scores, selection));
  const row = (measure: string, values: string[], target = '', met: boolean | null = null) =>
    rows.push({ measure, values, target, met });
  const heard = all('heard');
  const own = heard[0];
  const delays = (scores: readonly Score[], of: 'onsetDelaysMs' | 'endDelaysMs') =>
    scores.map((one) => `${number(percentile(one[of], 0.5))} / ${number(percentile(one[of], 0.95))} ms`);
  const missed = (scores: readonly Score[]) => scores.map((one) => `${one.missed} of ${one.utterances}`);
  const perMinute = (scores: readonly Score[]) =>
    scores.map((one) => (one.idleMs === 0 ? '–' : (one.falseStarts / (one.idleMs / 60_000)).toFixed(1)));
  if (own !== undefined && own.utterances > 0) {
    row('utterances missed, from -35 dB up, 10 dB over noise', missed(heard), 'none', own.missed === 0);
    row(
      'onsets clipped, pre-roll counted',
      heard.map((one) => percent(one.clipped, one.utterances)),
      'under 1 %',
      own.clipped / own.utterances < 0.01,
    );
    row(
      'speech not passed on',
      heard.map((one) => percent(one.lostMs, one.speechMs, 2)),
    );
    row('onset known after, p50 / p95', delays(heard, 'onsetDelaysMs'));
    row('end known after, p50 / p95', delays(heard, 'endDelaysMs'));
  }
  const [hard, faint] = [all('hard'), all('faint')];
  if (hard[0]!.utterances > 0) row('utterances missed, 5 dB over noise', missed(hard));
  if (faint[0]!.utterances > 0) row('utterances missed, at -40 dB', missed(faint));
  row('false starts a minute: noise, hum, music, tones', perMinute(all('noise')));
  row('false starts a minute: a street with voices', perMinute(all('voices')));
  row('false starts a minute: coughs and doors, 30 a minute', perMinute(all('bursts')));
  return rows;
}

export function costRows(costs: readonly Cost[]): Row[] {
  const batches = [...new Set(costs.map(({ batch }) => batch))];
  return batches.map((batch) => ({
    measure: `CPU per window, batch of ${batch}`,
    values: costs.filter((one) => one.batch === batch).map((one) => `${one.cpuMicrosAWindow.toFixed(0)} µs`),
    target: '',
    met: null,
  }));
}

/** Tables of one column each side by side, a column for each set; what one of them lacks is a dash. */
export function sideBySide(tables: readonly { name: string; rows: readonly Row[] }[]): Row[] {
  const order: string[] = [];
  for (const { rows } of tables) {
    let at = 0;
    for (const { measure } of rows) {
      const known = order.indexOf(measure);
      if (known >= 0) at = known + 1;
      else order.splice(at++, 0, measure);
    }
  }
  return order.map((measure) => {
    const found = tables.map(({ rows }) => rows.find((row) => row.measure === measure));
    const judged = found.flatMap((row, i) => (row === undefined || row.met === null ? [] : [{ row, i }]));
    const failed = judged.filter(({ row }) => row.met === false).map(({ i }) => tables[i]!.name);
    const partly = failed.length > 0 && failed.length < judged.length;
    return {
      measure,
      values: found.map((row) => row?.values[0] ?? '–'),
      target: found.find((row) => row !== undefined && row.target !== '')?.target ?? '',
      met: judged.length === 0 ? null : failed.length === 0,
      ...(partly && { notIn: failed.join(', ') }),
    };
  });
}

const verdict = ({ met, notIn }: Row) =>
  met === null ? '' : met ? 'met' : notIn === undefined ? 'not met' : `not met (${notIn})`;

/** Rows as lines of even columns. `paint` colours a verdict. */
export function asText(
  columns: readonly string[],
  rows: readonly Row[],
  paint: (met: boolean, text: string) => string,
): string {
  const table = [
    ['', ...columns, 'target', ''],
    ...rows.map((row) => [row.measure, ...row.values, row.target, verdict(row)]),
  ];
  const widths = table[0]!.map((_, column) => Math.max(...table.map((cells) => cells[column]?.length ?? 0)));
  return table
    .map((cells, n) =>
      cells
        .map((cell, column) => {
          const text = column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!);
          const met = n === 0 ? null : rows[n - 1]!.met;
          return column === cells.length - 1 && met !== null ? paint(met, text) : text;
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Rows as a table of a page. */
export function asMarkdown(columns: readonly string[], rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['', ...columns, 'target', '']),
    line(['---', ...columns.map(() => '---'), '---', '---']),
    ...rows.map((row) =>
      line([
        row.measure.replace(/^ {2}/, '… '),
        ...row.values,
        row.target,
        row.met === false ? `**${verdict(row)}**` : verdict(row),
      ]),
    ),
  ].join('\n');
}
