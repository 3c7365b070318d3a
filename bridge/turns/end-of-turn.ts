// PURE. How much silence ends a turn of the caller: by how long this caller's pauses have been, and by whether more is likely to
// come: he dictates what was asked for, or his last sound was drawn out. The caller's own written words come too late to tell, and
// whether the last ones sounded finished does not tell (docs/quality.md, "The sound of an end"). Silence is what was listened to:
// time that has passed while the caller's sound waits, on the network or before a busy thread, is none.
import { dictates, type Pieces } from './dictation.ts';

export interface PauseRules {
  /** Silence after the caller's last word that ends the turn, for a caller of whom nothing is known. */
  endOfTurnMs: number;
  /** The same while he dictates: digits, letters, a name, an address. */
  dictationMs: number;
  /** The same after a sound that was drawn out: "uhm". */
  hesitationMs: number;
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
  dictationMs: 1_200,
  hesitationMs: 1_100,
  mostSilenceMs: 1_200,
  pauseMarginMs: 180,
  behindMs: 120,
  unheardMs: 3_000,
};

/** A model's server has told the end of the turn: nothing more is waited for. */
export const TOLD_BY_MODEL: PauseRules = {
  endOfTurnMs: 0,
  dictationMs: 0,
  hesitationMs: 0,
  mostSilenceMs: 0,
  pauseMarginMs: 0,
  behindMs: 0,
  unheardMs: 0,
};

/** A shorter stop is part of a word. */
const LEAST_PAUSE_MS = 150;
/** Longer ones are no habit: he was looking for something. */
const MOST_PAUSE_MS = 1_600;

/** What is known of a caller who pauses. */
export interface Pausing {
  /** How long his pauses are, in milliseconds; 0: nothing is known of them. */
  readonly pauseMs: number;
  /** What his turn came in so far. */
  readonly pieces: Pieces;
}

/** The pauses of the turn are those of dictation. @param asked the agent's last words have asked for what is dictated */
export const isDictation = (asked: boolean, pieces: Pieces): boolean => asked || dictates(pieces);

/** Milliseconds of silence after which the turn counts as over. @param asked as above */
export function endSilenceMs({ pauseMs, pieces }: Pausing, asked: boolean, rules: PauseRules): number {
  const usualMs = pauseMs === 0 ? 0 : Math.min(rules.mostSilenceMs, pauseMs + rules.pauseMarginMs);
  const dictationMs = isDictation(asked, pieces) ? rules.dictationMs : 0;
  const hesitationMs = pieces.drawnOut ? rules.hesitationMs : 0;
  return Math.max(rules.endOfTurnMs, usualMs, dictationMs, hesitationMs);
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
