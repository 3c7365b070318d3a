// Short words over the agent's voice on their way: each given to the model by itself, and what it meant told to the floor when
// its words have come. Where a model takes no turns or writes no words down, none is given.
import type { ModelCapabilities } from '../models/model.ts';
import type { ShortWords } from '../protocol/agent-texts.ts';
import { type GivenWord, WordAllowance, WordTimes } from '../turns/short-words.ts';
import type { TurnEvent } from '../turns/turns.ts';
import { WordMeaning } from '../turns/word-meaning.ts';
import type { CallerFeed } from './caller-feed.ts';
import type { TalkRecord } from './talk-record.ts';

/** Of a model that writes none down any more so many are waited for: two minutes' worth. */
const MOST_UNWRITTEN = 24;

export interface CallerWordsPorts {
  capabilities: ModelCapabilities;
  words: ShortWords;
  /** Any of them stops the agent that is no assent. */
  anyStops: boolean;
  feed: Pick<CallerFeed, 'giveWord'>;
  record: Pick<TalkRecord, 'agentSays' | 'callerText' | 'callerWord' | 'wordKnown'>;
  now(): number;
  tell(event: Extract<TurnEvent, { type: 'word-given' | 'word-known' }>): void;
  /** The agent has the floor. */
  agentSpeaks(): boolean;
}

export class CallerWords {
  readonly #o: CallerWordsPorts;
  readonly #able: boolean;
  readonly #allowance = new WordAllowance();
  readonly #times = new WordTimes();
  /** By the number of their turn. */
  readonly #given = new Map<number, GivenWord>();
  #meaning: WordMeaning | null = null;

  constructor(o: CallerWordsPorts) {
    this.#o = o;
    const { turns, commits, answersByItself, transcribes } = o.capabilities;
    const listed = o.words.assents !== null || o.words.stops.length > 0;
    this.#able = turns === 'bridge' && commits && !answersByItself && transcribes && listed;
  }

  /** A burst over the agent's voice has ended, as it seems. */
  give(burst: { onsetMs: number; endMs: number }): void {
    const { feed, record, now, tell } = this.#o;
    const givenMs = now();
    if (!this.#able || !this.#allowance.take(burst, givenMs)) return;
    const turn = feed.giveWord(burst.onsetMs);
    if (turn === null) return;
    this.#given.set(turn, { ...burst, givenMs });
    record.callerWord(turn, burst.onsetMs, burst.endMs);
    tell({ type: 'word-given', onsetMs: burst.onsetMs, untilMs: givenMs + this.#times.usualMs() });
    const [oldest = turn] = this.#given.keys();
    if (this.#given.size > MOST_UNWRITTEN) record.callerText(oldest, this.known(oldest, null));
  }

  /** The words of a turn have come; null: nobody knows which. Answers what is to stand in the transcript. */
  known(turn: number, text: string | null): string | null {
    const word = this.#given.get(turn);
    if (word === undefined) return text;
    this.#given.delete(turn);
    const { record, words, now, tell, agentSpeaks } = this.#o;
    if (text !== null) this.#times.took(now() - word.givenMs);
    this.#meaning ??= new WordMeaning(words, this.#o);
    const means = text === null ? 'nothing' : this.#meaning.of(text, record.agentSays());
    const spoke = agentSpeaks();
    // Of what could not be made out it is not known that it was nothing: it may still answer what the agent has asked.
    if (text !== null) tell({ type: 'word-known', means, ...word });
    const became = means !== 'stop' ? means : spoke && !agentSpeaks() ? 'stopped' : 'late';
    record.wordKnown(became);
    return means === 'nothing' ? null : text;
  }
}
