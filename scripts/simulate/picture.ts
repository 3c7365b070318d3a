// PURE. Draws a call as one SVG: both voices over time, who said what when, what was cut before it was heard, how long each
// answer took. Data in, text out; where the data comes from is picture-data.ts.
import { peaks, RATE_HZ } from './sound.ts';
import { escapeText } from './text.ts';
import { drawWaterfall, WATERFALL_STYLE, type WaterfallRow } from './waterfall.ts';

export interface PictureTurn {
  who: 'person' | 'agent';
  startMs: number;
  endMs: number;
  /** What was heard. */
  text: string;
  /** What was said and never heard. */
  unheard: string;
}

export interface Picture {
  title: string;
  subtitle: string;
  /** Names of the two sides, and what stands below them in small letters. */
  names: Record<'person' | 'agent', [string, string]>;
  /** All times in ms since the answer (or since the call was placed, when there was none); the first may be negative. */
  fromMs: number;
  toMs: number;
  ringing: { fromMs: number; toMs: number } | null;
  /** 8 kHz samples from time 0 on. */
  voices: Record<'person' | 'agent', Float32Array>;
  /** Sound of the agent that was thrown away. */
  ghosts: { startMs: number; samples: Float32Array }[];
  turns: PictureTurn[];
  answers: { fromMs: number; toMs: number }[];
  bargeIns: { atMs: number; reactionMs: number }[];
  /** When the agent's voice was lowered for a sound of the person, and from when on it was paused, if it was. */
  holds: { fromMs: number; pausedMs: number | null; toMs: number; passed: boolean }[];
  /** Answers begun in pauses of a turn that ended then, and never heard. */
  thrownAway: { atMs: number; count: number }[];
  /** Times in which the line carried no sound. */
  gaps: { fromMs: number; toMs: number; back: boolean }[];
  marks: { atMs: number; label: string }[];
  /** What the daemon says each wait was made of. */
  waits: WaterfallRow[];
}

const LEFT = 112;
const RIGHT = 36;
const PX_PER_SECOND = 34;
const LEAST_WIDTH = 860;
const MOST_WIDTH = 12_000;
const MOST_BARS_PX = 900;
const LANE = 96;
const STRIP = 52;
const LINE = 15;
const CHARACTER_PX = 6.7;
const LABEL_PX = 6.1;
const MOST_LINES = 9;
const LEAST_TEXT_PX = 74;
const ROOMY_TEXT_PX = 150;
const ROOMY_CUT_PX = 270;
const UNHEARD_WORDS = 14;
/** A voice quieter than this share of full scale is not blown up further. */
const LEAST_PEAK = 0.2;

const STYLE = `
  svg { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", "DejaVu Sans", Arial, sans-serif; }
  .card { fill: #ffffff; stroke: #d5dbe3; }
  .lane { fill: #f5f7fa; }
  .ink { fill: #1c2430; }
  .soft { fill: #5b6675; }
  .line { stroke: #b9c2ce; }
  .grid { stroke: #e4e8ee; }
  .person { fill: #0b7285; } .person-band { fill: #0b7285; fill-opacity: 0.11; } .person-edge { stroke: #0b7285; }
  .agent { fill: #5f3dc4; } .agent-band { fill: #5f3dc4; fill-opacity: 0.11; } .agent-edge { stroke: #5f3dc4; }
  .ghost { fill: #5f3dc4; fill-opacity: 0.3; } .hatch { stroke: #5f3dc4; stroke-opacity: 0.4; }
  .answer { stroke: #b35c00; } .answer-text { fill: #9a4f00; }
  .barge { stroke: #c92a2a; } .barge-text { fill: #c92a2a; }
  .low { fill: #c92a2a; fill-opacity: 0.35; } .paused { fill: #c92a2a; }
  .ring { stroke: #8a94a3; stroke-opacity: 0.55; }
  .lost { fill: #1c2430; fill-opacity: 0.16; } .lost-edge { stroke: #1c2430; }
  @media (prefers-color-scheme: dark) {
    .card { fill: #14181f; stroke: #323a46; }
    .lane { fill: #1c222b; }
    .ink { fill: #e8ebf0; }
    .soft { fill: #a3adba; }
    .line { stroke: #4a5462; }
    .grid { stroke: #262d37; }
    .person { fill: #4dd0e1; } .person-band { fill: #4dd0e1; } .person-edge { stroke: #4dd0e1; }
    .agent { fill: #b197fc; } .agent-band { fill: #b197fc; } .agent-edge { stroke: #b197fc; }
    .ghost { fill: #b197fc; } .hatch { stroke: #b197fc; }
    .answer { stroke: #ffb84d; } .answer-text { fill: #ffb84d; }
    .barge { stroke: #ff8787; } .barge-text { fill: #ff8787; }
    .low { fill: #ff8787; } .paused { fill: #ff8787; }
    .ring { stroke: #8a94a3; }
    .lost { fill: #e8ebf0; } .lost-edge { stroke: #e8ebf0; }
  }`;

