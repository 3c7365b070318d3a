// Every transition of a call's row, by table.
import t from 'tap';
import { type CallEvent, chargeFor, isTerminal, next } from '../../../bridge/calls/call-state.ts';
import type { CallRecord, CallStatus } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const T = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, seconds)).toISOString();

/** A call queued at T(0) with nothing but what `change` says. */
const call = (change: Partial<CallRecord> = {}) =>
  makeCall('o', {
    context: {},
    metadata: {},
    created_at: T(0),
    updated_at: T(0),
    ...change,
  });

const AT: Record<string, Partial<CallRecord>> = {
  queued: {},
  initiated: { status: 'initiated', carrier_call_id: 'CA1' },
  ringing: { status: 'ringing', carrier_call_id: 'CA1', started_at: T(1) },
  in_progress: { status: 'in_progress', carrier_call_id: 'CA1', started_at: T(1), answered_at: T(5) },
};

const ended = (outcome: Extract<CallEvent, { type: 'ended' }>['outcome'], at = T(20)): CallEvent => ({
  type: 'ended',
  at,
  outcome,
  durationSeconds: null,
  cause: null,
  errorCode: null,
  errorMessage: null,
});

const TABLE: [keyof typeof AT, CallEvent, CallStatus, string[]][] = [
  ['queued', { type: 'accepted', carrierCallId: 'CA1' }, 'initiated', []],
  ['queued', { type: 'refused', at: T(1), code: '21211', message: 'no' }, 'failed', ['call.failed']],
  ['queued', { type: 'ringing', at: T(1) }, 'ringing', ['call.ringing']],
  ['initiated', { type: 'ringing', at: T(1) }, 'ringing', ['call.ringing']],
  // The answer overtook the ringing, or the carrier never spoke of it.
  ['initiated', { type: 'answered', at: T(5) }, 'in_progress', ['call.ringing', 'call.answered']],
  ['ringing', { type: 'answered', at: T(5) }, 'in_progress', ['call.answered']],
  ['initiated', ended('busy'), 'busy', ['call.busy']],
  ['ringing', ended('no_answer'), 'no_answer', ['call.no_answer']],
  ['ringing', ended('canceled'), 'canceled', ['call.canceled']],
  ['queued', ended('failed'), 'failed', ['call.failed']],
  // call.completed waits for the result, so that no event goes out at the transition.
  ['in_progress', ended('completed'), 'completed', []],
  ['in_progress', ended('failed'), 'failed', ['call.failed']],
  // The callback of the answer was lost: completed proves it.
  ['ringing', ended('completed'), 'completed', ['call.answered']],
  ['initiated', ended('completed'), 'completed', ['call.ringing', 'call.answered']],
  ['initiated', ended('no_answer'), 'no_answer', ['call.ringing', 'call.no_answer']],
  ['initiated', { ...ended('busy'), rang: true } as CallEvent, 'busy', ['call.ringing', 'call.busy']],
  ['ringing', { ...ended('busy'), rang: true } as CallEvent, 'busy', ['call.busy']],
];

t.test('transitions', async (t) => {
  for (const [from, event, to, events] of TABLE) {
    t.test(
      `${from} + ${event.type}${event.type === 'ended' ? ` ${event.outcome}` : ''} -> ${to}`,
      async (t) => {
        const step = next(call(AT[from]), event, 0);
        t.equal(step?.change.status, to);
        t.same(step?.events, events);
        t.same(step?.from, [from]);
      },
    );
  }
});

t.test('an ended call is left by no event', async (t) => {
  for (const status of ['completed', 'busy', 'no_answer', 'canceled', 'failed'] as const) {
    const over = call({ ...AT.in_progress, status, ended_at: T(9) });
    for (const event of [
      { type: 'ringing', at: T(20) },
      { type: 'answered', at: T(20) },
      ended('completed'),
      ended('failed'),
      { type: 'refused', at: T(20), code: null, message: 'late' },
      { type: 'finishing', cause: 'agent_ended', errorCode: null, errorMessage: null },
    ] satisfies CallEvent[]) {
      t.equal(next(over, event, 0), null, `${status} + ${event.type}`);
    }
  }
});

t.test('a late ringing callback adds its time and nothing else', async (t) => {
  const answered = call({ ...AT.in_progress, started_at: null });
  t.same(next(answered, { type: 'ringing', at: T(2) }, 0), {
    from: ['in_progress'],
    change: { started_at: T(2) },
    events: [],
    ledger: [],
    effects: [],
  });
  t.equal(next(answered, { type: 'ringing', at: T(6) }, 0), null, 'not after the answer');
  const over = call({ ...AT.in_progress, status: 'completed', started_at: null, ended_at: T(9) });
  t.same(next(over, { type: 'ringing', at: T(2) }, 0)?.change, { started_at: T(2), duration_seconds: 7 });
});

