// The 20 ms clock of a media thread: one timer for all its calls, on a schedule that does not drift.
import { FRAME_MS } from '../../audio/format.ts';

/** Ticks made up for after a stall; beyond that the schedule starts anew and the rest is counted as skipped. */
const MAX_CATCH_UP = 10;
const RECENT_MS = 10_000;

export interface FrameClock {
  /** Called once per frame with a monotonic time in milliseconds. Answers a function that takes it out again. */
  add(onFrame: (nowMs: number) => void): () => void;
  /** The worst lateness of a tick since the last reading, in milliseconds, and the ticks skipped. */
  lateness(): { maxMs: number; skipped: number };
  /** The worst lateness of the last ten to twenty seconds, in milliseconds: what the next tick may be late by too. */
  recentLateMs(): number;
  close(): void;
}

/** Starts the clock. It runs always: VAD batches and pacing of all calls hang on it. */
export function startFrameClock(onError: (error: unknown) => void): FrameClock {
  const listeners = new Set<(nowMs: number) => void>();
  const origin = performance.now();
  let tick = 0;
  let base = origin;
  let maxMs = 0;
  let skipped = 0;
  let recentMs = 0;
  let beforeMs = 0;
  let recentUntil = origin + RECENT_MS;
  let timer: NodeJS.Timeout;

  function run(): void {
    const now = performance.now();
    const late = now - (base + tick * FRAME_MS);
    if (late > maxMs) maxMs = late;
    if (now >= recentUntil) {
      beforeMs = recentMs;
      recentMs = 0;
      recentUntil = now + RECENT_MS;
    }
    if (late > recentMs) recentMs = late;
    let due = Math.floor((now - base) / FRAME_MS) - tick + 1;
    if (due > MAX_CATCH_UP) {
      skipped += due - MAX_CATCH_UP;
      tick += due - MAX_CATCH_UP;
      due = MAX_CATCH_UP;
    }
    for (; due > 0; due--, tick++) {
      for (const listener of listeners) {
        try {
          listener(base + tick * FRAME_MS);
        } catch (error) {
          onError(error);
        }
      }
    }
    timer = setTimeout(run, Math.max(0, base + tick * FRAME_MS - performance.now()));
  }
  base = origin + FRAME_MS;
  timer = setTimeout(run, FRAME_MS);

  return {
    add(onFrame) {
      listeners.add(onFrame);
      return () => listeners.delete(onFrame);
    },
    lateness() {
      const answer = { maxMs, skipped };
      maxMs = 0;
      skipped = 0;
      return answer;
    },
    recentLateMs: () => Math.max(recentMs, beforeMs),
    close() {
      clearTimeout(timer);
      listeners.clear();
    },
  };
}
