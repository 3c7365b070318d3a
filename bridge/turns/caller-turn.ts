// The caller's turn: where it begins, that it was only noise, that it is over. PURE. Speech over the agent's voice is
// agent-turn.ts; how long a pause may be, end-of-turn.ts.
import { endSilenceMs, learnPause, listenedMs } from './end-of-turn.ts';
import { hearTurn } from './machine.ts';
import {
  known,
  open,
  type Phase,
  spoken,
  type TurnEffect,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';
import { QUIET_VOICE, type Voice } from './voice.ts';

type CallerPhase = Extract<Phase, { at: 'caller' }>;

/** The caller has the floor from the first onset on. `interrupts`: somebody else had it. */
export function toCaller(state: TurnState, onsetMs: number, interrupts: boolean): TurnStep {
  const caller: TurnState = { ...spoken(state), burst: null, owes: false };
  return to(caller, { at: 'caller', since: onsetMs, silentSince: null }, [
    ...(interrupts ? ([{ do: 'interrupt', onsetMs }] as const) : []),
    { do: 'listen', fromMs: onsetMs },
    { do: 'floor', floor: 'caller' },
  ]);
}

/** Speech where the agent's voice is not to be heard. */
export function onSpeechStarted(state: TurnState, onsetMs: number): TurnStep | null {
  const { phase } = state;
  const caller: Phase = { at: 'caller', since: onsetMs, silentSince: null };
  const listen: TurnEffect[] = [
    { do: 'listen', fromMs: onsetMs },
    { do: 'floor', floor: 'caller' },
  ];
  switch (phase.at) {
    case 'open':
      return to(spoken(state), caller, listen);
    case 'caller': {
      const pauseMs =
        phase.silentSince === null ? state.pauseMs : learnPause(state.pauseMs, onsetMs - phase.silentSince);
      return to({ ...spoken(state), pauseMs }, { ...phase, silentSince: null });
    }
    // The caller goes on before the answer is heard: the turn was not over. The answer is dropped.
    case 'thinking':
      return toCaller(learnFalseEnd(state, onsetMs), onsetMs, true);
    case 'suspecting':
      return to(spoken(state), { ...phase, listening: true }, phase.listening ? [] : listen);
    // Whoever speaks after a message was left on his voicemail is a person.
    case 'lingering':
      return to({ ...state, verdict: 'human' }, caller, listen);
    case 'closing':
      // Nothing interrupts the message; that somebody spoke over it is remembered.
      return phase.reason === 'voicemail' && phase.asked === null
        ? to(state, { ...phase, spokenOver: true })
        : null;
    case 'agent':
    case 'opening':
    case 'waiting-for-beep':
    case 'away':
    case 'over':
      return null;
  }
}

/** The line's noise was taken for speech: what it was given is taken from it again. */
export function onSpeechTakenBack(state: TurnState, onsetMs: number, now: number): TurnStep {
  const { phase } = state;
  // Words came before it in the same turn.
  if (phase.at === 'caller' && phase.since !== onsetMs)
    return to({ ...state, voice: QUIET_VOICE }, { ...phase, silentSince: now });
  const first = state.spokeUntil === 0;
  const verdict = first && state.verdict === 'pending' ? 'silent' : state.verdict;
  const quiet: TurnState = { ...state, voice: QUIET_VOICE, verdict };
  if (phase.at === 'agent') return to(quiet, { ...phase, hold: null });
  if (phase.at !== 'caller') return known(quiet);
  if (state.answer === 'heard' || (first && !state.greets))
    return to(quiet, open(now), [{ do: 'forget' }, { do: 'floor', floor: 'none' }]);
  return to(quiet, thinking(now), [{ do: 'forget' }, { do: 'speak', what: first ? 'greeting' : 'continue' }]);
}

/** A turn that was taken for finished and was not shows how long this caller's pauses are. */
export function learnFalseEnd(state: TurnState, onsetMs: number): TurnState {
  if (state.answer !== 'due') return state;
  return { ...state, pauseMs: learnPause(state.pauseMs, onsetMs - state.spokeUntil) };
}

function endOfTurn(state: TurnState, phase: CallerPhase, rules: TurnRules, now: number): TurnStep {
  const speechEndMs = phase.silentSince ?? now;
  const quiet: TurnState = {
    ...state,
    answer: 'due',
    spokeUntil: speechEndMs,
    moments: 0,
    exchanges: state.exchanges + (state.answer === 'heard' ? 1 : 0),
  };
  const { state: turn, answered } = hearTurn(state, quiet, phase.since, rules);
  if (!answered)
    return to(turn, { at: 'suspecting', since: now, listening: false }, [
      { do: 'commit', respond: false, speechEndMs },
    ]);
  return to(turn, thinking(now), [{ do: 'commit', respond: true, speechEndMs }]);
}

/** @param heardMs up to when the caller was listened to */
export function onTickCaller(
  state: TurnState,
  phase: CallerPhase,
  heardMs: number,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  if (phase.silentSince === null) {
    if (now - phase.since < rules.monologueMs) return null;
    // Its next stretch is measured from here on.
    const voice: Voice = state.voice.is === 'quiet' ? QUIET_VOICE : { ...state.voice, onsetMs: now };
    return endOfTurn({ ...state, voice }, phase, rules, now);
  }
  const silentMs = listenedMs(heardMs, now, rules) - phase.silentSince;
  const enoughMs = endSilenceMs(state.pauseMs, rules);
  // Speech seems to begin again: an onset takes a while to be known for one.
  if (state.voice.is === 'starting' && silentMs < enoughMs + rules.confirmMs) return null;
  return silentMs >= enoughMs ? endOfTurn(state, phase, rules, now) : null;
}
