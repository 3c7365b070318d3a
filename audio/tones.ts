// PURE. How much of a sound is tones, and which: a look every 10 ms at the spectrum of 32 ms, and a close one at a whole stretch.
// What tones mean is decided elsewhere.
import { Fft } from './fft.ts';
import { RATE_HZ } from './format.ts';
import { squaresDb } from './levels.ts';

/** Samples from one look to the next, and of each. */
export const HOP = 80;
export const WINDOW = 256;
const BIN_HZ = RATE_HZ / WINDOW;
/** What a telephone line carries; mains hum is below. */
const LOWEST = Math.ceil(150 / BIN_HZ);
const HIGHEST = Math.floor(3_780 / BIN_HZ);
/** A steady tone fills this many bins to both sides of its own (the main lobe of a Hann window). */
const LOBE = 2;
/** Tones of one look at most; fainter ones than this share of the strongest are none. */
const MOST_LINES = 6;
const FAINTEST_LINE = 10 ** -2.4;

const hann = (length: number): Float64Array =>
  Float64Array.from({ length }, (_, n) => 0.5 - 0.5 * Math.cos((2 * Math.PI * n) / length));
const HANN = hann(WINDOW);
/** Of a square of samples by its spectrum: both halves of it, the window's own loss. */
const POWER_SCALE = 2 / (WINDOW * HANN.reduce((sum, gain) => sum + gain * gain, 0));

/** What one window holds. */
export interface Look {
  levelDb: number;
  /** The strongest tone, and its share of the power. */
  hz: number;
  share: number;
  /** The share of all tones together. */
  purity: number;
  /** How alike the spectrum is to the one before, 0 to 1. */
  likeness: number;
}

const LOOK_FFT = new Fft(WINDOW);
const RE = new Float64Array(WINDOW);
const IM = new Float64Array(WINDOW);
const TAKEN = new Uint8Array(WINDOW / 2 + 1);

/** The looks at one stream, two at a time. */
export class Looks {
  readonly looks: readonly [Look, Look] = [nothing(), nothing()];
  #before: Float64Array = new Float64Array(WINDOW / 2 + 1);
  #first: Float64Array = new Float64Array(WINDOW / 2 + 1);
  #second: Float64Array = new Float64Array(WINDOW / 2 + 1);

