// One timer for all sessions: what is due together is run together, so that a hundred paced responses cost one wake-up.

/** Stops a planned task; harmless when it has run. */
export type Cancel = () => void;

interface Task {
  dueMs: number;
  order: number;
  run: (() => void) | null;
}

export class Clock {
  readonly #heap: Task[] = [];
  #timer: NodeJS.Timeout | null = null;
  #timerDueMs = Number.POSITIVE_INFINITY;
  readonly #scale: number;
  #order = 0;
  #closed = false;

  /** `scale`: how many times faster than the world it goes, for what takes minutes. */
  constructor(scale = 1) {
    this.#scale = scale;
  }

  /** Milliseconds of a clock that only goes forward. */
  now(): number {
    return performance.now() * this.#scale;
  }

  /** Runs a task at a time of `now()`, in the order of times, equal ones in the order of asking. */
  at(dueMs: number, run: () => void): Cancel {
    const task: Task = { dueMs, order: this.#order++, run };
    if (this.#closed) return () => {};
    this.#push(task);
    this.#arm();
    return () => {
      task.run = null;
    };
  }

  after(ms: number, run: () => void): Cancel {
    return this.at(this.now() + ms, run);
  }

  close(): void {
    this.#closed = true;
    this.#heap.length = 0;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || this.#closed || first.dueMs >= this.#timerDueMs) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timerDueMs = first.dueMs;
    this.#timer = setTimeout(() => this.#fire(), Math.max(0, (first.dueMs - this.now()) / this.#scale));
  }

  #fire(): void {
    this.#timer = null;
    this.#timerDueMs = Number.POSITIVE_INFINITY;
    const nowMs = this.now() + this.#scale; // timers fire up to a millisecond early
    while (this.#heap[0] !== undefined && this.#heap[0].dueMs <= nowMs) this.#pop()?.run?.();
    this.#arm();
  }

  #before(a: Task, b: Task): boolean {
    return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
  }

  #push(task: Task): void {
    const heap = this.#heap;
    let at = heap.push(task) - 1;
    while (at > 0) {
      const up = (at - 1) >> 1;
      if (!this.#before(task, heap[up]!)) break;
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = task;
  }

  #pop(): Task | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || first === last) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      if (down >= heap.length) break;
      if (down + 1 < heap.length && this.#before(heap[down + 1]!, heap[down]!)) down++;
      if (!this.#before(heap[down]!, last)) break;
      heap[at] = heap[down]!;
      at = down;
    }
    heap[at] = last;
    return first;
  }
}
