// Answers by how long they took, in levels that are counted: many thousands in a few dozen numbers. PURE.
import type { CallRecord, TurnRecord } from './records.ts';
import type { LatencyCount } from './store.ts';

/** Neighbouring levels are 5 % apart, so that a latency is known to within half of that. */
const STEP = Math.log(1.05);

/**
 * The level of an answer that was heard; null for what is none, or was not heard, and on a page, where somebody tries an
 * agent out: it says nothing of the line.
 */
export function levelOf(
  turn: Pick<TurnRecord, 'kind' | 'speech_end_ms' | 'first_heard_ms'>,
  { telephone }: Pick<CallRecord, 'telephone'>,
): number | null {
  if (!telephone) return null;
  if (turn.kind !== 'answer' || turn.speech_end_ms === null || turn.first_heard_ms === null) return null;
  const latencyMs = Math.max(1, turn.first_heard_ms - turn.speech_end_ms);
  return Math.round(Math.log(latencyMs) / STEP);
}

/** Whole milliseconds, to within 3 %. */
export function latencyOf(level: number): number {
  return Math.round(Math.exp(level * STEP));
}

/** The value that a share of all counted answers does not exceed (nearest rank); null of none. */
export function percentile(counts: readonly LatencyCount[], share: number): number | null {
  const total = counts.reduce((sum, { answers }) => sum + answers, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const { latencyMs, answers } of counts.toSorted((a, b) => a.latencyMs - b.latencyMs)) {
    seen += answers;
    if (seen >= share * total) return latencyMs;
  }
  return null;
}
