// How often a password may be tried: some mistakes are free, then each costs twice the wait of the one before. Whoever is
// known is held to that alone; strangers are slowed down together as well, and those who have made no mistake pass first. PURE.

/** Mistakes of one that cost nothing. */
const FREE = 5;
const LONGEST_WAIT_MS = 15 * 60_000;
/** Of an address by which many come: one of them must not keep out the others. */
const LONGEST_SHARED_WAIT_MS = 10_000;
const FORGOTTEN_AFTER_MS = 60 * 60_000;
/** Strangers with a mistake behind them, all together: so many at once, then one every few seconds. */
const TOGETHER = 30;
const TOGETHER_EVERY_MS = 4_000;
/** Strangers without one: so many at once, and others take their turn for as long as somebody would wait. */
const AT_ONCE = 60;
const TURN_MS = 300;
const LONGEST_TURN_MS = 20_000;
const MAX_REMEMBERED = 10_000;

/** Who tries. */
export interface Trier {
  /** An address, or a browser that has been signed in. */
  name: string;
  /**
   * `known`: has proved who he is before, or is counted beside his address; `shared`: an address that may be anybody's;
   * `account`: one account, by such an address.
   */
  kind: 'known' | 'shared' | 'address' | 'account';
}

export interface Attempts {
  /**
   * Counts an attempt before its outcome is known, so that many at once gain nothing. Times in milliseconds of a clock that
   * only goes forward.
   * @returns seconds to wait before trying again, or 0 and how long this one is to be held back
   */
  take(trier: Trier, nowMs: number): { refusedSeconds: number; delayMs: number };
  /** The attempt was right: its mistakes are forgotten, and an address is known from now on. */
  succeeded(name: string): void;
}

/** In memory: a restart forgets every mistake, and who may restart the daemon needs no password. */
export function openAttempts(): Attempts {
  const remembered = new Map<string, { count: number; openAt: number; at: number }>();
  const trusted = new Set<string>();
  let tokens = TOGETHER;
  let filledAt = Number.NEGATIVE_INFINITY;
  /** When the next of the strangers without a mistake has its turn. */
  let turnAt = Number.NEGATIVE_INFINITY;

  const refused = (ms: number) => ({ refusedSeconds: ms / 1000, delayMs: 0 });

  /** What a stranger who may try is made to wait for the others. */
  function strangerWaits(hasFailed: boolean, nowMs: number): { refusedMs: number; delayMs: number } {
    if (!hasFailed) {
      const turn = Math.max(turnAt, nowMs - AT_ONCE * TURN_MS);
      const delayMs = Math.max(0, turn - nowMs);
      if (delayMs > LONGEST_TURN_MS) return { refusedMs: delayMs - LONGEST_TURN_MS, delayMs: 0 };
      turnAt = turn + TURN_MS;
      return { refusedMs: 0, delayMs };
    }
    tokens = Math.min(TOGETHER, tokens + Math.max(0, nowMs - filledAt) / TOGETHER_EVERY_MS);
    filledAt = nowMs;
    if (tokens < 1) return { refusedMs: (1 - tokens) * TOGETHER_EVERY_MS, delayMs: 0 };
    tokens -= 1;
    return { refusedMs: 0, delayMs: 0 };
  }

  return {
    take({ name, kind }, nowMs) {
      const known = remembered.get(name);
      const one =
        known !== undefined && nowMs - known.at < FORGOTTEN_AFTER_MS
          ? known
          : { count: 0, openAt: nowMs, at: nowMs };
      if (nowMs < one.openAt) return refused(one.openAt - nowMs);
      let delayMs = 0;
      if (kind !== 'known' && kind !== 'account' && !trusted.has(name)) {
        const waits = strangerWaits(one.count > 0, nowMs);
        if (waits.refusedMs > 0) return refused(waits.refusedMs);
        delayMs = waits.delayMs;
      }
      const count = one.count + 1;
      const longest = kind === 'shared' || kind === 'account' ? LONGEST_SHARED_WAIT_MS : LONGEST_WAIT_MS;
      const waitMs = count < FREE ? 0 : Math.min(longest, 1000 * 2 ** (count - FREE));
      remembered.delete(name);
      remembered.set(name, { count, openAt: nowMs + waitMs, at: nowMs });
      if (remembered.size > MAX_REMEMBERED) {
        for (const oldest of remembered.keys()) {
          remembered.delete(oldest);
          break;
        }
      }
      return { refusedSeconds: 0, delayMs };
    },
    succeeded(name) {
      remembered.delete(name);
      trusted.add(name);
      if (trusted.size > MAX_REMEMBERED) trusted.clear();
    },
  };
}
