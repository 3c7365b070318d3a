// Who has the floor: (state, event, now) -> state and effects. PURE. Times are milliseconds since the stream's start.
// Everything that depends on the agent's voice runs on heard time: the caller's silence is counted from the last
// confirmed mark, and a goodbye is over when it was heard.

export interface TurnRules {
  /** Silence after the caller's last word that ends the turn. */
  endOfTurnMs: number;
  /** Silence of the other side, from heard time, until the agent asks. */
  idleMs: number;
  /** Prompts to a silent caller before the call ends. */
  idlePrompts: number;
  /** No audio this long after an answer was asked for: it is asked for again, once. */
  retryAfterMs: number;
  /** No audio this long after the first request: the model counts as silent and the call ends. */
  giveUpAfterMs: number;
  /** Keys pressed within this time belong together. */
  digitPauseMs: number;
  /** Continuous speech from the answer on that no person says by way of hello. */
  machineSpeechMs: number;
  /** A machine's greeting begins within this time of the answer. */
  patienceMs: number;
  /** After a message that somebody spoke over: how long the line is kept for a person. */
  lingerMs: number;
  /** How long a voicemail greeting may go on until the message is spoken anyway. */
  greetingLimitMs: number;
}

export const TURN_RULES: TurnRules = {
  endOfTurnMs: 600,
  idleMs: 12_000,
  idlePrompts: 2,
  retryAfterMs: 8_000,
  giveUpAfterMs: 20_000,
  digitPauseMs: 1_500,
  machineSpeechMs: 3_200,
  patienceMs: 4_000,
  lingerMs: 3_000,
  greetingLimitMs: 40_000,
};

export type Plan = 'none' | 'hangup' | 'leave_message';

export type Phase =
  /** The stream or the model is not there yet. */
  | { at: 'opening' }
  /** Nobody speaks, since `since`; `prompts` counts how often the agent has asked into the silence. */
  | { at: 'open'; since: number; prompts: number }
  /** The caller speaks, or has paused (`silentSince`) for less than the end-of-turn silence. */
  | { at: 'caller'; since: number; silentSince: number | null }
  /** The model was asked and nothing is to be heard yet. */
  | { at: 'thinking'; since: number; retried: boolean; prompts: number }
  /** The agent's voice is on its way or being heard. */
  | { at: 'agent'; prompts: number }
  /** A machine may be talking: the agent holds its tongue until detection has spoken. */
  | { at: 'suspecting'; since: number }
  /** A machine's greeting runs; the message waits for its end. */
  | { at: 'waiting-for-beep'; since: number }
  /** The last words are being spoken; nothing interrupts them. `asked`: when they were asked of the model. */
  | { at: 'closing'; asked: number | null; reason: string }
  /** The message is left, and somebody spoke meanwhile: a person who picks up the phone speaks again. */
  | { at: 'lingering'; since: number }
  /** The line has left this talk, for key tones or another party; it may come back with another stream. */
  | { at: 'away' }
  | { at: 'over' };

export interface TurnState {
  phase: Phase;
  streaming: boolean;
  modelReady: boolean;
  /** The agent speaks first. */
  greets: boolean;
  plan: Plan;
  verdict: 'pending' | 'human' | 'machine' | 'none';
  /** The agent was heard to the end of what it said since the caller's last turn. */
  agentHeard: boolean;
  /** Speech was heard from the other side at any time. */
  callerSpoke: boolean;
  /** Turns of the caller that answered something heard: what tells a dialogue from a greeting played to nobody. */
  exchanges: number;
  digits: string;
  lastDigitAt: number;
  /** Somebody spoke while the voicemail message was being left. */
  spokeOver: boolean;
  /** The caller's speech is being given to the model. */
  listening: boolean;
}

