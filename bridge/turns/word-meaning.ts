// PURE. What a few words mean that somebody says while the other one speaks: go on, or stop. By lists of phrases, each in its
// language (control/agents/texts/short-words.ts); words are compared without case, accents, punctuation and drawn-out letters.

import type { ShortWords } from '../protocol/agent-texts.ts';

export type WordsMean = 'stop' | 'go-on' | 'nothing';

/** However they are written, the words around them are one; before anything else, since some of them are taken apart. */
const APOSTROPHES = /['’‘ʼ′＇`´]/g;
/** What a transcription puts in brackets are sounds. */
const SOUNDS = /\[[^\]]*\]|\([^)]*\)|【[^】]*】|\*[^*]*\*|<[^>]*>/g;
/** Accents of Latin letters; the signs of Arabic and the nukta of Devanagari, which writers leave out; what nobody sees. */
const UNWRITTEN = /[\u0300-\u036f]|[\u064b-\u065f]|\u0670|\u0640|\u093c|\p{Cf}/gu;
/** Letters that no normalization takes apart or together. */
const LETTERS: Readonly<Record<string, string>> = { ı: 'i', ł: 'l', ß: 'ss', '\u0901': '\u0902' };
/** In scripts without blanks between words each letter stands for itself. */
const WORDS =
  /[[\p{L}\p{M}\p{N}]&&[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]]|[[\p{L}\p{M}\p{N}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}]]+/gv;

/** Text -> its words as they are compared. */
export function wordsOf(text: string): string[] {
  const plain = text
    .replace(APOSTROPHES, '')
    .normalize('NFKD')
    .replace(SOUNDS, ' ')
    .toLowerCase()
    .replace(UNWRITTEN, '')
    .normalize('NFC')
    .replace(/ı|ł|ß|\u0901/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/(.)\1{2,}/gu, '$1');
  return plain.match(WORDS) ?? [];
}

/** Phrases by their words, to find which one a text goes on with. */
class Phrases {
  readonly #all = new Set<string>();
  #longest = 0;

  constructor(phrases: readonly string[]) {
    for (const phrase of phrases) {
      const words = wordsOf(phrase);
      if (words.length === 0) continue;
      this.#all.add(words.join(' '));
      this.#longest = Math.max(this.#longest, words.length);
    }
  }

  /** How many words the longest phrase has that stands at `at`; 0: none does. */
  at(words: readonly string[], at: number): number {
    for (let count = Math.min(this.#longest, words.length - at); count > 0; count--)
      if (this.#all.has(words.slice(at, at + count).join(' '))) return count;
    return 0;
  }
}

export class WordMeaning {
  readonly #assents: Phrases | null;
  readonly #stops: Phrases;
  readonly #anyStops: boolean;

  /** @param anyStops what is in neither list stops as well, where the language has any */
  constructor({ assents, stops }: ShortWords, { anyStops }: { anyStops: boolean }) {
    this.#assents = assents === null ? null : new Phrases(assents);
    this.#stops = new Phrases(stops);
    this.#anyStops = anyStops && assents !== null;
  }

  /**
   * What `text` means that was said over the agent's voice. The longest phrase counts, and any that stops: "no problem, but
   * wait". Words that the agent itself says just then (`spoken`) are its echo, or said after it.
   */
  of(text: string, spoken = ''): WordsMean {
    const words = wordsOf(text);
    if (words.length === 0) return 'nothing';
    let assents = true;
    for (let at = 0; at < words.length; ) {
      const stop = this.#stops.at(words, at);
      const assent = this.#assents?.at(words, at) ?? 0;
      if (stop > 0 && stop >= assent) return 'stop';
      if (assent === 0) assents = false;
      at += Math.max(1, assent);
    }
    if (assents || !this.#anyStops) return 'go-on';
    return within(words, wordsOf(spoken)) ? 'go-on' : 'stop';
  }
}

/** Whether the words stand in `all`, one after the other. */
function within(words: readonly string[], all: readonly string[]): boolean {
  return ` ${all.join(' ')} `.includes(` ${words.join(' ')} `);
}
