// A backup made while the daemon's store is open and written to is a database that the daemon opens.
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openStore } from '../../storage/sqlite-store.ts';
import { makeCall, makeKey, makeOrganization } from '../storage/makers.ts';

function run(args: string[], env: Record<string, string>) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((done) => {
    const child = execFile(
      process.execPath,
      ['scripts/backup.ts', ...args],
      { env: { PATH: process.env.PATH ?? '', ...env } },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

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
  const made = await run([to], { DATA_DIR: data });
  done = true;
  await writing;
  t.match(made, { code: 0, stderr: '' });

  const [file, ...others] = readdirSync(to);
  t.match(file, /^offhook-\d{8}T\d{9}Z\.db$/);
  t.same(others, [], 'one file');
  const path = join(to, file ?? '');
  t.match(made.stdout, path);
  t.equal(statSync(path).mode & 0o777, 0o600, 'for its owner only');
  const restored = await openStore({ path });
  t.match(await restored.getCall(org.id, before.id), { id: before.id, context: before.context });
  await restored.createCall(makeCall(org.id), { events: ['call.queued'], reserve: 0 });
  await restored.close();
  t.match(await store.getCall(org.id, before.id), { id: before.id }, 'the store it was made of works on');
});

t.test('nothing to copy, nothing to copy to', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-backup-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const none = await run([join(folder, 'to')], { DATA_DIR: join(folder, 'none') });
  t.match(none, { code: 1, stderr: /no database .*none.offhook\.db/ });
  t.same(readdirSync(folder), []);
  t.match(await run([], {}), { code: 2, stderr: /FOLDER/ });
});
