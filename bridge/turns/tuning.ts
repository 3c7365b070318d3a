// PURE. What the words that an agent is tuned by make of the turn rules. One word moves what a caller notices as one thing; of
// `normal` nothing is moved. Which words there are is the protocol's.
import type { Tuning } from '../protocol/messages.ts';
import type { TurnRules } from './turns.ts';

/** Where the caller may not have finished: what was asked for is said in pieces, a sound is drawn out, his pauses are long. */
const PATIENCE = {
  short: { dictationMs: 900, hesitationMs: 800, mostSilenceMs: 900, pauseMarginMs: 120 },
  normal: {},
  long: { dictationMs: 1_800, hesitationMs: 1_600, mostSilenceMs: 1_800, pauseMarginMs: 300 },
} as const satisfies Record<Tuning['patience'], Partial<TurnRules>>;

/**
 * After words that sound like any others: when the turn is over, and when the model is asked, if it is asked before. That is
 * not sooner for the eager: the end of speech is known no earlier.
 */
const EAGERNESS = {
  relaxed: { endOfTurnMs: 900, earlyMs: 400 },
  normal: {},
  eager: { endOfTurnMs: 520 },
} as const satisfies Record<Tuning['eagerness'], Partial<TurnRules>>;

/** How many times as much speech over the agent's voice it takes to pause it, and to stop it. */
const INTERRUPTION = { hard: 1.6, normal: 1, easy: 0.7 } as const satisfies Record<
  Tuning['interruption'],
  number
>;
const SPEECH_OVER = [
  'pauseMs',
  'pauseTogetherMs',
  'pauseOverAssentMs',
  'confirmMs',
  'soundingMs',
  'confirmTogetherMs',
] as const;

/** Whether any short word stops such an agent that is no assent: one that talks on heeds only those that mean "stop". */
export const anyWordStops = ({ interruption }: Tuning): boolean => interruption !== 'hard';

/** The rules of a call whose agent is tuned so. */
export function tuned(rules: TurnRules, { patience, eagerness, interruption }: Tuning): TurnRules {
  const moved: TurnRules = { ...rules, ...PATIENCE[patience], ...EAGERNESS[eagerness] };
  // Where no answer is begun early, none is.
  if (rules.earlyMs === null) moved.earlyMs = null;
  for (const rule of SPEECH_OVER) moved[rule] = Math.round(rules[rule] * INTERRUPTION[interruption]);
  return moved;
}
