// Has one call look at itself at a moment that it names, where the watch of all calls would come too late.

/** A timer that is late by more stood still with its process: what was told meanwhile is heard first. */
const LATE_MS = 500;

export class NextLook {
  readonly #monotonicMs: () => number;
  readonly #look: () => void;
  #timer: NodeJS.Timeout | undefined;
  #due: number | null = null;
  /** The one that was looked at last. */
  #looked: number | null = null;

  constructor(monotonicMs: () => number, look: () => void) {
    this.#monotonicMs = monotonicMs;
    this.#look = look;
  }

  /**
   * Of several moments the last one named counts; null: none. One that has passed is looked at soon, when what came at the same
   * time has been heard; again only by the watch.
   */
  at(due: number | null): void {
    if (due === this.#due) return;
    clearTimeout(this.#timer);
    this.#due = due;
    if (due === null) return;
    const inMs = due - this.#monotonicMs();
    if (inMs > 0) this.#timer = setTimeout(() => this.#fire(due), inMs).unref();
    else if (due !== this.#looked) this.#timer = setTimeout(() => this.#now(), LATE_MS).unref();
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
    this.#looked = this.#due;
    this.#due = null;
    this.#look();
  }
}
