// Writes of about the same time share a commit: in their order, each all or nothing by itself, none for long.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { mock } from 'node:test';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openConnection, Refusal } from '../../../storage/sqlite/connection.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { PATIENCE_MS } from '../../../storage/sqlite/group-commit.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { seeded } from '../../random.ts';
import { addOrganization, at, makeCall, makeItem, makeTurn, stoppedClock, succeeded } from '../makers.ts';

/** A connection to a table of its own, what other processes see of it, and how many transactions there were. */
function openTable(t: Test) {
  const path = join(t.testdir(), 'offhook.db');
  const database = openDatabase({ path });
  const { db } = database;
  db.exec('CREATE TABLE noted (word TEXT PRIMARY KEY, at TEXT)');
  const disk = { transactions: 0, fails: null as string | null, ms: 0 };
  const clock = stoppedClock();
  const connection = openConnection({
    db,
    owner: database.daemon.epoch,
    clock: clock.now,
    monotonicMs: () => disk.ms,
    onWrite() {
      disk.transactions += 1;
      if (disk.fails !== null) throw new Database.SqliteError('not taken', disk.fails);
    },
  });
  const shell = new Database(path, { readonly: true });
  t.teardown(() => {
    connection.close();
    shell.close();
    database.close();
  });
  const insert = (word: string) =>
    void connection.statement('INSERT INTO noted (word, at) VALUES (?, ?)').run(word, connection.now());
  const seen = () => shell.prepare('SELECT word FROM noted ORDER BY rowid').pluck().all();
  const fact = (word: string) => ({
    callId: null,
    work: () => {
      insert(word);
      return `stored ${word}`;
    },
    meanwhile: () => `kept ${word}`,
  });
  return { connection, disk, clock, insert, seen, shell, fact };
}

const turn = () => new Promise((next) => setImmediate(next));

t.test('what is asked for in one moment is one transaction, in its order', async (t) => {
  const { connection, disk, insert, seen } = openTable(t);
  const told: string[] = [];
  const asked = ['a', 'b', 'c'].map((word) =>
    connection
      .write(() => {
        insert(word);
        return word;
      })
      .then((answer) => told.push(answer)),
  );
  t.same(seen(), [], 'a promise is none before its commit');
  await Promise.all(asked);
  t.same(seen(), ['a', 'b', 'c']);
  t.same(told, ['a', 'b', 'c']);
  t.equal(disk.transactions, 1);
  await connection.write(() => insert('d'));
  t.equal(disk.transactions, 2);
});

t.test('one that fails, or is refused, is undone by itself, and its news is not told', async (t) => {
  const { connection, disk, insert, seen } = openTable(t);
  const told: string[] = [];
  connection.subscribe({ event: ({ id }) => told.push(id) });
  const write = (word: string, fails?: Error) =>
    connection.tryWrite((news) => {
      insert(word);
      news.events.push({ id: word } as never);
      if (fails !== undefined) throw fails;
      return word;
    });
  const answers = await Promise.allSettled([
    write('first'),
    write('refused', new Refusal('taken')),
    write('first'),
    write('broken', new Error('a fault of ours')),
    write('last'),
  ]);
  t.match(answers, [
    { value: 'first' },
    { value: { conflict: 'taken' } },
    { reason: { code: 'SQLITE_CONSTRAINT_PRIMARYKEY' } },
    { reason: { message: 'a fault of ours' } },
    { value: 'last' },
  ]);
  t.same(seen(), ['first', 'last']);
  t.same(told, ['first', 'last']);
  t.equal(disk.transactions, 1);
});

