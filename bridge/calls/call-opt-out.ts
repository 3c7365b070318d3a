// Who asks on a call that he is not called again: his number goes on the do-not-call list, with where that was said.
import { maskText } from '../../storage/masking.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import type { Ask, Input } from './live-state.ts';

/** Resolves when it is stored, with what may be said of it then. */
export async function noteOptOut(
  store: Pick<Store, 'addDoNotCall'>,
  call: Pick<CallRecord, 'id' | 'org_id' | 'mask'>,
  { number, by, text, itemId: item_id, atMs }: Ask<'note-opt-out'>,
): Promise<Input<'opt-out-noted'>> {
  const reason = maskText(text, call.mask);
  const said = { source: 'said' as const, reason, call_id: call.id, item_id, at_ms: atMs };
  await store.addDoNotCall(call.org_id, [{ number, ...said }]);
  return { type: 'opt-out-noted', by, text, atMs };
}
