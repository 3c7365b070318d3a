// PURE. What the carrier does with the audio an application sends: one first-in-first-out buffer of bytes and marks,
// consumed 160 bytes per tick. Sockets and clocks are elsewhere. https://www.twilio.com/docs/voice/media-streams/websocket-messages
import { FRAME_BYTES, SILENCE_BYTE } from './mulaw.ts';

/** Ten minutes; more is discarded (warning 31931). */
const CAP_BYTES = 10 * 60 * 8000;

export interface Pulled {
  /** 160 bytes for the ear, or null when there is nothing to play. */
  frame: Buffer | null;
  /** How many of them came from the application. */
  bytes: number;
  /** Names of the marks whose audio has now been played, in order. */
  marks: string[];
}

const NOTHING: Pulled = Object.freeze({ frame: null, bytes: 0, marks: [] });

export class Playout {
  #chunks: Buffer[] = [];
  #head = 0;
  #offset = 0;
  #marks: { name: string; at: number }[] = [];
  #received = 0;
  #played = 0;
  #wait = 0;
  readonly #startTicks: () => number;
  readonly #capBytes: number;

  /** `startTicks`: ticks the carrier waits before it plays out of a buffer that was empty. */
  constructor(startTicks: () => number = () => 0, capBytes: number = CAP_BYTES) {
    this.#startTicks = startTicks;
    this.#capBytes = capBytes;
  }

  get bufferedBytes(): number {
    return this.#received - this.#played;
  }

  /** Appends audio of any length. Answers how many bytes did not fit and are lost. */
  push(bytes: Buffer): number {
    const room = this.#capBytes - this.bufferedBytes;
    const kept = bytes.length > room ? bytes.subarray(0, room) : bytes;
    if (kept.length > 0) {
      if (this.bufferedBytes === 0) this.#wait = this.#startTicks();
      this.#chunks.push(kept);
      this.#received += kept.length;
    }
    return bytes.length - kept.length;
  }

  /** Queues a mark behind all audio received before it; `at-once` when there is none. */
  mark(name: string): 'queued' | 'at-once' {
    if (this.bufferedBytes === 0) return 'at-once';
    this.#marks.push({ name, at: this.#received });
    return 'queued';
  }

  /** Drops the audio; the pending marks come back in order. */
  clear(): { bytes: number; marks: string[] } {
    const dropped = { bytes: this.bufferedBytes, marks: this.#marks.map((mark) => mark.name) };
    this.#chunks = [];
    this.#head = 0;
    this.#offset = 0;
    this.#marks = [];
    this.#played = this.#received;
    return dropped;
  }

  /** Plays one tick. A last, partial frame is played short, followed by silence. */
  pull(): Pulled {
    if (this.bufferedBytes === 0) return NOTHING;
    if (this.#wait > 0) {
      this.#wait -= 1;
      return NOTHING;
    }
    const first = this.#chunks[this.#head]!;
    let frame: Buffer;
    let bytes: number;
    if (first.length - this.#offset >= FRAME_BYTES) {
      frame = first.subarray(this.#offset, this.#offset + FRAME_BYTES);
      bytes = FRAME_BYTES;
      this.#advance(FRAME_BYTES);
    } else {
      frame = Buffer.alloc(FRAME_BYTES, SILENCE_BYTE);
      bytes = 0;
      while (bytes < FRAME_BYTES && this.#head < this.#chunks.length) {
        const chunk = this.#chunks[this.#head]!;
        const count = Math.min(FRAME_BYTES - bytes, chunk.length - this.#offset);
        chunk.copy(frame, bytes, this.#offset, this.#offset + count);
        bytes += count;
        this.#advance(count);
      }
    }
    this.#played += bytes;
    const marks: string[] = [];
    while (this.#marks.length > 0 && this.#marks[0]!.at <= this.#played)
      marks.push(this.#marks.shift()!.name);
    return { frame, bytes, marks };
  }

  #advance(count: number): void {
    this.#offset += count;
    if (this.#offset < this.#chunks[this.#head]!.length) return;
    this.#offset = 0;
    this.#head += 1;
    // A long buffer is cut once in a while, so that a shift does not cost for every frame.
    if (this.#head === this.#chunks.length || this.#head > 512) {
      this.#chunks = this.#chunks.slice(this.#head);
      this.#head = 0;
    }
  }
}
