// Calls that were taken over from a process that is dead: each comes to its one end here. Nobody is dialled.
import type { CallRecord } from '../../storage/records.ts';
import { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** A carrier limits requests at once. */
const AT_ONCE = 4;

/** Resolves when every call has its end, or the log says why not; then the watch goes on with it. */
export async function recoverCalls(
  o: CallContext,
  owned: OwnedCalls,
  calls: readonly CallRecord[],
): Promise<void> {
  if (calls.length > 0) o.log.warn({ count: calls.length }, 'calls.recovering');
  const queue = [...calls];
  async function work(): Promise<void> {
    for (let record = queue.shift(); record !== undefined; record = queue.shift()) {
      const call = owned.get(record.id) ?? new Call(o, record, (over) => owned.letGo(over));
      owned.own(call);
      await call.recover().catch((error: unknown) => {
        o.log.error({ call_id: call.id, err: error }, 'call.not_recovered');
      });
      o.failpoint('one_recovered');
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