export type TurnEvent =
  | { type: 'stream-started' }
  /** The carrier's stream has gone on purpose (key tones); another one follows. */
  | { type: 'stream-paused' }
  | { type: 'model-ready'; renewed: boolean }
  | { type: 'speech-started'; onsetMs: number }
  | { type: 'speech-ended'; endMs: number }
  /** The first audio of a response is there. */
  | { type: 'agent-audio' }
  /** Everything received has been heard. `busy`: a response still runs or waits, or a tool does. */
  | { type: 'all-heard'; busy: boolean }
  /** A response has ended. `pending`: audio is still to be heard; `busy` as above. */
  | { type: 'response-done'; pending: boolean; busy: boolean; spoke: boolean }
  | { type: 'tools-answered' }
  /** What was committed was too short to be a turn. */
  | { type: 'nothing-said' }
  | { type: 'digit'; digit: string }
  /** Words typed by the other side. */
  | { type: 'typed'; text: string }
  | { type: 'machine-detection'; verdict: 'human' | 'machine' | 'machine_ready' | 'fax' | 'unknown' }
  | { type: 'beep' }
  /** The agent wants to end the call. `pending`: audio is still to be heard or to come. */
  | { type: 'end-requested'; reason: string; pending: boolean }
  /** The operator or a limit wants the call to end after a spoken line, or at once. */
  | { type: 'finish'; reason: string; say: string | null }
  | { type: 'tick' };

export type TurnEffect =
  /** Give the model the caller's audio from this moment (pre-roll) on. */
  | { do: 'listen'; fromMs: number }
  /** Forget what was given since the last turn. */
  | { do: 'forget' }
  /** The caller's turn is over: commit it; `respond` asks for the answer. */
  | { do: 'commit'; respond: boolean; speechEndMs: number }
  /** Silence the agent: clear the carrier, cancel, cut what was not heard. */
  | { do: 'interrupt' }
  /** Ask for a response without a turn of the caller before it. */
  | {
      do: 'speak';
      what: 'greeting' | 'idle' | 'voicemail' | 'retry' | 'continue';
      /** For `idle`: silences in a row, from 1. */
      silences?: number;
    }
  /** Have the agent say this line. */
  | { do: 'say'; text: string }
  | { do: 'digits'; digits: string }
  /** The typed words are the caller's; `respond` asks for the answer. */
  | { do: 'typed'; text: string; respond: boolean }
  | { do: 'floor'; floor: 'agent' | 'caller' | 'none' }
  | { do: 'finish'; reason: string };

export interface TurnStep {
  state: TurnState;
  effects: TurnEffect[];
}

/** The state before anything has happened. */
export function openTurns(o: { greets: boolean; plan: Plan }): TurnState {
  return {
    phase: { at: 'opening' },
    streaming: false,
    modelReady: false,
    greets: o.greets,
    plan: o.plan,
    verdict: o.plan === 'none' ? 'none' : 'pending',
    agentHeard: false,
    callerSpoke: false,
    exchanges: 0,
    digits: '',
    lastDigitAt: 0,
    spokeOver: false,
    listening: false,
  };
}

const NO_EFFECTS: TurnEffect[] = [];

/** The event changed what is known, and nothing else. */
const known = (state: TurnState): TurnStep => ({ state, effects: NO_EFFECTS });

/** Ends that the line can come back from. */
const LEAVES: ReadonlySet<string> = new Set(['transferred', 'digits']);

/** Everything said was heard: the talk ends, or leaves the line for a while. */
function finish(state: TurnState, reason: string): TurnStep {
  return to(state, { at: LEAVES.has(reason) ? 'away' : 'over' }, [{ do: 'finish', reason }]);
}

function to(state: TurnState, phase: Phase, effects: TurnEffect[] = NO_EFFECTS): TurnStep {
  return { state: { ...state, phase }, effects };
}

/** Stream and model are both there: the first words, or the first silence. */
function begin(state: TurnState, now: number): TurnStep {
  if (!state.streaming || !state.modelReady || state.phase.at !== 'opening') return known(state);
  if (!state.greets)
    return to(state, { at: 'open', since: now, prompts: 0 }, [{ do: 'floor', floor: 'none' }]);
  return to(state, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'speak', what: 'greeting' },
  ]);
}

