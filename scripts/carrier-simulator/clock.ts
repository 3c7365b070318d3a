// The one 20 ms clock that all calls share: tick n is due at t0 + n * 20, so that lateness never adds up.
import { FRAME_MS } from './mulaw.ts';

export interface Clock {
  /** Calls `listener` once per tick, late ticks one after the other. Answers how to stop. */
  listen(listener: () => void): () => void;
  /** The worst lateness of a tick so far, in milliseconds: what this machine may add to any time of a call. */
  latestMs(): number;
  close(): void;
}

export function startClock(): Clock {
  const listeners = new Set<() => void>();
  const start = performance.now();
  let ticks = 0;
  let latestMs = 0;
  let timer: NodeJS.Timeout | null = null;

  const schedule = () => {
    const due = start + (ticks + 1) * FRAME_MS;
    timer = setTimeout(run, Math.max(0, due - performance.now()));
  };
  const run = () => {
    const now = performance.now();
    latestMs = Math.max(latestMs, now - start - (ticks + 1) * FRAME_MS);
    while (start + (ticks + 1) * FRAME_MS <= now && listeners.size > 0) {
      ticks += 1;
      for (const listener of listeners) listener();
    }
    if (listeners.size > 0) schedule();
    else timer = null;
  };

  return {
    listen(listener) {
      listeners.add(listener);
      if (timer === null) {
        ticks = Math.floor((performance.now() - start) / FRAME_MS);
        schedule();
      }
      return () => listeners.delete(listener);
    },
    latestMs: () => latestMs,
    close() {
      listeners.clear();
      if (timer !== null) clearTimeout(timer);
      timer = null;
    },
  };
}