t.test('what nobody waits for waits for others, and keeps its place', async (t) => {
  const { connection, disk, clock, insert, seen, shell } = openTable(t);
  const patient = { patient: true };
  const first = connection.write(() => insert('first'), patient);
  clock.tick(100);
  for (let turns = 0; turns < 5; turns++) await turn();
  t.same(seen(), []);
  const second = connection.write(() => insert('second'), patient);
  await connection.write(() => insert('third'));
  t.same(seen(), ['first', 'second', 'third']);
  t.equal(disk.transactions, 1);
  t.equal(
    shell.prepare("SELECT at FROM noted WHERE word = 'first'").pluck().get(),
    at(0),
    'when it happened',
  );
  await Promise.all([first, second]);
  await connection.write(() => insert('by itself'), patient);
  t.equal(disk.transactions, 2, 'where nothing else comes it is written all the same');
});

t.test('alone it waits no longer than it is said to', async (t) => {
  const { connection, insert, seen } = openTable(t);
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const asked = connection.write(() => insert('a'), { patient: true });
  mock.timers.tick(PATIENCE_MS / 2);
  const later = connection.write(() => insert('b'), { patient: true });
  mock.timers.tick(PATIENCE_MS / 2 - 1);
  t.same(seen(), []);
  mock.timers.tick(1);
  t.same(seen(), ['a', 'b'], 'the first has waited so long, and takes the other with it');
  await Promise.all([asked, later]);
});

t.test('a flush has it written at once', async (t) => {
  const { connection, disk, insert, seen } = openTable(t);
  await connection.flush();
  t.equal(disk.transactions, 0, 'nothing waits');
  const words = Array.from({ length: 20 }, (_none, n) => `${n}`);
  const asked = words.map((word) => connection.write(() => insert(word), { patient: true }));
  const refused = connection.write(
    () => {
      throw new Error('a fault of ours');
    },
    { patient: true },
  );
  const rejected = t.rejects(refused, { message: 'a fault of ours' });
  await connection.flush();
  t.same(seen(), words);
  t.equal(disk.transactions, 1);
  await Promise.all([...asked, rejected]);
});

t.test('a close writes what waits', async (t) => {
  const { connection, insert, seen } = openTable(t);
  const asked = connection.write(() => insert('last'), { patient: true });
  connection.close();
  t.same(seen(), ['last']);
  await asked;
});

t.test('what is long by itself shares with nobody, and keeps its place', async (t) => {
  const { connection, disk, insert, seen } = openTable(t);
  const counts: number[] = [];
  const write = (word: string, alone = false) =>
    connection.write(
      () => {
        insert(word);
        counts.push(disk.transactions);
      },
      { alone },
    );
  await Promise.all([write('a'), write('b'), write('long', true), write('c'), write('d')]);
  t.same(seen(), ['a', 'b', 'long', 'c', 'd']);
  t.same(counts, [1, 1, 2, 3, 3]);
});

t.test('much at once is several transactions, with other work between them', async (t) => {
  const { connection, disk, insert, seen } = openTable(t);
  const words = Array.from({ length: 12 }, (_none, n) => `${n}`);
  const slowly = (word: string) => () => {
    disk.ms += 6;
    insert(word);
  };
  let turns = 0;
  let over = false;
  const asked = Promise.all(words.map((word) => connection.write(slowly(word)))).then(() => {
    over = true;
  });
  while (!over) {
    await turn();
    turns++;
  }
  await asked;
  t.same(seen(), words);
  t.equal(disk.transactions, 6, 'two of these take more than a transaction may');
  t.ok(turns >= disk.transactions);
});

for (const code of ['SQLITE_FULL', 'SQLITE_BUSY']) {
  t.test(`${code} for a shared transaction: facts are kept in order, requests refused`, async (t) => {
    const { connection, disk, insert, seen, fact } = openTable(t);
    disk.fails = code;
    const answers = await Promise.allSettled([
      connection.writeFact(fact('first')),
      connection.write(() => insert('asked')),
      connection.writeFact(fact('second'), { patient: true }),
    ]);
    t.match(answers, [
      { value: 'kept first' },
      { reason: { code: 'storage_low' } },
      { value: 'kept second' },
    ]);
    t.equal(disk.transactions, 1, 'the disk is asked once');
    t.equal(connection.kept.count(), 2);
    disk.fails = null;
    const recovered = new Promise<void>((resolve) => connection.subscribe({ recovered: resolve }));
    await recovered;
    t.same(seen(), ['first', 'second']);
    t.equal(await connection.writeFact(fact('third')), 'stored third');
  });
}

