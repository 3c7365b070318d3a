// Whoever waits for something to become true of a call, and is woken whenever the call has changed.

export class Waiters {
  readonly #looks = new Set<() => void>();

  /** Resolves with true once it holds, with false after so long. */
  until(holds: () => boolean, withinMs: number): Promise<boolean> {
    if (holds()) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (held: boolean) => {
        clearTimeout(timer);
        this.#looks.delete(look);
        resolve(held);
      };
      const look = () => holds() && settle(true);
      const timer = setTimeout(() => settle(false), withinMs);
      this.#looks.add(look);
    });
  }

  /** Something has changed. */
  wake(): void {
    for (const look of this.#looks) look();
  }
}
