// Money over a call's life: what is held, topped up, charged and given back, with a clock that the test moves.
// The rig's price is 6,000 milli-cents a minute (100 a second); 5 minutes are held at once.
import t from 'tap';
import type { CarrierEvent } from '../../../bridge/carriers/carrier.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const MINUTE = 60_000;
const HELD = 30_000;

type Status = Extract<CarrierEvent, { type: 'status' }>;

async function tell(rig: CallsRig, call: CallRecord, status: Status['status'], fields: Partial<Status> = {}) {
  await rig.tell({
    type: 'status',
    callId: call.id,
    carrierCallId: call.carrier_call_id ?? '',
    status,
    at: new Date(rig.clock.ms).toISOString(),
    durationSeconds: null,
    cause: null,
    errorCode: null,
    errorMessage: null,
    ...fields,
  });
}

async function connect(rig: CallsRig): Promise<CallRecord> {
  const call = await rig.calls.dispatch(rig.newCall());
  await tell(rig, call, 'ringing');
  await tell(rig, call, 'answered');
  rig.calls.onMedia({
    type: 'media-started',
    callId: call.id,
    streamId: 'MZ1',
    carrierCallId: call.carrier_call_id ?? '',
    at: new Date(rig.clock.ms).toISOString(),
    atMs: 0,
  });
  await tell(rig, call, 'answered');
  return call;
}

async function stand(rig: CallsRig, id: string) {
  const call = await rig.store.findCall(id);
  if (call === null) throw new Error('the call is gone');
  const rows = await rig.store.listLedger(rig.org, id);
  return {
    call,
    balance: (await rig.store.getCredit(rig.org))?.balanceMilliCents,
    kinds: rows.map((row) => row.kind),
    sum: rows.reduce((sum, row) => sum + row.amount_milli_cents, 0),
  };
}

/** Moves the clock to a moment of the call and has the watch look, as often as it does. */
async function until(rig: CallsRig, ms: number): Promise<void> {
  while (rig.clock.ms < START_MS + ms) {
    rig.clock.ms = Math.min(rig.clock.ms + 5_000, START_MS + ms);
    await rig.calls.watch.look();
    const credit = await rig.store.getCredit(rig.org);
    if ((credit?.balanceMilliCents ?? 0) < 0) throw new Error('the balance is below zero');
  }
}

t.test('a long call is topped up a minute ahead, and settled on what it used', async (t) => {
  const rig = await openCallsRig(t);
  await rig.store.setBalance(rig.org, 100_000);
  const { id } = await connect(rig);
  await until(rig, 4 * MINUTE - 1);
  t.match(await stand(rig, id), { kinds: ['reserve'], balance: 70_000 });
  await until(rig, 4 * MINUTE);
  t.match(await stand(rig, id), {
    kinds: ['reserve', 'top_up'],
    balance: 40_000,
    call: { reserved_milli_cents: 2 * HELD, status: 'in_progress' },
  });
  await until(rig, 12 * MINUTE);
  t.match(await stand(rig, id), { kinds: ['reserve', 'top_up', 'top_up'], balance: 10_000 });
  const { call } = await stand(rig, id);
  await tell(rig, call, 'completed', { durationSeconds: 720 });
  t.match(await stand(rig, id), {
    kinds: ['reserve', 'top_up', 'top_up', 'settle'],
    sum: -72_000,
    balance: 28_000,
    call: {
      status: 'completed',
      billed_duration_seconds: 720,
      billing_amount_milli_cents: 72_000,
      reservation_status: 'settled',
      reserved_milli_cents: 0,
    },
  });
});

t.test('credit that runs out ends the call when the last of it is used, and not before', async (t) => {
  const rig = await openCallsRig(t);
  // Seven minutes and a half: five at once, then two single ones; the half is too little to go on with.
  await rig.store.setBalance(rig.org, 45_000);
  const { id } = await connect(rig);
  await until(rig, 7 * MINUTE - 5_000);
  t.match(await stand(rig, id), {
    kinds: ['reserve', 'top_up', 'top_up'],
    balance: 3_000,
    call: { status: 'in_progress', hangup_cause: null },
  });
  await until(rig, 7 * MINUTE);
  t.match(await stand(rig, id), {
    sum: -42_000,
    balance: 3_000,
    call: {
      status: 'completed',
      hangup_cause: 'credit_exhausted',
      error_code: null,
      billed_duration_seconds: 420,
      billing_amount_milli_cents: 42_000,
      reservation_status: 'settled',
    },
  });
  t.match(rig.asked.at(-1), /^hang up /);
  await t.rejects(rig.calls.dispatch(rig.newCall()), { code: 'insufficient_credit' });
});

t.test('credit added while a call lives lets it go on', async (t) => {
  const rig = await openCallsRig(t);
  await rig.store.setBalance(rig.org, HELD);
  const { id } = await connect(rig);
  await until(rig, 5 * MINUTE - 10_000);
  t.match((await stand(rig, id)).kinds, ['reserve']);
  await rig.store.addCredit(rig.org, 12_000);
  await until(rig, 6 * MINUTE);
  t.match(await stand(rig, id), { kinds: ['reserve', 'top_up', 'top_up'], call: { status: 'in_progress' } });
});

