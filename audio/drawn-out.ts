// PURE. Whether the last sound of some speech was drawn out, as in "uhm" or "and sooo": voiced and steady for longer than a
// syllable is, in pitch, in spectrum and in level, up to where it breaks off. An end of a sentence lengthens its last syllable
// too, but lets it fall. Looks backwards from the end and no further than it has to: at most words nothing is left of it soon.
// The figures are chosen on sounds of their own (docs/quality.md, "The sound of an end").

/** So much before a silence is looked at. */
export const DRAWN_OUT_MS = 640;

const RATE_HZ = 8_000;
const HOP = 160;
const SPAN = 320;
const FRAME_MS = (HOP / RATE_HZ) * 1_000;
/** At half the rate: periods of 70 to 400 Hz. */
const HALF = SPAN / 2;
const [LEAST_LAG, MOST_LAG] = [10, 57];
const COMPARED = HALF - MOST_LAG;
const VOICED = 0.6;
/** A shorter period nearly as alike is the period: the longer one is two of it. */
const OCTAVE = 0.88;
/** Shape of the spectrum: so many correlations of neighbouring samples, of sound whose low end is evened out. */
const SHAPE = 8;
const EVENED = 0.9;

/** What may come after the voiced sound, in frames: a breath, what the voice detector hears longer. */
const MOST_AFTER = 8;
/** From one frame to the next the pitch moves no more, in semitones, nor the shape of the spectrum. */
const PITCH_STEP = 1;
const SHAPE_STEP = 0.14;
/** But for the one time that lips close ("uh-m"), so many frames. */
const MOST_CLOSING = 3;
/** Over so many frames the shape hardly changes at half of them: a syllable glides. */
const GLIDE = 4;
const MOST_GLIDE = 0.12;
/** In all of it the level stays within. */
const LEVEL_RANGE_DB = 12;
/** So long is no syllable. */
const LEAST_MS = 320;
/** From its first third to its last it falls no more than this. */
const MOST_PITCH_FALL = 1.5;
const MOST_LEVEL_FALL_DB = 5;

/** What is looked at and forgotten: all calls of a thread in the same place. */
const half = new Float64Array(HALF);
const scores = new Float64Array(MOST_LAG + 2);

interface Frame {
  levelDb: number;
  /** Semitones over 100 Hz. */
  pitch: number;
  shape: Float64Array;
}

/** @param pcm 16 bits at 8 kHz that end where the silence begins: `DRAWN_OUT_MS` of them, or fewer */
export function isDrawnOut(pcm: Int16Array): boolean {
  const frames = steadyEnd(pcm);
  if (frames.length * FRAME_MS < LEAST_MS) return false;
  if (glideOf(frames) > MOST_GLIDE) return false;
  const third = Math.floor(frames.length / 3);
  // Newest first.
  const [last, first] = [frames.slice(0, third), frames.slice(-third)];
  return (
    mean(first, ({ pitch }) => pitch) - mean(last, ({ pitch }) => pitch) <= MOST_PITCH_FALL &&
    mean(first, ({ levelDb }) => levelDb) - mean(last, ({ levelDb }) => levelDb) <= MOST_LEVEL_FALL_DB
  );
}

/** The steady stretch at the end, newest frame first; empty where the end is not voiced. */
function steadyEnd(pcm: Int16Array): Frame[] {
  let steady: Frame[] = [];
  let closing = 0;
  // Frames are counted from the end, so that the last one ends where the sound does.
  for (let from = pcm.length - SPAN, after = 0; from >= 0; from -= HOP, after++) {
    const frame = frameAt(pcm, from);
    const before = steady.at(-1);
    if (frame === null || (before !== undefined && !onPitch(frame, before))) {
      if (steady.length * FRAME_MS >= LEAST_MS / 3) break;
      // What fades out is no part of it; the stretch may begin before.
      steady = [];
      closing = 0;
      if (after >= MOST_AFTER) break;
      continue;
    }
    if (before !== undefined && change(frame, before) > SHAPE_STEP && ++closing > MOST_CLOSING) break;
    if (steady.some(({ levelDb }) => levelDb > frame.levelDb + LEVEL_RANGE_DB)) break;
    // Nor is what has grown faint.
    let faint = 0;
    while (faint < steady.length && steady[faint]!.levelDb < frame.levelDb - LEVEL_RANGE_DB) faint++;
    if (faint > MOST_AFTER) break;
    steady.splice(0, faint);
    steady.push(frame);
  }
  return steady;
}

