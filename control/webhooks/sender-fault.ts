// Tells a receiver that is down from a sender that cannot reach anybody, so that our own outage costs no receiver an
// attempt. PURE: what was reached lately comes in, a verdict goes out.

/** One try to reach a receiver. */
export interface Reach {
  atMs: number;
  receiver: string;
  /** TCP was up: whatever came after is the receiver's doing. */
  reached: boolean;
  /** The failure names a cause on this host: resolver, route, descriptors. */
  ours: boolean;
}

/** Tries older than this say nothing about now. */
export const REACH_WINDOW_MS = 60_000;
/** So many different receivers unreachable at once, and none reachable, are one broken network rather than so many receivers. */
const RECEIVERS_TO_SUSPECT_US = 3;

/** Whether `last`, a failure, is our fault, given what else was tried lately (`last` included or not). */
export function isOurFault(last: Reach, lately: readonly Reach[]): boolean {
  if (last.reached) return false;
  const recent = lately.filter((reach) => reach.atMs > last.atMs - REACH_WINDOW_MS);
  if (recent.some((reach) => reach.reached)) return false;
  const unreachable = new Set(recent.map((reach) => reach.receiver)).add(last.receiver);
  return last.ours || unreachable.size >= RECEIVERS_TO_SUSPECT_US;
}
