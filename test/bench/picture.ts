// PURE. The bench as a picture: CPU per call with its threads, the latencies, and how many calls each carries.
import { COLUMNS } from './columns.ts';
import type { Results } from './results.ts';
import { climbed, type Part, type Row, rowsOf, shareOfFloor } from './rows.ts';
import { mostOf, PARTS } from './tables.ts';
import { fixed, whole } from './text.ts';

const WIDTH = 860;
const LEFT = 270;
const LEGEND_LEFT = 150;
const BAR = 22;
const STEP = 34;
const COLORS: Readonly<Record<Part, string>> = {
  media: '#2563eb',
  control: '#7c3aed',
  v8: '#94a3b8',
  other: '#d97706',
};
const DRAWN = Object.keys(COLORS) as Part[];

const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const text = (x: number, y: number, content: string, more = '') =>
  `<text x="${x}" y="${y}" ${more}>${plain(content)}</text>`;

function cpuBars(rows: readonly Row[], top: number): string[] {
  const scale = (WIDTH - LEFT - 150) / Math.max(...rows.map((row) => row.cpuUs));
  return rows.flatMap((row, index) => {
    const y = top + index * STEP;
    let x = LEFT;
    const parts = [text(LEFT - 10, y + 16, row.title, 'text-anchor="end"')];
    for (const part of DRAWN) {
      const us = row.parts[part].cpuUs;
      parts.push(
        `<rect x="${x.toFixed(1)}" y="${y}" width="${(us * scale).toFixed(1)}" height="${BAR}" fill="${COLORS[part]}"/>`,
      );
      x += us * scale;
    }
    parts.push(
      text(
        x + 8,
        y + 16,
        `${whole(row.cpuUs)} µs${Number.isNaN(row.toFloor.middle) ? '' : ` · ${fixed(row.toFloor.middle, 2)}x`}`,
        'class="value"',
      ),
    );
    return parts;
  });
}

function latencyBars(rows: readonly Row[], top: number): string[] {
  const most = Math.max(20, ...rows.flatMap((row) => [row.newestFrame[1], row.firstAudio[1]]));
  const scale = (WIDTH - LEFT - 150) / most;
  const limit = LEFT + 20 * scale;
  const parts = [
    `<line x1="${limit}" x2="${limit}" y1="${top - 6}" y2="${top + rows.length * STEP}" stroke="#dc2626" stroke-dasharray="4 3"/>`,
    text(limit + 4, top - 8, '20 ms', 'class="note"'),
  ];
  rows.forEach((row, index) => {
    const y = top + index * STEP;
    parts.push(text(LEFT - 10, y + 16, row.title, 'text-anchor="end"'));
    for (const [at, color, values] of [
      [0, '#2563eb', row.newestFrame],
      [12, '#0d9488', row.firstAudio],
    ] as const) {
      if (Number.isNaN(values[1])) continue;
      parts.push(
        `<rect x="${LEFT}" y="${y + at}" width="${(values[1] * scale).toFixed(1)}" height="10" fill="${color}" opacity="0.35"/>`,
      );
      parts.push(
        `<rect x="${LEFT}" y="${y + at}" width="${(values[0] * scale).toFixed(1)}" height="10" fill="${color}"/>`,
      );
      parts.push(
        text(
          LEFT + values[1] * scale + 8,
          y + at + 9,
          `${fixed(values[0])} / ${fixed(values[1])}`,
          'class="note"',
        ),
      );
    }
  });
  return parts;
}

function largestBars(results: Results, top: number): string[] {
  const columns = climbed(results);
  const most = Math.max(1, ...columns.map((column) => results.climbs[column]!.calls));
  const scale = (WIDTH - LEFT - 190) / most;
  return columns.flatMap((column, index) => {
    const climb = results.climbs[column]!;
    const y = top + index * STEP;
    const width = climb.calls * scale;
    const share = shareOfFloor(results, column);
    const ofFloor = column === 'json' || Number.isNaN(share) ? '' : ` · ${fixed(share, 2)} of the bridge's`;
    return [
      text(LEFT - 10, y + 16, COLUMNS[column].title, 'text-anchor="end"'),
      `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="#0d9488"/>`,
      text(LEFT + width + 8, y + 16, `${mostOf(climb)}${ofFloor}`, 'class="value"'),
    ];
  });
}

export function picture(results: Results): string {
  const rows = rowsOf(results);
  const { environment, options, placement } = results;
  const parts: string[] = [];
  let y = 64;
  const section = (title: string, note: string, bars: string[], lines: number) => {
    if (lines === 0) return;
    parts.push(text(24, y, title, 'class="title"'), text(24, y + 18, note, 'class="note"'), ...bars);
    y += 36 + lines * STEP + 34;
  };
  section(
    'CPU per call',
    `microseconds a second of call, ${options.calls} calls at once; times the bare bridge under the same load`,
    cpuBars(rows, y + 34),
    rows.length,
  );
  let x = LEGEND_LEFT;
  for (const part of DRAWN) {
    parts.push(
      `<rect x="${x}" y="${y - 32}" width="10" height="10" fill="${COLORS[part]}"/>`,
      text(x + 15, y - 23, PARTS[part], 'class="note"'),
    );
    x += 40 + PARTS[part].length * 6.4;
  }
  y += 6;
  section(
    'Added latency',
    `p50 (full) and p99 (pale), ms, at ${options.calls} calls: blue the newest frame to the model, green its first sound to the carrier`,
    latencyBars(rows, y + 34),
    rows.length,
  );
  section(
    'Calls',
    'most at once with p99 of both under 20 ms and nothing lost',
    largestBars(results, y + 34),
    climbed(results).length,
  );
  const held = placement === null ? '' : `, subject on core ${placement.subject}`;
  const foot = `${environment.cpu}, ${environment.cores} cores, Node ${environment.node.slice(1)}${held}. Ratios hold elsewhere, microseconds do not.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13" fill="#0f172a">
<style>.title{font-size:16px;font-weight:600}.note{font-size:11px;fill:#64748b}.value{font-weight:600}</style>
<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>
${text(24, 30, 'Offhook beside other bridges, the same calls', 'font-size="19" font-weight="600"')}
${parts.join('\n')}
${text(24, y - 12, foot, 'class="note"')}
</svg>
`;
}
