// Several daemons on one folder: who may join, who is proven dead and who only stands still. What they may do to each
// other's calls is conformance-owners.ts.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openDatabase } from '../../../storage/sqlite/database.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, at, makeCall } from '../makers.ts';

const fileOf = (t: Test) => join(t.testdir(), 'offhook.db');
const shared = true;

/** Another process that has a call on. */
async function holdCall(t: Test, path: string): Promise<{ child: ChildProcess; callId: string }> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'held-call.ts'), path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.teardown(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    }
  });
  const [line] = await once(child.stdout, 'data');
  return { child, callId: String(line).trim() };
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

t.test('a second daemon joins where each of them says so, and nowhere else', async (t) => {
  const path = fileOf(t);
  const alone = await openStore({ path });
  await t.rejects(openStore({ path, shared }), { code: 'locked', message: /is held/ }, 'one is alone');
  await alone.close();
  const one = await openStore({ path, shared });
  await t.rejects(
    openStore({ path }),
    { code: 'locked', message: /another daemon is using this data folder \(process \d+\);.*DATA_DIR_SHARED/ },
    'the others share, and it would be alone',
  );
  const two = await openStore({ path, shared });
  const org = await addOrganization(one);
  t.equal((await two.firstOrganization())?.id, org);
  await one.close();
  await t.rejects(openStore({ path }), { code: 'locked' }, 'while any of them runs');
  await two.close();
  await (await openStore({ path })).close();
});

t.test('one that was alone lets another join, and is alone again when that has gone', async (t) => {
  const path = fileOf(t);
  const alone = await openStore({ path });
  t.teardown(() => alone.close());
  await t.rejects(openStore({ path, shared }), { code: 'locked' });
  alone.letOthersIn(true);
  await t.rejects(
    openStore({ path }),
    { code: 'locked', message: /process \d+/ },
    'who would be alone may not',
  );
  const heir = await openStore({ path, shared });
  t.equal(heir.letOthersIn(false), true);
  t.equal(alone.letOthersIn(false), false, 'the other has it');
  await t.rejects(openStore({ path, shared }), { code: 'locked' }, 'and nobody else joins');
  await heir.close();
  t.equal(alone.letOthersIn(false), true);
  await t.rejects(openStore({ path, shared }), { code: 'locked' });
});

t.test('beside one that is leaving, the next is alone', async (t) => {
  const path = fileOf(t);
  const before = await openStore({ path });
  t.teardown(() => before.close());
  before.letOthersIn(true);
  await before.tellSelf({ state: 'leaving' });
  const next = await openStore({ path });
  t.teardown(() => next.close());
  t.strictSame(await next.takeOver(), [], 'what it has is its own');
  t.same(
    (await next.daemons()).map(({ state }) => state),
    ['leaving', 'running'],
  );
  await t.rejects(openStore({ path }), { code: 'locked' });
  await t.rejects(openStore({ path, shared }), { code: 'locked' });
});

t.test('what a killed process had is taken over; what a stopped one has is not', async (t) => {
  const path = fileOf(t);
  const { child, callId } = await holdCall(t, path);
  const store = await openStore({ path, shared });
  t.teardown(() => store.close());
  await store.takeOver();
  t.equal((await store.ownerOf(callId))?.pid, child.pid);
  child.kill('SIGSTOP');
  for (let looks = 0; looks < 20; looks++) t.strictSame(await store.takeOver(), []);
  const change = { from: ['in_progress'], change: {} } as const;
  t.strictSame(await store.saveCall(callId, change), { conflict: 'not_owner' });
  child.kill('SIGCONT');
  await kill(child);
  t.match(await store.takeOver(), [{ id: callId }]);
  t.strictSame(await store.ownerOf(callId), store.self());
  t.match(await store.saveCall(callId, change), { id: callId });
  t.strictSame(await store.daemons(), [store.self()]);
  t.notOk(existsSync(`${path}.daemon-${store.self().epoch - 1}`), 'nothing of it is left in the folder');
});

