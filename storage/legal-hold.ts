// Whether a call, or an erasure, is under a legal hold. PURE.
import type { HoldRecord, Subject } from './kept-records.ts';
import type { CallRecord } from './records.ts';

/** Whose number a call is with: whom we called, or who called. */
function otherSide(call: Pick<CallRecord, 'direction' | 'to_number' | 'from_number'>): string {
  return call.direction === 'outbound' ? call.to_number : call.from_number;
}

/** Whether a hold covers a call of its organization. */
export function holdsCall(
  hold: Pick<HoldRecord, 'subject' | 'call_id' | 'number'>,
  call: Pick<CallRecord, 'id' | 'direction' | 'to_number' | 'from_number'>,
): boolean {
  if (hold.subject === 'call') return hold.call_id === call.id;
  return hold.subject === 'organization' || hold.number === otherSide(call);
}

/**
 * Whether something that is held would be erased: the same thing, a part of it, or what it is a part of.
 * @param call the call that is held, or that is to be erased; whichever of the two is one
 */
export function holdsErasure(
  hold: Pick<HoldRecord, 'subject' | 'call_id' | 'number'>,
  erasure: { subject: Subject; call_id: string | null; number: string | null },
  call: (id: string) => Parameters<typeof holdsCall>[1] | null,
): boolean {
  if (hold.subject === 'organization' || erasure.subject === 'organization') return true;
  if (erasure.subject === 'call') {
    const erased = erasure.call_id === null ? null : call(erasure.call_id);
    return erased !== null && holdsCall(hold, erased);
  }
  if (hold.subject === 'number') return hold.number === erasure.number;
  const held = hold.call_id === null ? null : call(hold.call_id);
  return held !== null && otherSide(held) === erasure.number;
}
