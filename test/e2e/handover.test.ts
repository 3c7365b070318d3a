// An upgrade under calls: another process of the program goes on for the daemon, on its folder and its port. What is on goes on
// where it is, what comes goes to the new one, and nothing of it is told to anybody but the operator.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Program } from '../../scripts/lab.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { openRig, type Rig, until } from './rig.ts';

type Events = (event: string) => Record<string, unknown>[];

const eventsOf =
  ({ lines }: Program): Events =>
  (event) =>
    lines.flatMap((line) => {
      if (!line.startsWith('{') || !line.includes(`"${event}"`)) return [];
      return [JSON.parse(line) as Record<string, unknown>];
    });

const ROOT = resolve(import.meta.dirname, '../..');

/** Somebody who asks the daemon for something all the time, and keeps what went wrong. */
function visitor(rig: Rig): { failures: unknown[]; asked: () => number; leave(): Promise<void> } {
  const failures: unknown[] = [];
  let asked = 0;
  let isHere = true;
  const visit = async () => {
    while (isHere) {
      try {
        // By a kept connection now, and by one of its own then.
        const headers: Record<string, string> = asked % 2 === 0 ? { connection: 'close' } : {};
        const answer = await fetch(`${rig.lab.daemon.url}/healthz`, { headers });
        await answer.arrayBuffer();
        if (answer.status !== 200) failures.push(answer.status);
      } catch (error) {
        failures.push((error as { cause?: unknown }).cause ?? error);
      }
      asked++;
      await new Promise((turn) => setTimeout(turn, 5));
    }
  };
  const visits = Promise.all([visit(), visit()]);
  return {
    failures,
    asked: () => asked,
    async leave() {
      isHere = false;
      await visits;
    },
  };
}

/** A call that talks. */
async function talking(rig: Rig, agentId: string, to: string): Promise<PublicCall> {
  const call = await rig.dial(agentId, to);
  await until(`${to} to hear something`, async () =>
    (await rig.transcript(call.id)).some(({ heard_text }) => heard_text !== ''),
  );
  return call;
}

/** The process that has a call. */
async function ownerPid({ folder }: Rig, callId: string): Promise<number> {
  const db = new Database(join(folder, 'data/offhook.db'), { readonly: true });
  try {
    const found = db.prepare('SELECT pid FROM calls JOIN daemons ON epoch = owner WHERE id = ?');
    return Number(found.pluck().get(callId));
  } finally {
    db.close();
  }
}

async function heard(rig: Rig, { id }: PublicCall): Promise<string> {
  return (await rig.transcript(id)).map(({ heard_text }) => heard_text).join();
}

/** One handover under calls: who was before has its call, who comes takes the rest. */
async function goOver(
  t: Test,
  rig: Rig,
  o: { agentId: string; go: () => Promise<{ before: Program }>; number: number },
): Promise<void> {
  const to = (n: number) => `+1555050${o.number}00${n}`;
  const old = await talking(rig, o.agentId, to(1));
  const said = await heard(rig, old);
  // It is answered when the port is another process's: hooks and stream come there.
  const ringing = await rig.dial(o.agentId, to(3));
  const wasPid = rig.lab.daemon.pid;
  const { before } = await o.go();
  const { daemon } = rig.lab;
  t.not(daemon.pid, wasPid);
  t.equal(before.exitCode(), undefined, 'the one before has a call');
  const fresh = await talking(rig, o.agentId, to(2));
  await until('the old call to go on', async () => (await heard(rig, old)) !== said);
  t.equal((await rig.call(old.id)).status, 'in_progress');

  await until('the one that rang to be answered and heard', async () => (await heard(rig, ringing)) !== '');
  t.match(await rig.call(ringing.id), { status: 'in_progress', gaps: [] });
  for (const { id } of [old, ringing]) t.equal(await ownerPid(rig, id), wasPid, 'where it was');
  t.equal(await ownerPid(rig, fresh.id), daemon.pid);
  await rig.lab.api('POST', `/v1/calls/${ringing.id}/hangup`);
  await rig.ended(ringing.id);
  const { status } = await rig.lab.api('POST', `/v1/calls/${old.id}/hangup`);
  t.equal(status, 200, 'asked at the new one, it is done at the old one');
  t.match(await rig.ended(old.id), { status: 'completed', error_code: null });
  t.equal((await rig.call(fresh.id)).status, 'in_progress', 'and the new call goes on');
  t.equal(eventsOf(before)('handover.leaving').length, o.number, 'said once each');
  await until('the one before to go', () => (eventsOf(before)('daemon.stopped').length >= 1 ? true : null));
  await rig.lab.api('POST', `/v1/calls/${fresh.id}/hangup`);
  t.match(await rig.ended(fresh.id), { status: 'completed', error_code: null });
}

/** A program whose daemon does not start, and whose commands are this one's. */
const BROKEN = `if (process.argv[2] === undefined) process.exit(3);
const { upgrade } = await import('${ROOT}/control/operations/upgrade.ts');
try {
  process.exitCode = await upgrade(process.env, [...process.argv.slice(3), '--folder', import.meta.dirname]);
} catch (error) {
  console.error('offhook:', error.message);
  process.exitCode = 1;
}`;
const CARRIER = {
  defaultCallee: { ringMs: 200 },
  callees: { '+15550501003': { ringMs: 12_000 }, '+15550502003': { ringMs: 12_000 } },
};

t.jobs = 2;

