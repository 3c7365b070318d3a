// Who has the floor: (state, event, now) -> state and effects. PURE. Times are milliseconds since the stream's start.
// Everything that depends on the agent's voice runs on heard time: the caller's silence is counted from the last
// confirmed mark, and a goodbye is over when it was heard. Sound over the agent's voice: hold.ts; how long a pause
// may be: end-of-turn.ts.

import { endSilenceMs, learnPause, listenedMs } from './end-of-turn.ts';
import { burstOf, confirms, firstOnset, type Hold } from './hold.ts';
import { onKeys, onTyped } from './keys.ts';
import { leaveMessage, onMachineDetection, onTickMachine, verdictByPatience } from './machine.ts';
import {
  finish,
  holdOf,
  known,
  type Phase,
  QUIET_VOICE,
  TURN_RULES,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  to,
  type Voice,
} from './turns.ts';
import { onDeadAir, onTickClosing, onTickOpening, onTickThinking, onTickUnheard } from './waits.ts';

/** Stream and model are both there: the first words, or the first silence. */
function begin(state: TurnState, now: number): TurnStep {
  if (state.phase.at !== 'opening') return known(state);
  if (!state.modelReady) return state.streaming ? to(state, { at: 'opening', since: now }) : known(state);
  if (!state.streaming) return known(state);
  if (!state.greets)
    return to(state, { at: 'open', since: now, prompts: 0 }, [{ do: 'floor', floor: 'none' }]);
  return to(state, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'speak', what: 'greeting' },
  ]);
}

/** The caller has the floor from the first onset on. `interrupts`: somebody else had it. */
function toCaller(state: TurnState, onsetMs: number, interrupts: boolean): TurnStep {
  const caller: TurnState = { ...state, listening: true, callerSpoke: true, burst: null, owes: false };
  return to(caller, { at: 'caller', since: onsetMs, silentSince: null }, [
    ...(interrupts ? ([{ do: 'interrupt', onsetMs }] as const) : []),
    { do: 'listen', fromMs: onsetMs },
    { do: 'floor', floor: 'caller' },
  ]);
}

/** Sound over the agent's voice holds it back; sound that comes to nothing lets it go on. */
function onVoice(state: TurnState, voice: Voice, rules: TurnRules, now: number): TurnStep {
  const heard: TurnState = { ...state, voice };
  const { phase } = state;
  if (phase.at !== 'agent') return known(heard);
  if (phase.hold === null) {
    if (voice.is !== 'starting' && voice.is !== 'speaking') return known(heard);
    const { onsetMs } = voice;
    const heldForMs = firstOnset({ onsetMs }, state.burst, rules);
    const hold: Hold = { heldMs: now, heldForMs, since: now, onsetMs, endMs: null, pausedMs: 0 };
    return to(heard, { ...phase, hold });
  }
  // After a short word, more of them: the hold goes on for these.
  if (voice.is === 'starting' && phase.hold.endMs !== null)
    return known({
      ...heard,
      phase: { ...phase, hold: { ...phase.hold, since: now, onsetMs: voice.onsetMs, pausedMs: 0 } },
    });
  if (voice.is === 'speaking' && voice.pausedMs !== phase.hold.pausedMs)
    return known({ ...heard, phase: { ...phase, hold: { ...phase.hold, pausedMs: voice.pausedMs } } });
  // No speech, as far as is known; after a word just before, its silence is waited for. The end of speech comes by itself.
  if (voice.is !== 'quiet' || state.voice.is !== 'starting' || phase.hold.endMs !== null) return known(heard);
  if (now - phase.hold.onsetMs < rules.fadeMs) return resume(heard, phase);
  const endMs = now - rules.quietMs + rules.fadeMs;
  return known({ ...heard, phase: { ...phase, hold: { ...phase.hold, endMs } } });
}

