// The agent's turn: its voice is there, is ducked or paused, is interrupted, was heard to its end. PURE. What a hold waits for
// and comes to is hold.ts.
import { takeTurnBack, toCaller } from './caller-turn.ts';
import { listenedMs } from './end-of-turn.ts';
import {
  type Burst,
  beginHold,
  burstOf,
  changeHold,
  confirms,
  firstOnset,
  type Hold,
  judgeHold,
  learnAssent,
  pausedHold,
} from './hold.ts';
import { verdictByPatience } from './machine.ts';
import { answerWord } from './short-words.ts';
import {
  known,
  open,
  type Phase,
  spoken,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';
import { QUIET_VOICE, type Voice } from './voice.ts';

type AgentPhase = Extract<Phase, { at: 'agent' }>;

/** The agent's voice is there. Whoever seems to begin to speak just now is heard first: it does not begin beneath him. */
export function onAgentAudio(state: TurnState, prompts: number, rules: TurnRules, now: number): TurnStep {
  const begun = beginHold(state.voice, null, rules, now);
  const hold = begun && pausedHold(begun, now);
  return to({ ...state, burst: null }, { at: 'agent', since: now, prompts, hold }, [
    { do: 'floor', floor: 'agent' },
  ]);
}

/** Sound over the agent's voice holds it; sound that comes to nothing lets it go on as before. */
export function onVoice(
  state: TurnState,
  phase: AgentPhase,
  voice: Voice,
  rules: TurnRules,
  now: number,
): TurnStep {
  const hold =
    phase.hold === null
      ? beginHold(voice, state.burst, rules, now)
      : changeHold(phase.hold, state.voice, voice, rules, now);
  const heard: TurnState = { ...state, voice };
  return hold === phase.hold ? known(heard) : to(heard, { ...phase, hold });
}

/** Speech over the agent's voice; early into an answer it takes back the turn that is being answered. */
export function onSpeechOver(
  state: TurnState,
  phase: AgentPhase,
  onsetMs: number,
  rules: TurnRules,
  now: number,
): TurnStep {
  if (state.answer === 'due' && onsetMs - phase.since < rules.takeBackMs) return takeTurnBack(state, onsetMs);
  const voice: Voice =
    state.voice.is === 'speaking' ? state.voice : { is: 'speaking', onsetMs, stoppedMs: 0 };
  return phase.hold === null
    ? onVoice(spoken(state), phase, voice, rules, now)
    : known({ ...spoken(state), voice });
}

/** Speech over the agent's voice has ended: a word of assent, a cough, or long enough, if nobody looked in time. */
export function onSpeechOverEnded(
  state: TurnState,
  phase: AgentPhase,
  endMs: number,
  rules: TurnRules,
): TurnStep {
  const ended: TurnState = { ...state, voice: QUIET_VOICE };
  const { hold } = phase;
  if (hold === null) return known(ended);
  if (confirms(hold, state.burst, rules, endMs)) {
    const onsetMs = firstOnset(hold, state.burst, rules);
    const step = toCaller(ended, onsetMs, true);
    return to(step.state, { at: 'caller', since: onsetMs, silentSince: endMs }, step.effects);
  }
  const burst = burstOf(hold, endMs, state.burst, rules);
  const over: Hold = { ...hold, endMs };
  if (hold.word === null) return weigh({ ...ended, burst }, phase, over, burst);
  const given = hold.word.is !== 'unasked';
  return to({ ...ended, burst: given ? { ...burst, given } : burst }, { ...phase, hold: over });
}

/** Speech over the agent's voice is given the time to show that it is more than a word of assent. */
export function onTickHeld(
  state: TurnState,
  phase: AgentPhase,
  hold: Hold,
  heardMs: number,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { voice, burst, assentMs } = state;
  const heard = { voice, burst, assentMs, listenedMs: listenedMs(heardMs, now, rules), now };
  switch (judgeHold(hold, heard, rules)) {
    case 'confirmed':
      return toCaller(state, firstOnset(hold, burst, rules), true);
    case 'lasts':
      return to(state, { ...phase, hold: pausedHold(hold, now) });
    case 'word':
      return voice.is === 'stopping'
        ? weigh(state, phase, hold, burstOf(hold, voice.quietMs, burst, rules))
        : null;
    case 'nothing':
      return to({ ...state, assentMs: learnAssent(assentMs, hold) }, { ...phase, hold: null });
    case 'stuck':
      return to(state, { ...phase, hold: null }, [{ do: 'report', stuck: 'hold' }]);
    case 'waits':
      return null;
  }
}

/** A word over the agent's voice seems to have ended: what it was is asked for. */
function weigh(state: TurnState, phase: AgentPhase, hold: Hold, { onsetMs, endMs }: Burst): TurnStep {
  return to(state, { ...phase, hold: { ...hold, word: { onsetMs, is: 'unasked' } } }, [
    { do: 'weigh', onsetMs, endMs },
  ]);
}

/** All of what the agent said was heard: the floor is free, or the caller's, if he began at its end. */
export function onAllHeard(
  state: TurnState,
  phase: AgentPhase,
  busy: boolean,
  rules: TurnRules,
  now: number,
): TurnStep {
  const { voice, burst } = state;
  // A tool still runs or an answer is on its way: the silence is the agent's, not the caller's.
  const next = busy ? thinking(now, phase.prompts) : open(now, phase.prompts);
  const heard: TurnState = {
    ...state,
    phase: next,
    burst: null,
    moments: busy || state.owes ? state.moments : 0,
    answer: busy ? state.answer : 'heard',
    verdict: busy ? state.verdict : verdictByPatience(state, rules, now),
  };
  if (voice.is === 'speaking' || voice.is === 'stopping') {
    return toCaller(heard, firstOnset(voice, burst, rules), busy);
  }
  // A short word at the very end of what was said answers it.
  if (!busy && burst !== null && now - burst.endMs <= rules.answerMs) {
    if (burst.given === true) return answerWord(heard, burst, now);
    const step = toCaller(heard, burst.onsetMs, false);
    const turn: Phase = { at: 'caller', since: burst.onsetMs, silentSince: burst.endMs };
    return to(step.state, turn, step.effects);
  }
  // He was told to wait a moment, and has waited.
  if (!busy && state.owes) {
    return to(
      { ...heard, owes: false },
      { at: 'thinking', since: now, retried: true, prompts: phase.prompts },
      [{ do: 'speak', what: 'retry' }],
    );
  }
  return busy ? known(heard) : { state: heard, effects: [{ do: 'floor', floor: 'none' }] };
}
