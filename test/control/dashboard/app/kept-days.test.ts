// The days of what is kept as a form has them, and a receipt in words.
import t from 'tap';
import {
  countsInWords,
  type Days,
  daysText,
  readDays,
  shortened,
} from '../../../../control/dashboard/app/pages/kept/days.ts';

const NEVER: Days = {
  recordings_days: null,
  transcripts_days: null,
  events_days: null,
  deliveries_days: null,
  calls_days: null,
};

t.test('a whole number of days, or nothing', (t) => {
  for (const [text, days] of [
    ['', null],
    ['  ', null],
    ['1', 1],
    [' 30 ', 30],
    ['36500', 36_500],
    ['36501', undefined],
    ['0', undefined],
    ['-1', undefined],
    ['1.5', undefined],
    ['a week', undefined],
  ] as const)
    t.equal(readDays(text), days, JSON.stringify(text));
  t.strictSame([null, 1, 30].map(daysText), ['for ever', '1 day', '30 days']);
  t.end();
});

t.test('what would go is what has fewer days', (t) => {
  const before = { ...NEVER, recordings_days: 30, events_days: 30, calls_days: 10 };
  const after = { ...NEVER, recordings_days: 7, transcripts_days: 90, events_days: 30, calls_days: null };
  t.strictSame(shortened(before, after), ['recordings', 'transcripts']);
  t.strictSame(shortened(after, before), ['calls']);
  t.strictSame(shortened(before, before), []);
  t.end();
});

t.test('a receipt counts in words, and leaves out what is nothing', (t) => {
  t.strictSame(countsInWords({ calls: 1, files: 2, file_bytes: 900, turns: 0, attempts: 1 }), [
    '1 call',
    '2 recordings',
    '1 answer of a receiver',
  ]);
  t.strictSame(countsInWords({}), []);
  t.end();
});
