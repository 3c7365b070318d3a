// PURE. The caller's audio as the server takes it: decoded by the format in force, counted in milliseconds, watched for
// speech by its energy where the server takes the turns.
import { decodeAlaw, decodeMulaw } from './g711.ts';
import { Decimator } from './resample.ts';
import type { AudioFormat } from './voice.ts';

/** What the hearing, the recording and the speech detection work on. */
export const HEARING_RATE_HZ = 8000;
const SAMPLES_PER_MS = HEARING_RATE_HZ / 1000;

/** Bytes of a format to 8 kHz samples; keeps what a chunk leaves over. One for each stretch of one format. */
export class Decoder {
  readonly format: AudioFormat;
  readonly #decimator = new Decimator(3);
  #odd: Buffer = Buffer.alloc(0);

  constructor(format: AudioFormat) {
    this.format = format;
  }

  decode(bytes: Buffer): Int16Array {
    if (this.format === 'audio/pcmu') return decodeMulaw(bytes);
    if (this.format === 'audio/pcma') return decodeAlaw(bytes);
    const all = this.#odd.length === 0 ? bytes : Buffer.concat([this.#odd, bytes]);
    const whole = all.length - (all.length % 2);
    this.#odd = all.subarray(whole);
    const samples = new Int16Array(whole / 2);
    for (let i = 0; i < samples.length; i++) samples[i] = all.readInt16LE(2 * i);
    return this.#decimator.push(samples);
  }
}

/** Audio appended since the last commit or clear, both as it came and as 8 kHz samples. */
export class InputBuffer {
  #bytes: Buffer[] = [];
  #samples: Int16Array[] = [];
  #byteCount = 0;
  #sampleCount = 0;

  append(bytes: Buffer, samples: Int16Array): void {
    this.#bytes.push(bytes);
    this.#samples.push(samples);
    this.#byteCount += bytes.length;
    this.#sampleCount += samples.length;
  }

  bytes(): number {
    return this.#byteCount;
  }

  /** What is in the buffer, as samples; it stays there. */
  peek(): Int16Array {
    const samples = new Int16Array(this.#sampleCount);
    let at = 0;
    for (const chunk of this.#samples) {
      samples.set(chunk, at);
      at += chunk.length;
    }
    return samples;
  }

  /** Empties the buffer and answers what was in it; `lastMs` keeps only the end. */
  take(lastMs?: number): { bytes: Buffer; samples: Int16Array } {
    let samples = new Int16Array(this.#sampleCount);
    let at = 0;
    for (const chunk of this.#samples) {
      samples.set(chunk, at);
      at += chunk.length;
    }
    let bytes = Buffer.concat(this.#bytes);
    if (lastMs !== undefined) {
      samples = samples.slice(-Math.max(1, Math.round(lastMs * SAMPLES_PER_MS)));
      bytes = bytes.subarray(
        Math.max(0, bytes.length - Math.round((samples.length / Math.max(1, at)) * bytes.length)),
      );
    }
    this.#bytes = [];
    this.#samples = [];
    this.#byteCount = 0;
    this.#sampleCount = 0;
    return { bytes, samples };
  }
}

const FRAME = 20 * SAMPLES_PER_MS;
/** Loud frames in a row that make a speech, 60 ms. */
const ONSET_FRAMES = 3;

export type SpeechEvent = { type: 'started'; atMs: number } | { type: 'stopped'; atMs: number };

/** Tells speech by loudness alone: the server's own detector is unknown, its events are what matters. */
export class EnergyVad {
  #frame: number[] = [];
  #atMs: number;
  #loudFrames = 0;
  #quietMs = 0;
  speaking = false;

  /** `atMs`: the offset of the first sample to come, in all audio ever appended. */
  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  /** The starts and ends of speech that a chunk completes. `threshold` 0 to 1, as in the protocol; 0.5 is about -41 dBFS. */
  push(samples: Int16Array, threshold: number, silenceMs: number): SpeechEvent[] {
    const events: SpeechEvent[] = [];
    const limit = 32768 * 10 ** ((-65 + 48 * threshold) / 20);
    for (const sample of samples) {
      this.#frame.push(sample);
      if (this.#frame.length < FRAME) continue;
      let power = 0;
      for (const value of this.#frame) power += value * value;
      const loud = Math.sqrt(power / FRAME) > limit;
      this.#frame = [];
      this.#atMs += 20;
      this.#loudFrames = loud ? this.#loudFrames + 1 : 0;
      this.#quietMs = loud ? 0 : this.#quietMs + 20;
      if (!this.speaking && this.#loudFrames >= ONSET_FRAMES) {
        this.speaking = true;
        events.push({ type: 'started', atMs: this.#atMs - ONSET_FRAMES * 20 });
      } else if (this.speaking && this.#quietMs >= silenceMs) {
        this.speaking = false;
        events.push({ type: 'stopped', atMs: this.#atMs });
      }
    }
    return events;
  }
}
