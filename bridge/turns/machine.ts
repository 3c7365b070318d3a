// Machines on the line: who is one, waiting for the end of a greeting, leaving the message. PURE.
import {
  closing,
  known,
  listens,
  open,
  type Phase,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';

/** Who stays silent until the agent has finished is a person: a machine begins its greeting by itself. */
export function verdictByPatience(state: TurnState, rules: TurnRules, now: number): TurnState['verdict'] {
  return state.verdict === 'silent' && now >= rules.patienceMs ? 'human' : state.verdict;
}

export function leaveMessage(state: TurnState, now: number): TurnStep {
  return to(state, closing(now, 'voicemail'), [{ do: 'speak', what: 'voicemail' }]);
}

/** Who was taken for a machine is a person: answered, or heard out first if he has said more meanwhile. */
function answerPerson(human: TurnState, now: number): TurnStep {
  if (listens(human)) {
    const silentSince = human.voice.is === 'quiet' ? human.spokeUntil : null;
    return to(human, { at: 'caller', since: now, silentSince });
  }
  return to(human, thinking(now), [{ do: 'speak', what: 'continue' }]);
}

/** Nobody has told what answers: a person who is silent waits for an answer, and a greeting without end is spoken over. */
export function onTickMachine(
  state: TurnState,
  phase: Extract<Phase, { at: 'suspecting' | 'waiting-for-beep' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const long = now - phase.since >= rules.greetingLimitMs;
  if (phase.at === 'waiting-for-beep') return long ? leaveMessage(state, now) : null;
  const quietMs = now - Math.max(phase.since, state.spokeUntil);
  const waits = state.voice.is === 'quiet' && quietMs >= rules.suspectQuietMs;
  return long || waits ? answerPerson({ ...state, verdict: 'human' }, now) : null;
}

export function onMachineDetection(
  state: TurnState,
  verdict: Extract<TurnEvent, { type: 'machine-detection' }>['verdict'],
  now: number,
): TurnStep | null {
  const { phase } = state;
  if (state.plan === 'none' || phase.at === 'over' || phase.at === 'closing' || phase.at === 'away')
    return null;
  if (verdict === 'human' || verdict === 'unknown') {
    const human: TurnState = { ...state, verdict: 'human' };
    if (phase.at === 'suspecting') return answerPerson(human, now);
    // A person has come on the line during the greeting: an ordinary talk from here.
    if (phase.at === 'waiting-for-beep' && verdict === 'human') {
      return to(human, open(now), [{ do: 'floor', floor: 'none' }]);
    }
    return known(human);
  }
  // Two exchanges are a dialogue, and patience is a person, whatever the detector says.
  if (state.exchanges >= 2 || state.verdict === 'human') return null;
  const machine: TurnState = { ...state, verdict: 'machine' };
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
