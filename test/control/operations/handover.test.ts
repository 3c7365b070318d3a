// The daemon's side of a handover: what leads to what, with everything it does put in place by the test.
import type { ChildProcess } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Handover, handoverCommands, holdFolder } from '../../../control/operations/handover.ts';
import type { Log } from '../../../log.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { addOrganization, makeCall, START } from '../../storage/makers.ts';

const HEIR = { epoch: 9, pid: 900, version: '9.9.9' };

async function open(
  t: Test,
  o: { hindered?: () => string | null; isShared?: boolean; leavePort?: () => Promise<void> } = {},
) {
  // Each its own: a test may have several.
  const folder = mkdtempSync(join(tmpdir(), 'offhook-handover-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  mkdirSync(join(folder, 'program'));
  writeFileSync(join(folder, 'program/main.js'), '');
  const done: string[] = [];
  const told: string[] = [];
  const log = new Proxy({} as Log, {
    get: () => (fields: unknown, event: string) => void told.push(`${event} ${JSON.stringify(fields)}`),
  });
  const disk = { isFull: false };
  const real = await openStore({
    path: join(folder, 'offhook.db'),
    onWrite() {
      if (disk.isFull) throw Object.assign(new Error('full'), { code: 'SQLITE_FULL' });
    },
  });
  t.teardown(() => real.close());
  const calls: string[] = [];
  const finished = Promise.withResolvers<void>();
  const child = Object.assign(new EventEmitter(), { pid: HEIR.pid });
  const handover = new Handover({
    store: {
      ...real,
      letOthersIn(may) {
        done.push(may ? 'let in' : 'hold');
        return real.letOthersIn(may);
      },
    },
    log,
    now: () => new Date(Date.parse(START) + 90_000),
    sharesFolder: false,
    hindered: o.hindered ?? (() => null),
    port: () => ({
      address: { address: '127.0.0.1', port: 8080, family: 'IPv4' },
      isShared: o.isShared ?? true,
    }),
    descriptor: () => 21,
    start(program, descriptor, epoch) {
      done.push(`start ${program === join(folder, 'program')} ${descriptor} ${epoch}`);
      return child as unknown as ChildProcess;
    },
    tell: (states) => void done.push(states.join()),
    heirDied: () => void done.push('heir died'),
    async leavePort() {
      done.push('leave port');
      await o.leavePort?.();
    },
    callIds: () => calls,
    async finishCalls() {
      done.push('finish calls');
      await finished.promise;
    },
    reportMs: 5,
    holdAgainMs: 5,
  });
  t.teardown(() => handover.close());
  const { upgrade, join: letIn, ready, 'upgrade-state': state } = handoverCommands(() => handover);
  return {
    ...{ handover, real, disk, done, told, calls, child, letIn, ready, state },
    go: () => upgrade({ folder: join(folder, 'program') }),
    upgrade,
    folder,
    finish: finished.resolve,
    until: async (found: () => boolean) => {
      while (!found()) await new Promise((turn) => setTimeout(turn, 2));
    },
  };
}

t.test('started, let in, ready: it leaves the port, and is over with its last call', async (t) => {
  const rig = await open(t);
  const org = await addOrganization(rig.real);
  const call = makeCall(org, { status: 'in_progress' });
  await rig.real.createCall(call, { events: [], reserve: 0 });
  rig.calls.push(call.id);
  t.match(await rig.state({}), { at: 'running', failed: null, calls: 1, oldestSeconds: 90, heir: null });
  t.match(await rig.go(), { pid: HEIR.pid });
  t.match(await rig.state({}), { at: 'starting' });
  t.match(await rig.letIn({ hasSocket: true }), { address: { port: 8080 }, isShared: true });
  await rig.ready(HEIR);
  t.ok(rig.handover.isLeaving);
  t.match(await rig.state({}), { at: 'leaving', calls: 1, heir: HEIR });
  t.equal(rig.real.self().state, 'leaving');
  const epoch = rig.real.self().epoch;
  t.same(rig.done, [
    ...[`start true 21 ${epoch}`, 'RELOADING=1'],
    ...['let in', 'let in', 'leave port', 'finish calls'],
  ]);

  await rig.until(() => rig.told.some((line) => line.startsWith('handover.waiting')));
  const waiting = rig.told.find((line) => line.startsWith('handover.waiting')) ?? '';
  t.match(JSON.parse(waiting.slice(17)), { live: 1, oldest_seconds: 90, calls: [call.id] });
  rig.child.emit('exit', 0, null);
  t.match(await rig.state({}), { at: 'leaving' }, 'what becomes of the next one is its own affair');
  t.notOk(rig.done.includes('heir died'), 'it ended as it should');
  let over = false;
  void rig.handover.over.then(() => {
    over = true;
  });
  await new Promise((turn) => setTimeout(turn, 20));
  t.notOk(over, 'not while a call is on');
  rig.calls.length = 0;
  rig.finish();
  await rig.handover.over;
  t.ok(rig.told.at(-1)?.startsWith('handover.over'));
});

t.test(
  'nothing that fails while it leaves keeps the next one from going on, or it from its end',
  async (t) => {
    const rig = await open(t, {
      leavePort: async () => {
        throw new Error('broken');
      },
    });
    await rig.go();
    rig.disk.isFull = true;
    await rig.ready(HEIR);
    t.match(await rig.state({}), { at: 'leaving', heir: HEIR });
    t.equal(rig.told.filter((line) => line.startsWith('handover.not_finished')).length, 2, 'each is told');
    t.equal(rig.done.at(-1), 'finish calls');
    t.equal(rig.real.self().state, 'running');
    rig.disk.isFull = false;
    await rig.until(() => rig.real.self().state === 'leaving');
    await rig.ready(HEIR);
    t.equal(rig.done.filter((step) => step === 'leave port').length, 1, 'asked again, it has left already');
    rig.finish();
    await rig.handover.over;
  },
);

t.test('the next one dies while calls are left: that is told, once, and of no other process', async (t) => {
  const rig = await open(t);
  await rig.go();
  await rig.ready(HEIR);
  rig.child.emit('exit', null, 'SIGKILL');
  t.equal(rig.done.filter((step) => step === 'heir died').length, 1);
  t.ok(rig.told.some((line) => line.startsWith('handover.heir_died') && line.includes('SIGKILL')));
  t.match(await rig.state({}), { at: 'leaving' });
  rig.finish();

  const other = await open(t);
  await other.go();
  await other.ready({ ...HEIR, pid: 901 });
  other.child.emit('exit', 1, null);
  t.notOk(other.done.includes('heir died'), 'another process was quicker, and goes on');
  other.finish();
});

t.test('one that ends at its start: all is as it was, and nobody else is let in', async (t) => {
  const rig = await open(t);
  await rig.go();
  await rig.letIn({ hasSocket: true });
  await new Promise((turn) => setTimeout(turn, 20));
  t.notOk(rig.done.includes('hold'), 'not while it starts');
  rig.child.emit('exit', 1, null);
  t.match(await rig.state({}), { at: 'running', failed: /exit code 1/ });
  t.equal(rig.done.at(-1), 'READY=1');
  await rig.until(() => rig.done.includes('hold'));
  rig.child.emit('exit', 1, null);
  t.equal(rig.told.filter((line) => line.startsWith('handover.failed')).length, 1, 'told once');
  await rig.go();
  t.match(await rig.state({}), { at: 'starting', failed: null }, 'and again');
});

t.test('one that asks by itself and does not come: nobody else is let in after a while', async (t) => {
  const rig = await open(t);
  await rig.letIn({ hasSocket: false });
  await rig.until(() => rig.done.includes('hold'));
  await rig.letIn({ hasSocket: false });
  t.equal(rig.done.at(-1), 'let in', 'as often as it asks');
  await rig.until(() => rig.done.at(-1) === 'hold');
  await rig.ready(HEIR);
  t.same(
    rig.done.slice(-3),
    ['let in', 'leave port', 'finish calls'],
    'it comes after all: the folder is its own',
  );
  rig.finish();
});

t.test('the folder is held once the one before has gone, never while the next one comes', async (t) => {
  const asked: boolean[] = [];
  let mayHold = false;
  let isFree = false;
  const end = holdFolder(
    { letOthersIn: (may) => asked.push(may) > 0 && isFree },
    { mayHold: () => mayHold, holdMs: 2 },
  );
  t.teardown(end);
  await new Promise((turn) => setTimeout(turn, 20));
  t.same(asked, []);
  mayHold = true;
  while (asked.length < 2) await new Promise((turn) => setTimeout(turn, 2));
  isFree = true;
  const before = asked.length;
  await new Promise((turn) => setTimeout(turn, 20));
  t.same(asked.slice(before), [false], 'and then no more');
});

t.test('what cannot be is refused', async (t) => {
  const conflict = (message: RegExp) => ({ code: 'conflict', message });
  const hindered = await open(t, { hindered: () => 'It cannot.' });
  for (const ask of [hindered.go, () => hindered.letIn({ hasSocket: true })])
    await t.rejects(ask(), conflict(/It cannot/));
  const alone = await open(t, { isShared: false });
  await t.rejects(alone.letIn({ hasSocket: false }), conflict(/cannot be shared/));
  await alone.letIn({ hasSocket: true });

  const rig = await open(t);
  writeFileSync(join(rig.folder, 'other'), '');
  await t.rejects(rig.upgrade({ folder: join(rig.folder, 'nothing') }), {
    code: 'invalid_request',
    message: /no main\.js/,
  });
  await rig.go();
  await t.rejects(rig.go(), conflict(/under way already/));
  await rig.ready(HEIR);
  for (const ask of [rig.go, () => rig.letIn({ hasSocket: true })])
    await t.rejects(ask(), conflict(/under way already/));
  await t.rejects(rig.ready({ ...HEIR, epoch: 10 }), conflict(/Another process/));
  await t.rejects(handoverCommands(() => null).upgrade({}), conflict(/still starting/));
  rig.finish();
});
