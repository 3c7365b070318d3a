// How many do something costly at once: so many of all, so many of each, and so many more who wait a while for their turn.
// In memory, for this process.

export interface ConcurrencyQueueOptions {
  atOnce: number;
  /** Of these, of one. */
  ofOne: number;
  /** More who come are refused. */
  waiting: number;
  /** So is whoever has waited for so long. */
  waitMs: number;
  /** What a test puts in place of a timer; answers what cancels it. */
  later?: (ms: number, run: () => void) => () => void;
}

export interface ConcurrencyQueue {
  /**
   * Resolves when it is the turn of one of `name`'s: with what says that it is over, which has to be called. Null when he is
   * refused; `gone` ends his waiting too.
   */
  enter(name: string, gone?: AbortSignal): Promise<(() => void) | null>;
}

interface Waiter {
  name: string;
  called(): void;
}

/** Whoever waits longest comes first, but for those of whom as many are inside as may be. */
export function concurrencyQueue(o: ConcurrencyQueueOptions): ConcurrencyQueue {
  const later =
    o.later ??
    ((ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    });
  const inside = new Map<string, number>();
  const waiters = new Set<Waiter>();
  let all = 0;

  const hasRoom = (name: string) => all < o.atOnce && (inside.get(name) ?? 0) < o.ofOne;

  function letIn(name: string): () => void {
    all++;
    inside.set(name, (inside.get(name) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      all--;
      const left = (inside.get(name) ?? 1) - 1;
      if (left > 0) inside.set(name, left);
      else inside.delete(name);
      for (const waiter of waiters) if (hasRoom(waiter.name)) waiter.called();
    };
  }

  return {
    async enter(name, gone) {
      if (gone?.aborted) return null;
      if (hasRoom(name)) return letIn(name);
      if (waiters.size >= o.waiting) return null;
      return new Promise((resolve) => {
        const settle = (leave: (() => void) | null) => {
          waiters.delete(waiter);
          cancel();
          gone?.removeEventListener('abort', refuse);
          resolve(leave);
        };
        const refuse = () => settle(null);
        const waiter: Waiter = { name, called: () => settle(letIn(name)) };
        const cancel = later(o.waitMs, refuse);
        gone?.addEventListener('abort', refuse, { once: true });
        waiters.add(waiter);
      });
    },
  };
}
