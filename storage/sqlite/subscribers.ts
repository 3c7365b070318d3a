// Who hears of what was committed. What is committed stays, and the verb succeeds, whatever a subscriber makes of it.
import type { Log } from '../../log.ts';
import type { EventRecord } from '../records.ts';
import type { DueDelivery, Listener } from '../store.ts';

/** What subscribers hear once the transaction that made it is committed. */
export interface News {
  events: EventRecord[];
  deliveries: DueDelivery[];
}

export class Subscribers {
  readonly #log: Log | undefined;
  readonly #listeners = new Set<Listener>();

  constructor(log: Log | undefined) {
    this.#log = log;
  }

  /** @returns how to end it */
  add(listener: Listener): () => void {
    // A wrapper, so that the same listener subscribed twice is two subscriptions.
    const own: Listener = {
      deliveries: (due) => listener.deliveries?.(due),
      event: (event) => listener.event?.(event),
      recovered: () => listener.recovered?.(),
      replaced: () => listener.replaced?.(),
      moved: (byMs) => listener.moved?.(byMs),
    };
    this.#listeners.add(own);
    return () => {
      this.#listeners.delete(own);
    };
  }

  tell({ events, deliveries }: News): void {
    for (const event of events) this.#each((listener) => listener.event?.(event));
    if (deliveries.length > 0) this.#each((listener) => listener.deliveries?.(deliveries));
  }

  recovered(): void {
    this.#each((listener) => listener.recovered?.());
  }

  replaced(): void {
    this.#each((listener) => listener.replaced?.());
  }

  moved(byMs: number): void {
    this.#each((listener) => listener.moved?.(byMs));
  }

  #each(hear: (listener: Listener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        hear(listener);
      } catch (error) {
        this.#log?.error({ err: error }, 'storage.listener_failed');
      }
    }
  }
}