  /** Looks at the first and at the last 256 of 336 samples. The answer holds until the next. */
  take(samples: Int16Array): readonly [Look, Look] {
    // Two real windows as one complex one.
    for (let n = 0; n < WINDOW; n++) {
      RE[n] = samples[n]! * HANN[n]!;
      IM[n] = samples[n + HOP]! * HANN[n]!;
    }
    LOOK_FFT.transform(RE, IM);
    const first = this.#first;
    const second = this.#second;
    for (let k = LOWEST - LOBE; k <= HIGHEST + LOBE; k++) {
      const mirror = WINDOW - k;
      first[k] = ((RE[k]! + RE[mirror]!) ** 2 + (IM[k]! - IM[mirror]!) ** 2) / 4;
      second[k] = ((IM[k]! + IM[mirror]!) ** 2 + (RE[k]! - RE[mirror]!) ** 2) / 4;
    }
    fill(this.looks[0], first, this.#before);
    fill(this.looks[1], second, first);
    this.#second = this.#before;
    this.#before = second;
    return this.looks;
  }
}

function nothing(): Look {
  return { levelDb: -96, hz: 0, share: 0, purity: 0, likeness: 0 };
}

function fill(look: Look, power: Float64Array, before: Float64Array): void {
  let sum = 0;
  let squares = 0;
  let squaresBefore = 0;
  let product = 0;
  for (let k = LOWEST; k <= HIGHEST; k++) {
    const now = power[k]!;
    const last = before[k]!;
    sum += now;
    squares += now * now;
    squaresBefore += last * last;
    product += now * last;
  }
  look.levelDb = squaresDb(sum * POWER_SCALE, 1);
  look.likeness = squares > 0 && squaresBefore > 0 ? product / Math.sqrt(squares * squaresBefore) : 0;
  look.hz = 0;
  look.share = 0;
  look.purity = 0;
  if (sum <= 0) return;
  TAKEN.fill(0);
  let strongest = 0;
  let tones = 0;
  for (let line = 0; line < MOST_LINES; line++) {
    let peak = 0;
    for (let k = LOWEST; k <= HIGHEST; k++)
      if (TAKEN[k] === 0 && (peak === 0 || power[k]! > power[peak]!)) peak = k;
    if (peak === 0 || power[peak]! < strongest * FAINTEST_LINE) break;
    let held = 0;
    for (let k = Math.max(LOWEST, peak - LOBE); k <= Math.min(HIGHEST, peak + LOBE); k++) {
      if (TAKEN[k] === 0) held += power[k]!;
      TAKEN[k] = 1;
    }
    tones += held;
    if (line > 0) continue;
    strongest = power[peak]!;
    look.hz = (peak + offset(power, peak)) * BIN_HZ;
    look.share = held / sum;
  }
  look.purity = tones / sum;
}

/** Where between the bins a peak lies, -0.5 to 0.5: the top of a parabola through the logarithms. */
function offset(power: Float64Array, peak: number): number {
  const [low, high] = [power[peak - 1]!, power[peak + 1]!];
  if (low <= 0 || high <= 0) return 0;
  const [left, middle, right] = [Math.log(low), Math.log(power[peak]!), Math.log(high)];
  const bend = left - 2 * middle + right;
  return bend >= 0 ? 0 : Math.max(-0.5, Math.min(0.5, (left - right) / (2 * bend)));
}

/** One tone of a stretch. */
export interface Partial {
  hz: number;
  /** To the strongest, 0 or less. */
  db: number;
}

/** A stretch that was looked at closely. */
export interface Stretch {
  /** From the lowest up. */
  partials: Partial[];
  /** The share of the power that is in them. */
  purity: number;
}

const CLOSE = 2_048;
const CLOSE_FFT = new Fft(CLOSE);
const CLOSE_HZ = RATE_HZ / CLOSE;
const CLOSE_RE = new Float64Array(CLOSE);
const CLOSE_IM = new Float64Array(CLOSE);
const CLOSE_POWER = new Float64Array(CLOSE / 2 + 1);
const CLOSE_TAKEN = new Uint8Array(CLOSE / 2 + 1);
const MOST_PARTIALS = 9;

/** So much of a tone is looked at for how steady it is. */
const STEADIER = 0.6;

/** The longest that `lookClosely` takes, in samples. */
export const CLOSEST = CLOSE;

/** The tones of a stretch of up to 2048 samples that are no fainter than `leastDb` to the strongest. */
export function lookClosely(samples: Float64Array, leastDb: number): Stretch {
  const { length } = samples;
  CLOSE_RE.fill(0);
  CLOSE_IM.fill(0);
  for (let n = 0; n < length; n++)
    CLOSE_RE[n] = samples[n]! * (0.5 - 0.5 * Math.cos((2 * Math.PI * (n + 0.5)) / length));
  CLOSE_FFT.transform(CLOSE_RE, CLOSE_IM);
  const [lowest, highest] = [Math.ceil(150 / CLOSE_HZ), Math.floor(3_850 / CLOSE_HZ)];
  let sum = 0;
  for (let k = lowest - 1; k <= highest + 1; k++) {
    CLOSE_POWER[k] = CLOSE_RE[k]! ** 2 + CLOSE_IM[k]! ** 2;
    if (k >= lowest && k <= highest) sum += CLOSE_POWER[k]!;
  }
  // The main lobe, and a little for a tone that is not quite steady.
  const lobe = Math.ceil((2 * CLOSE) / length + 6 / CLOSE_HZ);
  CLOSE_TAKEN.fill(0);
  const partials: Partial[] = [];
  let strongest = 0;
  let held = 0;
  while (partials.length < MOST_PARTIALS) {
    let peak = 0;
    for (let k = lowest; k <= highest; k++)
      if (CLOSE_TAKEN[k] === 0 && (peak === 0 || CLOSE_POWER[k]! > CLOSE_POWER[peak]!)) peak = k;
    if (peak === 0 || CLOSE_POWER[peak]! <= 0) break;
    strongest = Math.max(strongest, CLOSE_POWER[peak]!);
    const db = 10 * Math.log10(CLOSE_POWER[peak]! / strongest);
    if (db < leastDb) break;
    // The slope of a lobe that was taken is no tone of its own.
    const top = CLOSE_POWER[peak]! >= CLOSE_POWER[peak - 1]! && CLOSE_POWER[peak]! >= CLOSE_POWER[peak + 1]!;
    for (let k = Math.max(lowest, peak - lobe); k <= Math.min(highest, peak + lobe); k++) {
      if (CLOSE_TAKEN[k] === 0) held += CLOSE_POWER[k]!;
      CLOSE_TAKEN[k] = 1;
    }
    if (top) partials.push({ hz: (peak + offset(CLOSE_POWER, peak)) * CLOSE_HZ, db });
  }
  partials.sort((one, other) => one.hz - other.hz);
  return { partials, purity: sum > 0 ? held / sum : 0 };
}

/**
 * How far a tone of a stretch strays from a steady one: the phase, in radians (root of the mean square), that is left when a
 * constant frequency near `hz` is taken away, of the steadier part of it: what a room adds at its beginning and end does not
 * count. A machine's tone leaves hardly any, a voice cannot help it.
 */
export function strayOf(samples: Float64Array, hz: number): number {
  const phases: number[] = [];
  const turn = (2 * Math.PI * hz) / RATE_HZ;
  for (let from = 0; from + WINDOW <= samples.length; from += HOP) {
    let re = 0;
    let im = 0;
    for (let n = 0; n < WINDOW; n++) {
      const gained = samples[from + n]! * HANN[n]!;
      re += gained * Math.cos(turn * (from + n));
      im -= gained * Math.sin(turn * (from + n));
    }
    let phase = Math.atan2(im, re);
    const last = phases.at(-1);
    if (last !== undefined) phase += 2 * Math.PI * Math.round((last - phase) / (2 * Math.PI));
    phases.push(phase);
  }
  return steadierPart(phases);
}

/** How far values stray from a straight line through the steadier ones of them. */
function steadierPart(values: readonly number[]): number {
  let kept = values.map((value, at) => ({ at, value }));
  const least = Math.max(4, Math.ceil(values.length * STEADIER));
  let line = lineThrough(kept);
  while (kept.length > least) {
    const off = (one: { at: number; value: number }) => Math.abs(one.value - line.from - line.slope * one.at);
    kept = kept
      .sort((one, other) => off(one) - off(other))
      .slice(0, Math.max(least, Math.floor(kept.length * 0.85)));
    line = lineThrough(kept);
  }
  return line.strayed;
}

/** The straight line through points: where it is at 0, its slope, and how far they stray from it (root of the mean square). */
function lineThrough(points: readonly { at: number; value: number; weight?: number }[]): {
  from: number;
  slope: number;
  strayed: number;
} {
  const all = points.reduce((sum, { weight = 1 }) => sum + weight, 0);
  let middle = 0;
  let mean = 0;
  for (const { at, value, weight = 1 } of points) {
    middle += (at * weight) / all;
    mean += (value * weight) / all;
  }
  let slope = 0;
  let spread = 0;
  for (const { at, value, weight = 1 } of points) {
    slope += weight * (value - mean) * (at - middle);
    spread += weight * (at - middle) ** 2;
  }
  slope = spread === 0 ? 0 : slope / spread;
  let squares = 0;
  for (const { at, value, weight = 1 } of points)
    squares += weight * (value - mean - slope * (at - middle)) ** 2;
  return { from: mean - slope * middle, slope, strayed: all === 0 ? 0 : Math.sqrt(squares / all) };
}

/** The same through evenly spaced values, each as much as it weighs. */
export const lineOf = (
  values: ArrayLike<number>,
  weights?: ArrayLike<number>,
): { from: number; slope: number; strayed: number } =>
  lineThrough(Array.from(values, (value, at) => ({ at, value, weight: weights?.[at] ?? 1 })));
