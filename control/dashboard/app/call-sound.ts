// PURE. Sound between a browser's own rate and the telephone's: G.711 mu-law, and a resampler with a steep low-pass.
// Runs in the audio worklet, where nothing may allocate for each sample.

export const LINE_RATE_HZ = 8000;
/** mu-law bytes of 20 ms. */
export const FRAME_BYTES = 160;
export const FRAME_MS = 20;
export const SILENCE = 0xff;

const BIAS = 0x84;
const CLIP = 32_635;

/** ITU-T G.711: a sample of -1 to 1 as one byte. */
export function encodeMulaw(sample: number): number {
  const pcm = Math.round(sample * 32_768);
  const sign = pcm < 0 ? 0x80 : 0;
  // Negative values take one's complement (ITU-T G.191).
  const value = Math.min(CLIP, pcm < 0 ? -pcm - 1 : pcm) + BIAS;
  // The segment is the place of the highest bit, 7 to 14.
  const exponent = 24 - Math.clz32(value);
  const mantissa = (value >> (exponent + 3)) & 0x0f;
  return ~(sign | (exponent << 4) | mantissa) & 0xff;
}

/** ITU-T G.711: a sample of -1 to 1 for each byte. */
export const MULAW: Float32Array = Float32Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const value = ((((code & 0x0f) << 3) + BIAS) << ((code >> 4) & 0x07)) - BIAS;
  return (code & 0x80 ? -value : value) / 32_768;
});

/** Zero crossings of the filter on either side: the more, the steeper. */
const CROSSINGS = 24;
/** Of the lower rate's half: what lies above is let go, so that next to nothing folds back. */
const PASSBAND = 0.96;
/** Kaiser's: side lobes 80 dB down. */
const BETA = 8;

/** Changes the rate of a stream, at any two whole rates. Delays by 24 samples of the lower one. */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  readonly #half: number;
  /** The filter, a row of `2 * half` for each place between two samples. */
  readonly #rows: Float32Array;
  #history: Float32Array;
  #filled: number;
  #at: number;
  #phase = 0;
  #out: Float32Array;

  constructor(fromHz: number, toHz: number) {
    const divisor = greatestCommonDivisor(fromHz, toHz);
    this.#up = toHz / divisor;
    this.#down = fromHz / divisor;
    this.#half = Math.ceil(CROSSINGS * Math.max(1, fromHz / toHz));
    this.#rows = filterRows(this.#up, this.#half, 0.5 * PASSBAND * Math.min(1, toHz / fromHz));
    this.#filled = this.#half - 1;
    this.#at = this.#half - 1;
    this.#history = new Float32Array(4 * this.#half + 1_024);
    this.#out = new Float32Array(1_024);
  }

  /** What follows from `input`; it holds until the next call. */
  push(input: Float32Array): Float32Array {
    if (this.#filled + input.length > this.#history.length) {
      const longer = new Float32Array((this.#filled + input.length) * 2);
      longer.set(this.#history.subarray(0, this.#filled));
      this.#history = longer;
    }
    this.#history.set(input, this.#filled);
    this.#filled += input.length;
    const most = Math.ceil(((input.length + 1) * this.#up) / this.#down) + 1;
    if (this.#out.length < most) this.#out = new Float32Array(most * 2);
    const taps = 2 * this.#half;
    let count = 0;
    while (this.#at + this.#half < this.#filled) {
      const row = this.#phase * taps;
      const first = this.#at - this.#half + 1;
      let sum = 0;
      for (let k = 0; k < taps; k++) sum += this.#history[first + k]! * this.#rows[row + k]!;
      this.#out[count++] = sum;
      this.#phase += this.#down;
      this.#at += Math.floor(this.#phase / this.#up);
      this.#phase %= this.#up;
    }
    const done = Math.min(this.#at - this.#half + 1, this.#filled);
    if (done > 0) {
      this.#history.copyWithin(0, done, this.#filled);
      this.#filled -= done;
      this.#at -= done;
    }
    return this.#out.subarray(0, count);
  }
}

function filterRows(up: number, half: number, cutoff: number): Float32Array {
  const rows = new Float32Array(up * 2 * half);
  for (let phase = 0; phase < up; phase++) {
    let sum = 0;
    for (let k = 0; k < 2 * half; k++) {
      const t = k - half + 1 - phase / up;
      const x = 2 * Math.PI * cutoff * t;
      const sinc = x === 0 ? 1 : Math.sin(x) / x;
      const edge = 1 - (t / half) ** 2;
      const value = edge <= 0 ? 0 : sinc * bessel(BETA * Math.sqrt(edge));
      rows[phase * 2 * half + k] = value;
      sum += value;
    }
    // Each row passes a constant as it is: otherwise the rows' differences would be heard as a tone.
    for (let k = 0; k < 2 * half; k++) rows[phase * 2 * half + k]! /= sum;
  }
  return rows;
}

/** The modified Bessel function of the first kind, order 0. */
function bessel(x: number): number {
  let term = 1;
  let sum = 1;
  for (let k = 1; term > sum * 1e-9; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
