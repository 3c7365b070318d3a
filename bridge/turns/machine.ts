// Machines on the line: who is one, waiting for the end of a greeting, leaving the message. PURE.
// Whoever may be either is answered as a person is, and listened to for what only a machine does: its beep, or a greeting that
// goes on over the answer. Being spoken to harms no machine; being waited out loses a person.
import {
  closing,
  disclosing,
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

/** Two exchanges are a dialogue, and patience is a person, whatever a detector says. */
const isPerson = ({ verdict, exchanges }: TurnState): boolean => exchanges >= 2 || verdict === 'human';

/** The first words there are, begun as early as a machine begins. */
const firstWords = (state: TurnState, sinceMs: number, rules: TurnRules): boolean =>
  state.verdict === 'pending' && state.exchanges === 0 && sinceMs <= rules.patienceMs;

/**
 * What is known of who is there after a turn that began at `sinceMs`, and whether it is answered: whose first words were as long
 * as a greeting is; but not who has then gone on for as long again before an answer was heard.
 * @param before the state while the turn went on, `after`: with its end
 */
export function hearTurn(
  before: TurnState,
  after: TurnState,
  sinceMs: number,
  rules: TurnRules,
): { state: TurnState; answered: boolean } {
  if (after.spokeUntil - sinceMs <= rules.machineSpeechMs) return { state: after, answered: true };
  // What was said before a greeting tells nothing of a dialogue.
  if (firstWords(before, sinceMs, rules))
    return { state: { ...after, verdict: 'suspected', exchanges: 0 }, answered: true };
  return {
    state: after,
    answered: before.verdict !== 'suspected' || before.answer === 'heard' || isPerson(after),
  };
}

/** The beep of a machine may come: the other side's sound is listened to for it. */
export function awaitsBeep(state: TurnState, rules: TurnRules): boolean {
  const { phase } = state;
  switch (phase.at) {
    case 'waiting-for-beep':
    case 'suspecting':
      return true;
    case 'caller':
      return firstWords(state, phase.since, rules) || (state.verdict === 'suspected' && !isPerson(state));
    case 'disclosing':
      return !phase.forMessage && phase.over !== null && firstWords(state, phase.over.since, rules);
    case 'thinking':
    case 'agent':
    case 'open':
      return state.verdict === 'suspected' && !isPerson(state);
    case 'opening':
    case 'closing':
    case 'lingering':
    case 'away':
    case 'over':
      return false;
  }
}

/** A beep: the greeting is over, whatever was made of it so far. */
export function onBeep(state: TurnState, rules: TurnRules, now: number): TurnStep | null {
  const { phase } = state;
  if (phase.at === 'waiting-for-beep') return leaveMessage(state, now);
  if (!awaitsBeep(state, rules)) return null;
  // It ends a greeting; after a word or two it is something else.
  const words = phase.at === 'disclosing' ? phase.over : phase.at === 'caller' ? phase : null;
  const short = words !== null && (words.silentSince ?? now) - words.since <= rules.machineSpeechMs;
  if (short && state.verdict === 'pending') return null;
  return onMachineDetection(state, 'machine_ready', now);
}

/** Whoever listens to the message has heard nothing of what was said before the beep. */
function leaveMessage(state: TurnState, now: number): TurnStep {
  if (state.disclosure !== 'none') return to(state, disclosing(now, true), [{ do: 'disclose' }]);
  return to(state, closing(now, 'voicemail'), [{ do: 'speak', what: 'voicemail' }]);
}

/** Who was waited out as a machine seems to be a person: answered, or heard out first if he has said more meanwhile. */
function answerPerson(person: TurnState, now: number): TurnStep {
  if (listens(person)) {
    const silentSince = person.voice.is === 'quiet' ? person.spokeUntil : null;
    return to(person, { at: 'caller', since: now, silentSince });
  }
  return to(person, thinking(now), [{ do: 'speak', what: 'continue' }]);
}

/** Nobody has told what answers: who is silent waits for an answer, and a greeting without end is spoken over. */
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
  if (long) return answerPerson({ ...state, verdict: 'human' }, now);
  return waits ? answerPerson(state, now) : null;
}

export function onMachineDetection(
  state: TurnState,
  verdict: Extract<TurnEvent, { type: 'machine-detection' }>['verdict'],
  now: number,
): TurnStep | null {
  const { phase } = state;
  if (state.plan === 'none' || phase.at === 'over' || phase.at === 'closing' || phase.at === 'away')
    return null;
  if (phase.at === 'disclosing' && phase.forMessage) return null;
  if (verdict === 'human' || verdict === 'unknown') {
    const human: TurnState = { ...state, verdict: 'human' };
    if (phase.at === 'suspecting') return answerPerson(human, now);
    // A person has come on the line during the greeting: an ordinary talk from here.
    if (phase.at === 'waiting-for-beep' && verdict === 'human') {
      return to(human, open(now), [{ do: 'floor', floor: 'none' }]);
    }
    return known(human);
  }
  if (isPerson(state)) return null;
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