/** The sound was not speech, or too little of it to stop anybody: the agent goes on where it was held. */
function resume(state: TurnState, phase: Extract<Phase, { at: 'agent' }>): TurnStep {
  return to(state, { ...phase, hold: null });
}

/** Speech over the agent's voice is given the time to show that it is more than a word of assent. */
function onTickHeld(
  state: TurnState,
  phase: Extract<Phase, { at: 'agent' }>,
  hold: Hold,
  heardMs: number,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { voice } = state;
  const listened = listenedMs(heardMs, now, rules);
  if (voice.is === 'speaking' && confirms(voice, state.burst, rules, listened))
    return toCaller(state, firstOnset(hold, state.burst, rules), true);
  if (now - hold.heldMs >= rules.holdLimitMs) {
    const step = resume(state, phase);
    return { state: step.state, effects: [{ do: 'report', stuck: 'hold' }] };
  }
  if (voice.is === 'quiet')
    return hold.endMs !== null && listened - hold.endMs >= rules.quietMs ? resume(state, phase) : null;
  // Neither speech nor silence: nobody waits for it.
  return voice.is === 'starting' && listened - hold.since >= rules.confirmMs ? resume(state, phase) : null;
}

function onSpeechStarted(state: TurnState, onsetMs: number, rules: TurnRules, now: number): TurnStep | null {
  const { phase } = state;
  const listening: TurnState = { ...state, listening: true, callerSpoke: true };
  const caller: Phase = { at: 'caller', since: onsetMs, silentSince: null };
  const listen: TurnEffect[] = [
    { do: 'listen', fromMs: onsetMs },
    { do: 'floor', floor: 'caller' },
  ];
  switch (phase.at) {
    case 'open':
      return to(listening, caller, listen);
    case 'caller': {
      const pauseMs =
        phase.silentSince === null ? state.pauseMs : learnPause(state.pauseMs, onsetMs - phase.silentSince);
      return to({ ...listening, pauseMs }, { ...phase, silentSince: null }, state.listening ? [] : listen);
    }
    // The caller goes on before the answer is heard: the turn was not over. The answer is dropped.
    case 'thinking':
      return toCaller(learnFalseEnd(state, onsetMs), onsetMs, true);
    case 'agent': {
      if (state.answering && onsetMs - phase.since < rules.takeBackMs)
        return toCaller(learnFalseEnd(state, onsetMs), onsetMs, true);
      const spoke: TurnState = { ...state, callerSpoke: true };
      const voice: Voice = { is: 'speaking', onsetMs, pausedMs: 0 };
      return phase.hold === null ? onVoice(spoke, voice, rules, now) : known({ ...spoke, voice });
    }
    case 'suspecting':
      return to(listening, phase, state.listening ? [] : listen);
    // Whoever speaks after a message was left on his voicemail is a person.
    case 'lingering':
      return to({ ...listening, verdict: 'human' }, caller, listen);
    case 'closing':
      // Nothing interrupts the message; that somebody spoke over it is remembered.
      return phase.reason === 'voicemail' && phase.asked === null
        ? known({ ...state, spokeOver: true })
        : null;
    case 'opening':
    case 'waiting-for-beep':
    case 'away':
    case 'over':
      return null;
  }
}

/** The line's noise was taken for speech: what it was given is taken from it again. */
function onSpeechTakenBack(state: TurnState, onsetMs: number, now: number): TurnStep {
  const { phase } = state;
  const first = state.spokeUntil === 0;
  const quiet: TurnState = { ...state, voice: QUIET_VOICE, callerSpoke: state.callerSpoke && !first };
  if (phase.at === 'agent' && phase.hold !== null) return resume(quiet, phase);
  if (phase.at !== 'caller') return known(quiet);
  // Words came before it in the same turn.
  if (phase.since !== onsetMs) return to(quiet, { ...phase, silentSince: now });
  const deaf: TurnState = { ...quiet, listening: false };
  if (state.agentHeard || (first && !state.greets))
    return to(deaf, { at: 'open', since: now, prompts: 0 }, [
      { do: 'forget' },
      { do: 'floor', floor: 'none' },
    ]);
  return to(deaf, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'forget' },
    { do: 'speak', what: first ? 'greeting' : 'continue' },
  ]);
}

