// PURE. Changes the sample rate by a whole factor with a windowed-sinc low-pass; streams keep their state in a Decimator.

/** Taps for each unit of the factor: a transition band of about 400 Hz at 8 kHz. */
const TAPS_PER_FACTOR = 16;

function lowPass(factor: number): Float64Array {
  const length = TAPS_PER_FACTOR * factor + 1;
  const middle = (length - 1) / 2;
  const cutoff = 0.46 / factor; // of the higher rate; 0.5 would be the lower rate's Nyquist limit
  const taps = new Float64Array(length);
  let sum = 0;
  for (let i = 0; i < length; i++) {
    const x = i - middle;
    const sinc = x === 0 ? 2 * cutoff : Math.sin(2 * Math.PI * cutoff * x) / (Math.PI * x);
    const window =
      0.42 -
      0.5 * Math.cos((2 * Math.PI * i) / (length - 1)) +
      0.08 * Math.cos((4 * Math.PI * i) / (length - 1));
    taps[i] = sinc * window;
    sum += taps[i]!;
  }
  for (let i = 0; i < length; i++) taps[i]! /= sum;
  return taps;
}

const clamp = (value: number): number => Math.max(-32768, Math.min(32767, Math.round(value)));

/** Raises the rate of a whole recording `factor` times; the length grows by exactly that factor. */
export function upsample(samples: Int16Array, factor: number): Int16Array {
  const taps = lowPass(factor);
  const middle = (taps.length - 1) / 2;
  const out = new Int16Array(samples.length * factor);
  for (let n = 0; n < out.length; n++) {
    let sum = 0;
    // Only every factor-th tap meets a sample that is not one of the zeros put in between.
    for (let k = (n + middle) % factor; k < taps.length; k += factor) {
      const source = (n + middle - k) / factor;
      if (source >= 0 && source < samples.length) sum += taps[k]! * samples[source]!;
    }
    out[n] = clamp(sum * factor);
  }
  return out;
}

/** Lowers the rate of a stream `factor` times; feed it chunks of any length. Delays by half its filter. */
export class Decimator {
  readonly #factor: number;
  readonly #taps: Float64Array;
  #rest: Int16Array;
  #next: number;

  constructor(factor: number) {
    this.#factor = factor;
    this.#taps = lowPass(factor);
    this.#rest = new Int16Array((this.#taps.length - 1) / 2);
    this.#next = 0;
  }

  /** The samples of the lower rate that became certain with this chunk. */
  push(chunk: Int16Array): Int16Array {
    const input = new Int16Array(this.#rest.length + chunk.length);
    input.set(this.#rest);
    input.set(chunk, this.#rest.length);
    const span = this.#taps.length;
    const count = Math.max(0, Math.floor((input.length - span - this.#next) / this.#factor) + 1);
    const out = new Int16Array(count);
    let start = this.#next;
    for (let n = 0; n < count; n++, start += this.#factor) {
      let sum = 0;
      for (let k = 0; k < span; k++) sum += this.#taps[k]! * input[start + k]!;
      out[n] = clamp(sum);
    }
    const kept = Math.min(start, input.length);
    this.#rest = input.slice(kept);
    this.#next = start - kept;
    return out;
  }
}
