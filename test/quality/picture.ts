// PURE. The picture of a run, a bar for each set: how soon the agent gives way, how long the caller waits, what the themes ask
// for beside what they got, and what each detector knows and misses.
import { over, type Results, type Row, SELECTIONS } from './report.ts';
import { percentile } from './scores.ts';
import type { SetName } from './sounds.ts';

const WIDTH = 960;
const LEFT = 270;
/** Where what is said of the bars stands. */
const SAID = 790;
const ROW = 32;
const BAR = 12;
const INK = '#1f2933';
const QUIET = '#7b8794';
const TONES: Readonly<Record<SetName, string>> = { first: '#0b7285', second: '#7048a8' };
const TARGET = '#e8590c';

const asXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const label = (
  x: number,
  y: number,
  text: string,
  o: { fill?: string; size?: number; anchor?: string } = {},
) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${o.fill ?? INK}" font-size="${o.size ?? 13}" text-anchor="${o.anchor ?? 'start'}">${asXml(text)}</text>`;

interface Panel {
  svg: string[];
  /** Where the next one begins. */
  bottom: number;
}

/** A row of a panel: its name, and of each set a value with the spread beyond it and what is said of both. */
interface PanelRow {
  name: string;
  bars: ({ set: SetName; value: number; upTo?: number; text: string } | null)[];
  target?: number;
}

/** Bars from 0, dark to the value and light to what it is spread up to. `targets` are lines through all rows. */
function panel(
  top: number,
  title: string,
  rows: readonly PanelRow[],
  o: { full: number; targets?: readonly number[]; targetText?: (value: number) => string },
): Panel {
  const scale = (SAID - LEFT - 14) / o.full;
  const x = (value: number) => Math.max(0, Math.min(value, o.full)) * scale;
  const svg = [label(24, top, title, { size: 15 })];
  let y = top + 14;
  const firstY = y;
  const upright = (value: number, fromY: number, toY: number) =>
    `<line x1="${(LEFT + x(value)).toFixed(1)}" x2="${(LEFT + x(value)).toFixed(1)}" y1="${fromY}" y2="${toY}" stroke="${TARGET}" stroke-width="1.5" stroke-dasharray="4 3"/>`;
  for (const { name, bars, target } of rows) {
    svg.push(label(LEFT - 10, y + 4 + bars.length * 7, name, { anchor: 'end' }));
    for (const [n, bar] of bars.entries()) {
      const at = y + 2 + n * (BAR + 1);
      if (bar === null) {
        svg.push(label(LEFT, at + 10, '–', { fill: QUIET, size: 11 }));
        continue;
      }
      const { set, value, upTo = value, text } = bar;
      const rect = (width: number, opacity: number) =>
        `<rect x="${LEFT}" y="${at}" width="${width.toFixed(1)}" height="${BAR}" rx="2" fill="${TONES[set]}" opacity="${opacity}"/>`;
      svg.push(rect(x(upTo), 0.3), rect(x(value), 1));
      svg.push(label(SAID, at + 10, text, { size: 11, fill: QUIET }));
    }
    if (target !== undefined) svg.push(upright(target, y, y + ROW - 4));
    y += ROW - (2 - bars.length) * (BAR + 1);
  }
  for (const target of o.targets ?? [])
    svg.push(
      upright(target, firstY - 2, y),
      label(LEFT + x(target), y + 10, o.targetText?.(target) ?? '', {
        anchor: 'middle',
        size: 11,
        fill: TARGET,
      }),
    );
  return { svg, bottom: y + 42 };
}

type Spread = { p50: number | null; p95: number | null };

const timeBar = (set: SetName, { p50, p95 }: Spread) =>
  p50 === null || p95 === null
    ? null
    : { set, value: p50, upTo: p95, text: `${p50.toFixed(0)} / ${p95.toFixed(0)} ms` };

/** What each set has by a name, side by side, in the order in which names come first. */
function sideBySide<T>(
  found: readonly Results[],
  of: (results: Results) => readonly (readonly [string, T])[],
): { name: string; ofSets: { set: SetName; one: T | undefined }[] }[] {
  const lists = found.map((results) => ({ set: results.set, by: new Map(of(results)) }));
  const names = new Set(lists.flatMap(({ by }) => [...by.keys()]));
  return [...names].map((name) => ({
    name,
    ofSets: lists.map(({ set, by }) => ({ set, one: by.get(name) })),
  }));
}

const timeRows = (found: readonly Results[], of: (results: Results) => Record<string, Spread>): PanelRow[] =>
  sideBySide(found, (results) => Object.entries(of(results))).map(({ name, ofSets }) => ({
    name,
    bars: ofSets.map(({ set, one }) => (one === undefined ? null : timeBar(set, one))),
  }));

const shareRow = ({ set, one }: { set: SetName; one: { hits: number; of: number } | undefined }) =>
  one === undefined || one.of === 0
    ? null
    : { set, value: (100 * one.hits) / one.of, text: `${one.hits} of ${one.of}` };

