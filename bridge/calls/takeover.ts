// What other daemons leave behind when they die, or have while they stand still: looked for every few seconds, taken over, and
// brought to its end here. Nobody is dialled again. Who is dead is storage's to prove.
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Said, Store } from '../../storage/store.ts';
import { every } from '../loop-timer.ts';

export interface TakeoverOptions {
  store: Pick<Store, 'takeOver'>;
  /** Other daemons that have calls and stand still: these are not proven dead, and taken over all the same. */
  standingStill?: () => Promise<readonly Said[]>;
  log: Log;
  /** Ends calls that were taken over; resolves when they are. */
  end(calls: readonly CallRecord[]): Promise<void>;
  /** Settles results that are pending. */
  settle(): void;
  /** What a test puts in place of a timer: runs again and again; the answer stops it. */
  every?: typeof every;
}

const EVERY_MS = 2_000;

/** What was taken, on its way to its end. */
interface Ending {
  over: Promise<void>;
}

export class Takeover {
  readonly #o: TakeoverOptions;
  #stop: (() => void) | null = null;
  #look: Promise<void> | null = null;
  readonly #endings = new Set<Ending>();

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

  /**
   * Looks at once, also beside a look that lasts. Resolves when what dead daemons had is somebody's; what becomes of it here
   * goes on. Nothing before the start and after the end.
   */
  async look(): Promise<void> {
    if (this.#stop === null) return;
    const ending = await this.#takeOver();
    this.#endings.add(ending);
    void ending.over.finally(() => this.#endings.delete(ending));
  }

  /** Looks no more; resolves when what was under way is done. Safe to call twice. */
  async close(): Promise<void> {
    this.#stop?.();
    this.#stop = null;
    await this.#look;
    await Promise.all([...this.#endings].map(({ over }) => over));
  }

  async #lookNow(): Promise<void> {
    await (await this.#takeOver()).over;
  }

  /** Resolves when it is taken; `over`, which never rejects, when it is ended. */
  async #takeOver(): Promise<Ending> {
    const { store, standingStill, end, settle, log } = this.#o;
    const failed = (error: unknown) => log.error({ err: error }, 'calls.not_taken_over');
    try {
      const standStill = (await standingStill?.()) ?? [];
      if (standStill.length > 0)
        log.warn({ daemons: standStill.map(({ epoch }) => epoch) }, 'daemon.stands_still');
      const calls = await store.takeOver({ standStill });
      const over = async () => {
        // First, and whatever else fails: they are nobody else's to end now.
        if (calls.length > 0) await end(calls);
        settle();
      };
      return { over: over().catch(failed) };
    } catch (error) {
      failed(error);
      return { over: Promise.resolve() };
    }
  }
}