t.test(
  'a call that went on beyond its hold takes the rest from the balance, and never more than that',
  async (t) => {
    for (const [balance, charged, left] of [
      [100_000, 60_000, 40_000],
      [50_000, 50_000, 0],
    ] as const) {
      const rig = await openCallsRig(t);
      await rig.store.setBalance(rig.org, balance);
      const call = await connect(rig);
      // Nobody looked after it: ten minutes, by the carrier's count, on a hold for five.
      rig.clock.ms += 10 * MINUTE;
      await tell(rig, call, 'completed', { durationSeconds: 600 });
      t.match(await stand(rig, call.id), {
        balance: left,
        sum: -charged,
        call: { billed_duration_seconds: 600, billing_amount_milli_cents: charged },
      });
    }
  },
);

t.test('an organization without a balance is charged and never stopped', async (t) => {
  const rig = await openCallsRig(t);
  await rig.store.setBalance(rig.org, null);
  const call = await connect(rig);
  await until(rig, 30 * MINUTE);
  t.equal((await stand(rig, call.id)).call.status, 'in_progress');
  await tell(rig, call, 'completed', { durationSeconds: 1800 });
  t.match(await stand(rig, call.id), {
    balance: null,
    sum: -180_000,
    call: { billing_amount_milli_cents: 180_000, reservation_status: 'settled' },
  });
});

t.test('however a call ends, its rows add up to what it was charged, and nothing stays held', async (t) => {
  const rig = await openCallsRig(t);
  await rig.store.setBalance(rig.org, 1_000_000);
  const ends: Record<string, { charged: number; end: (call: CallRecord) => Promise<unknown> }> = {
    busy: { charged: 0, end: (call) => tell(rig, call, 'busy') },
    no_answer: { charged: 0, end: (call) => tell(rig, call, 'no_answer') },
    failed: { charged: 0, end: (call) => tell(rig, call, 'failed') },
    canceled: { charged: 0, end: (call) => rig.calls.cancel(rig.org, call.id) },
    'hung up': {
      charged: 3_000,
      async end(call) {
        await tell(rig, call, 'answered');
        rig.clock.ms += 30_000;
        await rig.calls.hangUp(rig.org, call.id);
      },
    },
    completed: {
      charged: 4_200,
      async end(call) {
        await tell(rig, call, 'answered');
        await tell(rig, call, 'completed', { durationSeconds: 42 });
      },
    },
    'failed while live': {
      charged: 1_000,
      async end(call) {
        await tell(rig, call, 'answered');
        rig.clock.ms += 10_000;
        await rig.finish(call.id, 'model_failed', { code: 'model_lost', message: 'gone' });
      },
    },
  };
  let spent = 0;
  for (const [name, { charged, end }] of Object.entries(ends)) {
    const call = await rig.calls.dispatch(rig.newCall());
    await tell(rig, call, 'ringing');
    await end(call);
    // Whatever comes twice or late changes nothing.
    await tell(rig, call, 'completed', { durationSeconds: 999 });
    await tell(rig, call, 'busy');
    spent += charged;
    t.match(
      await stand(rig, call.id),
      {
        sum: 0 - charged,
        balance: 1_000_000 - spent,
        kinds: ['reserve', charged === 0 ? 'release' : 'settle'],
        call: {
          reserved_milli_cents: 0,
          billing_amount_milli_cents: charged === 0 ? null : charged,
          reservation_status: charged === 0 ? 'released' : 'settled',
        },
      },
      name,
    );
  }
  const all = (await rig.store.listLedger(rig.org)).reduce((sum, row) => sum + row.amount_milli_cents, 0);
  t.equal(all, 1_000_000 - spent, 'the balance is the sum of all rows');
  t.match(await rig.store.getCredit(rig.org), { heldMilliCents: 0 });
});

t.test('a call that the carrier refuses costs nothing', async (t) => {
  const { AppError } = await import('../../../errors.ts');
  const rig = await openCallsRig(t, {
    placeCall: async () => {
      throw new AppError('carrier_error', 'no', { carrierCode: '21211' });
    },
  });
  await rig.store.setBalance(rig.org, HELD);
  const call = rig.newCall();
  await t.rejects(rig.calls.dispatch(call), { code: 'carrier_error' });
  t.match(await stand(rig, call.id), {
    sum: 0,
    balance: HELD,
    kinds: ['reserve', 'release'],
    call: { status: 'failed', reservation_status: 'released' },
  });
});

t.test('a call whose end nobody saw is charged for no more than the longest call', async (t) => {
  const rig = await openCallsRig(t);
  const call = await connect(rig);
  // The process was down for a day, and the carrier cannot be asked.
  rig.clock.ms += 24 * 60 * MINUTE;
  rig.down = true;
  await rig.calls.recover(await rig.store.unfinishedCalls());
  t.match(await stand(rig, call.id), {
    sum: -360_000,
    call: { status: 'failed', error_code: 'daemon_restart', billed_duration_seconds: 3_600 },
  });
});
