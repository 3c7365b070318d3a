// What survives when the daemon dies in the middle, or a write fails in the middle: all of a transaction, or nothing.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import t from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { seeded } from '../../random.ts';
import { addOrganization, at, makeCall, makeEndpoint, stoppedClock, succeeded } from '../makers.ts';

/** Kills a committing process after some number of acknowledgements; answers what it had acknowledged. */
async function runAndKill(path: string, after: number): Promise<{ queued: string[]; completed: string[] }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'commit-loop.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged = { queued: [] as string[], completed: [] as string[] };
  let lines = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const [what, id] = line.split(' ');
    if (id === undefined || id.length !== 36) continue;
    if (what === 'queued') acknowledged.queued.push(id);
    else acknowledged.completed.push(id);
    lines += 1;
    if (lines === after) child.kill('SIGKILL');
  }
  const [, signal] = await exited;
  if (signal !== 'SIGKILL') throw new Error(`the committing process ended by itself (${signal})`);
  return acknowledged;
}

t.test(
  'killed in a loop of commits: every acknowledged one is there, and nothing is half there',
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.comment(`seed ${seed}`);
    const random = seeded(seed);
    const path = join(t.testdir(), 'offhook.db');
    const queued: string[] = [];
    const completed: string[] = [];
    for (let round = 0; round < 5; round++) {
      const acknowledged = await runAndKill(path, 1 + Math.floor(random() * 60));
      queued.push(...acknowledged.queued);
      completed.push(...acknowledged.completed);

      const store = await openStore({ path });
      for (const id of queued)
        if (!(await store.findCall(id))) t.fail(`call ${id} was acknowledged and is lost`);
      for (const id of completed) {
        const status = (await store.findCall(id))?.status;
        if (status !== 'completed') t.fail(`call ${id} was acknowledged as completed and is ${status}`);
      }
      await store.close();
    }

    const db = new Database(path);
    const count = (sql: string) => Number(db.prepare(sql).pluck().get());
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    t.strictSame(db.pragma('foreign_key_check'), []);
    t.ok(count('SELECT count(*) FROM calls') >= queued.length);
    t.equal(
      count(`SELECT count(*) FROM calls WHERE
      (SELECT group_concat(type) FROM (SELECT type FROM events WHERE call_id = calls.id ORDER BY sequence))
      IS NOT iif(status = 'completed', 'call.queued,call.completed', 'call.queued')`),
      0,
      'every call has the events of its status, in order',
    );
    t.equal(
      count(
        'SELECT count(*) FROM events WHERE (SELECT count(*) FROM deliveries WHERE event_id = events.id) <> 2',
      ),
      0,
      'every event has both its deliveries',
    );
    t.equal(
      count(`SELECT count(*) FROM calls WHERE
      (SELECT sum(amount_milli_cents) FROM ledger WHERE call_id = calls.id)
      IS NOT iif(status = 'completed', -billing_amount_milli_cents, -reserved_milli_cents)`),
      0,
      'the money of every call adds up',
    );
    t.equal(
      count('SELECT balance_milli_cents FROM organizations'),
      count('SELECT sum(amount_milli_cents) FROM ledger'),
      'the balance is the sum of the ledger',
    );
    db.close();
  },
);

t.test('a write that fails anywhere in a change leaves nothing of it', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const clock = stoppedClock();
  const store = await openStore({ path, now: clock.now });
  t.teardown(() => store.close());
  const org = await addOrganization(store, { balance_milli_cents: 10_000 });
  await store.createEndpoint(makeEndpoint(org));
  const call = succeeded(
    await store.createCall(makeCall(org, { webhook_url: 'https://inline.example.com' }), {
      events: ['call.queued'],
      reserve: 100,
    }),
  );
  const [delivery] = await store.listDeliveries(org, { eventType: 'call.queued' }, { limit: 1 });
  const heard: string[] = [];
  store.subscribe({ event: (event) => heard.push(event.type), deliveries: () => heard.push('deliveries') });

  const shell = new Database(path);
  t.teardown(() => shell.close());
  const dump = () =>
    ['organizations', 'calls', 'events', 'deliveries', 'ledger', 'attempts', 'endpoints'].map((table) =>
      shell.prepare(`SELECT * FROM ${table} ORDER BY seq`).all(),
    );
  const create = () =>
    store.createCall(makeCall(org, { webhook_url: 'https://inline.example.com' }), {
      events: ['call.queued', 'call.ringing'],
      reserve: 300,
    });
  const end = () =>
    store.saveCall(call.id, {
      from: ['queued'],
      change: { status: 'completed', billing_amount_milli_cents: 60 },
      events: ['call.answered', 'call.completed'],
      ledger: [{ kind: 'settle', amountMilliCents: 40 }],
    });
  const record = () =>
    store.recordAttempt(delivery?.id ?? '', {
      attempt: {
        started_at: at(0),
        latency_ms: 3,
        response_status: 410,
        error: 'HTTP 410',
        response_excerpt: null,
      },
      status: 'exhausted',
    });
  await store.claimDelivery(delivery?.id ?? '', 0, at(0), 60_000);
  const before = dump();

  // Every write a verb makes, made to fail: the n-th row of a table, for each table that it writes.
  const faults: [name: string, verb: () => Promise<unknown>, table: string, when: string, most: number][] = [
    ['createCall', create, 'calls', 'INSERT', 1],
    ['createCall', create, 'events', 'INSERT', 2],
    ['createCall', create, 'deliveries', 'INSERT', 4],
    ['createCall', create, 'ledger', 'INSERT', 1],
    ['createCall', create, 'organizations', 'UPDATE', 1],
    ['saveCall', end, 'calls', 'UPDATE', 1],
    ['saveCall', end, 'events', 'INSERT', 2],
    ['saveCall', end, 'deliveries', 'INSERT', 4],
    ['saveCall', end, 'ledger', 'INSERT', 1],
    ['saveCall', end, 'organizations', 'UPDATE', 1],
    ['recordAttempt', record, 'attempts', 'INSERT', 1],
    ['recordAttempt', record, 'deliveries', 'UPDATE', 1],
    ['recordAttempt', record, 'endpoints', 'UPDATE', 1],
  ];
  for (const [name, verb, table, when, most] of faults) {
    for (let n = 1; n <= most; n++) {
      const rows = `(SELECT count(*) FROM ${table})`;
      const already = shell.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
      const nth = when === 'INSERT' ? `WHEN ${rows} = ${already} + ${n - 1}` : '';
      shell.exec(`CREATE TRIGGER fault BEFORE ${when} ON ${table} ${nth}
        BEGIN SELECT RAISE(ABORT, 'injected fault'); END`);
      await t.rejects(verb(), { message: 'injected fault' }, `${name}: write ${n} of ${table} fails`);
      shell.exec('DROP TRIGGER fault');
      t.strictSame(dump(), before, 'nothing is left');
    }
  }
  t.strictSame(heard, [], 'and nobody is told');

  succeeded(await create());
  succeeded(await end());
  succeeded(await record());
  t.strictSame(heard, [
    'call.queued',
    'call.ringing',
    'deliveries',
    'call.answered',
    'call.completed',
    'deliveries',
  ]);
});
