// PURE. The 20 ms clock of a media thread: one for all its calls, on a schedule that does not drift. Who looks at it, and when,
// is rounds.ts.
import { FRAME_MS } from '../../audio/format.ts';

/** Ticks made up for after a stall; beyond that the schedule starts anew and the rest is counted as skipped. */
const MAX_CATCH_UP = 10;
const RECENT_MS = 10_000;

/** What calls have of it. */
export interface FrameClock {
  /** Called once per frame with a monotonic time in milliseconds. Answers a function that takes it out again. */
  add(onFrame: (nowMs: number) => void): () => void;
  /** The worst lateness of the last ten to twenty seconds, in milliseconds: what the next tick may be late by too. */
  recentLateMs(): number;
}

export class ThreadClock implements FrameClock {
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<(nowMs: number) => void>();
  #dueMs: number;
  #maxMs = 0;
  #skipped = 0;
  #recentMs = 0;
  #beforeMs = 0;
  #recentUntil: number;

  /** The first tick is due a frame after `nowMs`. @param onError told of what a listener throws */
  constructor(nowMs: number, onError: (error: unknown) => void) {
    this.#onError = onError;
    this.#dueMs = nowMs + FRAME_MS;
    this.#recentUntil = nowMs + RECENT_MS;
  }

  get everyMs(): number {
    return FRAME_MS;
  }

  /** When the next tick is due. All others are whole frames from it. */
  get dueMs(): number {
    return this.#dueMs;
  }

  add(onFrame: (nowMs: number) => void): () => void {
    this.#listeners.add(onFrame);
    return () => this.#listeners.delete(onFrame);
  }

  /** Runs the ticks that are due. */
  run(nowMs: number): void {
    if (nowMs < this.#dueMs) return;
    this.#late(nowMs);
    let due = Math.floor((nowMs - this.#dueMs) / FRAME_MS) + 1;
    if (due > MAX_CATCH_UP) {
      this.#skipped += due - MAX_CATCH_UP;
      this.#dueMs += (due - MAX_CATCH_UP) * FRAME_MS;
      due = MAX_CATCH_UP;
    }
    for (; due > 0; due--) {
      const tickMs = this.#dueMs;
      this.#dueMs += FRAME_MS;
      for (const listener of this.#listeners) {
        try {
          listener(tickMs);
        } catch (error) {
          this.#onError(error);
        }
      }
    }
  }

  /** The worst lateness of a tick since the last reading, in milliseconds, and the ticks skipped. */
  lateness(): { maxMs: number; skipped: number } {
    const answer = { maxMs: this.#maxMs, skipped: this.#skipped };
    this.#maxMs = 0;
    this.#skipped = 0;
    return answer;
  }

  recentLateMs(): number {
    return Math.max(this.#recentMs, this.#beforeMs);
  }

  #late(nowMs: number): void {
    const late = nowMs - this.#dueMs;
    if (late > this.#maxMs) this.#maxMs = late;
    if (nowMs >= this.#recentUntil) {
      this.#beforeMs = this.#recentMs;
      this.#recentMs = 0;
      this.#recentUntil = nowMs + RECENT_MS;
    }
    if (late > this.#recentMs) this.#recentMs = late;
  }
}
