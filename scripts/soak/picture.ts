// PURE. A soak as one small SVG: what the process and its threads hold over time, and how many calls there were.
import { held, type Sample } from './samples.ts';

const WIDTH = 860;
const LEFT = 64;
const RIGHT = 24;
const PANEL = 120;
const STEP = PANEL + 46;
const TOP = 54;
const MB = 1024 * 1024;
const COLORS = ['#2563eb', '#7c3aed', '#0d9488', '#d97706'];

interface Panel {
  title: string;
  lines: { name: string; read: (sample: Sample) => number }[];
}

const mb = (read: (sample: Sample) => number) => (sample: Sample) => read(sample) / MB;
const of = (where: 'control' | 'media', kind: string) => mb((sample) => held(sample, where, kind));

const PANELS: readonly Panel[] = [
  {
    title: 'the process, MB',
    lines: [
      { name: 'resident set', read: mb((sample) => sample.residentBytes) },
      { name: 'of it no file', read: mb((sample) => sample.anonymousBytes) },
    ],
  },
  {
    title: 'heaps in use, MB',
    lines: [
      { name: 'control thread', read: of('control', 'heap_used') },
      { name: 'media threads together', read: of('media', 'heap_used') },
    ],
  },
  {
    title: 'external memory, MB',
    lines: [
      { name: 'control thread', read: of('control', 'external') },
      { name: 'media threads together', read: of('media', 'external') },
    ],
  },
  {
    title: 'calls and open files',
    lines: [
      { name: 'live calls', read: (sample) => sample.callsLive },
      { name: 'open files', read: (sample) => sample.fds },
    ],
  },
];

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function drawPanel(panel: Panel, samples: readonly Sample[], top: number): string {
  const lastSecond = Math.max(1, samples.at(-1)?.seconds ?? 1);
  const values = panel.lines.map(({ read }) => samples.map(read));
  const most = Math.max(1, ...values.flat().filter((value) => Number.isFinite(value))) * 1.08;
  const x = (seconds: number) => LEFT + (seconds / lastSecond) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => top + PANEL - (value / most) * PANEL;
  const parts = [`<text x="${LEFT}" y="${top - 8}" class="title">${escaped(panel.title)}</text>`];
  for (const share of [0, 0.5, 1]) {
    const at = y(most * share).toFixed(1);
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}" class="grid"/>`,
      `<text x="${LEFT - 8}" y="${Number(at) + 4}" text-anchor="end">${Math.round(most * share)}</text>`,
    );
  }
  panel.lines.forEach(({ name }, index) => {
    const color = COLORS[index % COLORS.length];
    const points = samples
      .map((sample, i) => [x(sample.seconds), y(values[index]?.[i] ?? Number.NaN)] as const)
      .filter(([, at]) => Number.isFinite(at))
      .map(([at, height]) => `${at.toFixed(1)},${height.toFixed(1)}`);
    parts.push(
      `<polyline points="${points.join(' ')}" fill="none" stroke="${color}" stroke-width="1.5"/>`,
      `<text x="${WIDTH - RIGHT - 150 * (panel.lines.length - 1 - index)}" y="${top - 8}" text-anchor="end" fill="${color}">${escaped(name)}</text>`,
    );
  });
  return parts.join('\n');
}

/** `title` says how long, how many lines, on what. */
export function drawSoak(title: string, samples: readonly Sample[]): string {
  const height = TOP + PANELS.length * STEP;
  const minutes = Math.round((samples.at(-1)?.seconds ?? 0) / 60);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}">
<style>text { font: 12px system-ui, sans-serif; fill: #334155; } .title { font-weight: 600; } .grid { stroke: #e2e8f0; }</style>
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="${LEFT}" y="22" style="font-size: 15px; font-weight: 600">${escaped(title)}</text>
${PANELS.map((panel, index) => drawPanel(panel, samples, TOP + index * STEP)).join('\n')}
<text x="${WIDTH - RIGHT}" y="${height - 16}" text-anchor="end">${minutes} minutes</text>
</svg>
`;
}
