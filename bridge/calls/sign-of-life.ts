// Says several times a second that this daemon lives, for as long as it has calls: who finds one of them without its daemon
// knows by that since when nobody has carried it.
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import { every } from '../loop-timer.ts';

const EVERY_MS = 250;

export interface SignOfLifeOptions {
  store: Pick<Store, 'tellSelf'>;
  now: () => Date;
  /** How many calls it has. */
  calls(): number;
  log: Log;
  /** What a test puts in place of a timer: runs again and again; the answer stops it. */
  every?: typeof every;
}

export class SignOfLife {
  readonly #o: SignOfLifeOptions;
  readonly #stop: () => void;
  #saying: Promise<void> | null = null;
  #isHeard = true;

  /** Speaks from now on, and waits for what it has said before it says it again. */
  constructor(o: SignOfLifeOptions) {
    this.#o = o;
    this.#stop = (o.every ?? every)(EVERY_MS, () => {
      if (o.calls() > 0) this.#saying ??= this.#say();
    });
  }

  /** Says nothing more. Safe to call twice. */
  async close(): Promise<void> {
    this.#stop();
    await this.#saying;
  }

  async #say(): Promise<void> {
    const { store, now, log } = this.#o;
    try {
      await store.tellSelf({ alive_at: now().toISOString() });
      this.#isHeard = true;
    } catch (error) {
      // A disk that takes nothing is said to take nothing once.
      if (this.#isHeard) log.warn({ err: error }, 'daemon.life_not_told');
      this.#isHeard = false;
    } finally {
      this.#saying = null;
    }
  }
}