t.test(
  'by the command: the next one has the socket, there and back, and nobody is turned away',
  async (t) => {
    const rig = await openRig(t, { carrier: CARRIER });
    const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
    const { failures, asked, leave } = visitor(rig);
    for (const number of [1, 2]) await goOver(t, rig, { agentId, number, go: () => rig.lab.upgrade() });
    await leave();
    t.same(failures, [], `of ${asked()} visits`);
  },
);

t.test('started beside it, without its socket', async (t) => {
  const rig = await openRig(t, { carrier: CARRIER, env: { MEDIA_THREADS: '1' } });
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  await goOver(t, rig, { agentId, number: 1, go: () => rig.lab.takeOver() });
  await until('nobody else to be let in', async () =>
    rig.lab.startAnother({ DATA_DIR_SHARED: 'true' }).then(
      () => t.fail('joined'),
      (error: Error) => /is held/.test(error.message),
    ),
  );
  await rig.lab.daemon.stop('SIGINT');
  await rig.lab.restartDaemon({ OFFHOOK_TAKES_OVER: 'any' });
  t.equal((await rig.lab.api('GET', '/v1/agents')).status, 200, 'and where none runs, it is a start');
});

t.test('who ends the new one ends the one before too, with its calls', async (t) => {
  const rig = await openRig(t, { carrier: CARRIER, env: { DRAIN_SECONDS: '2', MEDIA_THREADS: '1' } });
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  const call = await talking(rig, agentId, '+15550509002');
  const { before } = await rig.lab.takeOver();
  t.equal(before.exitCode(), undefined);
  t.equal(await rig.lab.daemon.stop('SIGTERM'), 0);
  t.equal(await before.ended, 0);
  await rig.lab.restartDaemon();
  t.match(await rig.ended(call.id), { hangup_cause: 'draining' });
});

t.test('the new one is killed while the other is leaving: a start goes on beside that', async (t) => {
  const rig = await openRig(t, { carrier: CARRIER, env: { MEDIA_THREADS: '1' } });
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  const call = await talking(rig, agentId, '+15550509003');
  const { before } = await rig.lab.takeOver();
  await rig.lab.daemon.stop('SIGKILL');
  await rig.lab.restartDaemon();
  const fresh = await talking(rig, agentId, '+15550509004');
  const said = await heard(rig, call);
  await until('the old call to go on', async () => (await heard(rig, call)) !== said);
  t.equal(await ownerPid(rig, call.id), before.pid);
  for (const { id } of [call, fresh]) {
    t.equal((await rig.lab.api('POST', `/v1/calls/${id}/hangup`)).status, 200);
    t.match(await rig.ended(id), { status: 'completed', error_code: null });
  }
  t.equal(await before.ended, 0);
});

t.test('the new one dies under a supervisor: so does the one before, and calls of both go on', async (t) => {
  const rig = await openRig(t, {
    carrier: { defaultCallee: { ringMs: 200 } },
    env: { NOTIFY_SOCKET: '/nowhere/notify', MEDIA_THREADS: '1' },
  });
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  const old = await talking(rig, agentId, '+15550509003');
  const { before } = await rig.lab.upgrade();
  const fresh = await talking(rig, agentId, '+15550509004');
  await rig.lab.daemon.stop('SIGKILL');
  t.equal(await before.ended, 1, 'a supervisor starts it again for that');
  t.equal(eventsOf(before)('handover.heir_died').length, 1);
  await rig.lab.restartDaemon();
  for (const { id } of [old, fresh]) {
    await until(
      'it to be heard again',
      async () => typeof (await rig.call(id)).gaps.at(-1)?.to_ms === 'number',
    );
    t.match(await rig.call(id), { status: 'in_progress', gaps: [{ why: 'daemon_restart' }] });
    await rig.lab.api('POST', `/v1/calls/${id}/hangup`);
    t.match(await rig.ended(id), { status: 'completed', error_code: null });
  }
});

t.test('one that does not start changes nothing; what cannot be is refused in a line', async (t) => {
  const rig = await openRig(t, { carrier: { defaultCallee: { ringMs: 200 } } });
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  const call = await talking(rig, agentId, '+15550509001');
  const { pid } = rig.lab.daemon;
  const folder = join(rig.folder, 'broken');
  mkdirSync(folder);
  await t.rejects(rig.lab.upgrade(['--version-dir', folder]), /There is no program in .*broken/);
  writeFileSync(join(folder, 'main.js'), BROKEN);
  writeFileSync(join(folder, 'daemon.ts'), '');
  await t.rejects(rig.lab.upgrade(['--version-dir', folder]), {
    message: new RegExp(
      `ended at its start \\(exit code 3\\).*\\. Process ${pid} goes on as before\\.\n.*not upgraded`,
    ),
  });
  await t.rejects(rig.lab.upgrade(['--daemon', '77']), /no daemon of number 77 runs on/);
  const said = await heard(rig, call);
  await until('the call to go on', async () => (await heard(rig, call)) !== said);
  await until('nobody to be let in', async () =>
    rig.lab.startAnother({ DATA_DIR_SHARED: 'true' }).then(
      () => t.fail('joined'),
      (error: Error) => /is held/.test(error.message),
    ),
  );
  const { body } = await rig.lab.api<PublicCall>('POST', `/v1/calls/${call.id}/hangup`);
  t.equal(body.id, call.id);
  await rig.ended(call.id);
  const { before } = await rig.lab.upgrade();
  t.equal(await before.ended.then(() => 'gone'), 'gone', 'and then it goes, with no call to wait for');
});