t.test(
  'the disk is full at the third of four: nothing of the transaction is lost, or there twice',
  async (t) => {
    const { connection, seen, fact } = openTable(t);
    const { db } = connection;
    const pages = Number(db.pragma('page_count', { simple: true }));
    db.pragma(`max_page_count = ${pages + 2}`);
    const large = (word: string) => fact(`${word} ${'x'.repeat(3_000)}`);
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map((word) => connection.writeFact(large(word))));
    t.ok(answers.every((answer) => answer.startsWith('kept')));
    db.pragma('max_page_count = 100000');
    await new Promise<void>((resolve) => connection.subscribe({ recovered: resolve }));
    t.same(
      seen().map((word) => String(word).slice(0, 1)),
      ['a', 'b', 'c', 'd'],
    );
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  },
);

t.test('words, times and usage of many calls are one commit', async (t) => {
  let transactions = 0;
  const store = await openStore({
    path: join(t.testdir(), 'offhook.db'),
    onWrite() {
      transactions += 1;
    },
  });
  t.teardown(() => store.close());
  const org = await addOrganization(store);
  const calls = await Promise.all(
    Array.from({ length: 30 }, async () =>
      succeeded(await store.createCall(makeCall(org), { events: [], reserve: 0 })),
    ),
  );
  transactions = 0;
  const patient = { patient: true };
  const asked = calls.flatMap(({ id }) => [
    store.saveTranscript([makeItem(id)], patient),
    store.saveTurns({ turns: [makeTurn(id)], interruptions: [] }, patient),
    store.saveCall(id, { from: ['queued'], change: { usage: { tokens: 3 } } }, patient),
  ]);
  const unknown = store.saveTranscript([makeItem('no such call')], patient);
  const rejected = t.rejects(unknown, { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' });
  await store.flush();
  await Promise.all([...asked, rejected]);
  // On a busy machine they may take longer than one transaction should.
  t.ok(transactions < calls.length / 2, `${transactions} transactions`);
  for (const { id } of calls) {
    t.equal((await store.listTranscript(id)).length, 1);
    t.equal((await store.listTurns(id)).length, 1);
    t.match(await store.findCall(id), { usage: { tokens: 3 } });
  }
});

/** Kills a process that writes in groups after so many acknowledgements; answers what it had acknowledged. */
async function runAndKill(path: string, after: number): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'group-loop.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/^\w+ \d+$/.test(line)) continue;
    acknowledged.push(line);
    if (acknowledged.length === after) child.kill('SIGKILL');
  }
  const [, signal] = await exited;
  if (signal !== 'SIGKILL') throw new Error(`the writing process ended by itself (${signal})`);
  return acknowledged;
}

t.test('killed between: what was acknowledged is there, and each write is whole', async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.comment(`seed ${seed}`);
  const random = seeded(seed);
  const path = join(t.testdir(), 'offhook.db');
  for (let round = 0; round < 4; round++) {
    const acknowledged = await runAndKill(path, 1 + Math.floor(random() * 150));
    const db = new Database(path);
    const items = new Set(db.prepare('SELECT id FROM transcript_items').pluck().all());
    for (const id of acknowledged) if (!items.has(id)) t.fail(`${id} was acknowledged and is lost`);
    t.equal(
      db.prepare("SELECT count(*) FROM transcript_items WHERE id LIKE '%half'").pluck().get(),
      0,
      'nothing is left of those that were refused',
    );
    t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
    db.close();
  }
});
