// PURE. The picture of a run: how soon the agent falls silent, how long the caller waits, and what each detector misses by level.
import { over, type Results, SELECTIONS } from './report.ts';
import { percentile } from './scores.ts';

const WIDTH = 960;
const INK = '#1f2933';
const QUIET = '#7b8794';
const OWN = '#0b7285';
const OTHER = '#c2255c';
const TARGET = '#e8590c';

const asXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const label = (
  x: number,
  y: number,
  text: string,
  o: { fill?: string; size?: number; anchor?: string } = {},
) =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" fill="${o.fill ?? INK}" font-size="${o.size ?? 13}" text-anchor="${o.anchor ?? 'start'}">${asXml(text)}</text>`;

interface Bar {
  name: string;
  p50: number | null;
  p95: number | null;
}

/** Bars from 0 to p95, dark to p50; targets as upright lines. */
function bars(
  top: number,
  title: string,
  list: readonly Bar[],
  o: { fullMs: number; targets: readonly number[]; fill: (n: number) => string },
): { svg: string; bottom: number } {
  const left = 250;
  const scale = (WIDTH - left - 130) / o.fullMs;
  const parts = [label(24, top, title, { size: 15 })];
  let y = top + 16;
  const firstY = y;
  for (const [n, { name, p50, p95 }] of list.entries()) {
    parts.push(label(left - 10, y + 14, name, { anchor: 'end', fill: INK }));
    if (p50 === null || p95 === null) {
      parts.push(label(left, y + 14, 'none', { fill: QUIET }));
    } else {
      const width = (ms: number) => (Math.max(0, Math.min(ms, o.fullMs)) * scale).toFixed(1);
      parts.push(
        `<rect x="${left}" y="${y + 2}" width="${width(p95)}" height="15" rx="2" fill="${o.fill(n)}" opacity=".3"/>`,
        `<rect x="${left}" y="${y + 2}" width="${width(p50)}" height="15" rx="2" fill="${o.fill(n)}"/>`,
        label(left + Number(width(p95)) + 6, y + 14, `${p50.toFixed(0)} / ${p95.toFixed(0)} ms`, {
          size: 12,
          fill: QUIET,
        }),
      );
    }
    y += 22;
  }
  for (const target of o.targets)
    parts.push(
      `<line x1="${left + target * scale}" x2="${left + target * scale}" y1="${firstY - 2}" y2="${y}" stroke="${TARGET}" stroke-dasharray="4 3"/>`,
      label(left + target * scale, y + 12, `${target} ms`, { anchor: 'middle', size: 11, fill: TARGET }),
    );
  return { svg: parts.join(''), bottom: y + 40 };
}

export function pictureOf(results: Results): string {
  const { talks, detectors, streams } = results;
  const parts: string[] = [label(24, 34, 'Turn-taking, measured', { size: 20 })];
  parts.push(
    label(
      24,
      54,
      `${results.calls} calls of ${results.callMinutes.toFixed(0)} minutes and ${results.streamMinutes.toFixed(0)} minutes of labelled streams · p50 dark, p95 light · targets dashed`,
      { size: 12, fill: QUIET },
    ),
  );
  const shaded = (
    list: Record<string, { p50: number | null; p95: number | null }>,
    order: (name: string) => string,
  ) => Object.entries(list).map(([name, { p50, p95 }]) => ({ name: order(name), p50, p95 }));
  let y = 92;
  const lowered = bars(
    y,
    'Barge-in: the caller’s first sound to the agent 12 dB down',
    shaded(talks.loweredMs, (name) => name),
    {
      fullMs: 1_000,
      targets: [250, 400],
      fill: () => OWN,
    },
  );
  parts.push(lowered.svg);
  y = lowered.bottom;
  const reaction = bars(
    y,
    'Barge-in: the caller’s first sound to the agent’s last',
    shaded(talks.reactionMs, (name) => name),
    {
      fullMs: 1_000,
      targets: [450, 800],
      fill: () => OWN,
    },
  );
  parts.push(reaction.svg);
  y = reaction.bottom;
  const ends = bars(
    y,
    'End of turn: the caller’s last sound to the decision',
    shaded(talks.endOfTurnMs, (name) => name),
    {
      fullMs: 1_000,
      targets: [700],
      fill: () => OWN,
    },
  );
  parts.push(ends.svg);
  y = ends.bottom;
  const onset = bars(
    y,
    'Speech known after its onset',
    detectors.map(({ name, scores }) => {
      const { onsetDelaysMs } = over(streams, scores, 'heard');
      return { name, p50: percentile(onsetDelaysMs, 0.5), p95: percentile(onsetDelaysMs, 0.95) };
    }),
    { fullMs: 600, targets: [], fill: (n) => (n === detectors.length - 1 ? OTHER : OWN) },
  );
  parts.push(onset.svg);
  y = onset.bottom;

  // Missed utterances by condition, a row per detector.
  parts.push(label(24, y, 'Utterances missed', { size: 15 }));
  const columns = [
    ['from -35 dB, 10 dB over noise', SELECTIONS.heard],
    ['5 dB over noise', SELECTIONS.hard],
    ['at -40 dB', SELECTIONS.faint],
  ] as const;
  for (const [n, [name]] of columns.entries())
    parts.push(label(250 + n * 230, y, name, { size: 12, fill: QUIET }));
  for (const [n, { name, scores }] of detectors.entries()) {
    const at = y + 24 + n * 22;
    parts.push(label(240, at, name, { anchor: 'end' }));
    for (const [column, [, selects]] of columns.entries()) {
      const chosen = scores.filter((_, i) => selects(streams[i]!));
      const missed = chosen.reduce((total, one) => total + one.missed, 0);
      const of = chosen.reduce((total, one) => total + one.utterances, 0);
      const share = of === 0 ? 0 : missed / of;
      const x = 250 + column * 230;
      parts.push(
        `<rect x="${x}" y="${at - 11}" width="120" height="13" rx="2" fill="${QUIET}" opacity=".15"/>`,
        `<rect x="${x}" y="${at - 11}" width="${(120 * Math.min(1, share)).toFixed(1)}" height="13" rx="2" fill="${n === detectors.length - 1 ? OTHER : OWN}"/>`,
        label(x + 126, at, `${missed} of ${of}`, { size: 12, fill: QUIET }),
      );
    }
  }
  const height = y + 24 + detectors.length * 22 + 10;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="#fff"/>${parts.join('')}</svg>\n`;
}
