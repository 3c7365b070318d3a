// What a call adds to the overview of the hour in which it was made. PURE.
import { isTerminal } from './call-change.ts';
import type { CallRecord } from './records.ts';

/** Those of the line count telephone calls alone: on a page somebody tries an agent out. Time and money count both. */
export interface CallCounts {
  calls: number;
  inbound: number;
  ended: number;
  completed: number;
  failed: number;
  talk_seconds: number;
  billed_milli_cents: number;
  cost_milli_cents: number;
  costs_known: number;
}

const NOTHING: CallCounts = {
  calls: 0,
  inbound: 0,
  ended: 0,
  completed: 0,
  failed: 0,
  talk_seconds: 0,
  billed_milli_cents: 0,
  cost_milli_cents: 0,
  costs_known: 0,
};

function countsOf(call: CallRecord): CallCounts {
  const cost = call.cost?.total_milli_cents ?? null;
  const one = (is: boolean) => (call.telephone && is ? 1 : 0);
  return {
    calls: one(true),
    inbound: one(call.direction === 'inbound'),
    ended: one(isTerminal(call.status)),
    completed: one(call.status === 'completed'),
    failed: one(call.status === 'failed'),
    talk_seconds: call.billed_duration_seconds ?? 0,
    billed_milli_cents: call.billing_amount_milli_cents ?? 0,
    cost_milli_cents: cost ?? 0,
    costs_known: cost === null ? 0 : 1,
  };
}

/** Why a telephone call failed; null where it did not. */
function failureOf(call: CallRecord): string | null {
  if (!call.telephone || call.status !== 'failed') return null;
  return call.error_code ?? call.hangup_cause ?? 'unknown';
}

/** What a change of a call adds to its hour, and to which failures; `before` is null for a new one. Null: nothing. */
export function countsAdded(
  before: CallRecord | null,
  after: CallRecord,
): { counts: CallCounts; failures: { reason: string; calls: number }[] } | null {
  const [old, now] = [before === null ? NOTHING : countsOf(before), countsOf(after)];
  const counts = { ...NOTHING };
  for (const key of Object.keys(counts) as (keyof CallCounts)[]) counts[key] = now[key] - old[key];
  const [was, is] = [before === null ? null : failureOf(before), failureOf(after)];
  const failures = [];
  if (was !== is) {
    if (was !== null) failures.push({ reason: was, calls: -1 });
    if (is !== null) failures.push({ reason: is, calls: 1 });
  }
  return failures.length > 0 || Object.values(counts).some((count) => count !== 0)
    ? { counts, failures }
    : null;
}
