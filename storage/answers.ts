// What verbs of storage have in common: a page of a list, the answer that something is no longer as it was, how soon to write. PURE types.
import type { GateRefusal } from './outbound/outbound-records.ts';

/** Newest first. `startingAfter` is the id of the last item of the page before. */
export interface Page {
  limit: number;
  startingAfter?: string | undefined;
}

/** What a verb answers when the state it was to change is no longer there. */
export type Conflict = {
  conflict: string;
  /** With `refused`: why the gate does not let an outbound call through. */
  refusal?: GateRefusal;
};

/** How soon a write is to be stored. */
export interface Patience {
  /** Nobody waits for it: it may wait for others to share their commit, a tenth of a second at most. */
  patient?: boolean;
}