const round = (value: number) => Math.round(value * 10) / 10;
const inSeconds = (ms: number, digits = 2) => `${(ms / 1000).toFixed(digits)} s`;

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}

interface Word {
  text: string;
  heard: boolean;
}

/** Words in lines of at most `widthPx`; what does not fit in the most lines is left out, with dots. */
function layOut(list: readonly Word[], widthPx: number): Word[][] {
  const most = Math.max(6, Math.floor(widthPx / CHARACTER_PX));
  const lines: Word[][] = [];
  let length = 0;
  for (const word of list) {
    const last = lines.at(-1);
    if (last === undefined || length + 1 + word.text.length > most) {
      if (lines.length === MOST_LINES) {
        lines.at(-1)!.push({ text: '…', heard: word.heard });
        break;
      }
      lines.push([word]);
      length = word.text.length;
    } else {
      last.push(word);
      length += 1 + word.text.length;
    }
  }
  return lines;
}

function spans(line: readonly Word[]): string {
  let out = '';
  for (let at = 0; at < line.length; ) {
    let to = at;
    while (to < line.length && line[to]!.heard === line[at]!.heard) to++;
    const text = escapeText(
      line
        .slice(at, to)
        .map((word) => word.text)
        .join(' '),
    );
    const blank = at > 0 ? ' ' : '';
    out += line[at]!.heard
      ? `<tspan>${blank}${text}</tspan>`
      : `${blank}<tspan class="soft" text-decoration="line-through" fill-opacity="0.75">${text}</tspan>`;
    at = to;
  }
  return out;
}

/** The outline of a voice around the middle of its lane. */
function wave(samples: Float32Array, x: number, widthPx: number, middle: number, scale: number): string {
  const count = Math.max(1, Math.round(widthPx));
  const tops: string[] = [];
  const bottoms: string[] = [];
  for (const [i, peak] of peaks(samples, count).entries()) {
    const height = Math.max(0.4, Math.min(1, peak * scale) * (LANE / 2 - 6));
    const at = round(x + (i * widthPx) / count);
    tops.push(`${at} ${round(middle - height)}`);
    bottoms.push(`${at} ${round(middle + height)}`);
  }
  return `M${tops.join('L')}L${bottoms.reverse().join('L')}Z`;
}

function loudest(samples: Float32Array): number {
  let peak = 0;
  for (const sample of samples) peak = Math.max(peak, Math.abs(sample));
  return peak / 32768;
}

