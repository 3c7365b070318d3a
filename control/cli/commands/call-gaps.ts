// The gaps in a call's sound, as lines between what was said and as words beside its other facts. PURE.
import type { Call, CallGap } from '../../sdk/index.ts';

const BECAUSE: Record<CallGap['why'], string> = {
  stream_lost: '',
  thread_lost: ' (a part of the service broke down)',
  daemon_restart: ' (the service restarted)',
};

/** `line lost 0.8 s`, and why where it was not the line. `over`: the call has ended. */
export function gapWords(gap: CallGap, over: boolean): string {
  const { why, from_ms, to_ms } = gap;
  const lasted =
    to_ms === null
      ? over
        ? ', and did not come back'
        : ', not back yet'
      : ` ${(Math.max(0, to_ms - from_ms) / 1000).toFixed(1)} s`;
  return `line lost${lasted}${BECAUSE[why]}`;
}

/** All of a call's in a few words; null: none. */
export function gapsInWords(gaps: readonly CallGap[], over: boolean): string | null {
  return gaps.length === 0 ? null : gaps.map((gap) => gapWords(gap, over)).join('\n');
}

/** Lines of a transcript with the gaps between them, in order of time: a line that began before a gap stands before it. */
export function withGaps<T extends { start_ms: number }>(
  items: readonly T[],
  gaps: Call['gaps'],
): ({ item: T } | { gap: CallGap })[] {
  const lines: ({ item: T } | { gap: CallGap })[] = [];
  let next = 0;
  for (const item of items) {
    for (; next < gaps.length && gaps[next]!.from_ms < item.start_ms; next++)
      lines.push({ gap: gaps[next]! });
    lines.push({ item });
  }
  for (const gap of gaps.slice(next)) lines.push({ gap });
  return lines;
}
