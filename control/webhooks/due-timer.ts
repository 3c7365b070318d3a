// Deliveries that come due later, in memory, on one timer, whatever happens to the wall clock. What it loses (a restart, a
// full list) the sweep finds.

const MAX_KEPT = 20_000;
/** setTimeout takes no more than 2^31-1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface DueTimer {
  /** Calls `due` in `inMs`, once; a later call for the same id replaces the earlier one. */
  set(id: string, attempt: number, inMs: number): void;
  size(): number;
  close(): void;
}

export function openDueTimer(due: (id: string, attempt: number) => void): DueTimer {
  const kept = new Map<string, { attempt: number; atMs: number }>();
  let timer: NodeJS.Timeout | undefined;
  let timerAtMs = Number.POSITIVE_INFINITY;
  let closed = false;

  function arm(atMs: number): void {
    if (atMs >= timerAtMs) return;
    clearTimeout(timer);
    timerAtMs = atMs;
    timer = setTimeout(fire, Math.min(Math.max(0, atMs - performance.now()), MAX_TIMER_MS));
  }

  function fire(): void {
    timerAtMs = Number.POSITIVE_INFINITY;
    const now = performance.now();
    let earliest = Number.POSITIVE_INFINITY;
    const ripe: [string, number][] = [];
    for (const [id, { attempt, atMs }] of kept) {
      if (atMs <= now) ripe.push([id, attempt]);
      else earliest = Math.min(earliest, atMs);
    }
    for (const [id] of ripe) kept.delete(id);
    if (earliest !== Number.POSITIVE_INFINITY) arm(earliest);
    for (const [id, attempt] of ripe) due(id, attempt);
  }

  return {
    set(id, attempt, inMs) {
      if (closed || (kept.size >= MAX_KEPT && !kept.has(id))) return;
      const atMs = performance.now() + inMs;
      kept.set(id, { attempt, atMs });
      arm(atMs);
    },
    size: () => kept.size,
    close() {
      closed = true;
      clearTimeout(timer);
      kept.clear();
    },
  };
}
