// A call that another daemon of the same data owns, or has taken over: nothing is done of it here. Who is told so passes on what
// was asked.
import { CallElsewhere } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { isTerminal } from './call-state.ts';

/**
 * Of a call that this daemon has no object of: returns where it is over or nobody else's.
 * @throws CallElsewhere when it is on at another daemon
 */
export async function refuseElsewhere(
  store: Pick<Store, 'ownerOf' | 'self'>,
  call: Pick<CallRecord, 'id' | 'status'>,
): Promise<void> {
  if (isTerminal(call.status)) return;
  const owner = await store.ownerOf(call.id);
  if (owner !== null && owner.epoch !== store.self().epoch) throw new CallElsewhere(call.id, owner);
}

/**
 * Before a command of a call of this daemon's, and in the same moment: one that stood still may have lost the call meanwhile,
 * and the line is its heir's to command.
 * @throws CallElsewhere
 */
export async function refuseTaken(store: Pick<Store, 'mayWrite' | 'ownerOf'>, callId: string): Promise<void> {
  // A disk that cannot be read proves nothing.
  if (await store.mayWrite(callId).catch(() => true)) return;
  throw new CallElsewhere(callId, await store.ownerOf(callId));
}
