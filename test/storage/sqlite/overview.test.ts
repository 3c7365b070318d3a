// What the overview adds up, against the same added up here from 30,000 generated calls.
import Database from 'better-sqlite3';
import t from 'tap';
import type { CallRecord } from '../../../storage/records.ts';
import { openConnection } from '../../../storage/sqlite/connection.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { countCall, overview } from '../../../storage/sqlite/overview.ts';
import { CALLS, ORGANIZATIONS } from '../../../storage/sqlite/rows.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { turns } from '../../../storage/sqlite/turns.ts';
import { addOrganization, makeCall, makeOrganization } from '../makers.ts';

const END = Date.parse('2026-03-31T00:00:00.000Z');
const DAYS = 40;
const COUNT = 30_000;

/** Park and Miller: the same calls every time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

function cost(total: number | null): CallRecord['cost'] {
  const part = { name: 'x', milli_cents: total, used: {} };
  const parts = { model: part, transcription: part, extraction: part, carrier: part };
  return { estimate: true, total_milli_cents: total, ...parts, as_of: '2026-01-01' };
}

function generate() {
  const db = new Database(':memory:');
  for (const { sql } of MIGRATIONS) db.exec(sql);
  const connection = openConnection({ db, owner: 1, clock: () => new Date(END) });
  const [ours, others] = [makeOrganization(), makeOrganization()];
  const next = numbers(7);
  const calls: CallRecord[] = [];
  const base = makeCall(ours.id, { agent_id: null, prompt: 'p'.repeat(500), carrier_call_id: null });
  for (let i = 0; i < COUNT; i++) {
    const at = new Date(END - Math.floor(next() * DAYS * 86_400_000)).toISOString();
    const kind = next();
    const status =
      kind < 0.7 ? 'completed' : kind < 0.8 ? 'failed' : kind < 0.99 ? 'no_answer' : 'in_progress';
    // Most of those that fail were answered before.
    const answered =
      status === 'completed' || status === 'in_progress' || (status === 'failed' && next() < 0.8);
    calls.push({
      ...base,
      id: `call-${i}`,
      org_id: next() < 0.9 ? ours.id : others.id,
      status,
      telephone: next() >= 0.1,
      direction: next() < 0.5 ? 'inbound' : 'outbound',
      created_at: at,
      answered_at: answered ? at : null,
      billed_duration_seconds: status === 'completed' ? Math.ceil(next() * 300) : null,
      billing_amount_milli_cents: status === 'completed' ? Math.ceil(next() * 900) : null,
      error_code: status === 'failed' && next() < 0.7 ? 'model_error' : null,
      hangup_cause: status === 'failed' ? 'stream_lost' : null,
      cost: status === 'completed' ? cost(next() < 0.1 ? null : next() * 1000) : null,
    });
  }
  db.transaction(() => {
    for (const one of [ours, others]) db.prepare(ORGANIZATIONS.insert).run(ORGANIZATIONS.toRow(one));
    const insert = db.prepare(CALLS.insert);
    for (const call of calls) {
      insert.run(CALLS.toRow(call));
      // As it was made, and as it became: as createCall and saveCall count it.
      const made: CallRecord = {
        ...call,
        status: 'queued',
        billed_duration_seconds: null,
        billing_amount_milli_cents: null,
        cost: null,
      };
      countCall(connection, null, made);
      countCall(connection, made, call);
    }
  })();
  return { db, connection, ours: ours.id, calls };
}

t.test('30,000 calls are added up by the hour', async (t) => {
  const { db, connection, ours, calls } = generate();
  const from = new Date(END - 30 * 86_400_000).toISOString();
  const to = new Date(END).toISOString();
  const [hours, reasons] = [
    await overview(connection).callHours(ours, from, to),
    await overview(connection).failureReasons(ours, from, to),
  ];

  const own = calls.filter((call) => call.org_id === ours && call.created_at >= from && call.created_at < to);
  t.ok(own.length > 18_000, `${own.length} calls`);
  const byHour = Map.groupBy(own, (call) => call.created_at.slice(0, 13));
  t.same(
    hours.map(({ hour }) => hour),
    [...byHour.keys()].sort(),
  );
  const sum = (list: CallRecord[], of: (call: CallRecord) => number | null | undefined) =>
    list.reduce((all, call) => all + (of(call) ?? 0), 0);
  for (const hour of hours) {
    const list = byHour.get(hour.hour) ?? [];
    const phoned = list.filter(({ telephone }) => telephone);
    const ended = phoned.filter(({ status }) => status !== 'in_progress');
    const { costMilliCents, ...rest } = hour;
    const wanted = {
      hour: hour.hour,
      calls: phoned.length,
      inbound: phoned.filter(({ direction }) => direction === 'inbound').length,
      ended: ended.length,
      completed: phoned.filter(({ status }) => status === 'completed').length,
      failed: phoned.filter(({ status }) => status === 'failed').length,
      talkSeconds: sum(list, (call) => call.billed_duration_seconds),
      billedMilliCents: sum(list, (call) => call.billing_amount_milli_cents),
    };
    if (JSON.stringify(rest) !== JSON.stringify(wanted)) t.same(rest, wanted);
    const known = sum(list, (call) => call.cost?.total_milli_cents);
    if (Math.abs((costMilliCents ?? 0) - known) > 0.01) t.equal(costMilliCents, known, hour.hour);
  }
  const failed = own.filter(({ status, telephone }) => status === 'failed' && telephone);
  t.ok(failed.length < own.filter(({ status }) => status === 'failed').length);
  t.same(reasons, [
    { reason: 'model_error', count: failed.filter(({ error_code }) => error_code !== null).length },
    { reason: 'stream_lost', count: failed.filter(({ error_code }) => error_code === null).length },
  ]);

  db.close();
});

t.test('what a call cost is there once it is saved', async (t) => {
  const store = await openStore({ path: ':memory:', now: () => new Date(END) });
  t.teardown(() => store.close());
  const orgId = await addOrganization(store);
  const call = makeCall(orgId, { agent_id: null, created_at: '2026-03-01T12:00:00.000Z' });
  await store.createCall(call, { events: [], reserve: 0 });
  const costs = async () =>
    (await store.callHours(orgId, '2026-03-01T00:00:00.000Z', '2026-03-02T00:00:00.000Z')).map(
      ({ costMilliCents }) => costMilliCents,
    );
  t.same(await costs(), [null]);
  await store.saveCall(call.id, { from: ['queued'], change: { cost: cost(12.5) } });
  t.same(await costs(), [12.5]);
  await store.saveCall(call.id, { from: ['queued'], change: { cost: cost(null) } });
  t.same(await costs(), [null]);
});

t.test('latencies are counted as they come, each to within 3 %', async (t) => {
  const db = new Database(':memory:');
  for (const { sql } of MIGRATIONS) db.exec(sql);
  let now = Date.parse('2026-03-01T12:30:00.000Z');
  const connection = openConnection({ db, owner: 1, clock: () => new Date(now) });
  const [ours, others] = [makeOrganization(), makeOrganization()];
  for (const one of [ours, others]) db.prepare(ORGANIZATIONS.insert).run(ORGANIZATIONS.toRow(one));
  const call = makeCall(ours.id, { agent_id: null });
  const other = makeCall(others.id, { agent_id: null });
  const tried = makeCall(ours.id, { agent_id: null, telephone: false });
  for (const one of [call, other, tried]) db.prepare(CALLS.insert).run(CALLS.toRow(one));
  db.exec('UPDATE calls SET owner = 1');
  const turn = (index: number, heard: number | null, fields = {}) => ({
    id: `${index}`,
    call_id: call.id,
    turn_index: index,
    kind: 'answer' as const,
    speech_end_ms: 1_000,
    decided_ms: 1_100,
    requested_ms: 1_100,
    first_model_audio_ms: 1_200,
    first_sent_ms: 1_210,
    first_heard_ms: heard,
    barged_in: false,
    thrown_away: 0,
    ...fields,
  });
  const store = turns(connection);
  await store.saveTurns({
    turns: [
      turn(1, 1_700),
      turn(2, 1_702),
      turn(3, 3_500),
      turn(4, null),
      turn(5, 2_000, { kind: 'greeting' }),
      turn(6, 2_000, { kind: 'prompt', speech_end_ms: null }),
      turn(7, 1_000),
    ],
    interruptions: [],
  });
  await store.saveTurns({ turns: [turn(1, 1_700)], interruptions: [] });
  await store.saveTurns({ turns: [turn(1, 9_000, { id: 'x', call_id: other.id })], interruptions: [] });
  await store.saveTurns({ turns: [turn(1, 1_700, { id: 'y', call_id: tried.id })], interruptions: [] });
  now += 3_600_000;
  await store.saveTurns({ turns: [turn(8, 1_700)], interruptions: [] });
  const found = await overview(connection).answerLatencies(
    ours.id,
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
  );
  t.same(
    found.map(({ hour, answers }) => [hour, answers]),
    [
      ['2026-03-01T12', 1],
      ['2026-03-01T12', 2],
      ['2026-03-01T12', 1],
      ['2026-03-01T13', 1],
    ],
    'only answers that were heard, each once, of this organization',
  );
  const day = await overview(connection).answerLatencies(
    ours.id,
    '2026-03-01T00:00:00.000Z',
    '2026-03-02T00:00:00.000Z',
    6,
  );
  t.same(
    day.map(({ hour, answers }) => [hour, answers]),
    [
      ['2026-03-01T12', 1],
      ['2026-03-01T12', 3],
      ['2026-03-01T12', 1],
    ],
    'and added up over a step',
  );
  for (const [i, wanted] of [1, 700, 2_500, 700].entries()) {
    const got = found[i]?.latencyMs ?? 0;
    t.ok(Math.abs(got - wanted) <= Math.max(1, wanted * 0.03), `${got} stands for ${wanted}`);
  }
  db.close();
});
