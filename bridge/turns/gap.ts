// PURE. A gap of the line: the carrier's stream has gone in the middle of a talk, and another may follow. Nobody is heard in it and
// nothing can be, so that every wait for the other side, for sound or for an answer stands still, and begins nothing; what the
// model does goes on, and waits for the line. What is said again after it is playout.ts.
import { endOfTurn } from './caller-turn.ts';
import {
  known,
  type Phase,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';
import { QUIET_VOICE } from './voice.ts';

/** The stream has gone. What somebody was saying ends here, as far as it was heard; what he began to say over the agent's voice is nothing. */
export function onStreamGone(state: TurnState, now: number): TurnStep {
  const { phase } = state;
  const quiet: TurnState = { ...state, streaming: false, voice: QUIET_VOICE, burst: null };
  const gone: TurnState = { ...quiet, goneSince: state.goneSince ?? now };
  switch (phase.at) {
    case 'opening':
      return to(quiet, { at: 'opening', since: null });
    case 'away':
      return known(quiet);
    case 'caller':
      return to(gone, { ...phase, silentSince: phase.silentSince ?? now });
    case 'agent':
      return to(gone, { ...phase, hold: null });
    case 'disclosing': {
      const { over } = phase;
      return to(gone, { ...phase, over: over && { ...over, silentSince: over.silentSince ?? now } });
    }
    case 'suspecting':
      return known(state.voice.is === 'quiet' ? gone : { ...gone, spokeUntil: now });
    default:
      return known(gone);
  }
}

/** Time passes in a gap: all that it ends is the turn that it broke. */
export function onTickGone(
  state: TurnState,
  goneSince: number,
  tick: Extract<TurnEvent, { type: 'tick' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { phase } = state;
  if (phase.at !== 'caller' || now - Math.max(goneSince, phase.since) < rules.gapTurnMs) return null;
  return endOfTurn(state, phase, tick.asked === true, rules, now);
}

/** Another stream is there after the gap that began at `goneSince`: the turn that was open is answered, and each wait goes on. */
export function onStreamBack(state: TurnState, goneSince: number, rules: TurnRules, now: number): TurnStep {
  const { phase, keys } = state;
  const back: TurnState = { ...state, streaming: true, goneSince: null, backAt: now };
  if (phase.at === 'caller') return endOfTurn(back, phase, false, rules, now);
  const later = (at: number) => now - Math.max(0, goneSince - at);
  const after: TurnState = {
    ...back,
    phase: waitsOn(phase, later),
    keys: keys && { ...keys, lastAt: later(keys.lastAt) },
    spokeUntil: phase.at === 'suspecting' ? later(state.spokeUntil) : state.spokeUntil,
  };
  if (phase.at !== 'open' || keys !== null || now - goneSince < rules.gapToldMs) return known(after);
  return to(after, thinking(now, phase.prompts), [{ do: 'speak', what: 'line-back' }]);
}

/** The phase as if no time had passed in the gap. */
function waitsOn(phase: Phase, later: (at: number) => number): Phase {
  switch (phase.at) {
    case 'closing':
    case 'disclosing':
      return { ...phase, asked: phase.asked === null ? null : later(phase.asked) };
    case 'open':
    case 'thinking':
    case 'agent':
    case 'suspecting':
    case 'waiting-for-beep':
    case 'lingering':
      return { ...phase, since: later(phase.since) };
    case 'opening':
    case 'caller':
    case 'away':
    case 'over':
      return phase;
  }
}