/** A turn that was taken for finished and was not shows how long this caller's pauses are. */
function learnFalseEnd(state: TurnState, onsetMs: number): TurnState {
  if (!state.answering) return state;
  return { ...state, pauseMs: learnPause(state.pauseMs, onsetMs - state.spokeUntil) };
}

function endOfTurn(
  state: TurnState,
  phase: Extract<Phase, { at: 'caller' }>,
  rules: TurnRules,
  now: number,
): TurnStep {
  const speechEndMs = phase.silentSince ?? now;
  const quiet = {
    ...state,
    listening: false,
    agentHeard: false,
    answering: true,
    spokeUntil: speechEndMs,
    moments: 0,
    exchanges: state.exchanges + (state.agentHeard ? 1 : 0),
  };
  // Long continuous speech right after the answer: a greeting of a machine, as long as detection has not said otherwise.
  if (
    state.verdict === 'pending' &&
    state.exchanges === 0 &&
    phase.since <= rules.patienceMs &&
    speechEndMs - phase.since > rules.machineSpeechMs
  ) {
    return to(quiet, { at: 'suspecting', since: now }, [{ do: 'commit', respond: false, speechEndMs }]);
  }
  return to(quiet, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'commit', respond: true, speechEndMs },
  ]);
}

function onTick(state: TurnState, tick: Tick, rules: TurnRules, now: number): TurnStep | null {
  const { phase } = state;
  if (state.digits !== '' && now - state.lastDigitAt >= rules.digitPauseMs) return onKeys(state, now);
  switch (phase.at) {
    case 'opening':
      return onTickOpening(state, phase, rules, now);
    case 'caller':
      return onTickCaller(state, phase, tick.heardMs ?? now, rules, now);
    case 'open':
      if (now - phase.since < rules.idleMs) return null;
      if (phase.prompts >= rules.idlePrompts) {
        return to(state, { at: 'closing', asked: now, reason: 'caller_silent' }, [
          { do: 'speak', what: 'idle', silences: phase.prompts + 1 },
        ]);
      }
      return to(state, { at: 'thinking', since: now, retried: false, prompts: phase.prompts + 1 }, [
        { do: 'speak', what: 'idle', silences: phase.prompts + 1 },
      ]);
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

function onTickCaller(
  state: TurnState,
  phase: Extract<Phase, { at: 'caller' }>,
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

/** The last words were heard. Who spoke over a message that was left may be a person. */
function onLastHeard(state: TurnState, phase: Extract<Phase, { at: 'closing' }>, now: number): TurnStep {
  if (!state.spokeOver || phase.reason !== 'voicemail') return finish(state, phase.reason);
  return to({ ...state, spokeOver: false }, { at: 'lingering', since: now }, [
    { do: 'floor', floor: 'none' },
  ]);
}

/** The agent's voice is there. Whoever seems to begin to speak just now is heard first. */
function onAgentAudio(state: TurnState, prompts: number, rules: TurnRules, now: number): TurnStep {
  const agent: Phase = { at: 'agent', since: now, prompts, hold: null };
  const step = onVoice({ ...state, phase: agent, burst: null }, state.voice, rules, now);
  return { state: step.state, effects: [{ do: 'floor', floor: 'agent' }, ...step.effects] };
}

function onToolsAnswered(state: TurnState, now: number): TurnStep {
  const { phase } = state;
  if (phase.at === 'agent') return { state, effects: [{ do: 'speak', what: 'continue' }] };
  // After a barge-in the caller's own turn brings the next answer; where the agent is silent on purpose, it stays so.
  if (phase.at !== 'thinking' && phase.at !== 'open' && phase.at !== 'away') return known(state);
  return to(state, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'speak', what: 'continue' },
  ]);
}

/** All of what the agent said was heard: the floor is free, or the caller's, if he began at its end. */
function onAllHeard(
  state: TurnState,
  phase: Extract<Phase, { at: 'agent' }>,
  busy: boolean,
  rules: TurnRules,
  now: number,
): TurnStep {
  const { voice, burst } = state;
  // A tool still runs or an answer is on its way: the silence is the agent's, not the caller's.
  const next: Phase = busy
    ? { at: 'thinking', since: now, retried: false, prompts: phase.prompts }
    : { at: 'open', since: now, prompts: phase.prompts };
  const heard: TurnState = {
    ...state,
    phase: next,
    burst: null,
    moments: busy || state.owes ? state.moments : 0,
    agentHeard: !busy || state.agentHeard,
    answering: busy && state.answering,
    verdict: busy ? state.verdict : verdictByPatience(state, rules, now),
  };
  if (voice.is === 'speaking' || voice.is === 'stopping') {
    return toCaller(heard, firstOnset(voice, burst, rules), busy);
  }
  // A short word at the very end of what was said answers it.
  if (!busy && burst !== null && now - burst.endMs <= rules.answerMs) {
    const step = toCaller(heard, burst.onsetMs, false);
    const spoken: Phase = { at: 'caller', since: burst.onsetMs, silentSince: burst.endMs };
    return to(step.state, spoken, step.effects);
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

/** What the model is given of the caller belongs to his turn: left without an end of it, it is forgotten. */
function endListening(before: TurnState, step: TurnStep): TurnStep {
  const { phase, listening } = step.state;
  const heard = phase.at === 'caller' || phase.at === 'suspecting';
  if (!before.listening || (listening && heard)) return step;
  const ended = step.effects.some((effect) => effect.do === 'commit' || effect.do === 'forget');
  return {
    state: { ...step.state, listening: false },
    effects: ended || phase.at === 'over' ? step.effects : [{ do: 'forget' }, ...step.effects],
  };
}

/** A hold belongs to the phase it is in, and ends with it whatever the event was: what it came to is told here, once. */
function tellHold(before: TurnState, step: TurnStep): TurnStep {
  const hold = holdOf(before);
  if (hold === null || holdOf(step.state) !== null) return step;
  const { heldMs, heldForMs } = hold;
  if (!step.effects.some((effect) => effect.do === 'interrupt'))
    return { state: step.state, effects: [{ do: 'resume', onsetMs: heldForMs, heldMs }, ...step.effects] };
  const effects = step.effects.map((effect) => (effect.do === 'interrupt' ? { ...effect, heldMs } : effect));
  return { state: step.state, effects };
}

/** What an event does to the floor; null when it comes too late or says nothing new. */
export function step(
  state: TurnState,
  event: TurnEvent,
  now: number,
  rules: TurnRules = TURN_RULES,
): TurnStep | null {
  const next = decide(state, event, now, rules);
  return next === null ? null : tellHold(state, endListening(state, next));
}

type Tick = Extract<TurnEvent, { type: 'tick' }>;

function decide(state: TurnState, event: TurnEvent, now: number, rules: TurnRules): TurnStep | null {
  const { phase } = state;
  if (phase.at === 'over') return null;
  switch (event.type) {
    case 'stream-started':
      if (phase.at === 'away') {
        // What became of it is told to the model next, and it goes on from there.
        return to({ ...state, streaming: true }, { at: 'thinking', since: now, retried: false, prompts: 0 });
      }
      if (phase.at !== 'opening') return known({ ...state, streaming: true });
      return begin({ ...state, streaming: true }, now);
    case 'stream-paused': {
      const paused: TurnState = { ...state, streaming: false, voice: QUIET_VOICE };
      return phase.at === 'agent' && phase.hold !== null ? resume(paused, phase) : known(paused);
    }
    case 'model-ready':
      return event.renewed
        ? known({ ...state, modelReady: true })
        : begin({ ...state, modelReady: true }, now);
    case 'speech-started':
      return onSpeechStarted(state, event.onsetMs, rules, now);
    case 'speech-ended': {
      const ended: TurnState = { ...state, voice: QUIET_VOICE };
      if (phase.at === 'caller') return to(ended, { ...phase, silentSince: event.endMs });
      if (phase.at === 'suspecting') return known({ ...ended, spokeUntil: event.endMs });
      if (phase.at !== 'agent' || phase.hold === null) return known(ended);
      // Long enough, if nobody looked in time.
      if (confirms(phase.hold, state.burst, rules, event.endMs)) {
        const onsetMs = firstOnset(phase.hold, state.burst, rules);
        const step = toCaller(ended, onsetMs, true);
        return to(step.state, { at: 'caller', since: onsetMs, silentSince: event.endMs }, step.effects);
      }
      // Spoken over the agent's voice, and over: a word of assent, a cough.
      return known({
        ...ended,
        burst: burstOf(phase.hold, event.endMs, state.burst, rules),
        phase: { ...phase, hold: { ...phase.hold, endMs: event.endMs } },
      });
    }
    case 'speech-taken-back':
      return onSpeechTakenBack(state, event.onsetMs, now);
    case 'voice':
      return onVoice(state, event.voice, rules, now);
    case 'agent-audio':
      if (phase.at === 'thinking' || phase.at === 'open') {
        return onAgentAudio(state, phase.prompts, rules, now);
      }
      return phase.at === 'closing'
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
      if (phase.at === 'thinking' && event.spoke) {
        const heard: Phase = { at: 'open', since: now, prompts: phase.prompts };
        return to({ ...state, agentHeard: true, answering: false }, heard, [{ do: 'floor', floor: 'none' }]);
      }
      // It came to nothing: once more, at once.
      if (phase.at === 'thinking' && !event.spoke && !phase.retried)
        return to(state, { ...phase, retried: true }, [{ do: 'speak', what: 'retry' }]);
      // The model chose to say nothing.
      if (phase.at === 'thinking' && !event.spoke && phase.retried) {
        return to(state, { at: 'open', since: now, prompts: phase.prompts }, [
          { do: 'floor', floor: 'none' },
        ]);
      }
      if (phase.at === 'agent') {
        return to(state, { at: 'open', since: now, prompts: phase.prompts }, [
          { do: 'floor', floor: 'none' },
        ]);
      }
      return null;
    case 'nothing-said':
      return phase.at === 'thinking'
        ? to(state, { at: 'open', since: now, prompts: phase.prompts }, [{ do: 'floor', floor: 'none' }])
        : null;
    case 'tools-answered':
      return onToolsAnswered({ ...state, filled: false }, now);
    case 'digit':
      return known({ ...state, digits: state.digits + event.digit, lastDigitAt: now });
    case 'typed':
      return onTyped(state, event.text, now);
    case 'machine-detection':
      return onMachineDetection(state, event.verdict, now);
    case 'beep':
      return phase.at === 'waiting-for-beep' ? leaveMessage(state, now) : null;
    case 'end-requested':
      if (phase.at === 'closing' || phase.at === 'away') return null;
      return event.pending
        ? to({ ...state, listening: false }, { at: 'closing', asked: null, reason: event.reason })
        : finish({ ...state, listening: false }, event.reason);
    case 'finish':
      if (event.say === null || !state.streaming || !state.modelReady) {
        return to({ ...state, listening: false }, { at: 'over' }, [
          { do: 'interrupt' },
          { do: 'finish', reason: event.reason },
        ]);
      }
      return to({ ...state, listening: false }, { at: 'closing', asked: now, reason: event.reason }, [
        { do: 'interrupt' },
        { do: 'say', text: event.say },
      ]);
    case 'tick':
      return onDeadAir(state, event, rules) ?? onTick(state, event, rules, now);
  }
}
