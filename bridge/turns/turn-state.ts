// Who has the floor: (state, event, now) -> state and effects. PURE. Times are milliseconds since the stream's start.
// Everything that depends on the agent's voice runs on heard time: the caller's silence is counted from the last
// confirmed mark, and a goodbye is over when it was heard. The two sides' turns: caller-turn.ts, agent-turn.ts, short words
// over the agent's voice: short-words.ts; what time alone ends: waits.ts; and in a gap of the line, which stops time: gap.ts.

import {
  onAgentAudio,
  onAllHeard,
  onSpeechOver,
  onSpeechOverEnded,
  onTickHeld,
  onVoice,
} from './agent-turn.ts';
import { onSpeechStarted, onSpeechTakenBack, onTickCaller } from './caller-turn.ts';
import { firstWords } from './cut-off.ts';
import { endPiece } from './dictation.ts';
import { onSpeechOverLineEnded, onTickDisclosing, tellFirst } from './disclosure.ts';
import { onTickPaused, settleEarly } from './early-answer.ts';
import { onStreamBack, onStreamGone, onTickGone } from './gap.ts';
import { onKeys, onTyped } from './keys.ts';
import { onBeep, onMachineDetection, onTickMachine } from './machine.ts';
import { onWordGiven, onWordKnown } from './short-words.ts';
import {
  closing,
  finish,
  holdOf,
  isOnLine,
  known,
  listens,
  open,
  type Phase,
  TURN_RULES,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';
import { QUIET_VOICE } from './voice.ts';
import { onDeadAir, onTickClosing, onTickOpening, onTickThinking, onTickUnheard } from './waits.ts';

/** Stream and model are both there: the first words, or the first silence. */
function begin(state: TurnState, now: number): TurnStep {
  if (state.phase.at !== 'opening') return known(state);
  if (!state.modelReady) return state.streaming ? to(state, { at: 'opening', since: now }) : known(state);
  if (!state.streaming) return known(state);
  const what = firstWords(state, now);
  if (what === null) return to(state, open(now), [{ do: 'floor', floor: 'none' }]);
  return to(state, thinking(now), [{ do: 'speak', what }]);
}

function onTick(state: TurnState, tick: Tick, rules: TurnRules, now: number): TurnStep | null {
  const { phase } = state;
  const { keys } = state;
  // Keys wait as well for what nothing interrupts.
  if (keys !== null && phase.at !== 'disclosing' && now - keys.lastAt >= rules.digitPauseMs)
    return onKeys(state, keys.digits, now);
  switch (phase.at) {
    case 'opening':
      return onTickOpening(state, phase, rules, now);
    case 'caller':
      return onTickCaller(state, phase, tick, rules, now) ?? onTickPaused(state, phase, tick, rules, now);
    case 'open':
      if (now - phase.since < rules.idleMs) return null;
      if (phase.prompts >= rules.idlePrompts) {
        return to(state, closing(now, 'caller_silent'), [
          { do: 'speak', what: 'idle', silences: phase.prompts + 1 },
        ]);
      }
      return to(state, thinking(now, phase.prompts + 1), [
        { do: 'speak', what: 'idle', silences: phase.prompts + 1 },
      ]);
    case 'disclosing':
      return onTickDisclosing(state, phase, tick, rules, now);
    case 'thinking':
      return onTickThinking(state, phase, tick.tools === true, rules, now);
    case 'closing':
      // Nothing is to be heard and nothing to come, whatever became of the last words: nobody waits for them.
      return phase.asked === null && tick.due === false
        ? onLastHeard(state, phase, now)
        : onTickClosing(state, phase, tick, rules, now);
    case 'suspecting':
    case 'waiting-for-beep':
      return onTickMachine(state, phase, rules, now);
    case 'lingering':
      return now - phase.since >= rules.lingerMs ? finish(state, 'voicemail') : null;
    case 'agent':
      // Whatever the last of it was, it never was to be heard.
      if (tick.due === false) return onAllHeard(state, phase, false, rules, now);
      return (
        onTickUnheard(state, phase, tick, rules, now) ??
        (phase.hold === null ? null : onTickHeld(state, phase, phase.hold, tick.heardMs ?? now, rules, now))
      );
    case 'away':
    case 'over':
      return null;
  }
}

/** The last words were heard. Who spoke over a message that was left may be a person. */
function onLastHeard(state: TurnState, phase: Extract<Phase, { at: 'closing' }>, now: number): TurnStep {
  if (!phase.spokenOver) return finish(state, phase.reason);
  return to(state, { at: 'lingering', since: now }, [{ do: 'floor', floor: 'none' }]);
}

/** The floor is free. */
function toOpen(state: TurnState, prompts: number, now: number): TurnStep {
  return to(state, open(now, prompts), [{ do: 'floor', floor: 'none' }]);
}

function onToolsAnswered(state: TurnState, now: number): TurnStep {
  const { phase } = state;
  if (phase.at === 'agent') return { state, effects: [{ do: 'speak', what: 'continue' }] };
  // After a barge-in the caller's own turn brings the next answer; where the agent is silent on purpose, it stays so.
  if (phase.at !== 'thinking' && phase.at !== 'open' && phase.at !== 'away') return known(state);
  return to(state, thinking(now), [{ do: 'speak', what: 'continue' }]);
}

/** What the model is given of the caller belongs to his turn: left without an end of it, it is forgotten. */
function endListening(before: TurnState, step: TurnStep): TurnStep {
  if (!listens(before) || listens(step.state)) return step;
  const ended = step.effects.some((effect) => effect.do === 'commit' || effect.do === 'forget');
  if (ended || step.state.phase.at === 'over') return step;
  return { state: step.state, effects: [{ do: 'forget' }, ...step.effects] };
}

/** A hold belongs to the phase it is in, and ends with it whatever the event was: what it came to is told here, once. */
function tellHold(before: TurnState, step: TurnStep): TurnStep {
  const hold = holdOf(before);
  if (hold === null || holdOf(step.state) !== null) return step;
  const { heldMs, heldForMs, pausedSince: pausedMs } = hold;
  if (!step.effects.some((effect) => effect.do === 'interrupt')) {
    const resume: TurnEffect = { do: 'resume', onsetMs: heldForMs, heldMs, pausedMs };
    return { state: step.state, effects: [resume, ...step.effects] };
  }
  const effects = step.effects.map((effect) =>
    effect.do === 'interrupt' ? { ...effect, heldMs, pausedMs } : effect,
  );
  return { state: step.state, effects };
}

/** What an event does to the floor; null when it comes too late or says nothing new. */
export function step(
  state: TurnState,
  event: TurnEvent,
  now: number,
  rules: TurnRules = TURN_RULES,
): TurnStep | null {
  const decided = decide(state, event, now, rules);
  if (decided === null) return null;
  const next = tellFirst(decided, now);
  return tellHold(state, settleEarly(state, event, endListening(state, next)));
}

type Tick = Extract<TurnEvent, { type: 'tick' }>;

function decide(state: TurnState, event: TurnEvent, now: number, rules: TurnRules): TurnStep | null {
  const { phase } = state;
  if (phase.at === 'over') return null;
  switch (event.type) {
    case 'stream-started':
      if (phase.at === 'away') {
        // What became of it is told to the model next, and it goes on from there.
        return to({ ...state, streaming: true, goneSince: null }, thinking(now));
      }
      if (phase.at === 'opening') return begin({ ...state, streaming: true }, now);
      if (state.goneSince !== null) return onStreamBack(state, state.goneSince, rules, now);
      return known({ ...state, streaming: true });
    case 'stream-paused':
      return onStreamGone(state, now);
    case 'model-ready':
      return event.renewed
        ? known({ ...state, modelReady: true })
        : begin({ ...state, modelReady: true }, now);
    case 'speech-started':
      return phase.at === 'agent'
        ? onSpeechOver(state, phase, event.onsetMs, rules, now)
        : onSpeechStarted(state, event.onsetMs);
    case 'speech-ended': {
      const ended: TurnState = { ...state, voice: QUIET_VOICE };
      if (phase.at === 'agent') return onSpeechOverEnded(state, phase, event.endMs, rules);
      if (phase.at === 'disclosing') return onSpeechOverLineEnded(state, phase, event);
      if (phase.at === 'caller') {
        const pieces = endPiece(state.pieces, event.endMs, event.drawnOut === true);
        return to({ ...ended, pieces }, { ...phase, silentSince: event.endMs });
      }
      return known(phase.at === 'suspecting' ? { ...ended, spokeUntil: event.endMs } : ended);
    }
    case 'speech-taken-back':
      return onSpeechTakenBack(state, event.onsetMs, now);
    case 'voice':
      return phase.at === 'agent'
        ? onVoice(state, phase, event.voice, rules, now)
        : known({ ...state, voice: event.voice });
    case 'agent-audio':
      if (phase.at === 'thinking' || phase.at === 'open') {
        return onAgentAudio(state, phase.prompts, rules, now);
      }
      return phase.at === 'closing' || phase.at === 'disclosing'
        ? to(state, { ...phase, asked: null }, [{ do: 'floor', floor: 'agent' }])
        : null;
    case 'all-heard':
      if (phase.at === 'closing' && !event.busy) return onLastHeard(state, phase, now);
      return phase.at === 'agent' ? onAllHeard(state, phase, event.busy, rules, now) : null;
    case 'response-done':
      if (event.pending || event.busy) return null;
      if (phase.at === 'closing' && (phase.asked === null || !event.spoke)) {
        return finish(state, phase.reason);
      }
      // All of it had been heard before the model said that there is no more of it.
      if (phase.at === 'thinking' && event.spoke)
        return toOpen({ ...state, answer: 'heard' }, phase.prompts, now);
      // It came to nothing: once more, at once.
      if (phase.at === 'thinking' && !phase.retried)
        return to(state, { ...phase, retried: true }, [{ do: 'speak', what: 'retry' }]);
      // The model chose to say nothing; or what it said was never to be heard.
      return phase.at === 'thinking' || phase.at === 'agent' ? toOpen(state, phase.prompts, now) : null;
    case 'nothing-said':
      return phase.at === 'thinking' ? toOpen(state, phase.prompts, now) : null;
    case 'tools-answered':
      return onToolsAnswered({ ...state, filled: false }, now);
    case 'word-given':
      return onWordGiven(state, event);
    case 'word-known':
      return onWordKnown(state, event, rules, now);
    case 'digit':
      return known({ ...state, keys: { digits: (state.keys?.digits ?? '') + event.digit, lastAt: now } });
    case 'typed':
      return onTyped(state, event.text, now);
    case 'machine-detection':
      return onMachineDetection(state, event.verdict, now);
    case 'beep':
      return onBeep(state, rules, now);
    case 'end-requested':
      if (phase.at === 'closing' || phase.at === 'away') return null;
      return event.pending ? to(state, closing(null, event.reason)) : finish(state, event.reason);
    case 'finish':
      if (event.say === null || !isOnLine(state) || !state.modelReady) {
        return to(state, { at: 'over' }, [{ do: 'interrupt' }, { do: 'finish', reason: event.reason }]);
      }
      return to(state, closing(now, event.reason), [{ do: 'interrupt' }, { do: 'say', text: event.say }]);
    case 'tick':
      if (state.goneSince !== null) return onTickGone(state, state.goneSince, event, rules, now);
      return onDeadAir(state, event, rules) ?? onTick(state, event, rules, now);
  }
}
