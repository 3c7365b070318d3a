// PURE. Splits a text into what the voice looks up: phrases at sentence ends, words, and words for figures.

const UNITS = (
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen ' +
  'eighteen nineteen'
).split(' ');
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const SIGNS: Record<string, string> = {
  '%': 'percent',
  $: 'dollars',
  '&': 'and',
  '@': 'at',
  '+': 'plus',
  '#': 'pound',
  '*': 'star',
};

/** One written word of a text and the spoken words it stands for; `pauseMs` follows it. */
export interface Wording {
  written: string;
  spoken: string[];
  pauseMs: number;
}

function figures(digits: string): string[] {
  if (digits.length > 2 || (digits.length === 2 && digits.startsWith('0')))
    return [...digits].map((digit) => UNITS[Number(digit)]!);
  const value = Number(digits);
  if (value < 20) return [UNITS[value]!];
  const ten = TENS[Math.floor(value / 10)]!;
  return value % 10 === 0 ? [ten] : [ten, UNITS[value % 10]!];
}

function spokenOf(written: string): string[] {
  const spoken: string[] = [];
  const plain = written.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'").toLowerCase();
  for (const [token] of plain.matchAll(/[a-z]+(?:'[a-z]+)?|\d+|[%$&@+#*]/g)) {
    if (/^\d/.test(token)) spoken.push(...figures(token));
    else if (/^[a-z]/.test(token)) spoken.push(token);
    else spoken.push(SIGNS[token]!);
  }
  return spoken;
}

/** The words of a text in order, with the pause that its punctuation asks for. */
export function wordings(text: string): Wording[] {
  return text
    .split(/\s+/)
    .filter((written) => written !== '')
    .map((written) => ({
      written,
      spoken: spokenOf(written),
      pauseMs: /[.!?]["')]*$/.test(written) ? 280 : /[,;:]["')]*$/.test(written) ? 140 : 0,
    }));
}

/** The key of a phrase: its spoken words, joined. Texts that sound the same share it. */
export const phraseKey = (text: string): string =>
  wordings(text)
    .flatMap((word) => word.spoken)
    .join(' ');

/** The recordable phrases of a rule's text: cut at sentence ends, at colons and at {{places}}. */
export function phrases(say: string): string[] {
  return say
    .split(/\{\{[^}]*\}\}[.!?,;:]*|(?<=[.!?:])\s+/)
    .map((phrase) => phrase.trim())
    .filter((phrase) => phraseKey(phrase) !== '');
}
