// The caller's turn: where it begins, that it was only noise, that it is over. PURE. Speech over the agent's voice is
// agent-turn.ts; how long a pause may be, end-of-turn.ts.
import { firstWords } from './cut-off.ts';
import { beginPieces, nextPiece } from './dictation.ts';
import { onNoiseOverLine, onSpeechOverLine } from './disclosure.ts';
import { endSilenceMs, isDictation, learnPause, listenedMs } from './end-of-turn.ts';
import { hearTurn } from './machine.ts';
import {
  known,
  open,
  type Phase,
  spoken,
  type TurnEffect,
  type TurnEvent,
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
  const pieces = beginPieces(onsetMs, state.pauseMs);
  const caller: TurnState = { ...spoken(state), burst: null, owes: false, pieces };
  return to(caller, { at: 'caller', since: onsetMs, silentSince: null }, [
    ...(interrupts ? ([{ do: 'interrupt', onsetMs }] as const) : []),
    { do: 'listen', fromMs: onsetMs },
    { do: 'floor', floor: 'caller' },
  ]);
}

/**
 * The caller goes on before the answer is heard: the turn was not over, which shows how long his pauses are. The answer is
 * dropped.
 */
export function takeTurnBack(state: TurnState, onsetMs: number): TurnStep {
  const { state: after, effects } = toCaller(state, onsetMs, true);
  if (state.answer !== 'due') return { state: after, effects };
  const pauseMs = pauseAfter(state, state.spokeUntil, onsetMs);
  return { state: { ...after, pauseMs, pieces: nextPiece(state.pieces, onsetMs) }, effects };
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
      return to({ ...spoken(state), pieces: beginPieces(onsetMs, state.pauseMs) }, caller, listen);
    case 'caller': {
      const pauseMs = pauseAfter(state, phase.silentSince, onsetMs);
      const pieces = nextPiece(state.pieces, onsetMs);
      return to({ ...spoken(state), pauseMs, pieces }, { ...phase, silentSince: null });
    }
    case 'thinking':
      return takeTurnBack(state, onsetMs);
    case 'disclosing':
      return onSpeechOverLine(state, phase, onsetMs);
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
  if (phase.at === 'disclosing') return onNoiseOverLine(quiet, phase, onsetMs, now);
  if (phase.at !== 'caller') return known(quiet);
  const what = first ? firstWords(state, now) : 'continue';
  if (state.answer === 'heard' || what === null)
    return to(quiet, open(now), [{ do: 'forget' }, { do: 'floor', floor: 'none' }]);
  return to(quiet, thinking(now), [{ do: 'forget' }, { do: 'speak', what }]);
}

/** What is known of the caller's pauses after the one that began at `silentSince`. A drawn-out sound tells its own; a gap of the line none. */
function pauseAfter(state: TurnState, silentSince: number | null, onsetMs: number): number {
  const { pauseMs, pieces, backAt } = state;
  const known = silentSince !== null && silentSince >= backAt && !pieces.drawnOut;
  return known ? learnPause(pauseMs, onsetMs - silentSince) : pauseMs;
}

/** The turn is over, and what was said in it is answered. @param asked the agent's last words have asked for what is dictated */
export function endOfTurn(
  state: TurnState,
  phase: CallerPhase,
  asked: boolean,
  rules: TurnRules,
  now: number,
): TurnStep {
  const speechEndMs = phase.silentSince ?? now;
  const { pieces } = state;
  // The pauses of dictation say nothing of those to come.
  const pauseMs = isDictation(asked, pieces) ? pieces.knownPauseMs : state.pauseMs;
  const quiet: TurnState = {
    ...state,
    pauseMs,
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

export function onTickCaller(
  state: TurnState,
  phase: CallerPhase,
  tick: Extract<TurnEvent, { type: 'tick' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const asked = tick.asked === true;
  if (phase.silentSince === null) {
    if (now - phase.since < rules.monologueMs) return null;
    // Its next stretch is measured from here on.
    const voice: Voice = state.voice.is === 'quiet' ? QUIET_VOICE : { ...state.voice, onsetMs: now };
    return endOfTurn({ ...state, voice }, phase, asked, rules, now);
  }
  const silentMs = listenedMs(tick.heardMs ?? now, now, rules) - phase.silentSince;
  const enoughMs = endSilenceMs(state, asked, rules);
  // Speech seems to begin again: an onset takes a while to be known for one.
  if (state.voice.is === 'starting' && silentMs < enoughMs + rules.confirmMs) return null;
  return silentMs < enoughMs ? null : endOfTurn(state, phase, asked, rules, now);
}
