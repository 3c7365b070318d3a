// What a change makes of a call. PURE: the engine reads the row before and writes it after, with its events and its money.
import { beforePublishing } from './event-receivers.ts';
import { type CallRecord, type CallStatus, TERMINAL_STATUSES } from './records.ts';
import type { CallChange, Conflict } from './store.ts';

/** What no change touches: the first three stay, what is held follows the ledger's rows. */
const KEPT: ReadonlySet<string> = new Set([
  'id',
  'org_id',
  'created_at',
  'reserved_milli_cents',
] satisfies (keyof CallRecord)[]);

export const isTerminal = (status: CallStatus): boolean =>
  (TERMINAL_STATUSES as readonly string[]).includes(status);

/** The call after a change, but for its money. Conflict status: it is in none of those the change is for. */
export function changedCall(
  found: CallRecord,
  { from, change, events = [] }: CallChange,
  now: string,
): CallRecord | Conflict {
  if (!from.includes(found.status)) return { conflict: 'status' };
  const given = Object.entries(change).filter(([field, value]) => value !== undefined && !KEPT.has(field));
  return beforePublishing({ ...found, ...Object.fromEntries(given), updated_at: now }, events);
}