/** How much the shape of the spectrum changes over some frames: at half of them no more. */
function glideOf(frames: readonly Frame[]): number {
  const changes = frames.slice(GLIDE).map((frame, i) => change(frame, frames[i]!));
  return changes.sort((a, b) => a - b)[changes.length >> 1]!;
}

const onPitch = (frame: Frame, before: Frame) => Math.abs(frame.pitch - before.pitch) <= PITCH_STEP;

function change(frame: Frame, before: Frame): number {
  let apart = 0;
  for (let i = 0; i < SHAPE; i++) apart += Math.abs(frame.shape[i]! - before.shape[i]!) / SHAPE;
  return apart;
}

/** Null where it is not voiced. */
function frameAt(pcm: Int16Array, from: number): Frame | null {
  const pitch = pitchAt(pcm, from);
  if (pitch === null) return null;
  const shape = new Float64Array(SHAPE + 1);
  let squares = 0;
  for (let i = from + SHAPE + 1; i < from + SPAN; i++) {
    squares += pcm[i]! * pcm[i]!;
    const now = pcm[i]! - EVENED * pcm[i - 1]!;
    for (let lag = 0; lag <= SHAPE; lag++) shape[lag]! += now * (pcm[i - lag]! - EVENED * pcm[i - lag - 1]!);
  }
  const energy = shape[0]!;
  if (energy === 0) return null;
  for (let lag = 1; lag <= SHAPE; lag++) shape[lag - 1] = shape[lag]! / energy;
  return { levelDb: 10 * Math.log10(squares / SPAN), pitch, shape };
}

/** Semitones over 100 Hz by autocorrelation; null: not voiced. */
function pitchAt(pcm: Int16Array, from: number): number | null {
  let middle = 0;
  for (let i = 0; i < HALF; i++) {
    half[i] = (pcm[from + 2 * i]! + pcm[from + 2 * i + 1]!) / 2;
    middle += half[i]! / HALF;
  }
  let own = 0;
  for (let i = 0; i < HALF; i++) {
    half[i]! -= middle;
    if (i < COMPARED) own += half[i]! * half[i]!;
  }
  // Less than a step of 16 bits: nothing, or a line's offset.
  if (own < COMPARED) return null;
  let best = 0;
  for (let lag = LEAST_LAG - 1; lag <= MOST_LAG; lag++) {
    let product = 0;
    let other = 0;
    for (let i = 0; i < COMPARED; i++) {
      const later = half[i + lag]!;
      product += half[i]! * later;
      other += later * later;
    }
    scores[lag] = other === 0 ? 0 : product / Math.sqrt(own * other);
    if (lag >= LEAST_LAG) best = Math.max(best, scores[lag]!);
  }
  if (best < VOICED) return null;
  for (let lag = LEAST_LAG; lag < MOST_LAG; lag++) {
    const [left, here, right] = [scores[lag - 1]!, scores[lag]!, scores[lag + 1]!];
    if (here < OCTAVE * best || here < left || here < right) continue;
    // Between two samples, where a parabola through the three has its top.
    const bend = left - 2 * here + right;
    const period = bend === 0 ? lag : lag + (left - right) / (2 * bend);
    return 12 * Math.log2(RATE_HZ / 2 / period / 100);
  }
  return null;
}

function mean(frames: readonly Frame[], of: (frame: Frame) => number): number {
  return frames.reduce((sum, frame) => sum + of(frame), 0) / frames.length;
}
