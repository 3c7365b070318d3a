// PURE. Sound that waits: in at the end, out at the front, in blocks that all queues of a thread share. What is through gives
// its block to the next sound, so that audio that comes and goes leaves the collector nothing to do.

/** A second of a telephone line's sound. */
const BLOCK_BYTES = 8_192;
/** Blocks kept for later at most, 4 MB: after a rush the others are let go. */
const MOST_FREE = 512;
const free: Buffer[] = [];

export class SoundQueue {
  readonly #blocks: Buffer[] = [];
  /** Where the oldest byte stands in the first block. */
  #start = 0;
  #length = 0;

  /** Bytes that wait. */
  get length(): number {
    return this.#length;
  }

  /** Adds sound at the end; copies it. */
  push(sound: Uint8Array): void {
    for (let from = 0; from < sound.length; ) {
      const end = this.#start + this.#length;
      const at = end % BLOCK_BYTES;
      if (end === this.#blocks.length * BLOCK_BYTES)
        this.#blocks.push(free.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES));
      const count = Math.min(BLOCK_BYTES - at, sound.length - from);
      const block = this.#blocks[this.#blocks.length - 1]!;
      block.set(count === sound.length ? sound : sound.subarray(from, from + count), at);
      this.#length += count;
      from += count;
    }
  }

  /** Copies `bytes` from the byte `from` on (0: the oldest) to `at` in `out`. Answers how many there were. */
  copy(out: Uint8Array, at: number, from: number, bytes: number): number {
    const wanted = Math.max(0, Math.min(bytes, this.#length - from));
    for (let copied = 0; copied < wanted; ) {
      const place = this.#start + from + copied;
      const offset = place % BLOCK_BYTES;
      const count = Math.min(BLOCK_BYTES - offset, wanted - copied);
      this.#blocks[Math.floor(place / BLOCK_BYTES)]!.copy(out, at + copied, offset, offset + count);
      copied += count;
    }
    return wanted;
  }

  /** Moves the oldest `bytes` to `at` in `out`. Answers how many there were. */
  take(out: Uint8Array, at: number, bytes: number): number {
    const taken = this.copy(out, at, 0, bytes);
    this.drop(taken);
    return taken;
  }

  /** Forgets the oldest `bytes`. */
  drop(bytes: number): void {
    if (bytes >= this.#length) {
      this.clear();
      return;
    }
    this.#start += bytes;
    this.#length -= bytes;
    for (; this.#start >= BLOCK_BYTES; this.#start -= BLOCK_BYTES) giveBack(this.#blocks.shift()!);
  }

  /** Forgets all. */
  clear(): void {
    for (const block of this.#blocks) giveBack(block);
    this.#blocks.length = 0;
    this.#start = 0;
    this.#length = 0;
  }

  /** All of it in one piece, which is the asker's own. */
  bytes(): Buffer {
    const all = Buffer.allocUnsafeSlow(this.#length);
    this.copy(all, 0, 0, this.#length);
    return all;
  }
}

function giveBack(block: Buffer): void {
  if (free.length < MOST_FREE) free.push(block);
}
