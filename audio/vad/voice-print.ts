// PURE. What a voice sounds like, apart from how loud it is: the shape of its spectrum and its pitch, window by window, and their
// means and spread over a stretch of speech. And how unlike two such stretches are. A voice's way to the microphone is in it too.
import { Fft } from '../fft.ts';
import { MULAW_TO_PCM } from '../g711.ts';

const WINDOW = 256;
const HALF = WINDOW / 2;
const RATE_HZ = 8000;
/** Bands of equal width to the ear, and what is kept of their shape. */
const BANDS = 16;
const SHAPE = 12;
const FROM_HZ = 120;
const TO_HZ = 3800;
/** Nothing is fainter than the line's own steps. */
const LEAST_POWER = 1e4;
/** What is so far below the loudest band may be noise as well: 27 dB. */
const MASKED = 0.002;
/** What is known of the line's noise, by its last half second; so many times of it is taken out of a voice. */
const NOISE_WINDOWS = 16;
const NOISE_TIMES = 1.3;
/** A window that is not so much louder than the noise shows nothing of a voice. */
const OUT_OF_NOISE = 0.5;
/** For the pitch: means of four samples, two windows of them. */
const LOW = 4;
const LOW_WINDOW = WINDOW / LOW;
const LOW_SPAN = 2 * LOW_WINDOW;
const LOW_HZ = RATE_HZ / LOW;
const LEAST_LAG = LOW_HZ / 400;
const MOST_LAG = Math.ceil(LOW_HZ / 70);
/** Alike enough a period later to be a voiced sound; a longer period must be so much better. */
const VOICED = 0.6;
const BETTER = 0.06;

const mel = (hz: number) => Math.log(1 + hz / 700);
const EDGES = Uint8Array.from({ length: BANDS + 1 }, (_, i) =>
  Math.round(
    (700 * (Math.exp(mel(FROM_HZ) + ((mel(TO_HZ) - mel(FROM_HZ)) * i) / BANDS) - 1) * WINDOW) / RATE_HZ,
  ),
);
const TAPER = Float64Array.from(
  { length: WINDOW },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (i + 0.5)) / WINDOW),
);
const COS = Float64Array.from({ length: HALF }, (_, i) => Math.cos((2 * Math.PI * i) / WINDOW));
const SIN = Float64Array.from({ length: HALF }, (_, i) => Math.sin((2 * Math.PI * i) / WINDOW));
const SHAPES = Float64Array.from(
  { length: SHAPE * BANDS },
  (_, i) =>
    Math.sqrt(2 / BANDS) * Math.cos((Math.PI * (Math.floor(i / BANDS) + 1) * ((i % BANDS) + 0.5)) / BANDS),
);

/** One window is looked at at a time, whoever's it is. */
const FFT = new Fft(HALF);
const RE = new Float64Array(HALF);
const IM = new Float64Array(HALF);
const POWERS = new Float64Array(BANDS);
const BAND_DB = new Float64Array(BANDS);
const LOW_SAMPLES = new Float64Array(LOW_SPAN);
const LIKENESS = new Float64Array(MOST_LAG + 2);

/** A window of 32 ms of a voice, as it sounds: the same object for each window. */
export class VoiceSound {
  readonly shape = new Float64Array(SHAPE);
  /** In semitones above 1 Hz; null: not voiced. */
  pitch: number | null = null;
  /** There is more in it than the line's noise. */
  clear = false;
  /** The mean power of the line's noise in each band. */
  readonly #noise = new Float64Array(BANDS);
  #noiseWindows = 0;
  readonly #low = new Float64Array(LOW_SPAN);
  /** Where the window before ended. */
  #endSample = 0;

  /** Takes a window of mu-law: the last of `samples`. @param endSample of the stream */
  take(samples: Uint8Array, endSample: number): void {
    const from = samples.length - WINDOW;
    const low = this.#low;
    low.copyWithin(0, LOW_WINDOW);
    for (let i = 0; i < LOW_WINDOW; i++) {
      const at = from + i * LOW;
      low[LOW_WINDOW + i] =
        MULAW_TO_PCM[samples[at]!]! +
        MULAW_TO_PCM[samples[at + 1]!]! +
        MULAW_TO_PCM[samples[at + 2]!]! +
        MULAW_TO_PCM[samples[at + 3]!]!;
    }
    this.pitch = endSample - this.#endSample === WINDOW ? pitchOf(low) : null;
    this.#endSample = endSample;
    powersOf(samples);
    this.#takeNoiseOut();
    const { shape } = this;
    for (let k = 0; k < SHAPE; k++) {
      let sum = 0;
      for (let band = 0; band < BANDS; band++) sum += SHAPES[k * BANDS + band]! * BAND_DB[band]!;
      shape[k] = sum;
    }
  }

