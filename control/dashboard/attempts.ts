// How often a password may be tried: some mistakes are free, then each costs twice the wait of the one before. PURE.

/** Mistakes of one address that cost nothing. */
const FREE = 5;
const LONGEST_WAIT_MS = 15 * 60_000;
const FORGOTTEN_AFTER_MS = 60 * 60_000;
/** All addresses together, but those that have signed in before: so many at once, then one every few seconds. */
const TOGETHER = 30;
const TOGETHER_EVERY_MS = 4_000;
const MAX_ADDRESSES = 10_000;

export interface Attempts {
  /**
   * Counts an attempt before its outcome is known, so that many at once gain nothing.
   * @returns seconds to wait before trying again; 0 when this one may go on
   */
  take(address: string, nowMs: number): number;
  /** The attempt was right: the address is trusted from now on, and its mistakes are forgotten. */
  succeeded(address: string): void;
}

/** In memory: a restart forgets every mistake, and who may restart the daemon needs no password. */
export function openAttempts(): Attempts {
  const addresses = new Map<string, { count: number; openAt: number; at: number }>();
  const trusted = new Set<string>();
  let tokens = TOGETHER;
  let filledAt = Number.NEGATIVE_INFINITY;

  return {
    take(address, nowMs) {
      const known = addresses.get(address);
      const one =
        known !== undefined && nowMs - known.at < FORGOTTEN_AFTER_MS
          ? known
          : { count: 0, openAt: nowMs, at: nowMs };
      if (nowMs < one.openAt) return (one.openAt - nowMs) / 1000;
      if (!trusted.has(address)) {
        tokens = Math.min(TOGETHER, tokens + Math.max(0, nowMs - filledAt) / TOGETHER_EVERY_MS);
        filledAt = nowMs;
        if (tokens < 1) return ((1 - tokens) * TOGETHER_EVERY_MS) / 1000;
        tokens -= 1;
      }
      const count = one.count + 1;
      const waitMs = count < FREE ? 0 : Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (count - FREE));
      addresses.delete(address);
      addresses.set(address, { count, openAt: nowMs + waitMs, at: nowMs });
      if (addresses.size > MAX_ADDRESSES) {
        for (const oldest of addresses.keys()) {
          addresses.delete(oldest);
          break;
        }
      }
      return 0;
    },
    succeeded(address) {
      addresses.delete(address);
      trusted.add(address);
      if (trusted.size > MAX_ADDRESSES) trusted.clear();
    },
  };
}
