// PURE. One call's inbound stream made whole, in its own format, on a clock of its samples that only moves forward.
// Gaps become silence, what comes twice or too late is dropped and counted. Who speaks, and the clock, are the caller's business.
import { type AudioFormat, bytesPerMs, FRAME_MS, frameBytes, MULAW_8K, silentByte } from './format.ts';

/**
 * Contiguous sound: `atMs` is where its first sample stands on the stream's clock; `leadMs`, by how much that lies later than
 * the carrier's time has it. Valid during the call only.
 */
export type EmitSound = (sound: Buffer, atMs: number, filled: boolean, leadMs: number) => void;

export interface GapFillerOptions {
  /** What the stream is in: mu-law at 8 kHz unless it says so. */
  format?: AudioFormat;
  /** A timestamp this far ahead is a gap: most of a frame, so that one lost frame counts and jitter does not. */
  gapMs?: number;
  /** The most silence for one gap; the rest of a longer one is skipped. */
  maxFillMs?: number;
  /** Without a frame for this long while somebody speaks, silence takes the place of the frames, so that a turn can end. */
  stallMs?: number;
  /** Frames held back while an earlier one is missing by number and by time. Costs nothing on a stream that comes in order. */
  reorderFrames?: number;
}

interface Held {
  payload: Buffer;
  timestampMs: number;
  chunk: number;
}

// The clocks of two machines differ by 200 ppm at most (4 us per frame); following five times faster also takes in jitter.
const FOLLOW_MS = 0.02;
// Further back than any network delivers late: the carrier began to count anew.
const RESTART_MS = 10_000;
const HELD_MS = 60;
// A tick that comes later than this was late itself: the thread slept, and frames may wait unread.
const TICK_MS = 40;
// Numbers of the last frames, to tell a frame that came twice from one that came late.
const SEEN = 64;

export class GapFiller {
  readonly counters = { filledMs: 0, skippedMs: 0, duplicateFrames: 0, lateFrames: 0 };
  readonly #emit: EmitSound;
  readonly #bytesPerMs: number;
  /** A frame of it. */
  readonly #silence: Buffer;
  readonly #gapMs: number;
  readonly #maxFillMs: number;
  readonly #stallMs: number;
  readonly #reorderFrames: number;
  readonly #seen = new Float64Array(SEEN).fill(-1);
  readonly #held: Held[] = [];
  /** Bytes emitted so far. */
  #position = 0;
  /** The carrier's time of sample 0; follows the carrier's clock slowly. NaN before the first frame. */
  #originMs = Number.NaN;
  #lastMs = Number.NaN;
  #lastChunk = Number.NaN;
  #frameMs = FRAME_MS;
  #arrived = false;
  #tickAtMs = Number.NaN;
  #quietMs = 0;
  #stallFilledMs = 0;
  /** Silence given for frames that came, or may come, all the same. */
  #leadMs = 0;

  constructor(emit: EmitSound, options: GapFillerOptions = {}) {
    const { format = MULAW_8K } = options;
    this.#emit = emit;
    this.#bytesPerMs = bytesPerMs(format);
    this.#silence = Buffer.alloc(frameBytes(format), silentByte(format));
    this.#gapMs = options.gapMs ?? 15;
    this.#maxFillMs = options.maxFillMs ?? 10_000;
    this.#stallMs = options.stallMs ?? 750;
    this.#reorderFrames = options.reorderFrames ?? 2;
  }

  /** Milliseconds emitted so far: the stream's clock. */
  get positionMs(): number {
    return this.#position / this.#bytesPerMs;
  }

  /** For how long no frame has come, in milliseconds by the ticks: while the thread itself slept, frames may wait unread. */
  get withoutFrameMs(): number {
    return this.#quietMs;
  }

  /**
   * Milliseconds by which what is emitted lies later than the carrier's time has it: silence took the place of frames that
   * were only delayed. Negative where a gap was longer than was filled.
   */
  get leadMs(): number {
    return this.#leadMs - this.counters.skippedMs;
  }

