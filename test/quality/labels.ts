// PURE. Where speech is, from the energy of a clean recording: the truth that detectors are held against. Nothing here looks
// at a detector, a probability, or a sound that noise, echo or a codec has touched.
//
// The rule. The active level A of a recording is the mean energy of its 10 ms frames within 16 dB of itself (the idea of
// ITU-T P.56). A frame is speech when it is within 25 dB of A and 8 dB above the recording's own floor (its quietest tenth).
// Speech runs separated by less than 150 ms are one (a closed consonant, not a pause); a run under 60 ms is a click.
import { gainOf, RATE_HZ, type Sound, scaled } from './sounds.ts';

const FRAME = RATE_HZ / 100;
const ACTIVE_WITHIN_DB = 16;
const SPEECH_WITHIN_DB = 25;
const ABOVE_FLOOR_DB = 8;
const CLOSURE_MS = 150;
const CLICK_MS = 60;

/** Samples, `from` included and `to` not. */
export interface Span {
  from: number;
  to: number;
}

/** A recording cut to its speech, with where in it speech runs. */
export interface Clip {
  name: string;
  sound: Sound;
  spans: Span[];
  /** dB of its speech. */
  activeDb: number;
  /** Who speaks, what, and in which language (ISO-639-1), where somebody asks. */
  voice?: string;
  text?: string;
  language?: string;
}

function frameLevels(sound: Sound): number[] {
  const levels: number[] = [];
  for (let from = 0; from + FRAME <= sound.length; from += FRAME) {
    let sum = 0;
    for (let i = 0; i < FRAME; i++) sum += sound[from + i]! ** 2;
    levels.push(sum === 0 ? -96 : Math.max(-96, 10 * Math.log10(sum / FRAME)));
  }
  return levels;
}

/** The active level: frames count as long as they are within 16 dB of the mean energy of those that count. */
function activeLevel(levels: readonly number[]): number {
  let active = Math.max(...levels);
  for (let round = 0; round < 20; round++) {
    const counted = levels.filter((level) => level >= active - ACTIVE_WITHIN_DB);
    const next = 10 * Math.log10(counted.reduce((sum, db) => sum + 10 ** (db / 10), 0) / counted.length);
    if (Math.abs(next - active) < 0.01) break;
    active = next;
  }
  return active;
}

/** The runs of speech in a clean recording, and its active level. */
export function label(sound: Sound): { spans: Span[]; activeDb: number } {
  const levels = frameLevels(sound);
  if (levels.length === 0) return { spans: [], activeDb: -96 };
  const activeDb = activeLevel(levels);
  const floorDb = [...levels].sort((a, b) => a - b)[Math.floor(levels.length / 10)]!;
  const leastDb = Math.max(activeDb - SPEECH_WITHIN_DB, Math.min(floorDb + ABOVE_FLOOR_DB, activeDb - 6));
  const spans: Span[] = [];
  for (const [i, level] of levels.entries()) {
    if (level < leastDb) continue;
    const from = i * FRAME;
    const last = spans.at(-1);
    if (last !== undefined && from - last.to < CLOSURE_MS * 8) last.to = from + FRAME;
    else spans.push({ from, to: from + FRAME });
  }
  return { spans: spans.filter(({ from, to }) => to - from >= CLICK_MS * 8), activeDb };
}

/** A recording cut to where speech begins and ends; null when there is none. */
export function clipOf(name: string, recording: Sound): Clip | null {
  const { spans, activeDb } = label(recording);
  const first = spans[0];
  const last = spans.at(-1);
  if (first === undefined || last === undefined) return null;
  return {
    name,
    sound: recording.slice(first.from, last.to),
    spans: spans.map(({ from, to }) => ({ from: from - first.from, to: to - first.from })),
    activeDb,
  };
}

/** The clip's sound with its speech at a level. */
export const atLevel = (clip: Clip, db: number): Sound => scaled(clip.sound, gainOf(db - clip.activeDb));
