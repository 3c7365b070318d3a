// Whose a call is, and who else may write of it. PURE.
import { isTerminal } from './call-change.ts';
import type { CallStatus } from './records.ts';

/** A call, with the daemon that owns it, by its epoch. */
export interface Owned {
  status: CallStatus;
  /** Null: nobody ever wrote it down. */
  owner: number | null;
  /** Who took over what the owner left; null while that lives, or is not yet missed. */
  heir: number | null;
}

/**
 * Whether a daemon writes of a call: it owns it. What is over, and has no owner any more or one that is gone with an
 * heir who had nothing to take of it, may still be completed by anybody, as by a late hook.
 */
export function mayWrite({ status, owner, heir }: Owned, asking: number): boolean {
  if (owner === asking) return true;
  return isTerminal(status) && (owner === null || heir !== null);
}