t.test('a late answer takes the place of the one worked out from the end, and of no other', async (t) => {
  const over = next(
    call(AT.ringing),
    { ...ended('completed', T(36)), durationSeconds: 31 } as CallEvent,
    0,
  )?.change;
  t.equal(over?.answered_at, T(5));
  t.same(next(call({ ...AT.ringing, ...over }), { type: 'answered', at: T(6) }, 0), {
    from: ['completed'],
    change: { answered_at: T(6) },
    events: [],
    ledger: [],
    effects: [],
  });
  t.equal(next(call({ ...AT.ringing, ...over }), { type: 'answered', at: T(5) }, 0), null);
  const known = { ...AT.ringing, ...over, answered_at: T(6) };
  t.equal(next(call(known), { type: 'answered', at: T(5) }, 0), null);
  t.equal(next(call({ status: 'busy', ended_at: T(9) }), { type: 'answered', at: T(5) }, 0), null);
});

t.test('a late verdict on who answered is noted, once', async (t) => {
  const over = call({ ...AT.in_progress, status: 'completed', ended_at: T(9) });
  t.same(next(over, { type: 'machine-detected', answeredBy: 'human' }, 0)?.change, { answered_by: 'human' });
  t.equal(
    next({ ...over, answered_by: 'machine' }, { type: 'machine-detected', answeredBy: 'human' }, 0),
    null,
  );
});

t.test('the same status twice says nothing new', async (t) => {
  t.equal(next(call(AT.in_progress), { type: 'answered', at: T(7) }, 0), null);
  t.equal(next(call(AT.ringing), { type: 'ringing', at: T(7) }, 0), null);
  t.equal(next(call(AT.initiated), { type: 'accepted', carrierCallId: 'CA1' }, 0), null);
});

t.test('an acceptance that comes after the call was given up hangs up', async (t) => {
  const step = next(call({ status: 'canceled' }), { type: 'accepted', carrierCallId: 'CA9' }, 0);
  t.same(step?.effects, ['hang-up']);
  t.equal(step?.change.carrier_call_id, 'CA9');
  t.equal(step?.change.status, undefined);
});

t.test('money follows connected time: settled once connected, released when never', async (t) => {
  const price = 1_200;
  const connected = next(
    call({ ...AT.in_progress, reserved_milli_cents: 6_000 }),
    ended('completed', T(36)),
    price,
  );
  t.equal(connected?.change.billed_duration_seconds, 31);
  t.equal(connected?.change.billing_amount_milli_cents, 620);
  t.equal(connected?.change.reservation_status, 'settled');
  t.same(
    connected?.ledger.map((row) => row.kind),
    ['settle'],
  );
  const rang = next(call({ ...AT.ringing, reserved_milli_cents: 6_000 }), ended('busy'), price);
  t.equal(rang?.change.billing_amount_milli_cents, null);
  t.equal(rang?.change.reservation_status, 'released');
  t.same(
    rang?.ledger.map((row) => row.kind),
    ['release'],
  );
  t.equal(chargeFor(1, 60), 1);
  t.equal(chargeFor(61, 1_000), 1_017, 'rounded up to a whole milli-cent');
  const long = next(
    call({ ...AT.in_progress, reserved_milli_cents: 100 }),
    ended('completed', T(3605)),
    price,
  );
  t.equal(
    long?.change.billing_amount_milli_cents,
    72_000,
    'all of it; storage cuts it to the credit there is',
  );
});

t.test("the carrier's count of connected seconds wins over ours", async (t) => {
  const step = next(
    call(AT.in_progress),
    { ...ended('completed', T(20)), durationSeconds: 14 } as CallEvent,
    60,
  );
  t.equal(step?.change.billed_duration_seconds, 14);
});

t.test('a fault of ours makes the call failed, whatever the carrier calls it', async (t) => {
  const faulty = { error_code: 'model_unreachable', error_message: 'gone', hangup_cause: 'model_failed' };
  t.equal(next(call({ ...AT.in_progress, ...faulty }), ended('completed'), 0)?.change.status, 'failed');
  t.equal(next(call({ ...AT.ringing, ...faulty }), ended('canceled'), 0)?.change.status, 'failed');
  const step = next(
    call(AT.in_progress),
    { type: 'finishing', cause: 'agent_ended', errorCode: 'stream_lost', errorMessage: 'm' },
    0,
  );
  t.same(step?.change, { hangup_cause: 'agent_ended', error_code: 'stream_lost', error_message: 'm' });
  t.same(step?.effects, [], 'whoever ends the call asks the carrier');
});

t.test('a call without a conversation has no result, and says why', async (t) => {
  t.match(next(call(AT.ringing), ended('busy'), 0)?.change, {
    result_status: 'failed',
    result_error: /busy/,
  });
  t.match(next(call({ ...AT.ringing, returns: {} }), ended('busy'), 0)?.change, {
    result_status: 'completed',
  });
  t.equal(
    next(call(AT.in_progress), ended('completed'), 0)?.change.result_status,
    undefined,
    'worked out later',
  );
  t.same(next(call(AT.in_progress), ended('completed'), 0)?.effects, ['release', 'settle-result']);
});

t.test('terminal statuses', async (t) => {
  t.same(
    (
      [
        'queued',
        'initiated',
        'ringing',
        'in_progress',
        'completed',
        'no_answer',
        'busy',
        'canceled',
        'failed',
      ] as const
    ).filter(isTerminal),
    ['completed', 'no_answer', 'busy', 'canceled', 'failed'],
  );
});
