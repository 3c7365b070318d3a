// PURE. The gaps in a call's sound, in words and between what was said. What both sides heard then: nothing.
import type { Call, CallGap } from '../../sdk/index.ts';
import { clock, latency } from './format.ts';

const CAUSE: Record<CallGap['why'], string> = {
  stream_lost: 'The line to the carrier broke',
  thread_lost: 'A part of the daemon broke down',
  daemon_restart: 'The daemon stopped and started again',
};

/** Milliseconds without sound; null: it is not over, or the call ended in it. */
const lengthOf = ({ from_ms, to_ms }: CallGap): number | null =>
  to_ms === null ? null : Math.max(0, to_ms - from_ms);

/** A whole sentence for the call's page. `over`: the call has ended. */
export function gapSentence(gap: CallGap, over: boolean): string {
  const ms = lengthOf(gap);
  const became =
    ms !== null
      ? `nothing was heard for ${latency(ms)}, then the call went on`
      : over
        ? 'the line did not come back'
        : 'the line is not back yet';
  return `${CAUSE[gap.why]} at ${clock(gap.from_ms)}: ${became}.`;
}

/** What stands in a list of lines or turns: `No sound for 820 ms`. */
export function gapLabel(gap: CallGap, over: boolean): string {
  const ms = lengthOf(gap);
  if (ms !== null) return `No sound for ${latency(ms)}`;
  return over ? 'No sound from here to the end' : 'No sound: the line is not back yet';
}

/** How a gap is named in a list of what happened. */
export const gapCause = ({ why }: CallGap): string => CAUSE[why];

/** The line is up now and carries no sound. */
export const isGapOpen = (call: Pick<Call, 'gaps'>): boolean => call.gaps.at(-1)?.to_ms === null;

/** A gap among the items of a list, in order of time. */
export type WithGap<T> = { item: T; gap?: never } | { gap: CallGap; item?: never };

/** Items with the gaps between them: an item that began before a gap stands before it. */
export function withGaps<T>(
  items: readonly T[],
  gaps: readonly CallGap[],
  atMs: (item: T) => number,
): WithGap<T>[] {
  const list: WithGap<T>[] = [];
  let next = 0;
  for (const item of items) {
    for (let gap = gaps[next]; gap !== undefined && gap.from_ms < atMs(item); gap = gaps[next]) {
      list.push({ gap });
      next++;
    }
    list.push({ item });
  }
  return [...list, ...gaps.slice(next).map((gap) => ({ gap }))];
}
