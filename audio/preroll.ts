// PURE. The last half second of a stream, kept so that a turn can begin before it was recognized as speech.
import { BYTES_PER_MS } from './format.ts';

export class Preroll {
  readonly #ring: Uint8Array;
  #position = 0;

  /** Keeps `capacityMs` of mu-law. */
  constructor(capacityMs = 500) {
    this.#ring = new Uint8Array(capacityMs * BYTES_PER_MS);
  }

  /** What `read` can answer at most now, in ms. */
  get availableMs(): number {
    return Math.min(this.#position, this.#ring.length) / BYTES_PER_MS;
  }

  /** Takes the next bytes of the stream; copies them. */
  push(mulaw: Uint8Array): void {
    const size = this.#ring.length;
    const kept = mulaw.length > size ? mulaw.subarray(mulaw.length - size) : mulaw;
    this.#position += mulaw.length - kept.length;
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

  /** The newest `fromMsAgo` of sound, oldest byte first; shorter when less is kept. A copy. */
  read(fromMsAgo: number): Uint8Array {
    const size = this.#ring.length;
    const length = Math.max(0, Math.min(Math.round(fromMsAgo * BYTES_PER_MS), size, this.#position));
    const out = new Uint8Array(length);
    const at = (this.#position - length) % size;
    const first = Math.min(length, size - at);
    out.set(this.#ring.subarray(at, at + first));
    out.set(this.#ring.subarray(0, length - first), first);
    return out;
  }

  /** Forgets what was heard. */
  clear(): void {
    this.#position = 0;
  }
}
