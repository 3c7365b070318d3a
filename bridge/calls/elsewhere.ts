// A call that another daemon of the same data owns: nothing is done of it here, and whoever asks is told where it is. What is
// asked will one day be passed on to its owner from here.
import { AppError } from '../../errors.ts';
import type { CallRecord, DaemonRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { isTerminal } from './call-state.ts';

/** The answer to whoever asks here for a call of `owner`'s. */
export function elsewhere(callId: string, owner: DaemonRecord | null): AppError {
  const where = owner === null ? '' : ` (number ${owner.epoch}, process ${owner.pid} on ${owner.host})`;
  return new AppError(
    'call_elsewhere',
    `Call ${callId} is on another daemon${where}, which alone can do this: ask there.`,
  );
}

/**
 * Of a call that this daemon has no object of: returns where it is over or nobody else's.
 * @throws AppError call_elsewhere when it is on at another daemon
 */
export async function refuseElsewhere(
  store: Pick<Store, 'ownerOf' | 'self'>,
  call: Pick<CallRecord, 'id' | 'status'>,
): Promise<void> {
  if (isTerminal(call.status)) return;
  const owner = await store.ownerOf(call.id);
  if (owner !== null && owner.epoch !== store.self().epoch) throw elsewhere(call.id, owner);
}
