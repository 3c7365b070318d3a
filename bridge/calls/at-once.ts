// Work of a kind, so much of it at once, in the order in which it came: the rest waits for a place.
export class AtOnce {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** `most`: at once. */
  constructor(most: number) {
    this.#free = most;
  }

  /** Does it when there is a place for it. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((begin) => this.#waiting.push(begin));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
