// A backup made while the daemon's store is open and written to is a database that the daemon opens.
import { execFile } from 'node:child_process';
import {
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import { makeCall, makeKey, makeOrganization, makeSession, makeUser } from '../../storage/makers.ts';

function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const child = execFile(
      process.execPath,
      ['control/cli/main.ts', ...args],
      { env: { PATH: process.env.PATH ?? '', ...env } },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

const keyOf = (data: string) => readFileSync(join(data, 'secret.key'), 'utf8');

t.test('a backup of a store in use', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const store = await openStore({ path: join(data, 'offhook.db') });
  t.teardown(() => store.close());
  const org = makeOrganization();
  await store.createOrganization(org, makeKey(org.id));
  const before = makeCall(org.id);
  await store.createCall(before, { events: ['call.queued'], reserve: 0 });

  // It is written to until the copy is done.
  let done = false;
  const writing = (async () => {
    while (!done) {
      await store.createCall(makeCall(org.id), { events: ['call.queued'], reserve: 0 });
      await new Promise((next) => setImmediate(next));
    }
  })();
  const to = join(folder, 'backups');
  const made = await run(['backup', to], { DATA_DIR: data });
  done = true;
  await writing;
  t.match(made, {
    code: 0,
    stderr: /transcripts in clear text; .*sealed under key [0-9a-f]{12}, which is not in it/,
  });

  const [file, ...others] = readdirSync(to);
  t.match(file, /^offhook-\d{8}T\d{9}Z\.db$/);
  t.same(others, [], 'one file');
  const path = join(to, file ?? '');
  t.match(made.stdout, path);
  t.equal(statSync(path).mode & 0o777, 0o600, 'for its owner only');
  await t.rejects(openStore({ path }), { code: 'secret_key' }, 'what opens its secrets is not in it');
  const restored = await openStore({ path, secretKeys: keyOf(data) });
  t.match(await restored.firstOrganization(), { webhook_secret: org.webhook_secret });
  t.match(await restored.getCall(org.id, before.id), { id: before.id, context: before.context });
  await restored.createCall(makeCall(org.id), { events: ['call.queued'], reserve: 0 });
  await restored.close();
  t.match(await store.getCall(org.id, before.id), { id: before.id }, 'the store it was made of works on');
});

t.test('the key goes along when it is asked for', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const store = await openStore({ path: join(data, 'offhook.db') });
  await store.close();
  const made = await run(['backup', join(folder, 'to'), '--with-key', '--data-dir', data, '--json'], {});
  t.equal(made.code, 0, made.stderr);
  const { file, key_file, secret_key } = JSON.parse(made.stdout) as Record<string, string>;
  t.equal(key_file, `${file}.key`);
  t.match(secret_key, /^[0-9a-f]{12}$/);
  t.equal(readFileSync(key_file ?? '', 'utf8'), keyOf(data));
  t.equal(statSync(key_file ?? '').mode & 0o777, 0o600);
  rmSync(join(data, 'secret.key'));
  const none = await run(['backup', join(folder, 'to'), '--with-key', '--data-dir', data], {});
  t.match(none, { code: 2, stderr: /There is no .*secret\.key: the key is in SECRET_KEY/ });
});

t.test('nothing to copy, nothing to copy to', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const none = await run(['backup', join(folder, 'to')], { DATA_DIR: join(folder, 'none') });
  t.match(none, { code: 2, stderr: /no database .*none.offhook\.db/ });
  t.same(readdirSync(folder), []);
  t.match(await run(['backup'], {}), { code: 2, stderr: /missing required argument 'folder'/ });
});