  /** Takes a window of mu-law in which nobody speaks: the last of `samples`. */
  takeNoise(samples: Uint8Array): void {
    powersOf(samples);
    this.#noiseWindows = Math.min(this.#noiseWindows + 1, NOISE_WINDOWS);
    for (let band = 0; band < BANDS; band++)
      this.#noise[band]! += (POWERS[band]! - this.#noise[band]!) / this.#noiseWindows;
  }

  /** What is under the noise counts as silent. */
  #takeNoiseOut(): void {
    let loudest = 0;
    let left = 0;
    let noise = 0;
    for (let band = 0; band < BANDS; band++) {
      const power = Math.max(0, POWERS[band]! - NOISE_TIMES * this.#noise[band]!);
      BAND_DB[band] = power;
      loudest = Math.max(loudest, power);
      left += power;
      noise += this.#noise[band]!;
    }
    this.clear = left > OUT_OF_NOISE * noise;
    const least = LEAST_POWER + MASKED * loudest;
    for (let band = 0; band < BANDS; band++) BAND_DB[band] = 10 * Math.log10(BAND_DB[band]! + least);
  }
}

/** The power in each band of a window, from the transform of even samples as real and odd as imaginary parts. */
function powersOf(samples: Uint8Array): void {
  const from = samples.length - WINDOW;
  for (let i = 0; i < HALF; i++) {
    RE[i] = MULAW_TO_PCM[samples[from + 2 * i]!]! * TAPER[2 * i]!;
    IM[i] = MULAW_TO_PCM[samples[from + 2 * i + 1]!]! * TAPER[2 * i + 1]!;
  }
  FFT.transform(RE, IM);
  for (let band = 0; band < BANDS; band++) {
    let power = 0;
    for (let bin = EDGES[band]!; bin < EDGES[band + 1]!; bin++) {
      const other = HALF - bin;
      const evenRe = (RE[bin]! + RE[other]!) / 2;
      const evenIm = (IM[bin]! - IM[other]!) / 2;
      const oddRe = (IM[bin]! + IM[other]!) / 2;
      const oddIm = (RE[other]! - RE[bin]!) / 2;
      const re = evenRe + COS[bin]! * oddRe + SIN[bin]! * oddIm;
      const im = evenIm + COS[bin]! * oddIm - SIN[bin]! * oddRe;
      power += re * re + im * im;
    }
    POWERS[band] = power;
  }
}

/** The pitch of two windows at a low rate, in semitones above 1 Hz; null where there is none. */
function pitchOf(low: Float64Array): number | null {
  let mean = 0;
  for (let i = 0; i < LOW_SPAN; i++) mean += low[i]!;
  mean /= LOW_SPAN;
  const count = LOW_SPAN - MOST_LAG - 1;
  let energy = 0;
  let later = 0;
  for (let i = 0; i < LOW_SPAN; i++) LOW_SAMPLES[i] = low[i]! - mean;
  for (let i = 0; i < count; i++) {
    energy += LOW_SAMPLES[i]! ** 2;
    later += LOW_SAMPLES[i + LEAST_LAG - 1]! ** 2;
  }
  if (energy === 0) return null;
  for (let lag = LEAST_LAG - 1; lag <= MOST_LAG + 1; lag++) {
    let product = 0;
    for (let i = 0; i < count; i++) product += LOW_SAMPLES[i]! * LOW_SAMPLES[i + lag]!;
    LIKENESS[lag] = product / Math.sqrt(energy * Math.max(0, later) + 1);
    later += (LOW_SAMPLES[lag + count] ?? 0) ** 2 - LOW_SAMPLES[lag]! ** 2;
  }
  let best = VOICED - BETTER;
  let at = 0;
  for (let lag = LEAST_LAG; lag <= MOST_LAG; lag++) {
    const here = LIKENESS[lag]!;
    if (here < best + BETTER || here < LIKENESS[lag - 1]! || here < LIKENESS[lag + 1]!) continue;
    best = here;
    at = lag;
  }
  if (at === 0) return null;
  const before = LIKENESS[at - 1]!;
  const after = LIKENESS[at + 1]!;
  const bend = before - 2 * best + after;
  const off = bend === 0 ? 0 : (before - after) / (2 * bend);
  return 12 * Math.log2(LOW_HZ / (at + off));
}

