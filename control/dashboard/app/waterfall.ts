// What a turn's wait was made of, as bars on one scale. PURE.
import type { Turn } from '../../sdk/index.ts';

/** The parts of a wait in the order in which they pass: name, what it is, a colour of the style sheet. */
export const PARTS = [
  {
    key: 'end_of_turn_ms',
    label: 'End of turn',
    colour: 'part-1',
    about: 'until the other side was taken to have finished',
  },
  { key: 'request_ms', label: 'Request', colour: 'part-2', about: 'until the model was asked' },
  { key: 'model_ms', label: 'Model', colour: 'part-3', about: 'until its first sound' },
  { key: 'send_ms', label: 'Send', colour: 'part-4', about: 'until that went to the carrier' },
  { key: 'playout_ms', label: 'Playout', colour: 'part-5', about: 'until it was heard' },
] as const;

export type PartKey = (typeof PARTS)[number]['key'];

export interface Bar {
  key: PartKey;
  label: string;
  colour: string;
  ms: number;
  /** Per cent of the scale. */
  left: number;
  width: number;
}

export interface WaitRow {
  turn: Turn;
  bars: Bar[];
  /** Heard, or as far as it came. */
  totalMs: number;
}

/** Steps of a scale: 1, 2 or 5 times a power of ten. */
const STEPS_MS = [50, 100, 200, 250, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000];

/** Rows on one scale, and the marks of that scale. A turn in which nothing came has no bars. */
export function waterfall(turns: readonly Turn[]): { rows: WaitRow[]; endMs: number; marks: number[] } {
  const rows = turns.map((turn) => ({ turn, totalMs: totalOf(turn) }));
  const longestMs = Math.max(100, ...rows.map(({ totalMs }) => totalMs));
  const stepMs = STEPS_MS.find((step) => longestMs / step <= 6) ?? longestMs / 6;
  const endMs = Math.ceil(longestMs / stepMs) * stepMs;
  const marks: number[] = [];
  for (let at = 0; at <= endMs; at += stepMs) marks.push(at);
  return {
    endMs,
    marks,
    rows: rows.map(({ turn, totalMs }) => ({ turn, totalMs, bars: barsOf(turn, endMs) })),
  };
}

function totalOf(turn: Turn): number {
  return PARTS.reduce((sum, { key }) => sum + Math.max(0, turn.parts[key] ?? 0), 0);
}

function barsOf(turn: Turn, endMs: number): Bar[] {
  let fromMs = 0;
  return PARTS.flatMap(({ key, label, colour }) => {
    const ms = Math.max(0, turn.parts[key] ?? 0);
    if (ms === 0) return [];
    const bar = { key, label, colour, ms, left: (fromMs / endMs) * 100, width: (ms / endMs) * 100 };
    fromMs += ms;
    return [bar];
  });
}

/** The share of values below which a value lies (nearest rank); null of none. */
export function percentile(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}

/** The waits of answers to speech: what people mean by latency. */
export function answerWaits(turns: readonly Turn[]): number[] {
  return turns.flatMap((turn) =>
    turn.kind === 'answer' && turn.speech_end_ms !== null && turn.latency_ms !== null
      ? [turn.latency_ms]
      : [],
  );
}
