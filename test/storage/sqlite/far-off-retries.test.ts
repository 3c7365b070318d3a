// Many deliveries wait: those that a clock which was ahead has put too far off are pulled in short transactions, with other
// work between them, and setting the clock writes none of them.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, at, makeCall, succeeded } from '../makers.ts';

const HOUR = 3_600_000;
const WAITS = [0, 5_000, 30_000];
/** More than is read at once. */
const MANY = 6_000;

/** A database with that many retries, every third at its time and the others two hours off, and what they are due at. */
async function fill(t: Test) {
  const path = join(t.testdir({}), 'offhook.db');
  const store = await openStore({ path, now: () => new Date(at(0)) });
  const org = await addOrganization(store);
  const call = makeCall(org, { webhook_url: 'https://inline.example.com/hook' });
  succeeded(await store.createCall(call, { events: ['call.queued'], reserve: 0 }));
  await store.close();
  const db = new Database(path);
  const columns = db
    .prepare<[], string>("SELECT name FROM pragma_table_info('deliveries') WHERE name NOT IN ('seq', 'id')")
    .pluck()
    .all();
  // Of events that are not there: nobody reads those here.
  db.pragma('foreign_keys = OFF');
  const given = {
    event_id: "'e' || n",
    attempt_count: '1',
    next_attempt_at: 'CASE n % 3 WHEN 0 THEN @soon ELSE @far END',
  };
  const values = columns.map((column) => given[column as keyof typeof given] ?? `deliveries.${column}`);
  db.prepare(
    `WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < @many)
     INSERT INTO deliveries (id, ${columns.join(', ')}) SELECT 'd' || n, ${values.join(', ')} FROM many, deliveries`,
  ).run({ many: MANY, soon: at(4_000), far: at(2 * HOUR) });
  const dueAt = () => {
    const rows = db.prepare<[], { at: string; count: number }>(
      `SELECT next_attempt_at AS at, count(*) AS count FROM deliveries WHERE id LIKE 'd%' GROUP BY 1 ORDER BY 1`,
    );
    return rows.all().map((row) => [row.at, row.count]);
  };
  t.teardown(() => db.close());
  return { path, org, dueAt };
}

t.test(
  'far off by a clock that was ahead: pulled, a few at a time, and other work comes in between',
  async (t) => {
    const { path, org, dueAt } = await fill(t);
    let writes = 0;
    const store = await openStore({ path, now: () => new Date(at(0)), onWrite: () => writes++ });
    t.teardown(() => store.close());
    let over = false;
    const pulled = store.pullDueDeliveries(at(0), WAITS).then(() => {
      over = true;
    });
    while (writes < 3) await new Promise((next) => setImmediate(next));
    succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 }));
    t.equal(over, false, 'a call begins meanwhile');
    await pulled;
    t.same(dueAt(), [
      [at(4_000), MANY / 3],
      [at(5_000), (MANY / 3) * 2],
    ]);
    const before = writes;
    await store.pullDueDeliveries(at(0), WAITS);
    t.equal(writes, before, 'what is right is only read');
  },
);

t.test('cut short by a crash or a close, the next start does the rest', async (t) => {
  const { path, dueAt } = await fill(t);
  let left = 3;
  const first = await openStore({
    path,
    now: () => new Date(at(0)),
    onWrite() {
      left -= 1;
      if (left < 0) throw new Error('killed');
    },
  });
  await t.rejects(first.pullDueDeliveries(at(0), WAITS), { message: 'killed' });
  const cut = dueAt();
  t.equal(cut.length, 3, 'some are pulled and some are not');
  await first.close();

  let writes = 0;
  const second = await openStore({ path, now: () => new Date(at(0)), onWrite: () => writes++ });
  const pulled = second.pullDueDeliveries(at(0), WAITS);
  while (writes < 2) await new Promise((next) => setImmediate(next));
  await second.close();
  await pulled;
  t.equal(dueAt().length, 3, 'a close leaves the rest');

  const third = await openStore({ path, now: () => new Date(at(0)) });
  await third.pullDueDeliveries(at(0), WAITS);
  t.equal(dueAt().length, 2);
  await third.close();
});

t.test('the clock is set: what waits is as far off as it was, and is not written', async (t) => {
  const { path, org, dueAt } = await fill(t);
  const stored = dueAt();
  const used: string[] = [];
  const store = await openStore({ path, now: () => new Date(at(0)), onPrepare: (sql) => used.push(sql) });
  used.length = 0;
  await store.moveTimes(HOUR);
  t.ok(used.some((sql) => /\buser_sessions\b/.test(sql)));
  t.same(
    used.filter((sql) => /\b(deliveries|idempotency_keys)\b/.test(sql)),
    [],
  );
  t.same(dueAt(), stored);
  const [due] = await store.dueDeliveries(at(HOUR + 4_000), 1);
  t.match(due, { at: at(HOUR) }, 'the first was due already');
  t.equal((await store.dueDeliveries(at(HOUR + 3_999), 10)).length, 1);
  t.equal((await store.dueDeliveries(at(HOUR + 4_000), 10)).length, 10);
  const [shown] = await store.listDeliveries(org, { status: 'pending' }, { limit: 1 });
  t.ok([at(HOUR + 4_000), at(3 * HOUR)].includes(shown?.next_attempt_at ?? ''));
  await store.close();

  const next = await openStore({ path, now: () => new Date(at(HOUR)) });
  t.equal((await next.dueDeliveries(at(HOUR + 3_999), 10)).length, 1, 'at the next start too');
  await next.pullDueDeliveries(at(HOUR), WAITS);
  t.equal(
    (await next.dueDeliveries(at(HOUR + 5_000), MANY * 2)).length,
    MANY + 1,
    'pulled to their wait from then',
  );
  await next.close();
});
