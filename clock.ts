// Two clocks. The wall's is for records, signatures and what others read, and may be set forth or back at any moment;
// whatever lasts is measured by one that only goes forward. Whoever stores waits is told when the wall's clock is set.

export interface Clock {
  /** The wall clock. */
  now(): Date;
  /** Milliseconds that only go forward, whatever happens to the wall clock; only differences mean anything. */
  monotonicMs(): number;
}

export interface WatchedClock extends Clock {
  /** The wall clock was set by so many milliseconds, forth (positive) or back; told before any `now()` that shows it. */
  onSet(hear: (byMs: number) => void): void;
  close(): void;
}

/** Less is no step: a clock that is kept right by small changes, or two readings that were held apart. */
const STEP_MS = 2_000;
const EVERY_MS = 1_000;
/** Both clocks are read within this, or again: a process that stood still in between has seen no step. */
const TOGETHER_MS = 50;

/** Looks each second whether the wall clock was set, and at each `now()`. */
export function openClock(o: { wallMs?: () => number; monotonicMs?: () => number } = {}): WatchedClock {
  const wallMs = o.wallMs ?? Date.now;
  const monotonicMs = o.monotonicMs ?? (() => performance.now());
  const listeners: ((byMs: number) => void)[] = [];

  function read(): { wall: number; ahead: number } {
    for (let tries = 1; ; tries += 1) {
      const before = monotonicMs();
      const wall = wallMs();
      if (monotonicMs() - before < TOGETHER_MS || tries === 5) return { wall, ahead: wall - before };
    }
  }

  let ahead = read().ahead;

  function look(): number {
    const found = read();
    const byMs = Math.round(found.ahead - ahead);
    if (Math.abs(byMs) >= STEP_MS) {
      // First, so that whoever hears of it may ask for the time.
      ahead = found.ahead;
      for (const hear of listeners) hear(byMs);
    }
    return found.wall;
  }

  const timer = setInterval(look, EVERY_MS);
  timer.unref();
  return {
    now: () => new Date(look()),
    monotonicMs,
    onSet: (hear) => void listeners.push(hear),
    close: () => clearInterval(timer),
  };
}

/** For whoever stores no times to come. */
export const systemClock: Clock = { now: () => new Date(), monotonicMs: () => performance.now() };