function onSpeechStarted(state: TurnState, onsetMs: number): TurnStep | null {
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
    case 'caller':
      return to(listening, { ...phase, silentSince: null }, state.listening ? [] : listen);
    // The caller goes on before the answer is heard: the turn was not over. The answer is dropped.
    case 'thinking':
    case 'agent':
      return to(listening, caller, [{ do: 'interrupt' }, ...listen]);
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

function endOfTurn(state: TurnState, phase: Extract<Phase, { at: 'caller' }>, now: number): TurnStep {
  const speechEndMs = phase.silentSince ?? now;
  const quiet = {
    ...state,
    listening: false,
    agentHeard: false,
    exchanges: state.exchanges + (state.agentHeard ? 1 : 0),
  };
  // Long continuous speech right after the answer: a greeting of a machine, as long as detection has not said otherwise.
  if (
    state.verdict === 'pending' &&
    state.exchanges === 0 &&
    speechEndMs - phase.since > TURN_RULES.machineSpeechMs
  ) {
    return to(quiet, { at: 'suspecting', since: now }, [{ do: 'commit', respond: false, speechEndMs }]);
  }
  return to(quiet, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
    { do: 'commit', respond: true, speechEndMs },
  ]);
}

/** Typed words are a turn of the caller, whole as they come; while he speaks they belong to the turn that is being spoken. */
function onTyped(state: TurnState, text: string, now: number): TurnStep | null {
  const { phase } = state;
  switch (phase.at) {
    case 'away':
    case 'over':
      return null;
    case 'opening':
    case 'caller':
    case 'closing':
      return { state: { ...state, callerSpoke: true }, effects: [{ do: 'typed', text, respond: false }] };
    default: {
      const typed: TurnState = {
        ...state,
        callerSpoke: true,
        listening: false,
        agentHeard: false,
        exchanges: state.exchanges + (state.agentHeard ? 1 : 0),
        // No machine types.
        verdict: state.verdict === 'pending' ? 'human' : state.verdict,
      };
      return to(typed, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
        ...(phase.at === 'agent' || phase.at === 'thinking' ? ([{ do: 'interrupt' }] as const) : []),
        { do: 'floor', floor: 'caller' },
        { do: 'typed', text, respond: true },
      ]);
    }
  }
}

function onTick(state: TurnState, rules: TurnRules, now: number): TurnStep | null {
  const { phase } = state;
  if (state.digits !== '' && now - state.lastDigitAt >= rules.digitPauseMs && phase.at !== 'over') {
    const digits = state.digits;
    const cleared = { ...state, digits: '' };
    if (['closing', 'opening', 'waiting-for-beep', 'away'].includes(phase.at)) return known(cleared);
    return to(cleared, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
      ...(phase.at === 'agent' || phase.at === 'thinking' ? ([{ do: 'interrupt' }] as const) : []),
      { do: 'digits', digits },
    ]);
  }
  switch (phase.at) {
    case 'caller':
      return phase.silentSince !== null && now - phase.silentSince >= rules.endOfTurnMs
        ? endOfTurn(state, phase, now)
        : null;
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
      if (now - phase.since >= rules.giveUpAfterMs) {
        return to(state, { at: 'over' }, [{ do: 'interrupt' }, { do: 'finish', reason: 'model_silent' }]);
      }
      if (!phase.retried && now - phase.since >= rules.retryAfterMs) {
        return to(state, { ...phase, retried: true }, [{ do: 'speak', what: 'retry' }]);
      }
      return null;
    case 'closing':
      // A goodbye that never comes must not hold the line.
      return phase.asked !== null && now - phase.asked >= rules.giveUpAfterMs
        ? finish(state, phase.reason)
        : null;
    case 'suspecting':
    case 'waiting-for-beep':
      if (now - phase.since < rules.greetingLimitMs) return null;
      return phase.at === 'suspecting'
        ? to({ ...state, verdict: 'human' }, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
            { do: 'speak', what: 'continue' },
          ])
        : leaveMessage(state, now);
    case 'lingering':
      return now - phase.since >= rules.lingerMs ? finish(state, 'voicemail') : null;
    case 'opening':
    case 'agent':
    case 'away':
    case 'over':
      return null;
  }
}

/** Who stays silent until the agent has finished is a person: a machine begins its greeting by itself. */
function verdictByPatience(state: TurnState, rules: TurnRules, now: number): TurnState['verdict'] {
  return state.verdict === 'pending' && !state.callerSpoke && now >= rules.patienceMs
    ? 'human'
    : state.verdict;
}

function leaveMessage(state: TurnState, now: number): TurnStep {
  return to({ ...state, listening: false }, { at: 'closing', asked: now, reason: 'voicemail' }, [
    { do: 'speak', what: 'voicemail' },
  ]);
}

