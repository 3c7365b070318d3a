// What the other side tells without a voice: keys pressed, words typed. PURE.
import { known, spoken, type TurnState, type TurnStep, thinking, to } from './turns.ts';

/** Typed words are a turn of the caller, whole as they come; while he speaks they belong to the turn that is being spoken. */
export function onTyped(state: TurnState, text: string, now: number): TurnStep | null {
  const { phase } = state;
  switch (phase.at) {
    case 'away':
    case 'over':
      return null;
    case 'opening':
    case 'caller':
    case 'closing':
      return { state: spoken(state), effects: [{ do: 'typed', text, respond: false }] };
    case 'disclosing':
      return to(spoken(state), { ...phase, typed: true }, [{ do: 'typed', text, respond: false }]);
    default: {
      const typed: TurnState = {
        ...state,
        answer: state.answer === 'heard' ? 'none' : state.answer,
        moments: 0,
        exchanges: state.exchanges + (state.answer === 'heard' ? 1 : 0),
        // No machine types.
        verdict: state.verdict === 'machine' ? 'machine' : 'human',
      };
      return to(typed, thinking(now), [
        ...(phase.at === 'agent' || phase.at === 'thinking' ? ([{ do: 'interrupt' }] as const) : []),
        { do: 'floor', floor: 'caller' },
        { do: 'typed', text, respond: true },
      ]);
    }
  }
}

/** Keys pressed, once no more of them follow. Of a caller who speaks as well they belong to the turn that he is in. */
export function onKeys(state: TurnState, digits: string, now: number): TurnStep {
  const { phase } = state;
  const cleared: TurnState = { ...state, keys: null, moments: 0 };
  switch (phase.at) {
    case 'closing':
    case 'disclosing':
    case 'opening':
    case 'waiting-for-beep':
    case 'away':
    case 'over':
      return known(cleared);
    case 'caller':
    case 'suspecting':
      return { state: cleared, effects: [{ do: 'digits', digits, respond: false }] };
    default:
      return to(cleared, thinking(now), [
        ...(phase.at === 'agent' || phase.at === 'thinking' ? ([{ do: 'interrupt' }] as const) : []),
        { do: 'digits', digits, respond: true },
      ]);
  }
}