/** A share out of a table; null: it is none. */
function shareOf({ values: [text = ''] }: Row): { value: number; text: string } | null {
  const [, hits, of] = /^(\d+) of (\d+)(?: \(\d+\))?$/.exec(text) ?? [];
  if (hits !== undefined) return { value: (100 * Number(hits)) / Math.max(1, Number(of)), text };
  const [, percent] = /^([\d.]+) %$/.exec(text) ?? [];
  return percent === undefined ? null : { value: Number(percent), text };
}

/** The shares that the themes have a target for. */
function themeRows(found: readonly Results[]): PanelRow[] {
  const target = (row: Row) => Number(/([\d.]+) %$/.exec(row.target)?.[1] ?? Number.NaN);
  const rows = sideBySide(found, ({ themes }) =>
    themes.flatMap((theme) =>
      theme.rows.flatMap((row) =>
        Number.isNaN(target(row)) || shareOf(row) === null ? [] : [[row.measure.trim(), row] as const],
      ),
    ),
  );
  return rows.map(({ name, ofSets }) => {
    const [known] = ofSets.flatMap(({ one }) => one ?? []);
    return {
      name: name.replace(/(,| \().*/, ''),
      bars: ofSets.map(({ set, one }) => {
        const share = one === undefined ? null : shareOf(one);
        return share === null
          ? null
          : {
              set,
              value: share.value,
              text: `${share.text}, ${(one?.target ?? '').replace(/^(?=\d)/, 'at least ')}`,
            };
      }),
      target: known === undefined ? 0 : target(known),
    };
  });
}

/** @param found the results of the sets, in their order; one or more */
export function pictureOf(found: readonly Results[]): string {
  const parts: string[] = [label(24, 34, 'Turn-taking, measured', { size: 20 })];
  let x = 24;
  for (const { set, calls, callMinutes, streamMinutes, themes } of found) {
    const all = calls + themes.reduce((sum, theme) => sum + theme.calls, 0);
    const minutes = callMinutes + themes.reduce((sum, theme) => sum + theme.minutes, 0);
    parts.push(
      `<rect x="${x}" y="45" width="12" height="12" rx="2" fill="${TONES[set]}"/>`,
      label(
        x + 18,
        55,
        `${set} set: ${all} calls of ${minutes.toFixed(0)} minutes, ${streamMinutes.toFixed(0)} minutes of streams`,
        { size: 12, fill: QUIET },
      ),
    );
    x += 400;
  }
  parts.push(label(24, 75, 'p50 dark, p95 light; targets dashed', { size: 12, fill: QUIET }));
  let y = 108;
  const add = (one: Panel) => {
    parts.push(...one.svg);
    y = one.bottom;
  };
  const ms = (value: number) => `${value} ms`;
  const times = (title: string, of: (results: Results) => Record<string, Spread>, targets: number[]) =>
    add(panel(y, title, timeRows(found, of), { full: 1_000, targets, targetText: ms }));
  times(
    'Barge-in: the caller’s first sound to the agent 12 dB down',
    ({ talks }) => talks.loweredMs,
    [250, 400],
  );
  times(
    'Barge-in: the caller’s first sound to the agent’s last',
    ({ talks }) => talks.reactionMs,
    [450, 800],
  );
  times('End of turn: the caller’s last sound to the decision', ({ talks }) => talks.endOfTurnMs, [700]);
  const themes = themeRows(found);
  if (themes.length > 0) add(panel(y, 'Themes: shares that have a target', themes, { full: 100 }));
  const known = ({ streams, detectors }: Results) =>
    Object.fromEntries(
      detectors.map(({ name, scores }) => {
        const { onsetDelaysMs } = over(streams, scores, 'heard');
        return [name, { p50: percentile(onsetDelaysMs, 0.5), p95: percentile(onsetDelaysMs, 0.95) }];
      }),
    );
  add(panel(y, 'Speech known after its onset', timeRows(found, known), { full: 600 }));
  for (const [title, selects] of [
    ['from -35 dB, 10 dB over noise', SELECTIONS.heard],
    ['5 dB over noise', SELECTIONS.hard],
    ['at -40 dB', SELECTIONS.faint],
  ] as const) {
    const missed = sideBySide(found, ({ streams, detectors }) =>
      detectors.map(({ name, scores }) => {
        const chosen = scores.filter((_, i) => selects(streams[i]!));
        const total = (of: 'missed' | 'utterances') => chosen.reduce((sum, one) => sum + one[of], 0);
        return [name, { hits: total('missed'), of: total('utterances') }] as const;
      }),
    );
    const rows = missed.map(({ name, ofSets }) => ({ name, bars: ofSets.map(shareRow) }));
    add(panel(y, `Utterances missed, ${title}`, rows, { full: 100 }));
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y - 20}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
}
