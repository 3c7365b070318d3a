// PURE. Draws what the wait for each answer was made of, a bar per answer, below the picture of a call.
import { escapeText } from './text.ts';

export type Stage = 'end_of_turn' | 'request' | 'model' | 'send' | 'playout';

export interface WaterfallRow {
  label: string;
  /** What the other side waited. */
  totalMs: number;
  parts: { stage: Stage; ms: number }[];
}

const WORDS: Record<Stage, string> = {
  end_of_turn: 'is the turn over?',
  request: 'until the model is asked',
  model: "until the model's first sound",
  send: 'until it is sent',
  playout: 'until it is heard',
};
export const STAGES = Object.keys(WORDS) as Stage[];
const ROW = 22;
const BAR = 12;
const HEAD = 44;
const LEGEND = 26;
const TOTAL_PX = 70;
const LABEL_PX = 6.1;
/** A part narrower than this bears no figure; the bar's title says it. */
const LEAST_FIGURE_PX = 44;

export const WATERFALL_STYLE = `
  .stage-end_of_turn { fill: #8a94a3; } .stage-request { fill: #c92a2a; } .stage-model { fill: #5f3dc4; }
  .stage-send { fill: #0b7285; } .stage-playout { fill: #b35c00; } .on-stage { fill: #ffffff; }
  @media (prefers-color-scheme: dark) {
    .stage-end_of_turn { fill: #a3adba; } .stage-request { fill: #ff8787; } .stage-model { fill: #b197fc; }
    .stage-send { fill: #4dd0e1; } .stage-playout { fill: #ffb84d; } .on-stage { fill: #14181f; }
  }`;

const round = (value: number) => Math.round(value * 10) / 10;

/** The lines of SVG for `rows`, in a place of this size, and how high they are; nothing where there is nothing. */
export function drawWaterfall(
  rows: readonly WaterfallRow[],
  at: { left: number; top: number; widthPx: number },
): { lines: string[]; height: number } {
  if (rows.length === 0) return { lines: [], height: 0 };
  const mostMs = Math.max(1, ...rows.map(({ totalMs }) => totalMs));
  const scale = (at.widthPx - TOTAL_PX) / mostMs;
  const lines = [
    `<text class="ink" x="20" y="${at.top + 22}" font-size="14" font-weight="700">What each wait was made of</text>`,
  ];
  for (const [i, { label, totalMs, parts }] of rows.entries()) {
    const y = at.top + HEAD + i * ROW;
    lines.push(
      `<text class="soft" x="${at.left - 8}" y="${y + BAR - 1}" font-size="11.5" text-anchor="end">${escapeText(label)}</text>`,
    );
    let fromMs = 0;
    for (const { stage, ms } of parts) {
      const x = round(at.left + fromMs * scale);
      const width = Math.max(0.5, round(Math.max(0, ms) * scale));
      lines.push(
        `<rect class="stage-${stage}" x="${x}" y="${y}" width="${width}" height="${BAR}"><title>${escapeText(WORDS[stage])}: ${round(ms)} ms</title></rect>`,
      );
      if (width >= LEAST_FIGURE_PX) {
        lines.push(
          `<text class="on-stage" x="${round(x + width / 2)}" y="${y + BAR - 2.5}" font-size="10" text-anchor="middle">${Math.round(ms)} ms</text>`,
        );
      }
      fromMs += Math.max(0, ms);
    }
    lines.push(
      `<text class="ink" x="${round(at.left + totalMs * scale + 7)}" y="${y + BAR - 1}" font-size="12" font-weight="700">${(totalMs / 1000).toFixed(2)} s</text>`,
    );
  }
  const legendTop = at.top + HEAD + rows.length * ROW + 6;
  let x = at.left;
  for (const stage of STAGES) {
    if (!rows.some(({ parts }) => parts.some((part) => part.stage === stage))) continue;
    lines.push(
      `<rect class="stage-${stage}" x="${round(x)}" y="${legendTop}" width="12" height="10" rx="2"/>`,
      `<text class="soft" x="${round(x + 17)}" y="${legendTop + 9}" font-size="11.5">${escapeText(WORDS[stage])}</text>`,
    );
    x += 17 + WORDS[stage].length * LABEL_PX + 16;
  }
  return { lines, height: HEAD + rows.length * ROW + LEGEND + 10 };
}
