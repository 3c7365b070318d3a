// What those who watch calls are told of a step that was written: its state, its end, and each gap in its sound that is over.
import type { Log } from '../../log.ts';
import type { CallGap, CallRecord } from '../../storage/records.ts';
import type { CallObserver } from './call-observers.ts';
import { isTerminal } from './call-state.ts';

/** A gap in a call's sound that is over: the line was back, or the call ended in it. */
export interface GapOver {
  why: CallGap['why'];
  seconds: number;
  ended: 'resumed' | 'call_ended';
}

/** Tells the watchers. `happened`: more than times and words changed. */
export function showStep(
  o: { observer: CallObserver; log: Pick<Log, 'info'> },
  before: CallRecord,
  call: CallRecord,
  happened: boolean,
): void {
  for (const { why, seconds, ended } of gapsOver(before, call)) o.observer.gap?.(why, seconds, ended);
  if (!isTerminal(call.status)) {
    if (happened || gapsMoved(before.gaps, call.gaps)) o.observer.changed?.(call);
  } else if (!isTerminal(before.status)) {
    const { status, hangup_cause: cause, error_code, billed_duration_seconds: seconds } = call;
    o.log.info({ call_id: call.id, status, cause, error_code, seconds }, 'call.ended');
    o.observer.ended?.(call);
  }
}

/** The gaps that a change of the row has ended, in order. One that the call ended in is as long as it lasted by the clock. */
export function gapsOver(before: CallRecord, after: CallRecord): GapOver[] {
  const endsNow = isTerminal(after.status) && !isTerminal(before.status);
  return after.gaps.flatMap((gap, at): GapOver[] => {
    const { why, started_at, from_ms, to_ms } = gap;
    if (to_ms !== null)
      return before.gaps[at]?.to_ms == null
        ? [{ why, seconds: Math.max(0, to_ms - from_ms) / 1000, ended: 'resumed' }]
        : [];
    if (!endsNow) return [];
    const seconds = (Date.parse(after.ended_at ?? started_at) - Date.parse(started_at)) / 1000;
    return [{ why, seconds: Math.max(0, seconds), ended: 'call_ended' }];
  });
}

/** A gap was opened, or closed. */
const gapsMoved = (before: readonly CallGap[], after: readonly CallGap[]) =>
  before.length !== after.length || before.at(-1)?.to_ms !== after.at(-1)?.to_ms;