function onMachineDetection(
  state: TurnState,
  verdict: Extract<TurnEvent, { type: 'machine-detection' }>['verdict'],
  now: number,
): TurnStep | null {
  const { phase } = state;
  if (state.plan === 'none' || phase.at === 'over' || phase.at === 'closing' || phase.at === 'away')
    return null;
  if (verdict === 'human' || verdict === 'unknown') {
    const human: TurnState = { ...state, verdict: 'human' };
    if (phase.at === 'suspecting') {
      return to(human, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
        { do: 'speak', what: 'continue' },
      ]);
    }
    // A person has come on the line during the greeting: an ordinary talk from here.
    if (phase.at === 'waiting-for-beep' && verdict === 'human') {
      return to(human, { at: 'open', since: now, prompts: 0 }, [{ do: 'floor', floor: 'none' }]);
    }
    return known(human);
  }
  // Two exchanges are a dialogue, and patience is a person, whatever the detector says.
  if (state.exchanges >= 2 || state.verdict === 'human') return null;
  const machine: TurnState = { ...state, verdict: 'machine', listening: false };
  const silence: TurnEffect[] = [{ do: 'interrupt' }, { do: 'forget' }];
  if (verdict === 'fax') return to(machine, { at: 'over' }, [...silence, { do: 'finish', reason: 'fax' }]);
  if (state.plan === 'hangup')
    return to(machine, { at: 'over' }, [...silence, { do: 'finish', reason: 'voicemail' }]);
  if (verdict === 'machine_ready') {
    const step = leaveMessage(machine, now);
    return { state: step.state, effects: [...silence, ...step.effects] };
  }
  return phase.at === 'waiting-for-beep'
    ? known(machine)
    : to(machine, { at: 'waiting-for-beep', since: now }, [...silence, { do: 'floor', floor: 'caller' }]);
}

/** What an event does to the floor; null when it comes too late or says nothing new. */
export function step(
  state: TurnState,
  event: TurnEvent,
  now: number,
  rules: TurnRules = TURN_RULES,
): TurnStep | null {
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
    case 'stream-paused':
      return known({ ...state, streaming: false });
    case 'model-ready':
      return event.renewed
        ? known({ ...state, modelReady: true })
        : begin({ ...state, modelReady: true }, now);
    case 'speech-started':
      return onSpeechStarted(state, event.onsetMs);
    case 'speech-ended':
      if (phase.at === 'caller') return to(state, { ...phase, silentSince: event.endMs });
      return null;
    case 'agent-audio':
      if (phase.at === 'thinking' || phase.at === 'open') {
        return to(state, { at: 'agent', prompts: phase.prompts }, [{ do: 'floor', floor: 'agent' }]);
      }
      return phase.at === 'closing'
        ? to(state, { ...phase, asked: null }, [{ do: 'floor', floor: 'agent' }])
        : null;
    case 'all-heard':
      if (phase.at === 'closing' && !event.busy) {
        return state.spokeOver && phase.reason === 'voicemail'
          ? to({ ...state, spokeOver: false }, { at: 'lingering', since: now }, [
              { do: 'floor', floor: 'none' },
            ])
          : finish(state, phase.reason);
      }
      if (phase.at !== 'agent') return null;
      // A tool still runs or an answer is on its way: the silence is the agent's, not the caller's.
      return event.busy
        ? to(state, { at: 'thinking', since: now, retried: false, prompts: phase.prompts })
        : to(
            { ...state, agentHeard: true, verdict: verdictByPatience(state, rules, now) },
            { at: 'open', since: now, prompts: phase.prompts },
            [{ do: 'floor', floor: 'none' }],
          );
    case 'response-done':
      if (event.pending || event.busy) return null;
      if (phase.at === 'closing' && (phase.asked === null || !event.spoke)) {
        return finish(state, phase.reason);
      }
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
      // After a barge-in the caller's own turn brings the next answer.
      if (phase.at === 'caller' || phase.at === 'closing') return null;
      if (phase.at === 'agent') return { state, effects: [{ do: 'speak', what: 'continue' }] };
      return to(state, { at: 'thinking', since: now, retried: false, prompts: 0 }, [
        { do: 'speak', what: 'continue' },
      ]);
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
      return onTick(state, rules, now);
  }
}
