// A disk that takes no writes for a while: what has happened is kept and stored afterwards as if nothing had been, what is
// asked for is refused.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openConnection } from '../../../storage/sqlite/connection.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { transcript } from '../../../storage/sqlite/transcript.ts';
import { addOrganization, at, makeCall, makeItem, makeTurn, stoppedClock, succeeded } from '../makers.ts';

const fault = (code: string) => new Database.SqliteError('not taken', code);

/** A store, an organization with credit, and a switch that makes every write fail. */
async function openFaulty() {
  const disk = { fails: null as string | null, writes: 0 };
  const clock = stoppedClock();
  const store = await openStore({
    path: ':memory:',
    now: clock.now,
    onWrite() {
      disk.writes += 1;
      if (disk.fails !== null) throw fault(disk.fails);
    },
  });
  const org = await addOrganization(store, { balance_milli_cents: 0 });
  await store.setBalance(org, 10_000);
  return { store, org, disk, clock };
}

for (const code of ['SQLITE_FULL', 'SQLITE_IOERR_WRITE', 'SQLITE_BUSY']) {
  t.test(`${code}: steps of a call are kept in order, and stored as they happened`, async (t) => {
    const { store, org, disk, clock } = await openFaulty();
    t.teardown(() => store.close());
    const call = makeCall(org, { webhook_url: 'https://hooks.example.com/' });
    succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 600 }));
    const told: string[] = [];
    store.subscribe({ event: ({ type }) => told.push(type), recovered: () => told.push('recovered') });

    disk.fails = code;
    const accepted = { status: 'initiated', carrier_call_id: 'CA1' } as const;
    t.match(await store.saveCall(call.id, { from: ['queued'], change: accepted }), accepted);
    t.equal(store.writable(), false);
    const answeredAt = clock.tick(2_000);
    const answered = { status: 'in_progress', answered_at: answeredAt } as const;
    t.match(
      await store.saveCall(call.id, { from: ['initiated'], change: answered, events: ['call.answered'] }),
      answered,
    );
    const endedAt = clock.tick(3_000);
    const ended = {
      status: 'failed',
      ended_at: endedAt,
      billed_duration_seconds: 3,
      billing_amount_milli_cents: 300,
    } as const;
    const end = {
      from: ['in_progress'],
      change: ended,
      events: ['call.failed'],
      ledger: [{ kind: 'settle', amountMilliCents: 0 }],
    } as const;
    t.match(await store.saveCall(call.id, end), ended);
    t.same(await store.saveCall(call.id, end), { conflict: 'status' }, 'it has ended, though not on disk');
    t.match(await store.findCall(call.id), ended);
    t.match(await store.getCall(org, call.id), ended);
    t.match(await store.findCallByCarrierId('simulated', 'CA1'), ended);
    t.same(told, []);
    t.match(await store.stats(), { keptWrites: 3 });
    for (const refused of [
      store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }),
      store.saveCall(call.id, {
        from: ['failed'],
        change: {},
        ledger: [{ kind: 'top_up', amountMilliCents: -1 }],
      }),
      store.setBalance(org, 5),
    ]) {
      await t.rejects(async () => void (await refused), { code: 'storage_low', status: 503 });
    }

    clock.tick(60_000);
    disk.fails = null;
    await store.stored(call.id);
    t.same(told, ['call.answered', 'call.failed', 'recovered']);
    t.equal(store.writable(), true);
    t.match(await store.findCall(call.id), {
      ...ended,
      answered_at: answeredAt,
      reservation_status: 'settled',
    });
    t.match(await store.listEvents(call.id), [
      { type: 'call.queued', sequence: 1, created_at: at(0) },
      { type: 'call.answered', sequence: 2, created_at: answeredAt },
      { type: 'call.failed', sequence: 3, created_at: endedAt },
    ]);
    t.equal((await store.listCallDeliveries(call.id)).length, 3);
    t.match(await store.listLedger(org, call.id), [
      { kind: 'reserve', amount_milli_cents: -600 },
      { kind: 'settle', amount_milli_cents: 300, created_at: endedAt },
    ]);
    t.match(await store.getCredit(org), { balanceMilliCents: 9_700, heldMilliCents: 0 });
    t.match(await store.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 }), {
      status: 'queued',
    });
  });
}

t.test('only requests have failed: storage says when they are taken again', async (t) => {
  const { store, org, disk } = await openFaulty();
  t.teardown(() => store.close());
  const recovered = new Promise<void>((resolve) => store.subscribe({ recovered: resolve }));
  disk.fails = 'SQLITE_FULL';
  await t.rejects(store.setBalance(org, 5), { code: 'storage_low' });
  t.equal(store.writable(), false);
  disk.fails = null;
  await recovered;
  t.equal(store.writable(), true);
  await store.setBalance(org, 5);
});

