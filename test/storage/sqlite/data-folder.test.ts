// A folder that is in use, and one whose database is gone: neither becomes a second daemon's or a new installation.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization } from '../makers.ts';

/** Another process that has the store open and writes to it. */
async function openElsewhere(t: Test, path: string): Promise<ChildProcess & { end(): Promise<void> }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'commit-loop.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const end = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  t.teardown(end);
  await once(child.stdout, 'data');
  child.stdout.resume();
  return Object.assign(child, { end });
}

const REPLACED = {
  code: 'locked',
  message: /open, and .*\.lock is not the one it was opened under .*: stop the daemon .*, then start again$/,
};

t.test('a lock that was deleted or replaced under a daemon lets no second one in', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const lock = `${path}.lock`;
  const other = await openElsewhere(t, path);
  await t.rejects(openStore({ path }), { code: 'locked', message: /is held/ });
  const copy = `${lock}.copy`;
  copyFileSync(lock, copy);

  rmSync(lock);
  await t.rejects(openStore({ path }), REPLACED, 'deleted');
  await t.rejects(openStore({ path }), REPLACED, 'and there again since the try before');
  rmSync(lock);
  writeFileSync(lock, '');
  await t.rejects(openStore({ path }), REPLACED, 'made by hand');
  rmSync(lock);
  copyFileSync(copy, lock);
  await t.rejects(openStore({ path }), REPLACED, 'a copy of itself');

  await other.end();
  const store = await openStore({ path });
  t.ok(await store.firstOrganization(), 'once it is gone the next one opens, and finds everything');
  await store.close();
  const again = await openStore({ path });
  await again.close();
});

t.test('in this process too', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const first = await openStore({ path });
  const org = await addOrganization(first);
  rmSync(`${path}.lock`);
  await t.rejects(openStore({ path }), REPLACED);
  t.equal((await first.firstOrganization())?.id, org, 'which notices nothing');
  await addOrganization(first);
  await first.close();
});

t.test('a database of an older schema that somebody has open', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  openDatabase({ path, migrations: MIGRATIONS.slice(0, 3) }).close();
  const old = new Database(path);
  old.prepare('SELECT count(*) FROM calls').get();
  await t.rejects(openStore({ path }), REPLACED);
  old.close();
  const store = await openStore({ path });
  await store.close();
});

t.test('who only reads keeps nobody out, while the lock is what it was', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const store = await openStore({ path });
  await addOrganization(store);
  const shell = new Database(path, { readonly: true });
  t.ok(shell.prepare('SELECT count(*) FROM organizations').get());
  await store.close();
  const next = await openStore({ path });
  t.ok(await next.firstOrganization());
  await next.close();
  shell.close();
});

t.test('a folder that was moved opens as it is', async (t) => {
  const folder = t.testdir();
  const store = await openStore({ path: join(folder, 'here', 'offhook.db') });
  const org = await addOrganization(store);
  await store.close();
  cpSync(join(folder, 'here'), join(folder, 'there'), { recursive: true });
  const moved = await openStore({ path: join(folder, 'there', 'offhook.db') });
  t.equal((await moved.firstOrganization())?.id, org);
  await moved.close();
});

t.test('a folder that has held an installation is not begun anew', async (t) => {
  const put = (path: string, text = 'x') => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, text);
  };
  const signs: Record<string, (path: string) => void> = {
    'recordings/': (path) => put(join(path, '..', 'recordings', 'a.wav')),
    'redis/': (path) => put(join(path, '..', 'redis', 'q.sock')),
    'secret.key': (path) => put(join(path, '..', 'secret.key')),
    'password-link.json': (path) => put(join(path, '..', 'password-link.json')),
    'offhook.db.made': (path) => put(`${path}.made`),
    'offhook.db-wal': (path) => put(`${path}-wal`),
    'offhook.db.schema-3.20260301T120000000Z.bak': (path) => put(`${path}.schema-3.20260301T120000000Z.bak`),
    'offhook.db.replaced-20260301T120000000Z': (path) => put(`${path}.replaced-20260301T120000000Z`),
  };
  const folder = t.testdir();
  let number = 0;
  for (const [sign, make] of Object.entries(signs)) {
    const makers: [string, (path: string) => void][] = [
      ['is missing', () => {}],
      ['is empty', (path) => writeFileSync(path, '')],
      [
        'is empty',
        (path) => {
          const nothing = new Database(path);
          nothing.exec('VACUUM');
          nothing.close();
        },
      ],
    ];
    // Beside a database that is not in WAL mode SQLite itself takes a log away.
    const able = sign.endsWith('-wal') ? makers.slice(0, 2) : makers;
    for (const [what, database] of able) {
      number++;
      const path = join(folder, String(number), 'offhook.db');
      mkdirSync(join(path, '..'));
      database(path);
      make(path);
      const before = snapshot(join(path, '..'));
      await t.rejects(
        openStore({ path }),
        {
          code: 'missing_database',
          message: new RegExp(
            `^[^\\n]* ${what}, but its folder has held an installation \\(${sign}\\): put a backup .*offhook restore`,
          ),
        },
        `${sign}, ${what}`,
      );
      t.same(snapshot(join(path, '..')), before, 'and nothing is changed');
    }
  }
});

/** Every file with its content, but for the lock, which is taken and given back. */
function snapshot(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile() && !name.endsWith('.lock'))
    .sort();
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name), 'latin1')]));
}

t.test('a database that lost its content, wholly or in part', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const store = await openStore({ path });
  await addOrganization(store);
  await store.close();
  const whole = readFileSync(path);
  t.ok(existsSync(`${path}.made`));
  t.equal(statSync(`${path}.made`).mode & 0o777, 0o600);

  truncateSync(path, whole.length - 4096);
  await t.rejects(openStore({ path }), { code: 'corrupt', message: /put a backup in its place/ });
  truncateSync(path, 0);
  await t.rejects(openStore({ path }), { code: 'missing_database' });
  t.equal(statSync(path).size, 0);
  rmSync(path);
  await t.rejects(openStore({ path }), { code: 'missing_database' });
  t.notOk(existsSync(path));
  writeFileSync(path, whole, { mode: 0o600 });
  const back = await openStore({ path });
  t.ok(await back.firstOrganization(), 'and with a copy in its place all is well');
  await back.close();
});

t.test('a fresh folder, and one that a first start left halfway', async (t) => {
  const folder = t.testdir();
  const fresh = join(folder, 'fresh', 'offhook.db');
  mkdirSync(join(folder, 'fresh', 'recordings'), { recursive: true });
  const store = await openStore({ path: fresh });
  t.equal(await store.firstOrganization(), null);
  await store.close();

  const halfway = join(folder, 'halfway', 'offhook.db');
  mkdirSync(join(folder, 'halfway'));
  writeFileSync(`${halfway}.lock`, '');
  writeFileSync(halfway, '');
  const first = await openStore({ path: halfway });
  t.equal(await first.firstOrganization(), null);
  await first.close();
});
