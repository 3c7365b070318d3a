// PURE. Short words over the agent's voice: too short to be told from "mhm" by their length, so that what was said decides. The
// model is given one by itself and asked for no answer; when its words come while the same answer is still spoken, a word that
// stops it is an interruption, which is answered. What words mean is word-meaning.ts.
import { toCaller } from './caller-turn.ts';
import { type Burst, firstOnset } from './hold.ts';
import {
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

/** The burst that began at `onsetMs` was given to the model: its turn, if it becomes one, begins after it. */
export function onWordGiven(state: TurnState, onsetMs: number): TurnStep | null {
  const { burst } = state;
  return burst?.onsetMs === onsetMs ? known({ ...state, burst: { ...burst, given: true } }) : null;
}

/** The words of a burst have come: an assent, or what comes too late or where nothing interrupts, changes nothing. */
export function onWordKnown(
  state: TurnState,
  word: Extract<TurnEvent, { type: 'word-known' }>,
  rules: TurnRules,
  now: number,
): TurnStep | null {
  const { phase, burst, voice } = state;
  // Nothing was said: at the end of what the agent says there is nothing to answer either.
  if (word.means === 'nothing')
    return burst?.onsetMs === word.onsetMs ? known({ ...state, burst: null }) : null;
  if (word.means === 'go-on' || now - word.givenMs > rules.wordWithinMs) return null;
  // The agent has finished meanwhile, and nobody has answered it.
  if (phase.at === 'open' && state.spokeUntil < word.endMs) return answerWord(state, word, now);
  if (phase.at !== 'agent' || word.givenMs < phase.since) return null;
  // He goes on: what follows belongs to his turn, and the model has what went before.
  if (voice.is === 'speaking' || voice.is === 'stopping')
    return toCaller(state, firstOnset(voice, burst, rules), true);
  return to(answering(state, word.endMs), thinking(now), [
    { do: 'interrupt', onsetMs: word.onsetMs },
    { do: 'floor', floor: 'caller' },
    { do: 'answer', speechEndMs: word.endMs, brokeIn: true },
  ]);
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
