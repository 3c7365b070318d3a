// PURE. The last half second of a stream, kept so that a turn can begin before it was recognized as speech.
import { type AudioFormat, bytesPerMs, sampleBytes } from './format.ts';

/** What was read last, of whichever stream: it is passed on before the next is. */
let answer = Buffer.alloc(0);

export class Preroll {
  readonly #bytesPerMs: number;
  readonly #sampleBytes: number;
  readonly #ring: Buffer;
  #position = 0;

  /** Keeps `capacityMs` of a stream. */
  constructor(format: AudioFormat, capacityMs = 500) {
    this.#bytesPerMs = bytesPerMs(format);
    this.#sampleBytes = sampleBytes(format);
    this.#ring = Buffer.alloc(capacityMs * this.#bytesPerMs);
  }

  /** What `read` can answer at most now, in ms. */
  get availableMs(): number {
    return Math.min(this.#position, this.#ring.length) / this.#bytesPerMs;
  }

  /** Takes the next samples of the stream; copies them. */
  push(sound: Uint8Array): void {
    const size = this.#ring.length;
    const kept = sound.length > size ? sound.subarray(sound.length - size) : sound;
    this.#position += sound.length - kept.length;
    const at = this.#position % size;
    const first = Math.min(kept.length, size - at);
    if (first === kept.length) {
      this.#ring.set(kept, at);
    } else {
      this.#ring.set(kept.subarray(0, first), at);
      this.#ring.set(kept.subarray(first), 0);
    }
    this.#position += kept.length;
  }

  /**
   * The newest `fromMsAgo` of sound in whole samples, oldest first; shorter when less is kept. Valid until the next reading of
   * any stream's.
   */
  read(fromMsAgo: number): Buffer {
    const size = this.#ring.length;
    const wanted = Math.round((fromMsAgo * this.#bytesPerMs) / this.#sampleBytes) * this.#sampleBytes;
    const length = Math.max(0, Math.min(wanted, size, this.#position));
    if (length > answer.length) answer = Buffer.allocUnsafeSlow(length);
    const at = (this.#position - length) % size;
    const first = Math.min(length, size - at);
    this.#ring.copy(answer, 0, at, at + first);
    this.#ring.copy(answer, first, 0, length - first);
    return answer.subarray(0, length);
  }

  /** Forgets what was heard. */
  clear(): void {
    this.#position = 0;
  }
}
