// Two versions of the program on one folder, with calls on each: the last release beside this version, and this version beside
// one that has one more step of the schema, there and back.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { PublicCall } from '../../storage/call-view.ts';
import { MIGRATIONS } from '../../storage/sqlite/migrations.ts';
import { openRig, type Rig, until } from './rig.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** The first step that the last release does not know. */
const NEW_STEP = 'calls go on';

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-version-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const git = (...args: string[]) =>
  execFileSync('git', ['-C', ROOT, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** The commit before the one with that step; null where the history does not go so far. */
function lastRelease(): string | null {
  try {
    const commits = git('log', '--format=%H', `-Sname: '${NEW_STEP}'`, '--', 'storage/sqlite/migrations.ts');
    const first = commits.split('\n').at(-1);
    return first ? git('rev-parse', '--verify', '--quiet', `${first}^`) : null;
  } catch {
    return null;
  }
}

/** What is needed of that program to run it. */
function unpack(t: Test, commit: string): string {
  const folder = folderOf(t);
  const tar = execFileSync('git', ['-C', ROOT, 'archive', commit], { maxBuffer: 2 ** 30 });
  execFileSync('tar', ['-x', '-C', folder], { input: tar });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** This program, with one more step, under another version. */
function withOneMoreStep(t: Test): string {
  const folder = folderOf(t);
  const names = ['main.js', 'audio', 'bridge', 'control', 'storage'];
  const common = readdirSync(ROOT).filter((name) => name.endsWith('.ts'));
  for (const name of [...names, ...common]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8');
  writeFileSync(join(folder, 'package.json'), text.replace(/"version": "[^"]+"/, '"version": "77.0.0"'));
  const file = join(folder, 'storage/sqlite/migrations.ts');
  const step = `  { name: 'one more', kind: 'adds', sql: "ALTER TABLE calls ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'; CREATE TABLE moods (id TEXT) STRICT" },\n];`;
  const before = readFileSync(file, 'utf8');
  const after = before.replace(/\];\s*$/, step);
  if (after === before) throw new Error('no place for the step');
  writeFileSync(file, after);
  return folder;
}

async function heard(rig: Rig, id: string): Promise<string> {
  return (await rig.transcript(id)).map(({ heard_text }) => heard_text).join();
}

const versionOf = (rig: Rig) => {
  const db = new Database(join(rig.folder, 'data/offhook.db'), { readonly: true });
  try {
    return Number(db.pragma('user_version', { simple: true }));
  } finally {
    db.close();
  }
};

const release = lastRelease();

t.test(
  'this version joins the last release on its folder, adds to its schema, and both go on with calls',
  { skip: release === null && 'the history here does not go back to the last release' },
  async (t) => {
    const shared = { DATA_DIR_SHARED: 'true' };
    const program = unpack(t, release ?? '');
    const rig = await openRig(t, { program, env: shared, carrier: { defaultCallee: { ringMs: 200 } } });
    const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
    const old = await rig.dial(agentId, '+15550600001');
    await until('the old one to talk', async () => (await heard(rig, old.id)) !== '');
    t.equal(
      versionOf(rig),
      MIGRATIONS.findIndex(({ name }) => name === NEW_STEP),
    );

    const said = await heard(rig, old.id);
    const newer = await rig.lab.startAnother(shared, ROOT);
    t.equal(versionOf(rig), MIGRATIONS.length, 'the schema is added to');
    const ask = async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${newer.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${rig.lab.apiKey}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: (await answer.json()) as PublicCall };
    };
    const { status, body: fresh } = await ask('POST', '/v1/calls', { agent_id: agentId, to: '+15550600002' });
    t.equal(status, 201);
    await until('the new one to talk', async () => (await heard(rig, fresh.id)) !== '');
    await until('the old call to be written on', async () => (await heard(rig, old.id)) !== said);
    const another = await rig.dial(agentId, '+15550600003');
    await until('a new call of the old one to talk', async () => (await heard(rig, another.id)) !== '');
    for (const { id } of [old, another]) {
      t.equal((await rig.lab.api('POST', `/v1/calls/${id}/hangup`)).status, 200);
      t.match(await rig.ended(id), { status: 'completed', error_code: null });
    }
    t.equal((await ask('POST', `/v1/calls/${fresh.id}/hangup`)).status, 200);
    t.match(await rig.ended(fresh.id), { status: 'completed', error_code: null });
    t.notOk(
      [...rig.lab.daemon.lines, ...newer.lines].some((line) => line.includes('"level":"error"')),
      'nothing went wrong on either side',
    );

    // It knows of no version that may come after it.
    await rig.lab.daemon.stop('SIGINT');
    await newer.stop('SIGINT');
    await t.rejects(rig.lab.restartDaemon(), /this version knows/);
    rig.lab.daemon = await rig.lab.startAnother(shared, ROOT);
    t.equal((await rig.call(old.id)).status, 'completed');
  },
);

t.test(
  'a version that adds to the schema goes on for this one under calls, and this one for that',
  async (t) => {
    const rig = await openRig(t, { carrier: { defaultCallee: { ringMs: 200 } } });
    const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
    const next = withOneMoreStep(t);
    for (const [folder, version, to] of [
      [next, '77.0.0', '+15550700001'],
      [ROOT, '', '+15550700002'],
    ] as const) {
      const call = await rig.dial(agentId, to);
      await until('it to talk', async () => (await heard(rig, call.id)) !== '');
      const said = await heard(rig, call.id);
      const upgraded = await rig.lab.upgrade(['--version-dir', folder]);
      t.match(upgraded.said, `Version ${version}`);
      t.equal(versionOf(rig), MIGRATIONS.length + 1);
      await until('it to be written on', async () => (await heard(rig, call.id)) !== said);
      const fresh = await rig.dial(agentId, `${to.slice(0, -1)}9`);
      await until('a new one to talk', async () => (await heard(rig, fresh.id)) !== '');
      for (const { id } of [call, fresh]) {
        t.equal((await rig.lab.api('POST', `/v1/calls/${id}/hangup`)).status, 200);
        t.match(await rig.ended(id), { status: 'completed', error_code: null });
      }
      await until('the one before to go', () => upgraded.before.exitCode() !== undefined);
    }
  },
);
