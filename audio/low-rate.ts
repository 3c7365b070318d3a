// PURE. Sound at 2 kHz, as the echo guard compares it: the newest of a stream, and products of two stretches of sound.
// Below 1 kHz lies what every echo path lets through.
import { MULAW_TO_PCM } from './g711.ts';

const DECIMATION = 4;
/** Samples of a millisecond. */
export const PER_MS = 2;
/** Loudness is told of 4 ms as one. */
export const BLOCK = 8;

/**
 * Fills `out` with the product of `short` and what stands in `long` from each place on. Four places at a time: an addition waits
 * for the one before it in its sum, and not for those of the others.
 */
export function correlate(long: Float32Array, short: Float32Array, out: Float64Array): void {
  const { length } = short;
  let at = 0;
  for (; at + 4 <= out.length; at += 4) {
    let first = 0;
    let second = 0;
    let third = 0;
    let fourth = 0;
    for (let i = 0; i < length; i++) {
      const sample = short[i]!;
      const place = at + i;
      first += sample * long[place]!;
      second += sample * long[place + 1]!;
      third += sample * long[place + 2]!;
      fourth += sample * long[place + 3]!;
    }
    out[at] = first;
    out[at + 1] = second;
    out[at + 2] = third;
    out[at + 3] = fourth;
  }
  for (; at < out.length; at++) {
    let product = 0;
    for (let i = 0; i < length; i++) product += short[i]! * long[at + i]!;
    out[at] = product;
  }
}

/** The newest of a stream at 2 kHz: a box of 8 at every 4th sample of 8 kHz, which takes out what would fold. */
export class LowRate {
  readonly ring: Float32Array;
  /** One past the newest sample, in samples of 2 kHz since 0 ms. */
  to = 0;
  #sum = 0;
  #before = 0;
  #count = 0;

  constructor(size: number) {
    this.ring = new Float32Array(size);
  }

  /** Takes the next samples, mu-law. Answers the sum of their squares. */
  push(mulaw: Uint8Array, from: number, end: number): number {
    const { ring } = this;
    const mask = ring.length - 1;
    let { to } = this;
    let sum = this.#sum;
    let before = this.#before;
    let count = this.#count;
    let squares = 0;
    for (let i = from; i < end; i++) {
      const sample = MULAW_TO_PCM[mulaw[i]!]!;
      squares += sample * sample;
      sum += sample;
      if (++count < DECIMATION) continue;
      ring[to++ & mask] = sum + before;
      before = sum;
      sum = 0;
      count = 0;
    }
    this.to = to;
    this.#sum = sum;
    this.#before = before;
    this.#count = count;
    return squares;
  }

  /** Silence from `from` to `to`, as far back as anything is kept. */
  silence(from: number, to: number): void {
    const { ring } = this;
    const mask = ring.length - 1;
    for (let at = Math.max(from, to - ring.length); at < to; at++) ring[at & mask] = 0;
  }

  /** Fills `out` with what stands from `from` on: zero where nothing is known. */
  read(from: number, out: Float32Array): void {
    const { ring, to } = this;
    const mask = ring.length - 1;
    const least = Math.max(0, to - ring.length);
    for (let i = 0; i < out.length; i++) {
      const at = from + i;
      out[i] = at < least || at >= to ? 0 : ring[at & mask]!;
    }
  }

  /** The energy of what stands from `from` up to `to`: nothing where nothing is known. */
  energy(from: number, to: number): number {
    const { ring } = this;
    const mask = ring.length - 1;
    const end = Math.min(to, this.to);
    let sum = 0;
    for (let at = Math.max(0, from, this.to - ring.length); at < end; at++)
      sum += ring[at & mask]! * ring[at & mask]!;
    return sum;
  }

  /** Fills `out` with the loudness of each block from `from` on. */
  loudness(from: number, out: Float32Array): void {
    const { ring, to } = this;
    const mask = ring.length - 1;
    const least = Math.max(0, to - ring.length);
    for (let block = 0; block < out.length; block++) {
      const first = from + block * BLOCK;
      const end = Math.min(to, first + BLOCK);
      let sum = 0;
      for (let at = Math.max(least, first); at < end; at++) sum += Math.abs(ring[at & mask]!);
      out[block] = sum;
    }
  }
}
