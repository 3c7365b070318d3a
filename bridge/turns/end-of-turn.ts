// PURE. How much silence ends a turn of the caller: by how long this caller's pauses have been. A model's written words come
// too late to tell, and how the last words sounded does not tell (docs/quality.md, "The sound of an end"). Silence is what was
// listened to: time that has passed while the caller's sound waits, on the network or before a busy thread, is none.

export interface PauseRules {
  /** Silence after the caller's last word that ends the turn, for a caller of whom nothing is known. */
  endOfTurnMs: number;
  /** The most that is made of it. */
  mostSilenceMs: number;
  /** What a pause may be longer than the ones before. */
  pauseMarginMs: number;
  /** So far behind the clock the caller's sound is listened to on a machine with time: windows, frames, ticks. */
  behindMs: number;
  /** Longest that sound is waited for which is not listened to. */
  unheardMs: number;
}

export const PAUSE_RULES: PauseRules = {
  endOfTurnMs: 640,
  mostSilenceMs: 1_200,
  pauseMarginMs: 180,
  behindMs: 120,
  unheardMs: 3_000,
};

/** A model's server has told the end of the turn: nothing more is waited for. */
export const TOLD_BY_MODEL: PauseRules = {
  endOfTurnMs: 0,
  mostSilenceMs: 0,
  pauseMarginMs: 0,
  behindMs: 0,
  unheardMs: 0,
};

/** A shorter stop is part of a word. */
const LEAST_PAUSE_MS = 150;
/** Longer ones are no habit: he was looking for something. */
const MOST_PAUSE_MS = 1_600;

/** Milliseconds of silence after which the turn counts as over. @param pauseMs what is known of the caller's pauses, 0: nothing */
export function endSilenceMs(pauseMs: number, rules: PauseRules): number {
  const usualMs = pauseMs === 0 ? 0 : pauseMs + rules.pauseMarginMs;
  return Math.min(rules.mostSilenceMs, Math.max(rules.endOfTurnMs, usualMs));
}

/**
 * The moment up to which the caller counts as listened to, in milliseconds of the stream: the clock's, as far as his sound bears
 * it out, and so much behind it at most. Of a caller whose clock runs fast, or whose first frame came late, it lies ahead.
 * @param heardMs the end of his sound that was listened to last
 */
export function listenedMs(heardMs: number, now: number, rules: PauseRules): number {
  return Math.max(heardMs, Math.min(now, heardMs + rules.behindMs), now - rules.unheardMs);
}

/** What is known of the caller's pauses after one more: rises with a longer one at once, falls slowly. */
export function learnPause(knownMs: number, pauseMs: number): number {
  if (pauseMs < LEAST_PAUSE_MS || pauseMs > MOST_PAUSE_MS) return knownMs;
  return Math.round(pauseMs > knownMs ? pauseMs : knownMs * 0.8 + pauseMs * 0.2);
}
