// PURE. The bench as a picture: CPU per call with its threads, the latencies, and how many calls each carries.
import type { Campaign } from './campaign.ts';
import { fixed, type Row, rowsOf, whole } from './tables.ts';

const WIDTH = 860;
const LEFT = 270;
const BAR = 22;
const STEP = 34;
const COLORS: Record<string, string> = {
  'the calls': '#2563eb',
  'control thread': '#7c3aed',
  'V8: garbage collection and compiling': '#94a3b8',
};

const plain = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
const text = (x: number, y: number, content: string, more = '') =>
  `<text x="${x}" y="${y}" ${more}>${plain(content)}</text>`;

/** What a thread is for, by its name in the system and whose it is. */
function partOf(row: Row, thread: string): string {
  if (/^V8/i.test(thread)) return 'V8: garbage collection and compiling';
  return row.name.startsWith('daemon') && !/^media/.test(thread) ? 'control thread' : 'the calls';
}

function cpuBars(rows: readonly Row[], top: number): string[] {
  const scale = (WIDTH - LEFT - 150) / Math.max(...rows.map((row) => row.cpuUs));
  return rows.flatMap((row, index) => {
    const y = top + index * STEP;
    let x = LEFT;
    const parts = [text(LEFT - 10, y + 16, row.title, 'text-anchor="end"')];
    for (const part of Object.keys(COLORS)) {
      const us = row.threads
        .filter((one) => partOf(row, one.name) === part)
        .reduce((sum, one) => sum + one.cpuUs, 0);
      parts.push(
        `<rect x="${x.toFixed(1)}" y="${y}" width="${(us * scale).toFixed(1)}" height="${BAR}" fill="${COLORS[part]}"/>`,
      );
      x += us * scale;
    }
    parts.push(
      text(
        x + 8,
        y + 16,
        `${whole(row.cpuUs)} µs${Number.isNaN(row.toJson) ? '' : ` · ${fixed(row.toJson, 2)}x`}`,
        'class="value"',
      ),
    );
    return parts;
  });
}

function latencyBars(rows: readonly Row[], top: number): string[] {
  const most = Math.max(20, ...rows.flatMap((row) => [row.uplink[1], row.firstAudio[1]]));
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
      [0, '#2563eb', row.uplink],
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

function largestBars(campaign: Campaign, rows: readonly Row[], top: number): string[] {
  const found = rows.flatMap((row) => {
    const result = campaign.largest[row.name];
    return result === undefined ? [] : [{ row, result }];
  });
  const scale = (WIDTH - LEFT - 150) / Math.max(1, ...found.map(({ result }) => result.calls));
  return found.flatMap(({ row, result }, index) => {
    const y = top + index * STEP;
    const width = result.calls * scale;
    return [
      text(LEFT - 10, y + 16, row.title, 'text-anchor="end"'),
      `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" fill="#0d9488"/>`,
      text(LEFT + width + 8, y + 16, `${result.calls}${result.open ? ' or more' : ''}`, 'class="value"'),
    ];
  });
}

export function picture(campaign: Campaign): string {
  const rows = rowsOf(campaign);
  const { host, options, cores } = campaign;
  const parts: string[] = [];
  let y = 64;
  const section = (title: string, note: string, bars: string[], lines: number) => {
    if (lines === 0) return;
    parts.push(text(24, y, title, 'class="title"'), text(24, y + 18, note, 'class="note"'), ...bars);
    y += 36 + lines * STEP + 34;
  };
  section(
    'CPU per call',
    `microseconds a second of call, ${options.calls} calls at once; times the bare bridge`,
    cpuBars(rows, y + 34),
    rows.length,
  );
  let x = LEFT;
  for (const [part, color] of Object.entries(COLORS)) {
    parts.push(
      `<rect x="${x}" y="${y - 32}" width="10" height="10" fill="${color}"/>`,
      text(x + 15, y - 23, part, 'class="note"'),
    );
    x += 40 + part.length * 6.4;
  }
  y += 6;
  section(
    'Added latency',
    "p50 (full) and p99 (pale), ms: blue the caller's sound to the model, green the model's first sound to the carrier",
    latencyBars(rows, y + 34),
    rows.length,
  );
  const carried = rows.filter((row) => campaign.largest[row.name] !== undefined).length;
  section(
    'Calls',
    'most at once with p99 of both under 20 ms and nothing lost',
    largestBars(campaign, rows, y + 34),
    carried,
  );
  const held = cores === null ? '' : `, subject on core ${cores.subject}, load on core ${cores.load}`;
  const foot = `${host.cpu}, ${host.cores} cores, Node ${host.node.slice(1)}${held}. Ratios hold elsewhere, microseconds do not.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" font-family="system-ui, sans-serif" font-size="13" fill="#0f172a">
<style>.title{font-size:16px;font-weight:600}.note{font-size:11px;fill:#64748b}.value{font-weight:600}</style>
<rect width="${WIDTH}" height="${y}" fill="#ffffff"/>
${text(24, 30, 'Offhook beside other bridges, the same calls', 'font-size="19" font-weight="600"')}
${parts.join('\n')}
${text(24, y - 12, foot, 'class="note"')}
</svg>
`;
}
