// A store that answers late, as one behind a network does: what a verb does is done a while after it was asked, and its
// answer comes a while after that. Verbs that nobody waits for overtake each other where the whiles differ.
import type { Store } from '../../storage/store.ts';
import { seeded } from '../random.ts';

/** What answers at once in any store. */
const AT_ONCE: ReadonlySet<string> = new Set(['subscribe', 'writable', 'self', 'letOthersIn']);

/**
 * How late: always as late, or by chance up to so much, the same for the same seed. In milliseconds, or in turns of the
 * event loop: these take no time of a test, and let everything else that can happen happen before.
 */
export interface Lateness {
  unit: 'ms' | 'turns';
  upTo: number;
  /** Null: always as late. */
  seed: number | null;
}

/** As `5ms`, or `0-20turns@7` with the seed behind it. @throws Error for anything else */
export function parseLateness(text: string): Lateness {
  const [, chance, upTo, unit, seed] = /^(0-)?(\d+)(ms|turns)(?:@(\d+))?$/.exec(text) ?? [];
  if (upTo === undefined || (chance === undefined) !== (seed === undefined)) {
    throw new Error(`no lateness: ${text}`);
  }
  return {
    unit: unit === 'ms' ? 'ms' : 'turns',
    upTo: Number(upTo),
    seed: seed === undefined ? null : Number(seed),
  };
}

/** The store with every verb late, on its way there and on its way back. It closes when its last verb is over. */
export function lateStore(store: Store, lateness: Lateness): Store {
  const random = lateness.seed === null ? () => 1 : seeded(lateness.seed);
  const under = new Set<Promise<unknown>>();

  async function pass(): Promise<void> {
    const late = Math.round(random() * lateness.upTo);
    if (lateness.unit === 'ms') return new Promise((passed) => setTimeout(passed, late));
    for (let turn = 0; turn < late; turn++) await new Promise((next) => setImmediate(next));
  }

  async function late(verb: (...given: unknown[]) => Promise<unknown>, given: unknown[]): Promise<unknown> {
    // What is asked is what it was when it was asked, as on a wire.
    const sent = structuredClone(given);
    await pass();
    try {
      return await verb(...sent);
    } finally {
      await pass();
    }
  }

  return new Proxy(store, {
    get(target, name: keyof Store & string) {
      const verb = target[name] as ((...given: unknown[]) => Promise<unknown>) | undefined;
      // Whoever awaits the store itself asks it for `then`.
      if (verb === undefined || AT_ONCE.has(name)) return verb;
      if (name === 'close') {
        return async () => {
          while (under.size > 0) await Promise.allSettled(under);
          await target.close();
        };
      }
      return (...given: unknown[]) => {
        const answer = late(verb, given);
        under.add(answer);
        const over = () => under.delete(answer);
        answer.then(over, over);
        return answer;
      };
    },
  });
}