t.test('a daemon whose lock was taken away is not dead for that', async (t) => {
  const path = fileOf(t);
  const { child, callId } = await holdCall(t, path);
  const store = await openStore({ path, shared });
  const { epoch } = (await store.ownerOf(callId)) ?? { epoch: 0 };
  const lock = `${path}.daemon-${epoch}`;
  t.ok(existsSync(lock));
  rmSync(lock);
  await store.takeOver();
  t.equal((await store.ownerOf(callId))?.epoch, epoch, 'nothing is proven');
  await t.rejects(openStore({ path }), { code: 'locked' });
  await kill(child);
  await store.takeOver();
  t.equal((await store.ownerOf(callId))?.epoch, epoch, 'neither of one that is dead indeed');
  await store.close();

  const next = await openStore({ path });
  t.match(await next.takeOver(), [{ id: callId }], 'until nobody else has the database open');
  await next.close();
});

t.test('in a folder that was copied from under daemons, none of them lives', async (t) => {
  const folder = t.testdir();
  const { callId } = await holdCall(t, join(folder, 'here', 'offhook.db'));
  cpSync(join(folder, 'here'), join(folder, 'there'), { recursive: true });
  const store = await openStore({ path: join(folder, 'there', 'offhook.db') });
  t.match(await store.takeOver(), [{ id: callId }]);
  await store.close();
});

t.test('the schema changes only while nobody else is there', async (t) => {
  const path = fileOf(t);
  const { child } = await holdCall(t, path);
  const more = [...MIGRATIONS, { name: 'one more', sql: 'CREATE TABLE more (id TEXT) STRICT' }];
  const upgrade = () => openDatabase({ path, shared, migrations: more });
  t.throws(upgrade, { code: 'locked', message: new RegExp(`process ${child.pid}\\): stop them first`) });
  await kill(child);
  upgrade().close();
  t.throws(() => openDatabase({ path, shared }), { code: 'newer_schema' });
  t.end();
});

t.test('beside others the schema is added to, and they go on as if nothing were', async (t) => {
  const path = fileOf(t);
  const older = await openStore({ path, shared });
  t.teardown(() => older.close());
  const org = await addOrganization(older);
  const call = makeCall(org, { status: 'in_progress' });
  await older.createCall(call, { events: [], reserve: 0 });
  // Each statement of it that will be asked again is one from before.
  await older.daemons();
  const sql = `ALTER TABLE calls ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm';
    ALTER TABLE daemons ADD COLUMN mood TEXT;`;
  const more = [...MIGRATIONS, { name: 'moods', sql, kind: 'adds' } as const];
  const newer = openDatabase({ path, shared, migrations: more });
  t.teardown(() => newer.close());
  t.equal(newer.db.pragma('user_version', { simple: true }), more.length);
  t.match(await older.saveCall(call.id, { from: ['in_progress'], change: { context: { goes: 'on' } } }), {
    id: call.id,
    context: { goes: 'on' },
  });
  const next = makeCall(org, { status: 'queued' });
  t.match(await older.createCall(next, { events: [], reserve: 0 }), { id: next.id });
  t.match(await older.findCall(next.id), { id: next.id });
  t.strictSame(
    (await older.daemons()).map(({ epoch }) => epoch),
    [older.self().epoch, newer.daemon.epoch],
  );
  t.strictSame(newer.db.prepare('SELECT DISTINCT mood FROM calls').pluck().all(), ['calm']);
  const third = await openStore({ path, shared });
  t.match(
    await third.findCall(call.id),
    { context: { goes: 'on' } },
    'and one more of the older ones may come',
  );
  await third.close();
});

t.test('calls that nobody owns are taken over as well', async (t) => {
  const path = fileOf(t);
  const store = await openStore({ path });
  const org = await addOrganization(store);
  const [live, ended] = [
    makeCall(org, { status: 'ringing' }),
    makeCall(org, { status: 'completed', ended_at: at(1) }),
  ];
  for (const call of [live, ended]) await store.createCall(call, { events: [], reserve: 0 });
  const shell = new Database(path);
  shell.exec('UPDATE calls SET owner = NULL');
  shell.close();
  t.strictSame(await store.pendingResults(), []);
  t.match(await store.takeOver(), [{ id: live.id }]);
  t.strictSame(await store.ownerOf(live.id), store.self());
  t.match(await store.pendingResults(), [{ id: ended.id }]);
  await store.close();
});
