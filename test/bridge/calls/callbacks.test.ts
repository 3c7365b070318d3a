// Carrier callbacks come twice, late and in any order. Whatever the order, the records are those of the right order.
import t, { type Test } from 'tap';
import type { CarrierEvent, CarrierStatus } from '../../../bridge/carriers/carrier.ts';
import { createRandom } from '../../../scripts/carrier-simulator/random.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { type CallsRig, openCallsRig, START_MS } from './calls-rig.ts';

const CALLS = 1_000;
const SEED = 20_261_104;

type StatusEvent = Extract<CarrierEvent, { type: 'status' }>;

/** How calls go, with the seconds after the dial at which each thing happens. */
const LIVES: { name: string; steps: [CarrierStatus, number][]; seconds?: number }[] = [
  {
    name: 'answered',
    steps: [
      ['initiated', 1],
      ['ringing', 2],
      ['answered', 9],
      ['completed', 40],
    ],
    seconds: 31,
  },
  // The carrier rounds its count: the answer is not where the end less the duration would put it.
  {
    name: 'answered, rounded',
    steps: [
      ['initiated', 1],
      ['ringing', 3],
      ['answered', 5],
      ['completed', 35],
    ],
    seconds: 31,
  },
  {
    name: 'hung up at once',
    steps: [
      ['initiated', 1],
      ['ringing', 2],
      ['answered', 4],
      ['completed', 4],
    ],
    seconds: 0,
  },
  {
    name: 'busy',
    steps: [
      ['initiated', 1],
      ['ringing', 2],
      ['busy', 3],
    ],
  },
  {
    name: 'busy before it rang',
    steps: [
      ['initiated', 1],
      ['busy', 2],
    ],
  },
  {
    name: 'not answered',
    steps: [
      ['initiated', 1],
      ['ringing', 2],
      ['no_answer', 62],
    ],
  },
  {
    name: 'no such number',
    steps: [
      ['initiated', 1],
      ['failed', 2],
    ],
  },
  {
    name: 'canceled while it rang',
    steps: [
      ['initiated', 1],
      ['ringing', 2],
      ['canceled', 20],
    ],
  },
];
const FINAL = new Set<CarrierStatus>(['completed', 'busy', 'no_answer', 'failed', 'canceled']);

function callbacks(call: { id: string; carrierCallId: string }, life: (typeof LIVES)[number]): StatusEvent[] {
  return life.steps.map(([status, second], index): StatusEvent => {
    const final = FINAL.has(status);
    return {
      type: 'status',
      callId: call.id,
      carrierCallId: call.carrierCallId,
      status,
      at: new Date(START_MS + second * 1_000).toISOString(),
      durationSeconds: final ? (life.seconds ?? 0) : null,
      cause: final ? 'SIP 200' : null,
      errorCode: null,
      errorMessage: null,
      rang: final && index >= 2,
    };
  });
}

/** Everything stored of a call but what differs from run to run: ids, and the time of the last change. */
async function recordsOf(rig: CallsRig, call: CallRecord) {
  const { id, org_id, carrier_call_id, updated_at, ...rest } = call;
  const events = (await rig.store.listEvents(id)).map((event) => `${event.sequence} ${event.type}`);
  const ledger = (await rig.store.listLedger(rig.org, id)).map(
    (row) => `${row.kind} ${row.amount_milli_cents}`,
  );
  return { call: rest, events, ledger };
}

