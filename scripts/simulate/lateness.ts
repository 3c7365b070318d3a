// How late the machine itself is during a simulation: what a process that only waits is kept waiting for. Other programs on a
// busy machine tear holes into sound that no daemon can help.

const EVERY_MS = 20;
/** Less is no lateness: a timer and the odd turn of the loop. */
const USUAL_MS = 40;

export interface Lateness {
  /** All of it so far, in milliseconds. */
  totalMs(): number;
  close(): void;
}

/** Begins to measure. */
export function openLateness(): Lateness {
  let total = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    total += Math.max(0, now - last - EVERY_MS - USUAL_MS);
    last = now;
  }, EVERY_MS);
  timer.unref();
  return { totalMs: () => Math.round(total), close: () => clearInterval(timer) };
}
