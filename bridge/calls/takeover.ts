// What other daemons leave behind when they die: looked for every few seconds, taken over, and brought to its end here.
// Nobody is dialled again. Who is dead is storage's to prove.
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

export interface Takeover {
  /** Ends calls that were taken over; resolves when they are. */
  end(calls: readonly CallRecord[]): Promise<void>;
  /** Looks every few seconds from now on. */
  start(): void;
  /** Looks no more; resolves when what was under way is done. Safe to call twice. */
  close(): Promise<void>;
}

export interface TakeoverOptions {
  store: Pick<Store, 'takeOver'>;
  log: Log;
  end(calls: readonly CallRecord[]): Promise<void>;
  /** Settles results that are pending. */
  settle(): void;
  everyMs?: number;
}

/** Looks at nothing until it is started. */
export function openTakeover(o: TakeoverOptions): Takeover {
  let timer: NodeJS.Timeout | null = null;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    try {
      const calls = await o.store.takeOver();
      // First, and whatever else fails: they are nobody else's to end now.
      if (calls.length > 0) await o.end(calls);
      o.settle();
    } catch (error) {
      o.log.error({ err: error }, 'calls.not_taken_over');
    }
  }

  return {
    end: o.end,
    start() {
      timer ??= setInterval(() => {
        looking ??= look().finally(() => {
          looking = null;
        });
      }, o.everyMs ?? 2_000);
      timer.unref();
    },
    async close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
      await looking;
    },
  };
}
