// PURE. Short words over the agent's voice: too short to be told from "mhm" by their length, so that what was said decides. The
// model is given one by itself and asked for no answer; when its words come while the same answer is still spoken, a word that
// stops it is an interruption, which is answered. What words mean is word-meaning.ts.
import { toCaller } from './caller-turn.ts';
import { type Burst, firstOnset } from './hold.ts';
import {
  holdOf,
  known,
  spoken,
  type TurnEvent,
  type TurnRules,
  type TurnState,
  type TurnStep,
  thinking,
  to,
} from './turns.ts';

/** What is shorter is a click, a door, a breath. */
const LEAST_WORD_MS = 90;
/** So many a minute: who says more is listened to by length alone. A dog that barks costs no more. */
const WORDS_A_MINUTE = 12;
const MINUTE_MS = 60_000;
/** What is waited for the first words of a call, the most for any, and how many of them tell what is usual. */
const FIRST_WAIT_MS = 800;
const LONGEST_WAIT_MS = 1_000;
const REMEMBERED = 8;

/** A word that the model was given by itself, and when. */
export interface GivenWord {
  onsetMs: number;
  endMs: number;
  givenMs: number;
}

/** Which words of a call are worth their price. */
export class WordAllowance {
  #givenMs: number[] = [];

  /** Whether this one may be given; if so, it counts. */
  take({ onsetMs, endMs }: { onsetMs: number; endMs: number }, now: number): boolean {
    if (endMs - onsetMs < LEAST_WORD_MS) return false;
    this.#givenMs = this.#givenMs.filter((atMs) => now - atMs < MINUTE_MS);
    if (this.#givenMs.length >= WORDS_A_MINUTE) return false;
    this.#givenMs.push(now);
    return true;
  }
}

/** How long the words of a call take to come: a paused voice waits so long for the next ones. */
export class WordTimes {
  #tookMs: readonly number[] = [];

  /** From the request to the words. */
  took(ms: number): void {
    this.#tookMs = [...this.#tookMs, ms].slice(-REMEMBERED);
  }

  /** Within so long three of four have come; LONGEST_WAIT_MS at most: nobody waits for a transcription that hangs. */
  usualMs(): number {
    const sorted = this.#tookMs.toSorted((a, b) => a - b);
    return Math.min(LONGEST_WAIT_MS, sorted[Math.floor(sorted.length * 0.75)] ?? FIRST_WAIT_MS);
  }
}

/** The burst that began at `onsetMs` was given to the model: its turn, if it becomes one, begins after it. */
export function onWordGiven(
  state: TurnState,
  { onsetMs, untilMs }: Extract<TurnEvent, { type: 'word-given' }>,
): TurnStep | null {
  const { phase, burst, voice } = state;
  const hold = holdOf(state);
  if (phase.at !== 'agent' || hold?.word?.onsetMs !== onsetMs) return null;
  // While it may go on there is no burst yet.
  const over = voice.is === 'quiet' && burst?.onsetMs === onsetMs;
  return to(over ? { ...state, burst: { ...burst, given: true } } : state, {
    ...phase,
    hold: { ...hold, word: { onsetMs, is: 'given', untilMs } },
  });
}

/** The words of a burst have come: an assent, or what comes too late or where nothing interrupts, changes nothing. */
export function onWordKnown(
  state: TurnState,
  word: Extract<TurnEvent, { type: 'word-known' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  if (word.means !== 'stop') return letGo(state, word);
  if (now - word.givenMs > rules.wordWithinMs) return null;
  const { phase, burst, voice } = state;
  // The agent has finished meanwhile, and nobody has answered it.
  if (phase.at === 'open' && state.spokeUntil < word.endMs) return answerWord(state, word, now);
  if (phase.at !== 'agent' || word.givenMs < phase.since) return null;
  // He goes on: what follows belongs to his turn, and the model has what went before.
  if (voice.is === 'speaking' || voice.is === 'stopping')
    return toCaller(state, firstOnset(voice, burst, rules), true);
  // Where it let the agent go on before, it was taken for an assent.
  return to({ ...answering(state, word.endMs), assentMs: 0 }, thinking(now), [
    { do: 'interrupt', onsetMs: word.onsetMs },
    { do: 'floor', floor: 'caller' },
    { do: 'answer', speechEndMs: word.endMs, brokeIn: true },
  ]);
}

/** An assent: a voice that waits for it goes on. Nothing said: at the end of what the agent says nothing is to be answered, either. */
function letGo(
  state: TurnState,
  { means, onsetMs }: Extract<TurnEvent, { type: 'word-known' }>,
): TurnStep | null {
  const { phase, burst } = state;
  const hold = holdOf(state);
  const waits = hold?.word?.is === 'given' && hold.word.onsetMs === onsetMs;
  const unsaid = means === 'nothing' && burst?.onsetMs === onsetMs;
  if (!waits && !unsaid) return null;
  const next: TurnState = unsaid ? { ...state, burst: null } : state;
  if (phase.at !== 'agent' || hold === null || !waits) return known(next);
  return to(next, { ...phase, hold: { ...hold, word: { onsetMs, is: 'known' } } });
}

/** A word that the model was given already, at the very end of what the agent said, answers it. */
export function answerWord(state: TurnState, { endMs }: Pick<Burst, 'endMs'>, now: number): TurnStep {
  return to(answering(state, endMs), thinking(now), [
    { do: 'floor', floor: 'caller' },
    { do: 'answer', speechEndMs: endMs, brokeIn: false },
  ]);
}

function answering(state: TurnState, endMs: number): TurnState {
  return {
    ...spoken(state),
    burst: null,
    owes: false,
    answer: 'due',
    spokeUntil: endMs,
    moments: 0,
    exchanges: state.exchanges + (state.answer === 'heard' ? 1 : 0),
  };
}