/** Dispatches all calls, hands in their callbacks as `arrange` has them, and answers what is stored then. */
async function run(t: Test, arrange: (all: StatusEvent[]) => StatusEvent[]) {
  const rig = await openCallsRig(t);
  const ids: string[] = [];
  const all: StatusEvent[] = [];
  for (let n = 0; n < CALLS; n++) {
    const { id, carrier_call_id } = await rig.calls.dispatch(
      rig.newCall({ to_number: `+1415${String(5_550_000 + n)}`, metadata: { n } }),
    );
    ids.push(id);
    all.push(...callbacks({ id, carrierCallId: carrier_call_id ?? '' }, LIVES[n % LIVES.length]!));
  }
  // Late by an hour: nothing can be taken for having happened just now.
  rig.clock.ms += 3_600_000;
  const events = arrange(all);
  // As an HTTP server would: many at a time, each waiting for nothing but its own call.
  for (let at = 0; at < events.length; at += 200) {
    await Promise.all(events.slice(at, at + 200).map((event) => rig.tell(event)));
  }
  // Results are settled once calls are let go of.
  while ((await rig.store.pendingResults()).length > 0) await new Promise((next) => setImmediate(next));
  const stored = await Promise.all(ids.map((id) => rig.store.findCall(id)));
  const records = await Promise.all(stored.map((call) => recordsOf(rig, call!)));
  const organization = await rig.store.getOrganization(rig.org);
  return { records, balance: organization?.balance_milli_cents };
}

t.test('callbacks of 1,000 calls, tripled and shuffled, store what they store in order', async (t) => {
  const random = createRandom(SEED);
  const inOrder = await run(t, (all) => all);
  const shuffled = await run(t, (all) => {
    const mixed = [...all, ...all, ...all];
    for (let i = mixed.length - 1; i > 0; i--) {
      const j = random.integer(i + 1);
      [mixed[i], mixed[j]] = [mixed[j]!, mixed[i]!];
    }
    return mixed;
  });
  let different = 0;
  for (const [n, expected] of inOrder.records.entries()) {
    const got = shuffled.records[n];
    if (JSON.stringify(got) === JSON.stringify(expected)) continue;
    different += 1;
    if (different <= 5) t.same(got, expected, `seed ${SEED}, call ${n}: ${LIVES[n % LIVES.length]?.name}`);
  }
  t.equal(different, 0, `seed ${SEED}`);
  t.equal(shuffled.balance, inOrder.balance);

  // And in order they are what the carrier said.
  t.match(inOrder.records[0], {
    call: {
      status: 'completed',
      started_at: '2026-03-01T12:00:02.000Z',
      answered_at: '2026-03-01T12:00:09.000Z',
      ended_at: '2026-03-01T12:00:40.000Z',
      duration_seconds: 38,
      billed_duration_seconds: 31,
      billing_amount_milli_cents: 3_100,
    },
    events: ['1 call.queued', '2 call.ringing', '3 call.answered', '4 call.completed'],
    ledger: ['reserve -30000', 'settle 26900'],
  });
  t.same(inOrder.records[3]?.events, ['1 call.queued', '2 call.ringing', '3 call.busy']);
  t.same(inOrder.records[4]?.events, ['1 call.queued', '2 call.busy']);
  t.same(inOrder.records[3]?.ledger, ['reserve -30000', 'release 30000']);
});

t.test('callbacks that overtake the answer to our own dial change nothing about it', async (t) => {
  const random = createRandom(SEED + 1);
  const rig: CallsRig = await openCallsRig(t, {
    async placeCall(callId, accept) {
      const carrierCallId = accept();
      const life = LIVES[random.integer(LIVES.length)]!;
      const early = callbacks({ id: callId, carrierCallId }, life);
      const mixed = [...early, ...early].sort(() => random.next() - 0.5);
      rig.clock.ms += 3_600_000;
      await Promise.all(mixed.map((event) => rig.tell(event)));
      return { carrierCallId };
    },
  });
  for (let n = 0; n < 50; n++) {
    rig.clock.ms = START_MS;
    const call = await rig.calls.dispatch(rig.newCall());
    const [events, ledger] = [
      await rig.store.listEvents(call.id),
      await rig.store.listLedger(rig.org, call.id),
    ];
    t.ok(FINAL.has(call.status as CarrierStatus), 'it has ended by the time the dial is answered');
    t.equal(events.length, new Set(events.map((event) => event.type)).size);
    t.equal(ledger.length, 2);
  }
});
