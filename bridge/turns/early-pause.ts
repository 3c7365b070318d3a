// PURE. After how much silence the model is asked early, before the caller's turn is sure to be over: soon, but not within the
// pauses that he is known for, and more warily when it came to nothing. What becomes of the answer is early-answer.ts.
import { endSilenceMs, isDictation, type PauseRules, type Pausing } from './end-of-turn.ts';

export interface EarlyRules {
  /** Silence after the caller's last word after which the model is asked, though his turn may not be over; null: never. */
  earlyMs: number | null;
  /** So much longer than this caller's pauses have been. */
  earlyMarginMs: number;
  /** So much longer for each answer thrown away of late. */
  waryMs: number;
  /** After so many thrown away in a row the whole silence is waited for, until a turn is over. */
  mostThrown: number;
  /** What asking early has to gain at least. */
  leastGainMs: number;
}

export const EARLY_RULES: EarlyRules = {
  earlyMs: 240,
  earlyMarginMs: 60,
  waryMs: 100,
  mostThrown: 2,
  leastGainMs: 80,
};

/**
 * Milliseconds of silence after which the model is asked early; null: it does not pay, the whole silence is waited for.
 * @param thrown answers thrown away in a row
 * @param asked the agent's last words have asked for what is dictated: its pauses are no ends
 */
export function earlyAfterMs(
  { thrown, ...pausing }: Pausing & { thrown: number },
  asked: boolean,
  rules: EarlyRules & PauseRules,
): number | null {
  if (rules.earlyMs === null || thrown >= rules.mostThrown) return null;
  const { pauseMs, pieces } = pausing;
  if (pieces.drawnOut || isDictation(asked, pieces)) return null;
  const usualMs = pauseMs === 0 ? 0 : pauseMs + rules.earlyMarginMs;
  const afterMs = Math.max(rules.earlyMs, usualMs) + thrown * rules.waryMs;
  return endSilenceMs(pausing, asked, rules) - afterMs < rules.leastGainMs ? null : afterMs;
}
