// PURE. What a model's transcription makes of the caller's sound: the words that lie in it, and now and then other ones.
import type { Random } from '../random.ts';
import { pick } from './sounds.ts';

/** What was said, and when; '' for sounds that are no words. */
export interface Words {
  fromMs: number;
  toMs: number;
  text: string;
}

/** Said where nobody wrote down what. */
export const UNWRITTEN = 'something about the weather this morning';

/** What is written down of a stretch: each word of which the half at least lies in it. Null: nothing is. */
export function wordsIn(said: readonly Words[], fromMs: number, toMs: number): string | null {
  const heard = said.flatMap((one) => {
    if (one.text === '') return [];
    const words = one.text.split(' ');
    const eachMs = (one.toMs - one.fromMs) / words.length;
    return words.filter((_, i) => {
      const startMs = one.fromMs + i * eachMs;
      return Math.min(toMs, startMs + eachMs) - Math.max(fromMs, startMs) >= eachMs / 2;
    });
  });
  return heard.length === 0 ? null : heard.join(' ');
}

/** What transcriptions write for a second of sound that they cannot make out: thanks, or a common word. */
export const INSTEAD: Readonly<Record<string, readonly [string, string]>> = {
  en: ['Thank you.', 'the'],
  es: ['Gracias.', 'el'],
  fr: ['Merci.', 'le'],
  it: ['Grazie.', 'il'],
  ru: ['Спасибо.', 'это'],
};

/** Other words for a few short ones; of more, enough is understood. */
export function misheard(words: string, language: string | undefined, random: Random): string {
  const instead = INSTEAD[language ?? 'en'] ?? INSTEAD.en!;
  return words.split(' ').length > 2 ? words : pick(instead, random);
}
