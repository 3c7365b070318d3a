// The reader beside the writer: it sees every commit before it, answers in order, and outlives a fault.
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { openReader } from '../../../storage/sqlite/reader.ts';

function open(t: Test) {
  const path = join(t.testdir(), 'offhook.db');
  const { db, close } = openDatabase({ path });
  const reader = openReader(path);
  t.teardown(async () => {
    await reader.close();
    close();
  });
  db.exec('CREATE TABLE plain (number INTEGER)');
  return { db, reader };
}

t.test('a read sees every commit before it, and nothing of an open transaction', async (t) => {
  const { db, reader } = open(t);
  const sum = () => reader.read('SELECT count(*) AS rows FROM plain WHERE number >= ?', [0]);
  for (let at = 1; at <= 20; at++) {
    db.exec(`INSERT INTO plain VALUES (${at})`);
    t.strictSame(await sum(), [{ rows: at }]);
  }
  db.exec('BEGIN IMMEDIATE; INSERT INTO plain VALUES (21)');
  t.strictSame(await sum(), [{ rows: 20 }], 'and does not wait for it');
  db.exec('COMMIT');
  t.strictSame(await sum(), [{ rows: 21 }]);
});

t.test('it only reads; a statement that fails is that statement alone', async (t) => {
  const { reader } = open(t);
  const asked = [
    reader.read('INSERT INTO plain VALUES (1)', []),
    reader.read('SELECT gone FROM plain', {}),
    reader.read('SELECT @a + 1 AS sum', { a: 1 }),
  ] as const;
  await t.rejects(asked[0], /readonly|does not return data/);
  await t.rejects(asked[1], /no such column/);
  t.strictSame(await asked[2], [{ sum: 2 }]);
});

t.test(
  'closing answers what is asked already, leaves no reader behind, and answers nothing more',
  async (t) => {
    const { db, reader } = open(t);
    db.exec(
      'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO plain SELECT i FROM n',
    );
    const asked = [1, 2, 3].map(() => reader.read('SELECT sum(number) AS sum FROM plain', []));
    await reader.close();
    await reader.close();
    t.strictSame(
      await Promise.all(asked),
      Array.from({ length: 3 }, () => [{ sum: 12_502_500 }]),
    );
    await t.rejects(reader.read('SELECT 1', []), /not open/);
    const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
    t.equal(busy, 0);
  },
);

t.test('a thread that cannot start fails the questions it had, and the next one starts anew', async (t) => {
  const path = join(t.testdir(), 'later.db');
  const reader = openReader(path);
  t.teardown(() => reader.close());
  await t.rejects(reader.read('SELECT 1 AS one', []), /unable to open database file/);
  openDatabase({ path }).close();
  t.strictSame(await reader.read('SELECT 1 AS one', []), [{ one: 1 }]);
});