t.test(
  'a restore: never under a running daemon, never of what is none, and what was there is kept',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-restore-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const data = join(folder, 'data');
    const path = join(data, 'offhook.db');
    const store = await openStore({ path });
    const org = makeOrganization();
    await store.createOrganization(org, makeKey(org.id));
    const early = makeCall(org.id);
    await store.createCall(early, { events: ['call.queued'], reserve: 0 });
    const { stdout } = await run(['backup', join(folder, 'to'), '--data-dir', data, '--json'], {});
    const backup = (JSON.parse(stdout) as { file: string }).file;
    const late = makeCall(org.id);
    await store.createCall(late, { events: ['call.queued'], reserve: 0 });

    const restore = (...args: string[]) => run(['restore', ...args, '--data-dir', data], {});
    t.match(await restore(backup), { code: 2, stderr: /--yes/ }, 'not without being sure');
    t.match(await restore(backup, '--yes'), { code: 2, stderr: /daemon runs on .*Stop it first/ });
    t.match(await store.getCall(org.id, late.id), { id: late.id }, 'and nothing has changed under it');
    renameSync(path, join(folder, 'away.db'));
    t.match(await restore(backup, '--yes'), { code: 2, stderr: /daemon runs on .*Stop it first/ });
    renameSync(join(folder, 'away.db'), path);
    await store.close();

    const damaged = join(folder, 'damaged.db');
    const bytes = readFileSync(backup);
    bytes.fill(7, 4096, 12_288);
    writeFileSync(damaged, bytes);
    t.match(await restore(damaged, '--yes'), { code: 2, stderr: /cannot be restored/ });
    writeFileSync(join(folder, 'text.db'), 'not a database at all');
    t.match(await restore(join(folder, 'text.db'), '--yes'), { code: 2, stderr: /cannot be restored/ });
    t.notOk(
      readdirSync(data).some((name) => name.includes('restoring')),
      'nothing of them stays',
    );

    const done = await restore(backup, '--yes', '--json');
    t.equal(done.code, 0, done.stderr);
    const { replaced } = JSON.parse(done.stdout) as { replaced: string };
    const restored = await openStore({ path });
    t.match(await restored.getCall(org.id, early.id), { id: early.id });
    t.equal(await restored.getCall(org.id, late.id), null, 'as it was at the backup');
    await restored.close();
    const old = await openStore({ path: replaced });
    t.match(await old.getCall(org.id, late.id), { id: late.id }, 'what was there is whole');
    await old.close();
  },
);

t.test(
  'a restore signs everybody out, says what is as it was, and leaves the file to the daemon',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-restore-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const data = join(folder, 'data');
    const path = join(data, 'offhook.db');
    const store = await openStore({ path });
    const org = makeOrganization();
    const key = makeKey(org.id);
    await store.createOrganization(org, key);
    const user = makeUser(org.id);
    await store.createUser(user);
    const expires_at = new Date(Date.now() + 3_600_000).toISOString();
    await store.createSession(makeSession(user, { hash: 'of a cookie', expires_at }));
    const { stdout } = await run(['backup', join(folder, 'to'), '--data-dir', data, '--json'], {});
    const backup = (JSON.parse(stdout) as { file: string }).file;
    await store.close();
    // Only root can give a file away.
    const asRoot = process.getuid?.() === 0;
    if (asRoot) chownSync(data, 4321, 4322);

    const done = await run(['restore', backup, '--yes', '--data-dir', data], {});
    t.match(done, { code: 0, stdout: /revoked since works again[\s\S]*signed out/ });
    const { uid, gid, mode } = statSync(path);
    t.equal(mode & 0o777, 0o600);
    t.same([uid, gid], asRoot ? [4321, 4322] : [statSync(data).uid, gid]);
    const restored = await openStore({ path });
    t.equal(await restored.findSession('of a cookie'), null);
    t.match(
      await restored.firstOwner(org.id),
      { id: user.id, password_hash: user.password_hash },
      'the password is as it was',
    );
    await restored.close();
    const kept = await openStore({ path: backup, secretKeys: keyOf(data) });
    t.match(await kept.findSession('of a cookie'), { org_id: org.id }, 'the backup itself is not touched');
    await kept.close();
  },
);

t.test('recordings are copied once', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, 'data');
  const store = await openStore({ path: join(data, 'offhook.db') });
  await store.close();
  mkdirSync(join(data, 'recordings'));
  writeFileSync(join(data, 'recordings', 'a.wav'), 'RIFF');
  const copy = async () =>
    JSON.parse(
      (await run(['backup', join(folder, 'to'), '--data-dir', data, '--recordings', '--json'], {})).stdout,
    );
  t.match(await copy(), { recordings: 1 });
  t.match(await copy(), { recordings: 0 });
  writeFileSync(join(data, 'recordings', 'a.wav'), 'RIFF, longer');
  t.match(await copy(), { recordings: 1 }, 'one that has grown since is taken again');
});
