// Conformance: calls with their events and money, and transcripts.
import type { Test } from 'tap';
import { v7 as uuid } from 'uuid';
import type { CallRecord, CallStatus, EventRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { SPECIFIED_FIELDS } from '../specified-fields.ts';
import {
  addOrganization,
  at,
  makeAgent,
  makeCall,
  makeInterruption,
  makeItem,
  makeTurn,
  type OpenEmpty,
  stoppedClock,
  succeeded,
} from './makers.ts';

export function callConformance(t: Test, openEmpty: OpenEmpty): void {
  async function open(t: Test) {
    const clock = stoppedClock();
    const store = await openEmpty({ now: clock.now });
    t.teardown(() => store.close());
    return { store, clock };
  }

  async function balance(store: Store, org: string) {
    return (await store.getOrganization(org))?.balance_milli_cents;
  }

  t.test('calls: what is stored comes back, to its own organization', async (t) => {
    const { store, clock } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const agent = succeeded(await store.createAgent(makeAgent(org), []));
    const call = makeCall(org, {
      agent_id: agent.id,
      tools: [{ type: 'send_dtmf' }],
      usage: { input_tokens: 3 },
      context: null,
      metadata: { 'naïve "key"': ['\u2028', null, { deep: true }] },
      carrier_call_id: 'CA1',
    });
    clock.tick(5);
    const created = succeeded(await store.createCall(call, { events: [], reserve: 0 }));
    t.strictSame(created, { ...call, updated_at: at(5), gate: created.gate });
    t.match(created.gate, { decided_at: at(5), country: 'US', overridden: null });
    t.strictSame(await store.getCall(org, call.id), created);
    t.strictSame(await store.findCall(call.id), created);
    t.strictSame(await store.findCallByCarrierId('simulated', 'CA1'), created);
    t.equal(await store.findCallByCarrierId('other', 'CA1'), null);
    t.equal(await store.getCall(other, call.id), null, 'organization scope');
    t.equal(await store.findCall(uuid()), null);

    t.strictSame(await store.createCall(call, { events: [], reserve: 0 }), { conflict: 'call_exists' });
    t.strictSame(
      await store.createCall(makeCall(org, { carrier_call_id: 'CA1' }), { events: [], reserve: 0 }),
      { conflict: 'carrier_call_exists' },
      'a hook that comes twice makes one call',
    );
    const next = makeCall(org);
    await store.createCall(next, { events: [], reserve: 0 });
    t.strictSame(await store.saveCall(next.id, { from: ['queued'], change: { carrier_call_id: 'CA1' } }), {
      conflict: 'carrier_call_exists',
    });
  });

  t.test('saveCall changes what it is given, from the statuses it is given', async (t) => {
    const { store, clock } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }));
    clock.tick(1000);
    const initiated = succeeded(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'initiated', carrier_call_id: 'CA9', usage: { output_tokens: 1 } },
      }),
    );
    t.strictSame(initiated, {
      ...call,
      status: 'initiated',
      carrier_call_id: 'CA9',
      usage: { output_tokens: 1 },
      updated_at: at(1000),
    });
    t.strictSame(await store.findCall(call.id), initiated);
    t.strictSame(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'ringing' },
        events: ['call.ringing'],
      }),
      { conflict: 'status' },
      'left that status: conflict',
    );
    t.strictSame(await store.findCall(call.id), initiated, 'and nothing is written');
    t.equal((await store.listEvents(call.id)).length, 1);
    t.strictSame(await store.saveCall(uuid(), { from: ['queued'], change: {} }), { conflict: 'not_found' });

    const same = succeeded(
      await store.saveCall(call.id, {
        from: ['initiated'],
        change: { id: uuid(), org_id: uuid(), created_at: at(99), error_message: 'x' },
      }),
    );
    t.equal(same.id, call.id, 'a call never changes its id');
    t.equal(same.org_id, org);
    t.equal(same.created_at, call.created_at);
    t.equal(same.error_message, 'x');
  });

  t.test('an event has the call as it was, in the order of the specification', async (t) => {
    const { store, clock } = await open(t);
    const org = await addOrganization(store);
    const heard: EventRecord[] = [];
    store.subscribe({ event: (event) => heard.push(event) });
    const call = makeCall(org, { webhook_url: 'https://a.example.com/hook' });
    const queued = succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
    clock.tick(10);
    const rung = succeeded(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'ringing', started_at: at(8) },
        events: ['call.ringing'],
      }),
    );
    clock.tick(10);
    await store.saveCall(call.id, { from: ['ringing'], change: { hangup_cause: 'quiet change' } });
    const completed = succeeded(
      await store.saveCall(call.id, {
        from: ['ringing'],
        change: { status: 'completed', webhook_error: 'left from before' },
        events: ['call.answered', 'call.completed'],
      }),
    );
    const events = await store.listEvents(call.id);
    t.strictSame(
      events.map((event) => [event.sequence, event.type, event.created_at]),
      [
        [1, 'call.queued', at(0)],
        [2, 'call.ringing', at(10)],
        [3, 'call.answered', at(20)],
        [4, 'call.completed', at(20)],
      ],
      'counted from 1 without a gap',
    );
    t.strictSame(events, heard, 'subscribers hear the same');
    for (const event of events) t.strictSame(Object.keys(JSON.parse(event.body)), SPECIFIED_FIELDS.call);
    const shown = (record: CallRecord) =>
      Object.fromEntries(Object.entries(record).filter(([field]) => SPECIFIED_FIELDS.call.includes(field)));
    t.strictSame(JSON.parse(events[0]?.body ?? ''), shown(queued));
    t.strictSame(JSON.parse(events[1]?.body ?? ''), shown(rung));
    t.strictSame(JSON.parse(events[3]?.body ?? ''), shown(completed));
    t.equal(
      completed.webhook_status,
      'pending',
      'call.completed has an inline delivery, and its body says so',
    );
    t.equal(completed.webhook_error, null);
    t.equal(queued.webhook_status, 'none');
  });

  t.test('a type of event happens once to a call', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 100 });
    const heard: string[] = [];
    const call = succeeded(
      await store.createCall(makeCall(org, { webhook_url: 'https://a.example.com' }), {
        events: ['call.queued'],
        reserve: 10,
      }),
    );
    store.subscribe({ event: (event) => heard.push(event.type), deliveries: () => heard.push('deliveries') });
    const before = await store.findCall(call.id);
    t.strictSame(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'failed', error_code: '1' },
        events: ['call.failed', 'call.queued'],
        ledger: [{ kind: 'release', amountMilliCents: 10 }],
      }),
      { conflict: 'event_exists' },
    );
    t.strictSame(await store.findCall(call.id), before, 'the call is untouched');
    t.equal((await store.listEvents(call.id)).length, 1, 'so are the events');
    t.equal((await store.listLedger(org, call.id)).length, 1, 'and the money');
    t.equal(await balance(store, org), 90);
    t.strictSame(heard, [], 'and nobody is told');
  });

  t.test('two ends of one call: the first wins', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const end = (status: CallStatus, event: 'call.completed' | 'call.failed') =>
      store.saveCall(call.id, { from: ['queued'], change: { status }, events: [event] });
    const answers = await Promise.all([end('completed', 'call.completed'), end('failed', 'call.failed')]);
    t.equal(answers.filter((answer) => 'conflict' in answer).length, 1);
    t.equal((await store.listEvents(call.id)).length, 1);
  });

  t.test('unfinished calls and pending results, oldest first', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const statuses: CallStatus[] = [
      'queued',
      'initiated',
      'ringing',
      'in_progress',
      'completed',
      'no_answer',
      'busy',
      'canceled',
      'failed',
    ];
    const calls = statuses.map((status, i) =>
      makeCall(org, { status, created_at: at(100 - i), ended_at: i < 4 ? null : at(200) }),
    );
    for (const call of calls) await store.createCall(call, { events: [], reserve: 0 });
    await store.createCall(
      makeCall(org, { status: 'completed', ended_at: at(150), result_status: 'completed' }),
      { events: [], reserve: 0 },
    );
    const early = makeCall(org, { status: 'completed', ended_at: at(150) });
    await store.createCall(early, { events: [], reserve: 0 });
    t.strictSame(
      (await store.unfinishedCalls()).map((call) => call.status),
      ['in_progress', 'ringing', 'initiated', 'queued'],
    );
    t.strictSame(
      (await store.pendingResults()).map((call) => call.id),
      [early.id, calls[4]?.id],
    );
    t.equal((await store.stats()).unfinishedCalls, 4);
  });

  t.test('listCalls: every filter, and pages that stay put', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const other = await addOrganization(store);
    const agent = succeeded(await store.createAgent(makeAgent(org), []));
    const ids: string[] = [];
    for (let i = 0; i < 12; i++) {
      const call = makeCall(org, {
        created_at: at(Math.floor(i / 3) * 1000),
        status: i % 2 ? 'completed' : 'queued',
        direction: i % 3 ? 'outbound' : 'inbound',
        agent_id: i % 4 ? null : agent.id,
        to_number: i < 6 ? '+14155550001' : '+14155550002',
        from_number: i < 3 ? '+14155550003' : '+14155550004',
      });
      ids.push(call.id);
      await store.createCall(call, { events: [], reserve: 0 });
    }
    await store.createCall(makeCall(other), { events: [], reserve: 0 });
    const list = async (filters: Parameters<Store['listCalls']>[1], limit = 100, startingAfter?: string) =>
      (await store.listCalls(org, filters, { limit, startingAfter })).map((call) => call.id);
    const expected = (test: (i: number) => boolean) => ids.filter((_, i) => test(i)).reverse();

    t.strictSame(
      await list({}),
      expected(() => true),
      'newest first',
    );
    t.strictSame(
      await list({ status: 'completed' }),
      expected((i) => i % 2 === 1),
    );
    t.strictSame(
      await list({ direction: 'inbound' }),
      expected((i) => i % 3 === 0),
    );
    t.strictSame(
      await list({ agentId: agent.id }),
      expected((i) => i % 4 === 0),
    );
    t.strictSame(
      await list({ toNumber: '+14155550001' }),
      expected((i) => i < 6),
    );
    t.strictSame(
      await list({ fromNumber: '+14155550003' }),
      expected((i) => i < 3),
    );
    t.strictSame(
      await list({ createdAfter: at(1000) }),
      expected((i) => i >= 6),
      'after, not at',
    );
    t.strictSame(
      await list({ createdBefore: at(1000) }),
      expected((i) => i < 3),
      'before, not at',
    );
    t.strictSame(
      await list({ createdAfter: '2026-03-01T13:00:00+01:00' }),
      expected((i) => i >= 3),
      'a time in another zone and form is the same time',
    );
    t.strictSame(
      await list({ status: 'queued', toNumber: '+14155550002', createdBefore: at(3000) }, 1),
      expected((i) => i % 2 === 0 && i >= 6 && i < 9).slice(0, 1),
      'filters add up',
    );

    const seen: string[] = [];
    let last: string | undefined;
    for (;;) {
      const page = await list({ status: 'completed' }, 2, last);
      if (page.length === 0) break;
      seen.push(...page);
      last = page.at(-1);
      const late = makeCall(org, { status: 'completed', created_at: at(9000) });
      await store.createCall(late, { events: [], reserve: 0 });
    }
    t.strictSame(
      seen,
      expected((i) => i % 2 === 1),
      'each once, whatever came in meanwhile',
    );
  });

  t.test(
    'sumCalls: the newest of a list, added up; tries in the browser count as time and money alone',
    async (t) => {
      const { store } = await open(t);
      const org = await addOrganization(store);
      const make = (minute: number, change: Parameters<typeof makeCall>[1]) =>
        store.createCall(makeCall(org, { created_at: at(minute * 60_000), ...change }), {
          events: [],
          reserve: 0,
        });
      const none = {
        calls: 0,
        completed: 0,
        talkSeconds: 0,
        billedMilliCents: 0,
        costMilliCents: null,
        more: false,
      };
      t.same(await store.sumCalls(org, {}, 10), none);
      await make(0, { status: 'completed', billed_duration_seconds: 60, billing_amount_milli_cents: 500 });
      const part = { name: 'one', milli_cents: 0, used: {} };
      const cost = {
        estimate: true as const,
        model: part,
        transcription: part,
        extraction: part,
        carrier: part,
      };
      await make(1, { status: 'completed', cost: { ...cost, total_milli_cents: 7, as_of: '2026-01-01' } });
      await make(2, { status: 'busy', direction: 'inbound' });
      await make(3, { status: 'completed', telephone: false, billed_duration_seconds: 5 });
      await store.createCall(makeCall(await addOrganization(store)), { events: [], reserve: 0 });
      const all = {
        calls: 3,
        completed: 2,
        talkSeconds: 65,
        billedMilliCents: 500,
        costMilliCents: 7,
        more: false,
      };
      t.same(await store.sumCalls(org, {}, 4), all);
      t.same(await store.sumCalls(org, {}, 2), { ...none, calls: 1, talkSeconds: 5, more: true });
      t.same(await store.sumCalls(org, { direction: 'inbound' }, 9), { ...none, calls: 1 });
      t.same(await store.sumCalls(org, { createdBefore: at(60_000) }, 9), {
        ...none,
        calls: 1,
        completed: 1,
        talkSeconds: 60,
        billedMilliCents: 500,
      });
    },
  );

  t.test('money: a hold, a top-up, a charge', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 1000 });
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 400 }));
    t.equal(call.reserved_milli_cents, 400);
    t.equal(await balance(store, org), 600);
    const topped = succeeded(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'in_progress' },
        ledger: [{ kind: 'top_up', amountMilliCents: -300 }],
      }),
    );
    t.equal(topped.reserved_milli_cents, 700);
    await store.saveCall(call.id, {
      from: ['in_progress'],
      change: {},
      ledger: [{ kind: 'top_up', amountMilliCents: -100 }],
    });
    t.equal(await balance(store, org), 200);
    t.strictSame(
      await store.saveCall(call.id, {
        from: ['in_progress'],
        change: { hangup_cause: 'never' },
        ledger: [{ kind: 'top_up', amountMilliCents: -201 }],
      }),
      { conflict: 'insufficient_credit' },
      'a top-up the balance does not cover',
    );
    t.equal((await store.findCall(call.id))?.hangup_cause, null);

    const ended = succeeded(
      await store.saveCall(call.id, {
        from: ['in_progress'],
        change: { status: 'completed', billing_amount_milli_cents: 650, reservation_status: 'settled' },
        ledger: [{ kind: 'settle', amountMilliCents: 800 - 650 }],
      }),
    );
    t.equal(ended.reserved_milli_cents, 0);
    t.equal(ended.reservation_status, 'settled');
    t.equal(await balance(store, org), 350);
    t.strictSame(
      (await store.listLedger(org, call.id)).map((row) => [row.kind, row.amount_milli_cents]),
      [
        ['reserve', -400],
        ['top_up', -300],
        ['top_up', -100],
        ['settle', 150],
      ],
      'the rows add up to the charge',
    );
    for (const kind of ['settle', 'release', 'top_up', 'reserve'] as const) {
      const amountMilliCents = kind === 'top_up' || kind === 'reserve' ? -1 : 1;
      t.strictSame(
        await store.saveCall(call.id, {
          from: ['completed'],
          change: {},
          ledger: [{ kind, amountMilliCents }],
        }),
        { conflict: 'ledger_exists' },
        `no ${kind} after the end`,
      );
    }
    t.equal(await balance(store, org), 350);
    t.equal((await store.listLedger(org)).length, 5, 'the credit and the four');
    t.strictSame(await store.listLedger(await addOrganization(store), call.id), [], 'organization scope');
  });

  t.test('money: a call that was never connected gives its hold back', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 500 });
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 500 }));
    t.equal(await balance(store, org), 0);
    const ended = succeeded(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'busy' },
        events: ['call.busy'],
        ledger: [{ kind: 'release', amountMilliCents: 500 }],
      }),
    );
    t.equal(ended.reservation_status, 'released');
    t.equal(JSON.parse((await store.listEvents(call.id))[0]?.body ?? '').reservation_status, 'released');
    t.equal(await balance(store, org), 500);
    const rows = await store.listLedger(org, call.id);
    t.equal(
      rows.reduce((sum, row) => sum + row.amount_milli_cents, 0),
      0,
    );
  });

  t.test('money: a charge beyond the hold takes what the balance has, and no more', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 130 });
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 100 }));
    const ended = succeeded(
      await store.saveCall(call.id, {
        from: ['queued'],
        change: { status: 'completed', billing_amount_milli_cents: 170 },
        events: ['call.completed'],
        ledger: [{ kind: 'settle', amountMilliCents: -70 }],
      }),
    );
    t.equal(await balance(store, org), 0, 'never below zero');
    t.equal(ended.billing_amount_milli_cents, 130, 'the bill is what was taken');
    t.equal(JSON.parse((await store.listEvents(call.id))[0]?.body ?? '').billing_amount_milli_cents, 130);
    const rows = await store.listLedger(org, call.id);
    t.equal(
      rows.reduce((sum, row) => sum + row.amount_milli_cents, 0),
      -130,
    );
  });

  t.test('money: an unlimited organization has the same rows and no balance', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 900 }));
    await store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'completed', billing_amount_milli_cents: 1000 },
      ledger: [{ kind: 'settle', amountMilliCents: -100 }],
    });
    t.equal(await balance(store, org), null);
    t.strictSame(
      (await store.listLedger(org)).map((row) => [row.kind, row.amount_milli_cents]),
      [
        ['reserve', -900],
        ['settle', -100],
      ],
    );
    await store.setBalance(org, 50);
    t.equal(await balance(store, org), 50, 'a balance set later starts where it is set');
  });

  t.test('money: the end of a call follows from what is held, whatever amount is passed', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 1000 });
    const sum = async (id: string) =>
      (await store.listLedger(org, id)).reduce((all, row) => all + row.amount_milli_cents, 0);
    const start = async () =>
      succeeded(await store.createCall(makeCall(org), { events: [], reserve: 300 })).id;

    const released = await start();
    await store.saveCall(released, {
      from: ['queued'],
      change: { status: 'failed' },
      ledger: [{ kind: 'release', amountMilliCents: 1 }],
    });
    t.equal(await sum(released), 0);
    const settled = await start();
    await store.saveCall(settled, {
      from: ['queued'],
      change: { status: 'completed', billing_amount_milli_cents: 120 },
      ledger: [
        { kind: 'top_up', amountMilliCents: -50 },
        { kind: 'settle', amountMilliCents: 999 },
      ],
    });
    t.equal(await sum(settled), -120);
    const unbilled = await start();
    const billed = succeeded(
      await store.saveCall(unbilled, {
        from: ['queued'],
        change: { status: 'completed' },
        ledger: [{ kind: 'settle', amountMilliCents: 260 }],
      }),
    );
    t.equal(billed.billing_amount_milli_cents, 40, 'without a bill, it follows from the amount');
    t.equal(await sum(unbilled), -40);
    t.equal(await balance(store, org), 840);
  });

  t.test('money: wrong signs are refused', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 100 });
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 10 }));
    for (const kind of ['top_up', 'credit'] as const) {
      await t.rejects(
        store.saveCall(call.id, { from: ['queued'], change: {}, ledger: [{ kind, amountMilliCents: 5 }] }),
      );
    }
    await t.rejects(store.createCall(makeCall(org), { events: [], reserve: -5 }));
    t.equal(await balance(store, org), 90);
  });

  t.test('100 calls at once with credit for 7: 7 succeed', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store, { balance_milli_cents: 7 * 300 + 299 });
    const answers = await Promise.all(
      Array.from({ length: 100 }, () =>
        store.createCall(makeCall(org), { events: ['call.queued'], reserve: 300 }),
      ),
    );
    t.equal(answers.filter((answer) => !('conflict' in answer)).length, 7);
    t.equal(answers.filter((a) => 'conflict' in a && a.conflict === 'insufficient_credit').length, 93);
    t.equal(await balance(store, org), 299);
    t.equal((await store.listCalls(org, {}, { limit: 100 })).length, 7, 'nothing is left of the others');
  });

  t.test('transcripts', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const twin = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const late = makeItem(call.id, { id: 'item_3', start_ms: 900, role: 'caller', text: 'Yes?' });
    const first = makeItem(call.id, { id: 'item_1', start_ms: 0, end_ms: null });
    const same = makeItem(call.id, { id: 'item_0', start_ms: 900, role: 'tool', interrupted: true });
    await store.saveTranscript([late, first]);
    await store.saveTranscript([same]);
    await store.saveTranscript([]);
    await store.saveTranscript([makeItem(twin.id, { id: 'item_1', text: 'Another call.' })]);
    t.strictSame(await store.listTranscript(call.id), [first, late, same], 'by start, then as inserted');
    const cut = { ...late, heard_text: 'Ye', interrupted: true, end_ms: 1000 };
    await store.saveTranscript([cut]);
    t.strictSame(await store.listTranscript(call.id), [first, cut, same], 'replaced in its place');
    t.equal((await store.listTranscript(twin.id))[0]?.text, 'Another call.', 'item ids are a call’s own');
    await store.saveTranscript([{ ...first, start_ms: 0.4, end_ms: 99.6 }]);
    t.strictSame((await store.listTranscript(call.id))[0], { ...first, start_ms: 0, end_ms: 100 });
    await t.rejects(
      store.saveTranscript([makeItem(call.id), makeItem(uuid())]),
      'items of an unknown call are refused',
    );
    t.equal((await store.listTranscript(call.id)).length, 3, 'and all that came with them');
  });

  t.test('what nobody waits for is stored by a flush, or with what is asked later', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const patient = { patient: true };
    await store.flush();
    const first = makeItem(call.id, { id: 'item_1' });
    const usage = { tokens: 4 };
    const asked = [
      store.saveTranscript([first], patient),
      store.saveTurns({ turns: [makeTurn(call.id)], interruptions: [] }, patient),
      store.saveCall(call.id, { from: ['queued'], change: { usage } }, patient),
      store.saveCall(call.id, { from: ['ringing'], change: { usage } }, patient),
    ];
    await store.flush();
    t.match(await Promise.all(asked), [[], [], { id: call.id, usage }, { conflict: 'status' }]);
    t.strictSame(await store.listTranscript(call.id), [first]);
    t.equal((await store.listTurns(call.id)).length, 1);
    t.match(await store.findCall(call.id), { status: 'queued', usage });
    await store.saveTranscript([makeItem(call.id, { id: 'item_2', start_ms: 5 })], patient);
    t.equal((await store.listTranscript(call.id)).length, 2, 'and by itself where nothing comes');
  });

  t.test('turns and interruptions', async (t) => {
    const { store } = await open(t);
    const org = await addOrganization(store);
    const call = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const twin = succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    const greeting = makeTurn(call.id, {
      kind: 'greeting',
      speech_end_ms: null,
      requested_ms: null,
      first_model_audio_ms: null,
      first_sent_ms: null,
      first_heard_ms: null,
      barged_in: true,
    });
    const answer = makeTurn(call.id, { turn_index: 2 });
    const late = makeInterruption(call.id, { at_ms: 9_000.1, taken_back: true });
    const early = makeInterruption(call.id, { onset_ms: null, held_ms: null });
    await store.saveTurns({ turns: [], interruptions: [] });
    await store.saveTurns({ turns: [answer, makeTurn(twin.id), greeting], interruptions: [late, early] });
    t.strictSame(await store.listTurns(call.id), [greeting, answer], 'by number, as they were stored');
    t.strictSame(await store.listInterruptions(call.id), [early, late], 'as they came');
    t.strictSame(await store.listInterruptions(twin.id), []);
    await store.saveTurns({
      turns: [makeTurn(call.id, { turn_index: 2, kind: 'prompt', barged_in: true })],
      interruptions: [],
    });
    const cut = { ...answer, barged_in: true };
    t.strictSame(await store.listTurns(call.id), [greeting, cut], 'cut short since, and else as it was');
    await store.saveTurns({ turns: [answer], interruptions: [] });
    t.strictSame(
      await store.listTurns(call.id),
      [greeting, cut],
      'and stays so when it was told before that',
    );
    await t.rejects(
      store.saveTurns({
        turns: [makeTurn(call.id, { turn_index: 3 }), makeTurn(uuid())],
        interruptions: [makeInterruption(call.id)],
      }),
      'a turn of an unknown call is refused',
    );
    t.equal((await store.listTurns(call.id)).length, 2, 'and all that came with it');
    t.equal((await store.listInterruptions(call.id)).length, 2);
  });
}
