// Has one call look at itself at a moment that it names, where the watch of all calls would come too late.

/** A timer that is late by more stood still with its process: what was told meanwhile is heard first. */
const LATE_MS = 500;

export class NextLook {
  readonly #monotonicMs: () => number;
  readonly #look: () => void;
  #timer: NodeJS.Timeout | undefined;
  #due: number | null = null;

  constructor(monotonicMs: () => number, look: () => void) {
    this.#monotonicMs = monotonicMs;
    this.#look = look;
  }

  /** Of several moments the last one named counts. Null, or a moment that has passed: the watch sees to it. */
  at(due: number | null): void {
    if (due === this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    const inMs = (due ?? 0) - this.#monotonicMs();
    if (due === null || inMs <= 0) return;
    this.#timer = setTimeout(() => this.#fire(due), inMs).unref();
  }

  #fire(due: number): void {
    if (this.#monotonicMs() - due > LATE_MS) {
      this.#timer = setTimeout(() => this.#now(), LATE_MS).unref();
      return;
    }
    this.#now();
  }

  #now(): void {
    // Named again, it is another look: a timer may be a little early.
    this.#due = null;
    this.#look();
  }
}
