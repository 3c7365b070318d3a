// Opening the SQLite file: settings, permissions, the one-daemon lock, damage, migrations.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Log } from '../../../log.ts';
import { openConnection } from '../../../storage/sqlite/connection.ts';
import { openDatabase, StorageError } from '../../../storage/sqlite/database.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, START } from '../makers.ts';

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);

function failsWith(t: Test, code: StorageError['code'], message: RegExp, open: () => unknown): void {
  try {
    open();
    t.fail('opened');
  } catch (error) {
    t.ok(error instanceof StorageError, String(error));
    t.match(error, { code, message });
    t.notMatch((error as Error).message, /\n/, 'one line');
  }
}

t.test('the settings are in force on every open, not only the first', (t) => {
  const path = join(t.testdir(), 'offhook.db');
  for (const round of ['first', 'second']) {
    const { db, close } = openDatabase({ path });
    const is = (name: string) => db.pragma(name, { simple: true });
    t.equal(is('journal_mode'), 'wal', round);
    t.equal(is('synchronous'), 2, `${round}: FULL`);
    t.equal(is('foreign_keys'), 1, round);
    t.equal(is('trusted_schema'), 0, round);
    t.equal(is('busy_timeout'), 5000, round);
    t.equal(is('journal_size_limit'), 64 * 1024 * 1024, round);
    t.equal(is('user_version'), MIGRATIONS.length, round);
    close();
    close();
  }
  t.end();
});

t.test('only the owner can read what is stored', async (t) => {
  const folder = join(t.testdir(), 'new', 'data');
  const path = join(folder, 'offhook.db');
  let store = await openStore({ path });
  await addOrganization(store);
  t.equal(mode(folder), '700');
  const files = () => readdirSync(folder).filter((name) => statSync(join(folder, name)).isFile());
  t.ok(files().length >= 4, 'database, wal, shm, lock');
  for (const name of files()) t.equal(mode(join(folder, name)), '600', name);
  await store.close();
  chmodSync(path, 0o644);
  store = await openStore({ path });
  t.equal(mode(path), '600', 'a file that had become readable is narrowed');
  await store.close();
});

t.test('closing empties the write-ahead log', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const store = await openStore({ path });
  await addOrganization(store);
  t.ok((await store.stats()).walBytes > 0);
  await store.close();
  await store.close();
  t.notOk(existsSync(`${path}-wal`));
  await t.rejects(store.firstOrganization(), 'a closed store answers nothing');
});

t.test('one daemon per data folder', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const first = await openStore({ path });
  const org = await addOrganization(first);
  await t.rejects(openStore({ path }), {
    code: 'locked',
    message: /another daemon is using this data folder/,
  });
  const shell = new Database(path, { readonly: true });
  t.equal(shell.prepare('SELECT id FROM organizations').pluck().get(), org, 'a shell may read meanwhile');
  shell.close();
  await t.rejects(openStore({ path }), { code: 'locked' }, 'still held');
  await first.close();
  const second = await openStore({ path });
  t.equal((await second.firstOrganization())?.id, org);
  await second.close();
});

