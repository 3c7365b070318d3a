// PURE. How much silence ends a turn of the caller: by how the last words sounded, by how long the turn was, and by how long
// this caller's pauses have been. A model's written words come too late to tell.

/** How the last words sounded: falling off as at the end of a phrase, or held as before more; null where it is not known. */
export type Ending = 'complete' | 'hanging' | null;

export interface PauseRules {
  /** Silence after the caller's last word that ends the turn, in the ordinary case. */
  endOfTurnMs: number;
  /** Bounds of what is made of it. */
  leastSilenceMs: number;
  mostSilenceMs: number;
  /** Taken off after words that sounded complete, and put on after words that were held. */
  completeMs: number;
  hangingMs: number;
  /** A turn no longer than this is a word or two: answered sooner. */
  shortTurnMs: number;
  /** What a pause may be longer than the ones before. */
  pauseMarginMs: number;
}

export const PAUSE_RULES: PauseRules = {
  endOfTurnMs: 580,
  leastSilenceMs: 500,
  mostSilenceMs: 1_200,
  completeMs: 40,
  hangingMs: 320,
  shortTurnMs: 700,
  pauseMarginMs: 180,
};

/** A model's server has told the end of the turn: nothing more is waited for. */
export const TOLD_BY_MODEL: PauseRules = {
  endOfTurnMs: 0,
  leastSilenceMs: 0,
  mostSilenceMs: 0,
  completeMs: 0,
  hangingMs: 0,
  shortTurnMs: 0,
  pauseMarginMs: 0,
};

/** A shorter stop is part of a word. */
const LEAST_PAUSE_MS = 150;
/** Longer ones are no habit: he was looking for something. */
const MOST_PAUSE_MS = 1_600;

/** Milliseconds of silence after which the turn counts as over. */
export function endSilenceMs(
  turn: { spokenMs: number; pauseMs: number; ending: Ending },
  rules: PauseRules,
): number {
  let silenceMs = rules.endOfTurnMs;
  if (turn.ending === 'hanging') silenceMs += rules.hangingMs;
  else if (turn.ending === 'complete' || turn.spokenMs <= rules.shortTurnMs) silenceMs -= rules.completeMs;
  const usualMs = turn.pauseMs === 0 ? 0 : turn.pauseMs + rules.pauseMarginMs;
  return Math.min(rules.mostSilenceMs, Math.max(rules.leastSilenceMs, silenceMs, usualMs));
}

/** What is known of the caller's pauses after one more: rises with a longer one at once, falls slowly. */
export function learnPause(knownMs: number, pauseMs: number): number {
  if (pauseMs < LEAST_PAUSE_MS || pauseMs > MOST_PAUSE_MS) return knownMs;
  return Math.round(pauseMs > knownMs ? pauseMs : knownMs * 0.8 + pauseMs * 0.2);
}
