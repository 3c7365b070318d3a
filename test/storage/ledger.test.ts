// What an entry takes or gives, by what is held, what is left and what is billed.
import t from 'tap';
import { creditAdded, creditTo, heldBy, posting } from '../../storage/ledger.ts';
import type { CallRecord, LedgerRecord } from '../../storage/records.ts';
import { makeCall } from './makers.ts';

type Entry = Parameters<typeof posting>[1];

const CASES: {
  name: string;
  held: number | null;
  balance: number | null;
  bill?: number | null;
  entry: Entry;
  wanted: { amount: number; call: Partial<CallRecord> } | { conflict: string };
}[] = [
  {
    name: 'reserve, covered to the last -> held',
    held: 0,
    balance: 300,
    entry: { kind: 'reserve', amountMilliCents: -300 },
    wanted: { amount: -300, call: { reserved_milli_cents: 300 } },
  },
  {
    name: 'reserve, one milli-cent short -> insufficient_credit',
    held: 0,
    balance: 299,
    entry: { kind: 'reserve', amountMilliCents: -300 },
    wanted: { conflict: 'insufficient_credit' },
  },
  {
    name: 'reserve, unlimited -> held',
    held: 0,
    balance: null,
    entry: { kind: 'reserve', amountMilliCents: -300 },
    wanted: { amount: -300, call: { reserved_milli_cents: 300 } },
  },
  {
    name: 'top_up -> held beside what was held',
    held: 300,
    balance: 100,
    entry: { kind: 'top_up', amountMilliCents: -100 },
    wanted: { amount: -100, call: { reserved_milli_cents: 400 } },
  },
  {
    name: 'release -> all of it comes back',
    held: 400,
    balance: 0,
    entry: { kind: 'release', amountMilliCents: 0 },
    wanted: { amount: 400, call: { reserved_milli_cents: 0, reservation_status: 'released' } },
  },
  {
    name: 'settle below the hold -> the rest comes back',
    held: 400,
    balance: 0,
    bill: 150,
    entry: { kind: 'settle', amountMilliCents: 0 },
    wanted: { amount: 250, call: { reservation_status: 'settled', billing_amount_milli_cents: 150 } },
  },
  {
    name: 'settle above the hold -> the balance pays the rest',
    held: 400,
    balance: 100,
    bill: 450,
    entry: { kind: 'settle', amountMilliCents: 0 },
    wanted: { amount: -50, call: { billing_amount_milli_cents: 450 } },
  },
  {
    name: 'settle above hold and balance -> cut to what is there, on the bill too',
    held: 400,
    balance: 100,
    bill: 900,
    entry: { kind: 'settle', amountMilliCents: 0 },
    wanted: { amount: -100, call: { billing_amount_milli_cents: 500 } },
  },
  {
    name: 'settle above the hold, unlimited -> all of it is charged',
    held: 400,
    balance: null,
    bill: 900,
    entry: { kind: 'settle', amountMilliCents: 0 },
    wanted: { amount: -500, call: { billing_amount_milli_cents: 900 } },
  },
  {
    name: 'settle without a bill -> it follows from the amount',
    held: 400,
    balance: 0,
    bill: null,
    entry: { kind: 'settle', amountMilliCents: 120 },
    wanted: { amount: 120, call: { billing_amount_milli_cents: 280 } },
  },
  {
    name: 'settle of a bill below zero -> nothing is charged',
    held: 400,
    balance: 0,
    bill: -5,
    entry: { kind: 'settle', amountMilliCents: 0 },
    wanted: { amount: 400, call: { billing_amount_milli_cents: 0 } },
  },
  ...(['reserve', 'top_up', 'settle', 'release'] as const).map((kind) => ({
    name: `${kind} after the end -> ledger_exists`,
    held: null,
    balance: 1000,
    entry: { kind, amountMilliCents: 0 },
    wanted: { conflict: 'ledger_exists' },
  })),
];

for (const { name, held, balance, bill = null, entry, wanted } of CASES) {
  t.test(name, async (t) => {
    const call = makeCall('org', { billing_amount_milli_cents: bill, reserved_milli_cents: held ?? 0 });
    const posted = posting(call, entry, { heldMilliCents: held, balanceMilliCents: balance });
    if ('conflict' in wanted) t.same(posted, wanted);
    else {
      t.match(posted, { amountMilliCents: wanted.amount, call: { reserved_milli_cents: 0, ...wanted.call } });
      const settled = entry.kind === 'settle' ? 'settled' : wanted.call.reservation_status;
      t.match(posted, { call: { reservation_status: settled ?? 'reserved' } });
    }
  });
}

t.test('what makes no sense is thrown', async (t) => {
  const standing = { heldMilliCents: 0, balanceMilliCents: 10 };
  for (const entry of [
    { kind: 'reserve', amountMilliCents: 1 },
    { kind: 'top_up', amountMilliCents: Number.NaN },
    { kind: 'credit', amountMilliCents: 1 },
  ] as const) {
    t.throws(() => posting(makeCall('org'), entry, standing), RangeError);
  }
  t.throws(() => creditAdded(1, 0.5), RangeError);
  t.throws(() => creditTo(-1, 0), RangeError);
  t.throws(() => creditTo(Number.MAX_SAFE_INTEGER + 1, 0), RangeError);
});

t.test('credit', async (t) => {
  t.same(creditAdded(5, -5), { balanceMilliCents: 0 });
  t.same(creditAdded(5, -6), { conflict: 'insufficient_credit' });
  t.same(creditAdded(null, 1), { conflict: 'unlimited' });
  t.equal(creditTo(700, -300), 1000, 'the row that brings the sum of all rows to the balance');
});

t.test('what the rows of a call hold', async (t) => {
  const row = (kind: LedgerRecord['kind'], amountMilliCents: number) => ({ kind, amountMilliCents });
  for (const [name, rows, held] of [
    ['none -> 0', [], 0],
    ['reserve -> its amount', [row('reserve', -90)], 90],
    ['reserve of nothing -> 0', [row('reserve', 0)], 0],
    ['reserve and top-ups -> their sum', [row('reserve', -90), row('top_up', -5), row('top_up', -5)], 100],
    ['settled -> null', [row('reserve', -90), row('settle', 60)], null],
    ['released -> null', [row('reserve', -90), row('release', 90)], null],
  ] as const) {
    t.equal(heldBy(rows), held, name);
  }
});