t.test('a killed daemon leaves no lock behind', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const child = spawn(process.execPath, [join(import.meta.dirname, 'commit-loop.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  await t.rejects(openStore({ path }), { code: 'locked' }, 'held by the other process');
  child.kill('SIGKILL');
  await exited;
  const store = await openStore({ path });
  t.ok(await store.firstOrganization(), 'the next one opens at once');
  await store.close();
});

t.test('a second daemon is turned away, from this process or another', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const first = await openStore({ path });
  t.teardown(() => first.close());
  // Twice in here first: a careless close would drop the process's POSIX locks and let the other process in.
  for (const _ of [1, 2]) await t.rejects(openStore({ path }), { code: 'locked' });
  const child = spawn(process.execPath, [join(import.meta.dirname, 'commit-loop.ts'), path], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  t.not(code, 0);
  t.match(said, /StorageError: another daemon is using this data folder/);
});

t.test('a change owns the database from its first line', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const { db, daemon, close } = openDatabase({ path });
  const connection = openConnection({ db, owner: daemon.epoch, clock: () => new Date(START) });
  const shell = new Database(path, { timeout: 0 });
  await connection.write(() => {
    connection.statement('SELECT count(*) FROM organizations').get();
    t.throws(() => shell.exec('DELETE FROM api_keys'), { code: 'SQLITE_BUSY' }, 'nobody writes in between');
  });
  shell.exec('DELETE FROM api_keys');
  shell.close();
  close();
});

t.test('a damaged file is refused and left as it is', (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const { db, close } = openDatabase({ path });
  db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
    INSERT INTO organizations (id, name, webhook_secret, created_at)
    SELECT 'org-' || i, 'name', 'whsec_', '2026-03-01T12:00:00.000Z' FROM n`);
  const pageSize = Number(db.pragma('page_size', { simple: true }));
  const page = Number(
    db
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'sqlite_autoindex_organizations_1'")
      .pluck()
      .get(),
  );
  close();
  const bytes = readFileSync(path);
  bytes.fill(0xff, (page - 1) * pageSize, page * pageSize);
  writeFileSync(path, bytes);
  failsWith(t, 'corrupt', /is damaged .*put a backup in its place/, () => openDatabase({ path }));
  t.ok(readFileSync(path).equals(bytes), 'nothing is repaired in place');

  const text = join(t.testdirName, 'notes.db');
  writeFileSync(text, 'not a database at all\n'.repeat(100));
  failsWith(t, 'corrupt', /is damaged/, () => openDatabase({ path: text }));
  t.end();
});

t.test("another program's database is refused", (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const other = new Database(path);
  other.exec('CREATE TABLE songs (title TEXT)');
  other.close();
  failsWith(t, 'foreign_database', /database of another program/, () => openDatabase({ path }));
  t.end();
});

t.test('a newer schema is refused, and the lock let go', (t) => {
  const path = join(t.testdir(), 'offhook.db');
  openDatabase({ path }).close();
  const future = new Database(path);
  future.pragma(`user_version = ${MIGRATIONS.length + 1}`);
  const note = future.prepare("UPDATE notes SET value = ? WHERE name = 'min_reader'");
  note.run(String(MIGRATIONS.length + 1));
  future.close();
  const message = new RegExp(`has schema ${MIGRATIONS.length + 1}, this version knows ${MIGRATIONS.length}`);
  failsWith(t, 'newer_schema', message, () => openDatabase({ path }));
  const silent = new Database(path);
  silent.exec("DELETE FROM notes WHERE name = 'min_reader'");
  silent.close();
  failsWith(t, 'newer_schema', message, () => openDatabase({ path }));
  const back = new Database(path);
  back.pragma(`user_version = ${MIGRATIONS.length}`);
  back.close();
  openDatabase({ path }).close();
  t.end();
});

t.test(
  'a database that a newer version has only added to is used as it is, until one changes it',
  async (t) => {
    const path = join(t.testdir(), 'offhook.db');
    const sql = `ALTER TABLE organizations ADD COLUMN plan TEXT NOT NULL DEFAULT 'free';
    CREATE TABLE visits (id TEXT NOT NULL) STRICT;`;
    const newer = [...MIGRATIONS, { name: 'plans', sql, kind: 'adds' } as const];
    const older = await openStore({ path });
    const org = await addOrganization(older);
    await older.close();
    openDatabase({ path, migrations: newer }).close();

    const told: unknown[] = [];
    const log = { info: (_: unknown, event: string) => told.push(event) } as unknown as Log;
    const again = await openStore({ path, log });
    t.equal((await again.firstOrganization())?.id, org);
    const second = await addOrganization(again);
    await again.close();
    t.ok(told.includes('storage.newer_schema'), 'and says so');
    const { db, close } = openDatabase({ path, migrations: newer });
    t.equal(
      db.pragma('user_version', { simple: true }),
      newer.length,
      'whoever knows less sets nothing back',
    );
    const plans = db.prepare('SELECT id, plan FROM organizations ORDER BY seq').all();
    t.strictSame(plans, [
      { id: org, plan: 'free' },
      { id: second, plan: 'free' },
    ]);
    close();

    openDatabase({ path, migrations: [...newer, { name: 'gone', sql: 'DROP TABLE visits' }] }).close();
    await t.rejects(openStore({ path }), { code: 'newer_schema' });
  },
);

t.test(
  'to see whether the disk takes writes again, a schema that was added to meanwhile is not set back',
  async (t) => {
    const path = join(t.testdir(), 'offhook.db');
    let full = false;
    const onWrite = () => {
      if (full) throw new Database.SqliteError('database or disk is full', 'SQLITE_FULL');
    };
    const store = await openStore({ path, onWrite });
    t.teardown(() => store.close());
    full = true;
    await t.rejects(addOrganization(store));
    t.notOk(store.writable(), 'it waits for the disk');
    const newer = new Database(path);
    newer.pragma(`user_version = ${MIGRATIONS.length + 1}`);
    full = false;
    for (let looks = 0; looks < 100 && !store.writable(); looks++)
      await new Promise((resolve) => setTimeout(resolve, 100));
    t.ok(store.writable());
    t.equal(newer.pragma('user_version', { simple: true }), MIGRATIONS.length + 1);
    newer.close();
  },
);

t.test('a migration takes a copy first, and happens whole or not at all', (t) => {
  const folder = t.testdir();
  const path = join(folder, 'offhook.db');
  const backups = () => readdirSync(folder).filter((name) => name.endsWith('.bak'));
  const seeded = openDatabase({ path });
  seeded.db.exec(`INSERT INTO organizations (id, name, webhook_secret, created_at)
    VALUES ('org', 'name', 'whsec_', '2026-03-01T12:00:00.000Z')`);
  seeded.close();
  t.strictSame(backups(), [], 'an empty database is not copied');

  const good = { name: 'add a column', sql: 'ALTER TABLE organizations ADD COLUMN plan TEXT' };
  const now = () => new Date('2026-03-01T12:00:00.000Z');
  const bad = { name: 'break', sql: 'INSERT INTO nowhere VALUES (1)' };
  failsWith(t, 'migration_failed', /migration "break" failed: .*nowhere/, () =>
    openDatabase({ path, now, migrations: [...MIGRATIONS, good, bad] }),
  );
  const dangling = { name: 'dangle', sql: "UPDATE agents SET org_id = 'nobody'; DELETE FROM organizations" };
  const orphan = `INSERT INTO api_keys (id, org_id, hash, name, prefix, last4, created_at)
    VALUES ('key', 'org', 'hash', 'name', 'sk_', 'last', '2026-03-01T12:00:00.000Z');`;
  failsWith(t, 'migration_failed', /1 broken references/, () =>
    openDatabase({
      path,
      now: () => new Date('2026-03-01T12:00:01.000Z'),
      migrations: [...MIGRATIONS, { ...dangling, sql: orphan + dangling.sql }],
    }),
  );
  const untouched = openDatabase({ path });
  t.equal(untouched.db.pragma('user_version', { simple: true }), MIGRATIONS.length, 'rolled back');
  t.equal(untouched.db.prepare('SELECT count(*) FROM organizations').pluck().get(), 1);
  untouched.close();

  const later = () => new Date('2026-03-01T13:00:00.000Z');
  const told: string[] = [];
  const log = { info: (_fields: unknown, event: string) => told.push(event) } as unknown as Log;
  const migrated = openDatabase({ path, log, now: later, migrations: [...MIGRATIONS, good] });
  t.strictSame(
    told,
    ['migrating', 'copied', 'migration_step', 'references_checked', 'migrated'].map(
      (event) => `storage.${event}`,
    ),
    'and says how far it is',
  );
  t.equal(migrated.db.prepare('SELECT plan FROM organizations').pluck().get(), null);
  t.equal(migrated.db.pragma('foreign_keys', { simple: true }), 1, 'foreign keys are on again');
  migrated.close();
  const copy = backups().find((name) => name.includes('20260301T130000'));
  t.ok(copy, 'the copy is beside it');
  const copyPath = join(folder, copy ?? '');
  t.equal(mode(copyPath), '600');
  const before = new Database(copyPath, { readonly: true });
  t.equal(before.prepare('SELECT name FROM organizations').pluck().get(), 'name', 'with what was there');
  t.equal(before.pragma('user_version', { simple: true }), MIGRATIONS.length);
  t.equal(before.pragma('integrity_check', { simple: true }), 'ok');
  before.close();
  failsWith(t, 'newer_schema', /start the newer version/, () => openDatabase({ path }));
  t.end();
});

t.test('a database in memory needs no folder and no lock', async (t) => {
  const stores = [await openStore({ path: ':memory:' }), await openStore({ path: ':memory:' })];
  for (const store of stores) {
    t.equal(await store.firstOrganization(), null);
    await addOrganization(store);
    t.equal((await store.stats()).walBytes, 0);
    await store.close();
  }
});

t.test('a folder that is there keeps its mode', async (t) => {
  const folder = join(t.testdir(), 'shared');
  mkdirSync(folder, { mode: 0o755 });
  await (await openStore({ path: join(folder, 'offhook.db') })).close();
  t.equal(mode(folder), '755');
});
