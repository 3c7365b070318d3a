// PURE. A voice that makes room for another: lowered and raised again in place, in whatever format it is on its way. From one
// loudness to the other it glides: a step would click.
import { type AudioFormat, sampleBytes } from './format.ts';
import { ALAW_TO_PCM, alawOf, MULAW_TO_PCM, mulawOf } from './g711.ts';

export interface DuckingOptions {
  /** How loud it is when it is low, in dB; below 0. */
  lowDb: number;
  /** How long it glides down, and up, in milliseconds. */
  fallMs: number;
  riseMs: number;
}

/** The loudness of one voice. At its full one no bit of it is touched. */
export class Ducking {
  readonly #encoding: AudioFormat['encoding'];
  readonly #sampleBytes: number;
  readonly #low: number;
  /** Of the gain, a sample. */
  readonly #fall: number;
  readonly #rise: number;
  #gain = 1;

  constructor(format: AudioFormat, { lowDb, fallMs, riseMs }: DuckingOptions) {
    this.#encoding = format.encoding;
    this.#sampleBytes = sampleBytes(format);
    this.#low = 10 ** (lowDb / 20);
    const samplesPerMs = format.rateHz / 1000;
    this.#fall = (1 - this.#low) / (fallMs * samplesPerMs);
    this.#rise = (1 - this.#low) / (riseMs * samplesPerMs);
  }

  /** The next sound, whole samples of it, is made so loud, in place: on its way to low, or to full, or there. */
  apply(sound: Uint8Array, low: boolean): void {
    if (!low && this.#gain === 1) return;
    switch (this.#encoding) {
      case 'mulaw':
        for (let i = 0; i < sound.length; i++)
          sound[i] = mulawOf(Math.round(MULAW_TO_PCM[sound[i]!]! * this.#along(i, low)));
        break;
      case 'alaw':
        for (let i = 0; i < sound.length; i++)
          sound[i] = alawOf(Math.round(ALAW_TO_PCM[sound[i]!]! * this.#along(i, low)));
        break;
      case 'pcm16':
        for (let i = 0; i + 1 < sound.length; i += 2) {
          const sample = ((sound[i]! | (sound[i + 1]! << 8)) << 16) >> 16;
          const scaled = Math.round(sample * this.#along(i >> 1, low));
          sound[i] = scaled & 0xff;
          sound[i + 1] = (scaled >> 8) & 0xff;
        }
    }
    const samples = sound.length / this.#sampleBytes;
    if (samples > 0) this.#gain = this.#along(samples - 1, low);
  }

  /** Another stretch begins: it is as loud as it came. */
  restart(): void {
    this.#gain = 1;
  }

  /** The gain of a sample of what comes next. */
  #along(sample: number, low: boolean): number {
    return low
      ? Math.max(this.#low, this.#gain - this.#fall * (sample + 1))
      : Math.min(1, this.#gain + this.#rise * (sample + 1));
  }
}
