// The calls that a dead process left behind, once they are this daemon's: each goes on here, or comes to its one end. Nobody is
// dialled.
import type { CallRecord } from '../../storage/records.ts';
import type { TakenCall } from '../../storage/store.ts';
import { AtOnce } from './at-once.ts';
import { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { Rivals } from './call-dial.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** A carrier limits requests at once. */
const AT_ONCE = 16;

/** Resolves when what becomes of every call is decided, or the log says why not; then the watch goes on with it. */
export async function recoverCalls(
  o: CallContext,
  owned: OwnedCalls,
  taken: readonly TakenCall[],
): Promise<void> {
  if (taken.length > 0) o.log.warn({ count: taken.length }, 'calls.recovering');
  // All of them at once, so that what comes for one finds it.
  const calls = taken.map((record) => {
    const call = owned.get(record.id) ?? new Call(o, record, (over) => owned.letGo(over));
    call.takeOver();
    owned.own(call);
    return { record, call };
  });
  async function recover({ record, call }: (typeof calls)[number]): Promise<void> {
    const rivals = async () => rivalsOf(record, taken, await o.store.unfinishedCalls());
    await call.recover(record.owner_alive_at ?? null, rivals).catch((error: unknown) => {
      o.log.error({ call_id: record.id, err: error }, 'call.not_recovered');
    });
    o.failpoint('one_recovered');
  }
  const atOnce = new AtOnce(AT_ONCE);
  await Promise.all(calls.map((one) => atOnce.run(() => recover(one))));
}

/** Which other calls may have the line that a dead process asked for: of those taken over with it, or of any that is on. */
function rivalsOf(call: CallRecord, taken: readonly CallRecord[], unfinished: readonly CallRecord[]): Rivals {
  const mayHaveIt = (other: CallRecord) =>
    other.id !== call.id &&
    other.carrier_call_id === null &&
    other.to_number === call.to_number &&
    other.from_number === call.from_number;
  if (unfinished.some((other) => mayHaveIt(other) && taken.every(({ id }) => id !== other.id)))
    return 'dialling';
  return taken.some(mayHaveIt) ? 'left' : 'none';
}
