// PURE. Sampling rate conversion between the phone's 8 kHz and a model's 16 or 24 kHz: one instance a stream, kept for its life.
// Kaiser-windowed sinc, half-amplitude at 4 kHz, symmetric: exact linear phase, and every rate/8000-th tap is zero and skipped.
// Pass band to 3.4 kHz within +-0.05 dB; from 4.6 kHz (images going up, what would alias below 3.4 kHz going down)
// 55 dB down or better; delay 1.5 ms either way. What lies between 3.4 and 4.6 kHz is the transition.

export interface Resampler {
  readonly fromHz: number;
  readonly toHz: number;
  readonly delayMs: number;
  /** Room that `process` needs for so many input samples. */
  outputLength(inputSamples: number): number;
  /**
   * Converts the next samples of the stream, any number of them; how they are cut changes no bit of the result.
   * Answers the samples written to `out`. @throws RangeError when `out` is shorter than `outputLength(input.length)`
   */
  process(input: Int16Array, out: Int16Array): number;
}

const LOW_HZ = 8000;
// Periods of 8 kHz on either side of the centre: with the window below, 55 dB in 1.2 kHz of transition.
const HALF_PERIODS = 12;
const KAISER_BETA = 5.65;
const BLOCK = 480;

/** A resampler from 8 kHz up to 16 or 24 kHz, or back. @throws RangeError for any other pair of rates */
export function createResampler(fromHz: number, toHz: number): Resampler {
  const factor = Math.max(fromHz, toHz) / LOW_HZ;
  if (Math.min(fromHz, toHz) !== LOW_HZ || (factor !== 2 && factor !== 3)) {
    throw new RangeError(`no resampler from ${fromHz} to ${toHz} Hz`);
  }
  return fromHz === LOW_HZ ? new Interpolator(factor) : new Decimator(factor);
}

/** One half of the symmetric filter at the higher rate: index n is the tap n samples off the centre. */
function halfFilter(factor: number): Float64Array {
  const half = HALF_PERIODS * factor;
  const taps = new Float64Array(half + 1);
  for (let n = 0; n <= half; n++) {
    const x = n / factor;
    const sinc = n === 0 ? 1 : n % factor === 0 ? 0 : Math.sin(Math.PI * x) / (Math.PI * x);
    taps[n] = (sinc * bessel(KAISER_BETA * Math.sqrt(1 - (n / (half + 1)) ** 2))) / bessel(KAISER_BETA);
  }
  return taps;
}

/** Modified Bessel function of the first kind, order 0. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function toSample(value: number): number {
  return value >= 32767 ? 32767 : value <= -32768 ? -32768 : Math.round(value);
}

class Interpolator implements Resampler {
  readonly fromHz = LOW_HZ;
  readonly toHz: number;
  readonly delayMs = (HALF_PERIODS / LOW_HZ) * 1000;
  readonly #factor: number;
  /** Taps of each phase but the first, in the order of the input samples; each phase passes a constant unchanged. */
  readonly #phases: Float64Array[] = [];
  readonly #line = new Float64Array(2 * HALF_PERIODS - 1 + BLOCK);

  constructor(factor: number) {
    this.#factor = factor;
    this.toHz = LOW_HZ * factor;
    const taps = halfFilter(factor);
    for (let phase = 1; phase < factor; phase++) {
      const row = new Float64Array(2 * HALF_PERIODS);
      for (let i = 0; i < row.length; i++) row[i] = taps[Math.abs((i - HALF_PERIODS + 1) * factor - phase)]!;
      const sum = row.reduce((a, b) => a + b);
      this.#phases.push(row.map((tap) => tap / sum));
    }
  }

  outputLength(inputSamples: number): number {
    return inputSamples * this.#factor;
  }

  process(input: Int16Array, out: Int16Array): number {
    if (out.length < input.length * this.#factor) throw new RangeError('resampler: output too short');
    const line = this.#line;
    const history = 2 * HALF_PERIODS - 1;
    let written = 0;
    for (let from = 0; from < input.length; from += BLOCK) {
      const count = Math.min(BLOCK, input.length - from);
      for (let i = 0; i < count; i++) line[history + i] = input[from + i]!;
      for (let i = 0; i < count; i++) {
        // The sample in the middle of the taps: phase 0 is the input itself, late.
        out[written++] = line[i + HALF_PERIODS - 1]!;
        for (const taps of this.#phases) {
          // Two sums at once: a processor need not wait for one addition before the next.
          let even = 0;
          let odd = 0;
          for (let k = 0; k < 2 * HALF_PERIODS; k += 2) {
            even += taps[k]! * line[i + k]!;
            odd += taps[k + 1]! * line[i + k + 1]!;
          }
          out[written++] = toSample(even + odd);
        }
      }
      line.copyWithin(0, count, count + history);
    }
    return written;
  }
}

class Decimator implements Resampler {
  readonly fromHz: number;
  readonly toHz = LOW_HZ;
  readonly delayMs = (HALF_PERIODS / LOW_HZ) * 1000;
  readonly #factor: number;
  readonly #centre: number;
  /** Distance from the centre and weight of each tap that is not zero; both sides share it. */
  readonly #distances: Int32Array;
  readonly #weights: Float64Array;
  readonly #line: Float64Array;
  /** Input samples to pass over before the next output. */
  #skip = 0;

  constructor(factor: number) {
    this.#factor = factor;
    this.fromHz = LOW_HZ * factor;
    const taps = halfFilter(factor);
    const distances = Array.from(taps.keys()).filter((n) => n % factor !== 0);
    const sum = distances.reduce((total, n) => total + 2 * taps[n]!, taps[0]!);
    this.#centre = taps[0]! / sum;
    this.#distances = Int32Array.from(distances);
    this.#weights = Float64Array.from(distances, (n) => taps[n]! / sum);
    this.#line = new Float64Array(2 * HALF_PERIODS * factor + BLOCK);
  }

  outputLength(inputSamples: number): number {
    return Math.ceil(inputSamples / this.#factor);
  }

  process(input: Int16Array, out: Int16Array): number {
    if (out.length < this.outputLength(input.length)) throw new RangeError('resampler: output too short');
    const line = this.#line;
    const half = HALF_PERIODS * this.#factor;
    const distances = this.#distances;
    const weights = this.#weights;
    let written = 0;
    for (let from = 0; from < input.length; from += BLOCK) {
      const count = Math.min(BLOCK, input.length - from);
      for (let i = 0; i < count; i++) line[2 * half + i] = input[from + i]!;
      let at = this.#skip;
      for (; at < count; at += this.#factor) {
        const middle = at + half;
        let even = this.#centre * line[middle]!;
        let odd = 0;
        // Their count is a multiple of HALF_PERIODS, so it is even.
        for (let k = 0; k < distances.length; k += 2) {
          const n = distances[k]!;
          const m = distances[k + 1]!;
          even += weights[k]! * (line[middle - n]! + line[middle + n]!);
          odd += weights[k + 1]! * (line[middle - m]! + line[middle + m]!);
        }
        out[written++] = toSample(even + odd);
      }
      this.#skip = at - count;
      line.copyWithin(0, count, count + 2 * half);
    }
    return written;
  }
}