t.test('what cannot be stored at all is lost alone, and holds nothing back', async (t) => {
  const { store, org, disk } = await openFaulty();
  t.teardown(() => store.close());
  const call = makeCall(org);
  succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
  disk.fails = 'SQLITE_FULL';
  const good = makeItem(call.id, { text: 'first' });
  await store.saveTranscript([good, makeItem('no such call')]);
  await store.saveTranscript([{ ...good, text: 'first, and more' }]);
  await store.saveTurns({ turns: [makeTurn(call.id)], interruptions: [] });
  await store.saveCall(call.id, { from: ['queued'], change: { usage: { tokens: 5 } } });
  disk.fails = null;
  await store.stored(call.id);
  t.same(
    (await store.listTranscript(call.id)).map((item) => item.text),
    ['first, and more'],
  );
  t.equal((await store.listTurns(call.id)).length, 1);
  t.match(await store.findCall(call.id), { usage: { tokens: 5 } });
  t.match(await store.stats(), { keptWrites: 0 });
});

t.test('words are kept up to a bound, steps of calls beyond it', async (t) => {
  const { store, org, disk } = await openFaulty();
  t.teardown(() => store.close());
  const call = makeCall(org);
  succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
  disk.fails = 'SQLITE_FULL';
  const text = 'x'.repeat(1024 * 1024);
  let taken = 0;
  await t.rejects(
    async () => {
      for (; taken < 100; taken += 1)
        await store.saveTranscript([makeItem(call.id, { text, heard_text: '' })]);
    },
    { code: 'storage_low' },
  );
  t.ok(taken >= 30 && taken <= 33, `${taken} MB`);
  t.match(await store.saveCall(call.id, { from: ['queued'], change: { status: 'initiated' } }), {
    status: 'initiated',
  });
  disk.fails = null;
  await store.stored(call.id);
  t.equal((await store.listTranscript(call.id)).length, taken);
  t.match(await store.findCall(call.id), { status: 'initiated' });
});

/** A delivery's first attempt is claimed, and its outcome, `attempt`, is not to be stored: the disk is full. */
async function openClaimed(t: Test) {
  const { store, org, disk, clock } = await openFaulty();
  t.teardown(() => store.close());
  const call = makeCall(org, { webhook_url: 'https://hooks.example.com/' });
  succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
  const [delivery] = await store.listCallDeliveries(call.id);
  const id = delivery?.id ?? '';
  if (!(await store.claimDelivery(id, 0, at(0), 60_000))) throw new Error('not claimed');
  disk.fails = 'SQLITE_FULL';
  const answer = { response_status: 500, error: 'http_status_500', response_excerpt: null };
  return { store, org, disk, clock, id, attempt: { started_at: at(0), latency_ms: 5, ...answer } };
}

t.test('an attempt made is kept with what it means', async (t) => {
  const { store, org, disk, clock, id, attempt } = await openClaimed(t);
  const due = clock.tick(5_000);
  t.match(await store.recordAttempt(id, { attempt, status: 'pending', nextAttemptAt: due }), {
    status: 'pending',
    attempt_count: 1,
  });
  await t.rejects(
    store.claimDelivery(id, 0, at(90_000), 60_000),
    { code: 'storage_low' },
    'nobody tries twice',
  );
  const again = new Promise((resolve) => store.subscribe({ deliveries: resolve }));
  disk.fails = null;
  t.match(await again, [{ id, attempt: 1, at: due }]);
  t.match(await store.getDelivery(org, id), { delivery: { attempt_count: 1 }, attempts: [attempt] });
});

t.test('the clock is set while an attempt is kept: the next is as far off as it was', async (t) => {
  const { store, org, disk, clock, id, attempt } = await openClaimed(t);
  await store.recordAttempt(id, { attempt, status: 'pending', nextAttemptAt: at(5_000) });
  const hour = 3_600_000;
  clock.tick(hour);
  const told = new Promise((resolve) => store.subscribe({ moved: resolve }));
  await store.moveTimes(hour);
  t.equal(await told, hour);
  const recovered = new Promise<void>((resolve) => store.subscribe({ recovered: resolve }));
  disk.fails = null;
  await recovered;
  t.match(await store.getDelivery(org, id), {
    delivery: { attempt_count: 1, next_attempt_at: at(hour + 5_000) },
  });
});

t.test('a database that may not grow: SQLite itself says so, and says when it may again', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const database = openDatabase({ path });
  t.teardown(() => database.close());
  const { db } = database;
  const connection = openConnection({ db, owner: database.daemon.epoch, clock: () => new Date(at(0)) });
  t.teardown(() => connection.close());
  db.pragma('foreign_keys = OFF');
  const store = transcript(connection);
  db.pragma(`max_page_count = ${Number(db.pragma('page_count', { simple: true })) + 12}`);
  const items = Array.from({ length: 40 }, (_, n) => makeItem('c', { text: `${n} ${'x'.repeat(3_000)}` }));
  for (const item of items) await store.saveTranscript([item]);
  t.equal(connection.kept.writable(), false);
  t.ok(connection.kept.count() > 0 && connection.kept.count() < items.length);
  db.pragma('max_page_count = 100000');
  await connection.kept.stored('c');
  t.same(
    (await store.listTranscript('c')).map((item) => item.text),
    items.map((item) => item.text),
  );
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
});