  /**
   * Takes a frame of any number of whole samples. `timestampMs` is the carrier's, the first being the origin; `chunk` counts its messages.
   * Either may be null (not sent): without a timestamp the frame follows the one before.
   * Emits before it returns; the payload is passed through, not copied.
   */
  push(payload: Buffer, timestampMs: number | null, chunk: number | null): void {
    if (payload.length === 0) return;
    const ms = timestampMs ?? Number.NaN;
    const number = chunk ?? Number.NaN;
    this.#arrived = true;
    if (this.#position > 0 && this.#isPast(ms, number)) return;
    if (number > this.#lastChunk + 1 && ms - this.#expectedMs() >= this.#gapMs && this.#reorderFrames > 0) {
      this.#hold(payload, ms, number);
      return;
    }
    this.#accept(payload, ms, number);
    if (this.#held.length > 0) this.#release(false);
  }

  /**
   * Called once per tick with a monotonic time. When no frame came for `stallMs` while `speaking`, emits the silence that
   * passed, and goes on with it until a frame comes. A frame that was only delayed is then still taken, never lost; the
   * clock's lead is made good at the next gap.
   */
  tick(nowMs: number, speaking: boolean): void {
    if (this.#position === 0) return;
    const sinceTickMs = Math.min(nowMs - this.#tickAtMs, TICK_MS);
    this.#tickAtMs = nowMs;
    if (this.#arrived) {
      this.#arrived = false;
      this.#quietMs = 0;
      this.#stallFilledMs = 0;
      return;
    }
    this.#quietMs += sinceTickMs;
    if (this.#held.length > 0 && this.#quietMs >= HELD_MS) this.#release(true);
    if (!speaking || this.#quietMs < this.#stallMs) return;
    const missingMs = Math.floor(Math.min(this.#quietMs, this.#maxFillMs) - this.#stallFilledMs);
    if (missingMs <= 0) return;
    this.#stallFilledMs += missingMs;
    this.#leadMs += missingMs;
    this.#fill(missingMs);
  }

  /** The carrier's time of the next sample. */
  #expectedMs(): number {
    return this.#originMs + this.positionMs;
  }

  /** Whether a frame's turn is over; counts it. Comparisons with a missing number (NaN) are false on purpose. */
  #isPast(ms: number, chunk: number): boolean {
    if (chunk <= this.#lastChunk) {
      // Time has moved on although the number has not: the numbers began anew, the sound is new.
      if (ms >= this.#lastMs + this.#frameMs / 2) return false;
      if (this.#seen[chunk % SEEN] === chunk) this.counters.duplicateFrames++;
      else this.counters.lateFrames++;
      return true;
    }
    if (chunk > this.#lastChunk) {
      if (this.#held.length === 0 || !this.#held.some((held) => held.chunk === chunk)) return false;
      this.counters.duplicateFrames++;
      return true;
    }
    if (ms === this.#lastMs) this.counters.duplicateFrames++;
    else if (ms < this.#lastMs && ms > this.#lastMs - RESTART_MS) this.counters.lateFrames++;
    else return false;
    return true;
  }

  #hold(payload: Buffer, timestampMs: number, chunk: number): void {
    const at = this.#held.findIndex((held) => held.chunk > chunk);
    // A copy: the next frame is decoded into the same memory.
    const held = { payload: Buffer.from(payload), timestampMs, chunk };
    if (at === -1) this.#held.push(held);
    else this.#held.splice(at, 0, held);
    this.#release(false);
  }

  /** Lets go of held frames whose turn has come, of the oldest ones when too many wait, or of all. */
  #release(all: boolean): void {
    for (let first = this.#held[0]; first !== undefined; first = this.#held[0]) {
      const due = first.chunk <= this.#lastChunk + 1 || first.timestampMs - this.#expectedMs() < this.#gapMs;
      if (!due && !all && this.#held.length <= this.#reorderFrames) return;
      this.#held.shift();
      this.#accept(first.payload, first.timestampMs, first.chunk);
    }
  }

  #accept(payload: Buffer, ms: number, chunk: number): void {
    if (!Number.isNaN(ms)) {
      if (Number.isNaN(this.#originMs)) this.#originMs = ms - this.positionMs;
      const aheadMs = ms - this.#expectedMs();
      if (aheadMs >= this.#gapMs) {
        const fillMs = Math.min(Math.round(aheadMs), this.#maxFillMs);
        this.#fill(fillMs);
        this.counters.skippedMs += Math.round(aheadMs) - fillMs;
        this.#originMs += ms - this.#expectedMs();
        this.#leadMs = 0;
      } else {
        const offMs = aheadMs + this.#leadMs;
        if (offMs < -RESTART_MS || ms < this.#lastMs - RESTART_MS / 10) {
          this.#originMs += offMs;
        } else {
          // Some of what was given for delayed frames was for frames that never came.
          if (offMs >= this.#gapMs) this.#leadMs = Math.max(0, Math.round(-aheadMs));
          this.#originMs += Math.max(-FOLLOW_MS, Math.min(FOLLOW_MS, aheadMs + this.#leadMs));
        }
      }
      this.#lastMs = ms;
    }
    if (!Number.isNaN(chunk)) {
      this.#lastChunk = chunk;
      this.#seen[chunk % SEEN] = chunk;
    }
    this.#frameMs = payload.length / this.#bytesPerMs;
    const atMs = this.positionMs;
    this.#position += payload.length;
    this.#emit(payload, atMs, false, this.leadMs);
  }

  /** Silence in frames, so that whoever listens needs no larger buffer for a gap than for speech. */
  #fill(ms: number): void {
    this.counters.filledMs += ms;
    const frame = this.#silence;
    for (let left = ms * this.#bytesPerMs; left > 0; left -= frame.length) {
      const atMs = this.positionMs;
      const block = left >= frame.length ? frame : frame.subarray(0, left);
      this.#position += block.length;
      this.#emit(block, atMs, true, this.leadMs);
    }
  }
}
