// That this daemon lives, said over and over while it has calls: whoever has said so for a while, and then says nothing and
// answers nobody, stands still, and its calls are another's to go on with.
import type { Store } from '../../storage/store.ts';
import { every } from '../loop-timer.ts';

export interface AliveOptions {
  store: Pick<Store, 'tellSelf'>;
  now: () => Date;
  /** Whether there is a call that would be missed. */
  hasCalls(): boolean;
  /** What a test puts in place of a timer: runs again and again; the answer stops it. */
  every?: typeof every;
}

/** What a killed daemon's calls have lost at most, besides what is on its way to the disk. */
const EVERY_MS = 250;

export class Alive {
  readonly #o: AliveOptions;
  #stop: (() => void) | null = null;
  #telling = false;
  /** It was said, and not taken back: whoever has no calls is missed by nobody. */
  #isMissed = false;

  /** Says nothing until it is started. */
  constructor(o: AliveOptions) {
    this.#o = o;
  }

  /** Says so from now on. */
  start(): void {
    this.#stop ??= (this.#o.every ?? every)(EVERY_MS, () => void this.#tell());
  }

  /** Says it no more. Safe to call twice. */
  close(): void {
    this.#stop?.();
    this.#stop = null;
  }

  async #tell(): Promise<void> {
    const { hasCalls, store, now } = this.#o;
    if (this.#telling || !(hasCalls() || this.#isMissed)) return;
    this.#telling = true;
    try {
      const alive_at = hasCalls() ? now().toISOString() : null;
      await store.tellSelf({ alive_at });
      this.#isMissed = alive_at !== null;
    } catch {
      // A disk that takes no writes is storage's to tell. Whoever wonders asks this daemon itself.
    } finally {
      this.#telling = false;
    }
  }
}
