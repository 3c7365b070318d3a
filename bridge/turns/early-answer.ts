// Answers begun early: the model is asked when the caller has paused, and its answer is kept back until his turn is over; when he
// goes on it is thrown away unheard. PURE. When the model is asked, and what becomes of each: exactly one of release and
// throw-away. After how much silence is early-pause.ts.
import { earlyAfterMs } from './early-pause.ts';
import { listenedMs } from './end-of-turn.ts';
import type { Phase, TurnEffect, TurnEvent, TurnRules, TurnState, TurnStep } from './turns.ts';

type CallerPhase = Extract<Phase, { at: 'caller' }>;

/** The model was asked, though the caller's turn is not over: its answer is kept back. */
export const isAskedEarly = ({ phase }: TurnState): boolean => phase.at === 'caller' && phase.asked === true;

/**
 * The caller has paused: the model is asked, if that pays; null where it does not, or not yet. Of a machine, as long as it may be
 * one, nothing is asked early, nor while keys may follow, a tool runs, an answer before has not ended or nobody can hear one.
 */
export function onTickPaused(
  state: TurnState,
  phase: CallerPhase,
  tick: Extract<TurnEvent, { type: 'tick' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { silentSince } = phase;
  if (silentSince === null || phase.asked || state.voice.is !== 'quiet') return null;
  if (tick.due !== false || tick.tools === true || state.keys !== null || !state.streaming) return null;
  // From two exchanges on it is a dialogue, whatever the detection says.
  if (state.verdict !== 'human' && state.exchanges < 2) return null;
  const afterMs = earlyAfterMs(state, tick.asked === true, rules);
  if (afterMs === null || listenedMs(tick.heardMs ?? now, now, rules) - silentSince < afterMs) return null;
  return { state: { ...state, phase: { ...phase, asked: true } }, effects: [{ do: 'ask-early' }] };
}

/** What a step does to the answer that was begun early, whatever the event was: told here, once. */
export function settleEarly(before: TurnState, event: TurnEvent, step: TurnStep): TurnStep {
  const { state, effects } = step;
  const over = effects.find((effect) => effect.do === 'commit');
  if (!isAskedEarly(before)) {
    // A turn was waited for to its end: the next one is tried again.
    const wary = over !== undefined && state.thrown > 0;
    return wary ? { state: { ...state, thrown: state.thrown - 1 }, effects } : step;
  }
  if (over?.respond === true) {
    const release: TurnEffect = { do: 'release', speechEndMs: over.speechEndMs };
    return {
      state: { ...state, thrown: 0 },
      effects: effects.map((effect) => (effect === over ? release : effect)),
    };
  }
  const { phase } = state;
  const goesOn = event.type === 'speech-started';
  // Of what he types or presses meanwhile the answer knows nothing.
  const tells = effects.some((effect) => effect.do === 'typed' || effect.do === 'digits');
  if (phase.at === 'caller' && over === undefined && !goesOn && !tells) return step;
  return {
    state: {
      ...state,
      thrown: goesOn ? state.thrown + 1 : state.thrown,
      phase: phase.at === 'caller' ? withoutAsked(phase) : phase,
    },
    effects: [{ do: 'throw-away' }, ...effects],
  };
}

function withoutAsked({ at, since, silentSince }: CallerPhase): CallerPhase {
  return { at, since, silentSince };
}
