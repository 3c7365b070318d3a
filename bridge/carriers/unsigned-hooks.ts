// Who sends hooks that are not the carrier's: after some of them an address is hardly listened to for a while. PURE.

/** Unsigned hooks of one address within a minute that are answered each. */
const ANSWERED = 20;
const WINDOW_MS = 60_000;
/** And for how long after one more none is. */
const DEAF_MS = 60_000;
const MAX_ADDRESSES = 10_000;

/** Times in milliseconds, of a clock that only goes forward. */
export interface UnsignedHooks {
  /** Seconds until the address is listened to as any other; 0 when it is. */
  deafFor(address: string, nowMs: number): number;
  /** One that was not signed. @returns whether that was one too many */
  count(address: string, nowMs: number): boolean;
  /** One that was: the carrier itself comes by this address. */
  forgive(address: string): void;
}

/** In memory: a restart forgets all of them. */
export function countUnsignedHooks(): UnsignedHooks {
  const addresses = new Map<string, { count: number; from: number; deafUntil: number }>();
  return {
    deafFor(address, nowMs) {
      const until = addresses.get(address)?.deafUntil ?? nowMs;
      return Math.max(0, until - nowMs) / 1000;
    },
    count(address, nowMs) {
      const known = addresses.get(address);
      const one =
        known !== undefined && nowMs - known.from < WINDOW_MS
          ? known
          : { count: 0, from: nowMs, deafUntil: nowMs };
      one.count++;
      const isTooMuch = one.count > ANSWERED;
      // A window begins anew with the listening.
      if (isTooMuch) Object.assign(one, { count: 0, from: nowMs + DEAF_MS, deafUntil: nowMs + DEAF_MS });
      addresses.delete(address);
      addresses.set(address, one);
      if (addresses.size > MAX_ADDRESSES) {
        for (const oldest of addresses.keys()) {
          addresses.delete(oldest);
          break;
        }
      }
      return isTooMuch;
    },
    forgive: (address) => void addresses.delete(address),
  };
}
