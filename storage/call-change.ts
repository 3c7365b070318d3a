// What a change makes of a call. PURE: the engine reads the row before and writes it after, with its events and its money.
import { beforePublishing } from './event-receivers.ts';
import { maskText, maskValue } from './masking.ts';
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

/** A change without the numbers that are not stored of the call. */
function masked(change: CallChange['change'], kinds: CallRecord['mask']): CallChange['change'] {
  if (kinds.length === 0) return change;
  const { result, summary, opted_out, running_tools } = change;
  return {
    ...change,
    ...(result == null ? {} : { result: maskValue(result, kinds) as CallRecord['result'] }),
    ...(summary == null ? {} : { summary: maskText(summary, kinds) }),
    ...(opted_out == null ? {} : { opted_out: { ...opted_out, text: maskText(opted_out.text, kinds) } }),
    ...(running_tools === undefined
      ? {}
      : {
          running_tools: running_tools.map((tool) => ({
            ...tool,
            arguments_json: maskText(tool.arguments_json, kinds),
          })),
        }),
  };
}

/** The call after a change, but for its money. Conflict status: it is in none of those the change is for. */
export function changedCall(
  found: CallRecord,
  { from, change, events = [] }: CallChange,
  now: string,
): CallRecord | Conflict {
  if (!from.includes(found.status)) return { conflict: 'status' };
  const given = Object.entries(masked(change, found.mask)).filter(
    ([field, value]) => value !== undefined && !KEPT.has(field),
  );
  return beforePublishing({ ...found, ...Object.fromEntries(given), updated_at: now }, events);
}
