// Digits that are not to be stored: numbers of payment cards, IBANs, US social security numbers, as they are written and as they are
// said, one digit a word. What a card's or an IBAN's number is, a library says; only the last four stay. PURE.
import validator from 'validator';

export const MASK_KINDS = ['card', 'iban', 'ssn'] as const;
export type MaskKind = (typeof MASK_KINDS)[number];

/** Words for digits: English, Spanish, German, French. A word that is another digit elsewhere is in none. */
const WORDS: readonly string[] = [
  'zero oh null cero zéro',
  'one uno eins un',
  'two dos zwei zwo deux',
  'three tres drei trois',
  'four cuatro vier quatre',
  'five cinco fünf cinq',
  'six seis sechs',
  'seven siete sieben sept',
  'eight ocho acht huit',
  'nine nueve neun neuf',
];
const DIGIT_OF = new Map(
  WORDS.flatMap((words, digit) => words.split(' ').map((word) => [word, String(digit)])),
);
const TIMES = new Map([
  ['double', 2],
  ['doble', 2],
  ['doppel', 2],
  ['triple', 3],
]);
/** Said between digits, and no word of anything else. */
const FILLERS: ReadonlySet<string> = new Set([
  'uh',
  'um',
  'äh',
  'ähm',
  'eh',
  'euh',
  'dash',
  'hyphen',
  'space',
  'and',
  'then',
  'y',
  'und',
  'et',
]);
/** Between two digits of one number. */
const BETWEEN = /^[\s,.\-–—·/]{0,4}$/;

const CARD_DIGITS = { least: 12, most: 19 } as const;
const SSN_DIGITS = 9;

/** A stretch of the text, and what stands in its place. */
interface Span {
  from: number;
  to: number;
  shown: string;
}

/** Digits in a row, each with where it stands; `written`: they stand there as digits. */
interface Digit {
  digit: string;
  from: number;
  to: number;
}

const dots = (digits: string) => `•••• ${digits.slice(-4)}`;

/** Rows of digits, written or said. One after a plus is a telephone number. */
function rowsOf(text: string): Digit[][] {
  const rows: Digit[][] = [];
  let row: Digit[] = [];
  let end = 0;
  let times = 1;
  const close = () => {
    if (row.length > 0) rows.push(row);
    row = [];
    times = 1;
  };
  for (const found of text.matchAll(/\p{L}+|\d+/gu)) {
    const [token] = found;
    const word = token.toLowerCase();
    const from = found.index;
    if (row.length > 0 && !BETWEEN.test(text.slice(end, from))) close();
    const said = DIGIT_OF.get(word);
    if (/^\d/.test(token)) {
      if (text[from - 1] === '+') close();
      if (row.length === 0 && text[from - 1] === '+') row.push({ digit: '+', from, to: from });
      for (const [at, digit] of [...token].entries()) row.push({ digit, from: from + at, to: from + at + 1 });
    } else if (said !== undefined) {
      for (let time = 0; time < times; time++) row.push({ digit: said, from, to: from + token.length });
    } else if (TIMES.has(word)) {
      times = TIMES.get(word) ?? 1;
      end = from + token.length;
      continue;
    } else if (row.length === 0 || !FILLERS.has(word)) {
      close();
      continue;
    }
    times = 1;
    end = from + token.length;
  }
  close();
  return rows.filter(([first]) => first?.digit !== '+');
}

/** Area, group and serial that can be of anybody. */
function isSsn(digits: string): boolean {
  return /^(?!000|666|9)\d{3}(?!00)\d{2}(?!0000)\d{4}$/.test(digits);
}

function spanOf(digits: readonly Digit[]): Span {
  const text = digits.map(({ digit }) => digit).join('');
  return { from: digits[0]?.from ?? 0, to: digits.at(-1)?.to ?? 0, shown: dots(text) };
}

