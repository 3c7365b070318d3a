// How figures, times, money and numbers are written on the screen.
import t from 'tap';
import * as format from '../../../../control/dashboard/app/format.ts';

t.test('a stretch of time', async (t) => {
  const cases: [number | null | undefined, string][] = [
    [null, '–'],
    [undefined, '–'],
    [Number.NaN, '–'],
    [-5, '0 s'],
    [0, '0 s'],
    [840, '0.8 s'],
    [9_960, '10 s'],
    [12_400, '12 s'],
    [59_600, '1 min'],
    [185_000, '3 min 5 s'],
    [3_600_000, '1 h'],
    [3_725_000, '1 h 2 min'],
  ];
  for (const [ms, text] of cases) t.equal(format.duration(ms), text, String(ms));
});

t.test('a latency and a position', async (t) => {
  t.equal(format.latency(639.6), '640 ms');
  t.equal(format.latency(999.6), '1.00 s');
  t.equal(format.latency(1240), '1.24 s');
  t.equal(format.latency(null), '–');
  t.equal(format.clock(7_900), '0:07');
  t.equal(format.clock(750_000), '12:30');
  t.equal(format.clock(3_723_000), '1:02:03');
  t.equal(format.clock(-1), '0:00');
});

t.test('money is in milli-cents; amounts of one kind have as many places', async (t) => {
  const cases: [number | null, string][] = [
    [null, '–'],
    [0, '$0.00'],
    [1, '<$0.0001'],
    [-1, '−<$0.0001'],
    [10, '$0.0001'],
    [123, '$0.0012'],
    [1_234, '$0.0123'],
    [2_000, '$0.0200'],
    [55_500, '$0.5550'],
    [99_994, '$0.9999'],
    [99_996, '$1.00'],
    [100_000, '$1.00'],
    [-250_000, '−$2.50'],
    [123_456_789, '$1,234.57'],
  ];
  for (const [milliCents, text] of cases) t.equal(format.money(milliCents), text, String(milliCents));
  for (const [milliCents, text] of [
    [0, '$0.00'],
    [20_000, '$0.20'],
    [2_500, '$0.025'],
    [250_000, '$2.50'],
  ] as const) {
    t.equal(format.moneyTick(milliCents), text, 'at an axis');
  }
});

t.test('shares, counts, sizes, codes', async (t) => {
  t.equal(format.percent(0.5), '50 %');
  t.equal(format.percent(0.975), '97.5 %');
  t.equal(format.percent(1), '100 %');
  t.equal(format.percent(0), '0 %');
  t.equal(format.percent(null), '–');
  t.equal(format.counted(1, 'call'), '1 call');
  t.equal(format.counted(1200, 'call'), '1,200 calls');
  t.equal(format.usedOf('minutes', 1), '1 minute');
  t.equal(format.usedOf('machine_detections', 1), '1 machine detection');
  t.equal(format.usedOf('seconds', 1.04), '1 second');
  t.equal(format.usedOf('input_text_tokens', 1200), '1,200 input text tokens');
  t.equal(format.bytes(999), '999 B');
  t.equal(format.bytes(1_500_000), '1.5 MB');
  t.equal(format.bytes(53_000_000_000), '53 GB');
  t.equal(format.words('no_answer'), 'No answer');
});

t.test('a sentence', async (t) => {
  t.equal(format.sentence('the server closed'), 'The server closed.');
  t.equal(format.sentence(' Why? '), 'Why?');
  t.equal(format.sentence(''), '');
});

t.test('how long ago', async (t) => {
  const now = Date.parse('2026-03-03T12:00:00Z');
  const cases: [string, string][] = [
    ['2026-03-03T11:59:58Z', 'just now'],
    ['2026-03-03T11:59:20Z', '40 s ago'],
    ['2026-03-03T11:56:00Z', '4 min ago'],
    ['2026-03-03T09:30:00Z', '2 h ago'],
    ['2026-03-02T11:00:00Z', '1 day ago'],
    ['2026-02-27T11:00:00Z', '4 days ago'],
    ['2026-03-03T14:00:00Z', 'in 2 h'],
    ['2026-02-01T12:00:00Z', '1 Feb'],
    ['2025-12-24T12:00:00Z', '24 Dec 2025'],
    ['not a time', '–'],
  ];
  for (const [iso, text] of cases) t.equal(format.relativeTime(iso, now), text, iso);
});

t.test('phone numbers in groups: every digit stays, nothing is added', async (t) => {
  t.equal(format.phone('+14155550123'), '+1 415 555 0123');
  t.equal(format.phone('+4930123456'), '+49 301 234 56');
  t.equal(format.phone('anonymous'), 'anonymous');
  t.equal(format.phone('+1415'), '+1415');
  for (const number of [
    '+14155550123',
    '+4930123456',
    '+442079460018',
    '+358401234567',
    '+33123456789',
    '+5511987654321',
  ]) {
    t.equal(format.phone(number).replaceAll(' ', ''), number, number);
    t.match(format.phone(number), /^\+\d{1,3}( \d{2,4})+$/, number);
  }
});
