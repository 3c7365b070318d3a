// What forms say and take beside their fields: prices, facts of a call, webhooks in words.
import t from 'tap';
import { faultOfPairs, objectOf, pairsOf } from '../../../../control/dashboard/app/forms/context-pairs.ts';
import { dollarsOf, monthlyPrice, readDollars } from '../../../../control/dashboard/app/forms/dollars.ts';
import {
  attemptError,
  disabledReason,
  eventMeaning,
  verifySnippet,
} from '../../../../control/dashboard/app/forms/webhook-words.ts';
import { EVENT_TYPES } from '../../../../storage/records.ts';

t.test('dollars, typed -> milli-cents', async (t) => {
  const cases: [string, number | null][] = [
    ['50', 5_000_000],
    ['$50', 5_000_000],
    ['1,250.50', 125_050_000],
    ['0.00001', 1],
    ['0.1', 10_000],
    ['1.005', 100_500],
    ['-$2.50', -250_000],
    ['$-2.50', -250_000],
    ['−3', -300_000],
    ['0', 0],
    ['-0', 0],
    ['', null],
    ['1.000001', null],
    ['1,25', null],
    ['12,50', null],
    ['--1', null],
    ['1e3', null],
    ['ten', null],
    ['99999999999999999999', null],
  ];
  for (const [typed, milliCents] of cases) t.equal(readDollars(typed), milliCents, JSON.stringify(typed));
});

t.test('milli-cents as dollars read back exactly', async (t) => {
  for (const milliCents of [0, 1, 999, 100_000, 2_500_000, 123_456_789, -250_000, 1_000_000_000_000]) {
    t.equal(readDollars(dollarsOf(milliCents)), milliCents, dollarsOf(milliCents));
  }
  t.equal(dollarsOf(2_500_000), '25.00');
  t.equal(dollarsOf(100_500), '1.005');
  t.equal(dollarsOf(1), '0.00001');
});

t.test('the price of a number', async (t) => {
  t.equal(monthlyPrice(115), '$1.15');
  t.equal(monthlyPrice(0), '$0.00');
  t.equal(monthlyPrice(123_456), '$1,234.56');
});

t.test('pairs <-> object', async (t) => {
  const pairs = [
    { key: 'order', value: '0042' },
    { key: ' name ', value: 'Ada' },
    { key: '', value: '' },
  ];
  t.same(objectOf(pairs), { order: '0042', name: 'Ada' });
  t.same(pairsOf({ order: '0042' }), { ok: true, pairs: [{ key: 'order', value: '0042' }] });
  t.match(pairsOf({ n: 1 }), { ok: false, message: /“n”/ });
  t.match(pairsOf([]), { ok: false });
  t.equal(faultOfPairs(pairs), null);
  t.match(faultOfPairs([{ key: '', value: 'x' }]) ?? '', /no name/);
  t.match(
    faultOfPairs([
      { key: 'a', value: '' },
      { key: 'a ', value: '' },
    ]) ?? '',
    /twice/,
  );
});

t.test(
  'every event there is has a meaning in words; one that comes later has none, and nothing breaks',
  async (t) => {
    for (const type of EVENT_TYPES) t.not(eventMeaning(type), '', type);
    t.equal(eventMeaning('call.new_one'), '');
  },
);

t.test('failures say what to do', async (t) => {
  t.match(attemptError('http_status_500'), /log/);
  t.match(attemptError('http_status_401'), /signature/);
  t.match(attemptError('http_status_302'), /2xx/);
  t.match(attemptError('timeout'), /15 s/);
  t.equal(attemptError('a_new_one'), 'a new one');
  t.match(disabledReason('too_many_failures'), /10 deliveries/);
  t.match(disabledReason('manual'), /by hand/);
  for (const language of ['node', 'python', 'bare'] as const)
    t.match(verifySnippet(language), /whsec_|WEBHOOK_SECRET/);
});
