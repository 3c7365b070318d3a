// PURE. How far another clock runs before ours, by what came soonest: clocks drift apart, and a carrier that stalls falls behind.

/** How long what came soon tells the other's clock: for one to two of these. */
const WINDOW_MS = 500;

export class ClockLead {
  #soonest = Number.NEGATIVE_INFINITY;
  #before = Number.NEGATIVE_INFINITY;
  #sinceMs = 0;

  /** Something of `atMs` on the other's clock has come, now on ours. */
  seen(atMs: number, nowMs: number): void {
    this.#soonest = Math.max(this.#soonest, atMs - nowMs);
    if (nowMs - this.#sinceMs < WINDOW_MS) return;
    this.#before = this.#soonest;
    this.#soonest = Number.NEGATIVE_INFINITY;
    this.#sinceMs = nowMs;
  }

  /** Milliseconds; null before anything has come. */
  get ms(): number | null {
    const lead = Math.max(this.#soonest, this.#before);
    return lead === Number.NEGATIVE_INFINITY ? null : lead;
  }
}
