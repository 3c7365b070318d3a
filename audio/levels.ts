// PURE. How loud sound is, in dB, and how loud the line is when nobody speaks. What counts as speech is decided elsewhere.
// dB are relative to a full-scale square wave (dBov of ITU-T G.100.1): a full-scale sine is -3 dB, speech about -15 to -35.
import { MULAW_TO_PCM } from './g711.ts';

/** The level of digital silence: below the smallest step of 16 bits. */
export const SILENT_DB = -96;

const FULL_SCALE_SQUARE = 32768 * 32768;
const SQUARES = Float64Array.from(MULAW_TO_PCM, (sample) => sample * sample);

/** RMS level of 16-bit PCM from sample `from` on, `SILENT_DB` to 0. */
export function pcmLevelDb(pcm: Int16Array, from = 0): number {
  let sum = 0;
  for (let i = from; i < pcm.length; i++) sum += pcm[i]! * pcm[i]!;
  return squaresDb(sum, pcm.length - from);
}

/** RMS level of mu-law from byte `from` on, `SILENT_DB` to 0, without decoding it. */
export function mulawLevelDb(payload: Uint8Array, from = 0): number {
  let sum = 0;
  for (let i = from; i < payload.length; i++) sum += SQUARES[payload[i]!]!;
  return squaresDb(sum, payload.length - from);
}

/** RMS level of `count` samples of 16 bits by the sum of their squares, `SILENT_DB` to 0. */
export function squaresDb(sum: number, count: number): number {
  if (sum === 0) return SILENT_DB;
  return Math.max(SILENT_DB, 10 * Math.log10(sum / count / FULL_SCALE_SQUARE));
}

// Nobody speaks this long without a pause between two words.
const BLOCKS = 8;
const BLOCK_MS = 1000;

/**
 * The noise floor of a line: the quietest stretch of three frames in the last 8 seconds. A shorter dip is no pause, digital
 * silence is no noise (a filled gap, a muted line). Falls within three frames, rises after eight seconds of something louder.
 */
export class NoiseFloor {
  readonly #blocks = new Float64Array(BLOCKS).fill(Number.POSITIVE_INFINITY);
  #current = Number.POSITIVE_INFINITY;
  #last = 0;
  #beforeLast = 0;
  #elapsedMs = 0;
  #next = 0;
  #floorDb: number;

  /** `initialDb` holds until a second has been heard, unless the line is quieter. */
  constructor(initialDb = -65) {
    this.#floorDb = initialDb;
  }

  get db(): number {
    return this.#floorDb;
  }

  /** The line has been heard for a second. */
  get known(): boolean {
    return this.#blocks[0] !== Number.POSITIVE_INFINITY;
  }

  /** Takes the level of the next frame of `ms` and answers the floor in dB. */
  step(levelDb: number, ms: number): number {
    if (levelDb <= SILENT_DB + 6) return this.#floorDb;
    const stretchDb = Math.max(levelDb, this.#last, this.#beforeLast);
    this.#beforeLast = this.#last;
    this.#last = levelDb;
    this.#current = Math.min(this.#current, stretchDb);
    this.#floorDb = Math.min(this.#floorDb, stretchDb);
    this.#elapsedMs += ms;
    if (this.#elapsedMs >= BLOCK_MS) {
      this.#blocks[this.#next] = this.#current;
      this.#next = (this.#next + 1) % BLOCKS;
      this.#current = Number.POSITIVE_INFINITY;
      this.#elapsedMs = 0;
      this.#floorDb = Math.min(...this.#blocks);
    }
    return this.#floorDb;
  }
}
