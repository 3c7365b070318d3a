// PURE. The first words of a call: of one that begins, and of one that another thread or process has had until it died, which
// goes on here.

/** How a call that goes on here was left. */
export interface CutOff {
  /** When its sound was lost, in milliseconds since its first stream's start. */
  lostAtMs: number;
  /** The caller had the last word. */
  owed: boolean;
}

/** A caller who has waited for less takes it for the pause before an answer. */
const TOLD_FROM_MS = 3_000;

/** What the agent is to say first, now that it can be heard; null: nothing, the other side speaks first. */
export function firstWords(
  { greets, cutOff }: { greets: boolean; cutOff: CutOff | null },
  now: number,
): 'greeting' | 'cut-off' | 'owed' | null {
  if (cutOff === null) return greets ? 'greeting' : null;
  return cutOff.owed && now - cutOff.lostAtMs < TOLD_FROM_MS ? 'owed' : 'cut-off';
}