/** The cards in a row of digits, the longest first at each place. */
function cardsIn(row: readonly Digit[]): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at + CARD_DIGITS.least <= row.length; at++) {
    for (let length = Math.min(CARD_DIGITS.most, row.length - at); length >= CARD_DIGITS.least; length--) {
      const digits = row.slice(at, at + length);
      if (!validator.isCreditCard(digits.map(({ digit }) => digit).join(''))) continue;
      spans.push(spanOf(digits));
      at += length - 1;
      break;
    }
  }
  return spans;
}

function ibansIn(text: string): Span[] {
  const spans: Span[] = [];
  for (const found of text.matchAll(/(?<![\p{L}\d])[A-Z]{2}[\s-]?\d{2}(?:[\s-]?[A-Z\d]){11,30}/giu)) {
    // What follows may be words: as much as is one.
    for (let { length } = found[0]; length >= 15; length--) {
      const given = found[0].slice(0, length);
      const plain = given.replaceAll(/[\s-]/g, '').toUpperCase();
      if (/[\s-]$/.test(given) || !validator.isIBAN(plain)) continue;
      spans.push({ from: found.index, to: found.index + length, shown: dots(plain) });
      break;
    }
  }
  return spans;
}

/** The text as long as it is, with letters in the place of stretches that are known already. */
const without = (text: string, spans: readonly Span[]) =>
  spans.reduce((left, { from, to }) => left.slice(0, from) + 'x'.repeat(to - from) + left.slice(to), text);

/** In the order of the text, none over another. */
function spansIn(text: string, kinds: readonly MaskKind[]): Span[] {
  // Most texts hold nothing of the kind.
  const spans: Span[] = kinds.includes('iban') ? ibansIn(text) : [];
  if (kinds.includes('card') || kinds.includes('ssn')) {
    for (const row of rowsOf(without(text, spans))) {
      const cards = kinds.includes('card') ? cardsIn(row) : [];
      spans.push(...cards);
      const isNine = row.length === SSN_DIGITS && isSsn(row.map(({ digit }) => digit).join(''));
      if (kinds.includes('ssn') && cards.length === 0 && isNine) spans.push(spanOf(row));
    }
  }
  spans.sort((a, b) => a.from - b.from || b.to - a.to);
  return spans.filter(({ from }, at) => spans.slice(0, at).every((before) => before.to <= from));
}

function withSpans(text: string, spans: readonly Span[]): string {
  let masked = '';
  let end = 0;
  for (const { from, to, shown } of spans) {
    masked += text.slice(end, from) + shown;
    end = to;
  }
  return masked + text.slice(end);
}

/** The text without those numbers. */
export function maskText(text: string, kinds: readonly MaskKind[]): string {
  return kinds.length === 0 ? text : withSpans(text, spansIn(text, kinds));
}

/** What was said and what of it was heard: of a number that was cut short, what was heard of it is no number any more. */
export function maskHeard(
  said: { text: string; heard_text: string },
  kinds: readonly MaskKind[],
): { text: string; heard_text: string } {
  if (kinds.length === 0) return said;
  const { text, heard_text: heard } = said;
  const spans = spansIn(text, kinds);
  if (!text.startsWith(heard)) return { text: withSpans(text, spans), heard_text: maskText(heard, kinds) };
  const begun = spans
    .filter(({ from }) => from < heard.length)
    .map((span) => (span.to <= heard.length ? span : { ...span, to: heard.length, shown: '••••' }));
  return { text: withSpans(text, spans), heard_text: withSpans(heard, begun) };
}

/** A value of JSON with every text in it masked; a number that is one becomes a text. */
export function maskValue(value: unknown, kinds: readonly MaskKind[]): unknown {
  if (kinds.length === 0) return value;
  if (typeof value === 'string') return maskText(value, kinds);
  if (typeof value === 'number') {
    const text = String(value);
    const masked = maskText(text, kinds);
    return masked === text ? value : masked;
  }
  if (Array.isArray(value)) return value.map((one) => maskValue(one, kinds));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, maskValue(one, kinds)]));
}