/** Of the squared difference of two means: what windows in a row share of what they are, and what stretches of one voice differ by. */
const SHAPE_SHARED = 4;
const SHAPE_APART = 4;
const PITCH_SHARED = 6;
const PITCH_APART = 1.5;
const MOST_PITCH_SPREAD = 16;
const LEAST_VOICED = 5;
/** The pitch counts as much as so many shapes; no more than so. */
const PITCH_COUNTS = 4;
const MOST_PITCH = 20;

/** The means and the spread of a voice over the windows that counted last. */
export class VoicePrint {
  readonly #most: number;
  readonly #mean = new Float64Array(SHAPE);
  readonly #square = new Float64Array(SHAPE);
  #pitch = 0;
  #pitchSquare = 0;
  windows = 0;
  #voiced = 0;

  /** @param most windows that count */
  constructor(most: number) {
    this.#most = most;
  }

  add({ shape, pitch, clear }: VoiceSound): void {
    if (!clear) return;
    const share = 1 / Math.min(++this.windows, this.#most);
    for (let k = 0; k < SHAPE; k++) {
      const x = shape[k]!;
      this.#mean[k]! += (x - this.#mean[k]!) * share;
      this.#square[k]! += (x * x - this.#square[k]!) * share;
    }
    if (pitch === null) return;
    const pitchShare = 1 / Math.min(++this.#voiced, this.#most);
    this.#pitch += (pitch - this.#pitch) * pitchShare;
    this.#pitchSquare += (pitch * pitch - this.#pitchSquare) * pitchShare;
  }

  clear(): void {
    this.windows = 0;
    this.#voiced = 0;
  }

  /** What another stretch of the same voice was counts as well. */
  join(other: VoicePrint): void {
    if (other.windows === 0) return;
    const share = other.windows / (Math.min(this.windows, this.#most) + other.windows);
    for (let k = 0; k < SHAPE; k++) {
      this.#mean[k]! += (other.#mean[k]! - this.#mean[k]!) * share;
      this.#square[k]! += (other.#square[k]! - this.#square[k]!) * share;
    }
    this.windows += other.windows;
    if (other.#voiced === 0) return;
    const pitchShare = other.#voiced / (Math.min(this.#voiced, this.#most) + other.#voiced);
    this.#pitch += (other.#pitch - this.#pitch) * pitchShare;
    this.#pitchSquare += (other.#pitchSquare - this.#pitchSquare) * pitchShare;
    this.#voiced += other.#voiced;
  }

  /** The same as another print. */
  copy(other: VoicePrint): void {
    this.#mean.set(other.#mean);
    this.#square.set(other.#square);
    this.#pitch = other.#pitch;
    this.#pitchSquare = other.#pitchSquare;
    this.windows = other.windows;
    this.#voiced = other.#voiced;
  }

  /** How unlike a stretch of speech is: about 0.8 for the same voice, measured by this voice's own spread; unlike from 1 on. */
  unlike(said: VoicePrint): number {
    const times = SHAPE_SHARED * (1 / this.#count(this.windows) + 1 / said.#count(said.windows));
    let sum = 0;
    for (let k = 0; k < SHAPE; k++) {
      const apart = this.#mean[k]! - said.#mean[k]!;
      const spread = Math.max(0, this.#square[k]! - this.#mean[k]! * this.#mean[k]!);
      sum += (apart * apart) / (spread * times + SHAPE_APART);
    }
    return (sum + PITCH_COUNTS * this.#pitchUnlike(said)) / (SHAPE + PITCH_COUNTS);
  }

  #pitchUnlike(said: VoicePrint): number {
    if (this.#voiced < LEAST_VOICED || said.#voiced < LEAST_VOICED) return 1;
    const apart = this.#pitch - said.#pitch;
    const spread = Math.min(MOST_PITCH_SPREAD, Math.max(0, this.#pitchSquare - this.#pitch * this.#pitch));
    const times = PITCH_SHARED * (1 / this.#count(this.#voiced) + 1 / said.#count(said.#voiced));
    return Math.min(MOST_PITCH, (apart * apart) / (spread * times + PITCH_APART));
  }

  readonly #count = (windows: number): number => Math.min(windows, this.#most);
}
