// The check of the database file: a large one opens at once and is read beside the work on it; what is wrong is told.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Log } from '../../../log.ts';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { CHECKED_AT_OPEN_BYTES, openIntegrityCheck } from '../../../storage/sqlite/integrity.ts';

function listen() {
  const lines: { level: string; fields: Record<string, unknown>; message: string }[] = [];
  const at = (level: string) => (fields: Record<string, unknown>, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, log: { info: at('info'), warn: at('warn'), error: at('error') } as unknown as Log };
}

/** A database of `rows` organizations with long names; the page of its index on their ids is spoiled where that is asked. */
function makeDatabase(path: string, o: { rows: number; damaged: boolean }): void {
  const { db, close } = openDatabase({ path });
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${o.rows})
    INSERT INTO organizations (id, name, webhook_secret, created_at)
    SELECT 'org-' || i, printf('%.*c', 3500, 'x'), 'whsec_', '2026-03-01T12:00:00.000Z' FROM n`);
  const pageSize = Number(db.pragma('page_size', { simple: true }));
  const sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_organizations_1'";
  const page = Number(db.prepare(sql).pluck().get());
  close();
  if (!o.damaged) return;
  const bytes = readFileSync(path);
  bytes.fill(0xff, (page - 1) * pageSize, page * pageSize);
  writeFileSync(path, bytes);
}

t.test('a large damaged file opens at once; the check beside finds the damage and says where', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  makeDatabase(path, { rows: 10_000, damaged: true });
  t.ok(statSync(path).size > CHECKED_AT_OPEN_BYTES);
  const { close } = openDatabase({ path });
  const { lines, log } = listen();
  const check = openIntegrityCheck({ path, log });
  t.equal(check.now().state, 'running');
  await check.over;
  t.match(check.now(), { state: 'damaged', found: /^organizations: / });
  t.match(lines, [{ level: 'error', message: 'storage.damaged', fields: { path, found: /organizations/ } }]);
  await check.close();
  close();
});

t.test('a whole file is found whole, while the daemon writes and starts its log afresh', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  makeDatabase(path, { rows: 10_000, damaged: false });
  const { db, close } = openDatabase({ path });
  const { lines, log } = listen();
  const check = openIntegrityCheck({ path, log });
  let over = false;
  void check.over.then(() => {
    over = true;
  });
  const write = db.prepare('UPDATE organizations SET name = ? WHERE id = ?');
  for (let at = 1; !over; at++) {
    write.run(`name ${at}`, `org-${(at % 10_000) + 1}`);
    await new Promise((next) => setImmediate(next));
  }
  t.equal(check.now().state, 'ok');
  t.match(lines, [{ level: 'info', message: 'storage.checked' }]);
  const [{ busy }] = db.pragma('wal_checkpoint(TRUNCATE)') as [{ busy: number }];
  t.equal(busy, 0, 'no reader is left');
  close();
});

t.test('closing ends the check at once, and says nothing of it', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  makeDatabase(path, { rows: 10_000, damaged: false });
  const { lines, log } = listen();
  const check = openIntegrityCheck({ path, log });
  await check.close();
  await check.close();
  t.equal(check.now().state, 'unknown');
  t.strictSame(lines, []);
});

t.test('a check that cannot be made is told, and is no damage', async (t) => {
  const { lines, log } = listen();
  const check = openIntegrityCheck({ path: join(t.testdir(), 'nothing.db'), log, always: true });
  await check.over;
  t.equal(check.now().state, 'unknown');
  t.match(lines, [{ level: 'warn', message: 'storage.not_checked' }]);
});

t.test('a small file has been checked when it is open', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  openDatabase({ path }).close();
  const check = openIntegrityCheck({ path, log: listen().log });
  t.strictSame(check.now(), { state: 'ok', found: null, seconds: null });
  await check.close();
});
