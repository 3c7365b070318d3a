// What other daemons leave behind when they die: looked for every few seconds, taken over, and brought to its end here.
// Nobody is dialled again. Who is dead is storage's to prove.
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { every } from '../loop-timer.ts';

export interface TakeoverOptions {
  store: Pick<Store, 'takeOver'>;
  log: Log;
  /** Ends calls that were taken over; resolves when they are. */
  end(calls: readonly CallRecord[]): Promise<void>;
  /** Settles results that are pending. */
  settle(): void;
  /** What a test puts in place of a timer: runs again and again; the answer stops it. */
  every?: typeof every;
}

const EVERY_MS = 2_000;

export class Takeover {
  readonly #o: TakeoverOptions;
  #stop: (() => void) | null = null;
  #look: Promise<void> | null = null;

  /** Looks at nothing until it is started. */
  constructor(o: TakeoverOptions) {
    this.#o = o;
  }

  /** Looks every few seconds from now on, one look at a time: while one lasts, the next is left out. */
  start(): void {
    this.#stop ??= (this.#o.every ?? every)(EVERY_MS, () => {
      this.#look ??= this.#lookNow().finally(() => {
        this.#look = null;
      });
    });
  }

  /** Looks no more; resolves when what was under way is done. Safe to call twice. */
  async close(): Promise<void> {
    this.#stop?.();
    this.#stop = null;
    await this.#look;
  }

  async #lookNow(): Promise<void> {
    try {
      const calls = await this.#o.store.takeOver();
      // First, and whatever else fails: they are nobody else's to end now.
      if (calls.length > 0) await this.#o.end(calls);
      this.#o.settle();
    } catch (error) {
      this.#o.log.error({ err: error }, 'calls.not_taken_over');
    }
  }
}