/** The picture as an SVG document that stands alone, on light and on dark pages. */
export function drawCall(picture: Picture): string {
  const seconds = Math.max(1, (picture.toMs - picture.fromMs) / 1000);
  const plot = Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH - LEFT - RIGHT, seconds * PX_PER_SECOND));
  const width = LEFT + plot + RIGHT;
  const x = (ms: number) => round(LEFT + ((ms - picture.fromMs) / 1000) * (plot / seconds));
  const clampX = (ms: number) => x(Math.min(picture.toMs, Math.max(picture.fromMs, ms)));

  const blocks = (who: 'person' | 'agent') => {
    const own = picture.turns.filter((turn) => turn.who === who).sort((a, b) => a.startMs - b.startMs);
    return own.map((turn, i) => {
      const next = own[i + 1];
      const free = (next === undefined ? width - RIGHT : x(next.startMs)) - x(turn.startMs) - 10;
      const band = x(turn.endMs) - x(turn.startMs);
      // Short turns may use the empty room beside them.
      const wanted = Math.max(LEAST_TEXT_PX, band, Math.min(free, ROOMY_TEXT_PX));
      const lost = words(turn.unheard);
      const shown = lost.slice(0, UNHEARD_WORDS).map((text) => ({ text, heard: false }));
      const list = [...words(turn.text).map((text) => ({ text, heard: true })), ...shown];
      const more = lost.length - shown.length;
      const widthPx = Math.min(
        Math.max(free, LEAST_TEXT_PX),
        turn.unheard === '' ? wanted : Math.max(wanted, ROOMY_CUT_PX),
      );
      const lines = layOut(list, widthPx);
      if (more > 0) lines.push([{ text: `(and ${more} more words, not heard)`, heard: true }]);
      return { turn, lines };
    });
  };
  const personBlocks = blocks('person');
  const agentBlocks = blocks('agent');
  const linesOf = (list: typeof personBlocks) => Math.max(1, ...list.map(({ lines }) => lines.length));

  // Labels of moments stand in rows, so that none covers another.
  const rows: number[] = [];
  const marks = [...picture.marks]
    .sort((a, b) => a.atMs - b.atMs)
    .map((mark) => {
      const at = clampX(mark.atMs);
      const length = mark.label.length * LABEL_PX + 14;
      // At the right edge the label stands on the left of its moment.
      const turned = at + length > width - 12;
      const left = turned ? at - length : at - 4;
      let row = rows.findIndex((end) => end <= left);
      if (row < 0) row = rows.push(0) - 1;
      rows[row] = turned ? at + 6 : at + length;
      return { ...mark, at, turned, row };
    });

  const marksTop = 96;
  const personWordsTop = marksTop + rows.length * 17 + 10;
  const personTop = personWordsTop + linesOf(personBlocks) * LINE + 8;
  const stripTop = personTop + LANE;
  const agentTop = stripTop + STRIP;
  const agentWordsTop = agentTop + LANE + 18;
  const axisTop = agentWordsTop + linesOf(agentBlocks) * LINE + 6;
  const waterfall = drawWaterfall(picture.waits, {
    left: LEFT + 20,
    top: axisTop + 44,
    widthPx: Math.min(plot - 20, MOST_BARS_PX),
  });
  const height = axisTop + 44 + waterfall.height;
  const out: string[] = [...waterfall.lines];

  // Lanes, seconds, ringing.
  for (const top of [personTop, agentTop]) {
    out.push(`<rect class="lane" x="${LEFT}" y="${top}" width="${plot}" height="${LANE}" rx="4"/>`);
  }
  const everySeconds = [1, 2, 5, 10, 15, 30, 60, 120, 300].find((s) => (s * plot) / seconds >= 60) ?? 600;
  const firstTick = Math.ceil(picture.fromMs / 1000 / everySeconds) * everySeconds;
  for (let second = firstTick; second * 1000 <= picture.toMs; second += everySeconds) {
    const at = x(second * 1000);
    out.push(
      `<line class="grid" x1="${at}" x2="${at}" y1="${personTop}" y2="${axisTop}"/>`,
      `<text class="soft" x="${at}" y="${axisTop + 16}" font-size="11" text-anchor="middle">${second} s</text>`,
    );
  }
  out.push(`<line class="line" x1="${LEFT}" x2="${LEFT + plot}" y1="${axisTop}" y2="${axisTop}"/>`);
  out.push(
    `<text class="soft" x="${LEFT + plot}" y="${axisTop + 33}" font-size="11" text-anchor="end">seconds since ${picture.ringing !== null && picture.ringing.toMs > 0 ? 'the call was placed' : 'the call was picked up'}</text>`,
  );
  if (picture.ringing !== null) {
    const from = clampX(picture.ringing.fromMs);
    const ringWidth = round(clampX(picture.ringing.toMs) - from);
    for (const top of [personTop, agentTop]) {
      out.push(`<rect fill="url(#rings)" x="${from}" y="${top}" width="${ringWidth}" height="${LANE}"/>`);
    }
    if (ringWidth > 60) {
      out.push(
        `<text class="soft" x="${from + ringWidth / 2}" y="${stripTop + 30}" font-size="12" text-anchor="middle">it rings</text>`,
      );
    }
  }

  // Who is who.
  for (const [who, top] of [
    ['person', personTop],
    ['agent', agentTop],
  ] as const) {
    const [name, below] = picture.names[who];
    out.push(
      `<text class="${who}" x="20" y="${top + LANE / 2 - 2}" font-size="15" font-weight="700">${escapeText(name)}</text>`,
      `<text class="soft" x="20" y="${top + LANE / 2 + 14}" font-size="10.5">${escapeText(below)}</text>`,
    );
  }

  // Turns as bands, voices over them, words beside them.
  for (const [who, top, list] of [
    ['person', personTop, personBlocks],
    ['agent', agentTop, agentBlocks],
  ] as const) {
    for (const { turn } of list) {
      const from = clampX(turn.startMs);
      const bandWidth = Math.max(2, round(clampX(turn.endMs) - from));
      out.push(
        `<rect class="${who}-band" x="${from}" y="${top}" width="${bandWidth}" height="${LANE}" rx="3"/>`,
      );
    }
    const samples = picture.voices[who];
    if (samples.length > 0) {
      const scale = 1 / Math.max(LEAST_PEAK, loudest(samples));
      const voiceWidth = x((samples.length * 1000) / RATE_HZ) - x(0);
      out.push(
        `<path class="${who}" d="${wave(samples, x(0), voiceWidth, top + LANE / 2, scale)}"><title>${escapeText(picture.names[who][0])}</title></path>`,
      );
    }
  }
  const agentScale = 1 / Math.max(LEAST_PEAK, loudest(picture.voices.agent));
  for (const { startMs, samples } of picture.ghosts) {
    const endMs = Math.min(picture.toMs, startMs + (samples.length * 1000) / RATE_HZ);
    if (endMs <= startMs) continue;
    const part = samples.subarray(0, Math.round(((endMs - startMs) * RATE_HZ) / 1000));
    const from = x(startMs);
    const ghostWidth = round(x(endMs) - from);
    out.push(
      `<rect fill="url(#cut)" x="${from}" y="${agentTop}" width="${ghostWidth}" height="${LANE}"/>`,
      `<path class="ghost" d="${wave(part, from, ghostWidth, agentTop + LANE / 2, agentScale)}"><title>said by the model, cut before it was heard</title></path>`,
    );
  }
  for (const { fromMs, pausedMs, toMs, passed } of picture.holds) {
    for (const [name, startMs, endMs, title] of [
      ['low', fromMs, pausedMs ?? toMs, 'lowered'],
      ['paused', pausedMs ?? toMs, toMs, 'paused'],
    ] as const) {
      if (endMs <= startMs) continue;
      const from = clampX(startMs);
      out.push(
        `<rect class="${name}" x="${from}" y="${agentTop}" width="${Math.max(1, round(clampX(endMs) - from))}" height="5" rx="1"><title>the agent's voice is ${title}: ${inSeconds(endMs - startMs)}</title></rect>`,
      );
    }
    if (passed)
      out.push(
        `<text class="barge-text" x="${round(clampX(fromMs) - 6)}" y="${agentTop - 4}" font-size="12" text-anchor="end">let pass: the agent goes on</text>`,
      );
  }
  for (const { atMs, count } of picture.thrownAway) {
    const at = clampX(atMs);
    const y = stripTop + 15;
    out.push(
      `<path class="answer-text" d="M${round(at - 14)} ${y}l5 -9l5 9Z"/>`,
      `<text class="answer-text" x="${round(at - 20)}" y="${y}" font-size="12" text-anchor="end">${count === 1 ? 'an answer' : `${count} answers`} begun in a pause, thrown away unheard</text>`,
    );
  }
  for (const { fromMs, toMs, back } of picture.gaps) {
    const from = clampX(fromMs);
    const gapWidth = Math.max(2, round(clampX(toMs) - from));
    const told = back ? `line lost: ${inSeconds(toMs - fromMs)}` : 'line lost';
    out.push(
      `<rect class="lost" x="${from}" y="${personTop}" width="${gapWidth}" height="${agentTop + LANE - personTop}"><title>${told}</title></rect>`,
      ...[from, round(from + gapWidth)].map(
        (at) =>
          `<line class="lost-edge" x1="${at}" x2="${at}" y1="${personTop}" y2="${agentTop + LANE}" stroke-width="1"/>`,
      ),
      `<text class="ink" x="${round(from + gapWidth + 6)}" y="${stripTop + 18}" font-size="12" font-weight="700">${told}</text>`,
    );
  }
  for (const { turn, lines } of personBlocks) {
    const from = clampX(turn.startMs);
    const bottom = personTop - 8;
    for (const [i, line] of lines.entries()) {
      const y = bottom - (lines.length - 1 - i) * LINE;
      out.push(`<text class="ink" x="${from + 2}" y="${y}" font-size="12">${spans(line)}</text>`);
    }
    out.push(
      `<line class="person-edge" x1="${from}" x2="${from}" y1="${bottom - lines.length * LINE + 4}" y2="${personTop + LANE}" stroke-width="1.5"/>`,
    );
  }
  for (const { turn, lines } of agentBlocks) {
    const from = clampX(turn.startMs);
    for (const [i, line] of lines.entries()) {
      out.push(
        `<text class="ink" x="${from + 4}" y="${agentWordsTop + i * LINE}" font-size="12">${spans(line)}</text>`,
      );
    }
    out.push(
      `<line class="agent-edge" x1="${from}" x2="${from}" y1="${agentTop}" y2="${agentWordsTop + (lines.length - 1) * LINE + 3}" stroke-width="1.5"/>`,
    );
  }

  // Between the lanes: how long each answer took, and where the person cut in.
  for (const { fromMs, toMs } of picture.answers) {
    const from = clampX(fromMs);
    const to = clampX(toMs);
    const y = stripTop + STRIP / 2 + 8;
    out.push(
      `<path class="answer" fill="none" stroke-width="1.6" d="M${from} ${stripTop + 2}V${y}H${to}V${agentTop - 2}"/>`,
      `<path class="answer-text" d="M${to} ${agentTop - 1}l-3.5 -6h7Z"/>`,
      `<text class="answer-text" x="${round(from - 6)}" y="${y + 2}" font-size="12.5" font-weight="700" text-anchor="end">${inSeconds(toMs - fromMs)}</text>`,
    );
  }
  for (const { atMs, reactionMs } of picture.bargeIns) {
    const at = clampX(atMs);
    const silent = clampX(atMs + reactionMs);
    out.push(
      `<line class="barge" x1="${at}" x2="${at}" y1="${personTop}" y2="${agentTop + LANE}" stroke-width="2"/>`,
      `<line class="barge" x1="${silent}" x2="${silent}" y1="${agentTop}" y2="${agentTop + LANE}" stroke-width="1.5" stroke-dasharray="3 3"/>`,
      `<text class="barge-text" x="${silent + 7}" y="${stripTop + 20}" font-size="12" font-weight="700">barge-in: the person cuts in,</text>`,
      `<text class="barge-text" x="${silent + 7}" y="${stripTop + 36}" font-size="12">the agent is silent ${inSeconds(reactionMs)} later</text>`,
    );
  }
  for (const { at, turned, row, label } of marks) {
    const y = marksTop + row * 17 + 11;
    out.push(
      `<line class="line" x1="${at}" x2="${at}" y1="${y + 4}" y2="${axisTop}" stroke-dasharray="2 4"/>`,
      `<circle class="soft" cx="${at}" cy="${y - 4}" r="3"/>`,
      `<text class="soft" x="${turned ? at - 7 : at + 7}" y="${y}" font-size="11.5" text-anchor="${turned ? 'end' : 'start'}">${escapeText(label)}</text>`,
    );
  }

  // Legend: only what occurs.
  const legend: [swatch: (at: number) => string, label: string][] = [];
  const sides = [
    ['person', `the ${picture.names.person[0].toLowerCase()}'s voice`],
    ['agent', "the agent's voice, as it was heard"],
  ] as const;
  for (const [who, label] of sides) {
    if (picture.voices[who].length === 0) continue;
    legend.push([(at) => `<rect class="${who}" x="${at}" y="69" width="14" height="10" rx="2"/>`, label]);
  }
  if (picture.ghosts.length > 0 || picture.turns.some(({ unheard }) => unheard !== '')) {
    legend.push([
      (at) =>
        `<rect fill="url(#cut)" x="${at}" y="69" width="14" height="10"/><rect class="ghost" x="${at}" y="71.5" width="14" height="5"/>`,
      'cut: said by the model, never heard',
    ]);
  }
  if (picture.answers.length > 0) {
    legend.push([
      (at) => `<path class="answer" fill="none" stroke-width="1.6" d="M${at} 70V78H${at + 14}V70"/>`,
      'silence between the last word and the answer',
    ]);
  }
  if (picture.holds.length > 0) {
    legend.push([
      (at) =>
        `<rect class="low" x="${at}" y="72" width="8" height="5"/><rect class="paused" x="${at + 8}" y="72" width="6" height="5"/>`,
      "the agent's voice lowered, paused",
    ]);
  }
  if (picture.gaps.length > 0) {
    legend.push([
      (at) => `<rect class="lost" x="${at}" y="69" width="14" height="10"/>`,
      'no line: neither heard the other',
    ]);
  }
  if (picture.ringing !== null) {
    legend.push([
      (at) => `<g class="ring" stroke-width="1.5"><path class="ring" d="M${at + 2} 70v8m5 -8v8m5 -8v8"/></g>`,
      'ringing',
    ]);
  }
  let legendX = 20;
  for (const [swatch, label] of legend) {
    out.push(
      swatch(legendX),
      `<text class="soft" x="${legendX + 20}" y="78" font-size="11.5">${escapeText(label)}</text>`,
    );
    legendX += 20 + label.length * LABEL_PX + 22;
  }

  const full = Math.max(width, legendX, 40 + picture.subtitle.length * 6.6);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${round(full)}" height="${height}" viewBox="0 0 ${round(full)} ${height}" role="img" aria-label="${escapeText(picture.title)}">
<style>${STYLE}${WATERFALL_STYLE}
</style>
<defs>
<pattern id="cut" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6" stroke-width="1.6"/></pattern>
<pattern id="rings" width="9" height="9" patternUnits="userSpaceOnUse"><line class="ring" x1="4.5" y1="2" x2="4.5" y2="7" stroke-width="1.5"/></pattern>
</defs>
<rect class="card" x="0.5" y="0.5" width="${round(full) - 1}" height="${height - 1}" rx="10"/>
<text class="ink" x="20" y="32" font-size="19" font-weight="700">${escapeText(picture.title)}</text>
<text class="soft" x="20" y="53" font-size="12.5">${escapeText(picture.subtitle)}</text>
${out.join('\n')}
</svg>
`;
}
