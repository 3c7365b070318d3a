// Two daemons on one folder, each with calls of its own: neither touches the other's, whatever becomes of it, until it is
// dead; and then each of its calls reaches one end.
import t, { type Test } from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { Program } from '../../scripts/lab.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { ENDED, openRig, type Rig, until } from './rig.ts';

const RINGS = { ringMs: 60_000 };

interface Pair extends Rig {
  other: Program;
  agentId: string;
  /** The API of the other daemon. */
  ask<T>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }>;
  dialOther(to: string): Promise<PublicCall>;
  /** Calls as the first daemon reads them. */
  states(calls: readonly PublicCall[]): Promise<string>;
  atCarrier(to: string): Promise<CallReport>;
}

async function openPair(t: Test, env: Record<string, string> = {}): Promise<Pair> {
  const shared = { DATA_DIR_SHARED: 'true', ...env };
  const callees = { '+15550400003': RINGS, '+15550400013': RINGS };
  const rig = await openRig(t, { carrier: { defaultCallee: { ringMs: 200 }, callees }, env: shared });
  const { lab } = rig;
  const other = await lab.startAnother();
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });

  async function ask<T>(method: string, path: string, body?: unknown) {
    const answer = await fetch(`${other.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${lab.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as T };
  }

  return {
    ...rig,
    other,
    agentId,
    ask,
    async dialOther(to) {
      const { status, body } = await ask<PublicCall>('POST', '/v1/calls', { agent_id: agentId, to });
      if (status !== 201) throw new Error(`not dialled: ${status} ${JSON.stringify(body)}`);
      return body;
    },
    async states(calls) {
      return (await Promise.all(calls.map(async ({ id }) => (await rig.call(id)).status))).join();
    },
    async atCarrier(to) {
      const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
      const found = calls.filter((call) => call.to === to);
      t.equal(found.length, 1, `${to} was called once`);
      return found[0] as CallReport;
    },
  };
}

/** The events of a call, once its end has been delivered. */
async function events(pair: Pair, id: string) {
  const ends = () => pair.events(id).filter(({ body }) => ENDED.includes(body.status));
  await until('the webhook of its end', () => ends().length > 0);
  return pair.events(id).map(({ type }) => type);
}

// Each has daemons of its own, and waits for them most of its time.
t.jobs = 3;

t.test('one is killed: the other ends what it had, and goes on with its own', async (t) => {
  const pair = await openPair(t);
  const own = [await pair.dial(pair.agentId, '+15550400001'), await pair.dial(pair.agentId, '+15550400003')];
  const theirs = [await pair.dialOther('+15550400011'), await pair.dialOther('+15550400013')];
  await until('a talk and a ring on each', async () =>
    /^in_progress,ringing,in_progress,ringing$/.test(await pair.states([...own, ...theirs])),
  );

  await pair.other.stop('SIGKILL');
  await until('its calls to be over', async () =>
    (await Promise.all(theirs.map(({ id }) => pair.call(id)))).every((call) => ENDED.includes(call.status)),
  );
  t.equal(await pair.states(own), 'in_progress,ringing', 'the others go on');
  t.match(await pair.call(theirs[0]?.id ?? ''), { status: 'failed', error_code: 'daemon_restart' });
  for (const { id, to_number } of theirs) {
    const types = await events(pair, id);
    t.equal(types.filter((type) => !/queued|ringing|answered/.test(type)).length, 1, `one end: ${types}`);
    const leg = await until('its line to be free', async () => {
      const report = await pair.atCarrier(to_number);
      return report.endedAtMs === null ? null : report;
    });
    t.ok(leg.updates.length <= 1, 'asked for once at most');
    t.ok(leg.updates.every(({ code }) => code === null));
  }
  const ringing = await pair.atCarrier('+15550400013');
  t.strictSame(
    ringing.updates.map(({ asked }) => asked),
    ['Status=canceled'],
  );

  for (const { id } of own)
    await pair.lab.api('POST', `/v1/calls/${id}/${id === own[0]?.id ? 'hangup' : 'cancel'}`);
  for (const { id, to_number } of own) {
    await pair.ended(id);
    t.equal((await pair.atCarrier(to_number)).updates.length, 1);
  }
  t.equal(await pair.states(own), 'completed,canceled');
});

t.test('one stands still: its calls are the other one’s, and when it goes on it ends', async (t) => {
  const pair = await openPair(t);
  const theirs = await pair.dialOther('+15550400011');
  const own = await pair.dial(pair.agentId, '+15550400001');
  const said = async (id: string) => (await pair.transcript(id)).map(({ heard_text }) => heard_text).join();
  await until('both to talk', async () => (await said(theirs.id)) !== '' && (await said(own.id)) !== '');

  // Not in the middle of a write: SQLite lets nobody else write then.
  await until('it to stand still', async () => {
    process.kill(pair.other.pid, 'SIGSTOP');
    const { status } = await pair.lab.api('PATCH', `/v1/agents/${pair.agentId}`, { name: 'Still' });
    if (status !== 200) process.kill(pair.other.pid, 'SIGCONT');
    return status === 200;
  });
  const stoppedAt = performance.now();
  t.teardown(() => {
    if (pair.other.exitCode() === undefined) process.kill(pair.other.pid, 'SIGCONT');
  });
  const asked = async () => (await pair.atCarrier('+15550400011')).updates.length;
  const logged = (event: string) => pair.lab.daemon.lines.filter((line) => line.includes(`"${event}"`));
  const missed = until('it to be missed', () => logged('daemon.stands_still').length > 0).then(() =>
    Math.round(performance.now() - stoppedAt),
  );
  // Whoever asks meanwhile waits, and asks again when he is told to.
  const answers: number[] = [];
  await until('the end of its call to be taken', async () => {
    const { status } = await pair.lab.api('POST', `/v1/calls/${theirs.id}/hangup`);
    answers.push(status);
    return status !== 503;
  });
  t.match(answers.at(-1), /200|409/, `${answers}`);
  const missedMs = await missed;
  t.ok(missedMs > 9_000, 'not before it has said nothing for ten seconds');
  const ended = await pair.ended(theirs.id);
  const before = await asked();

  const goesOnAt = performance.now();
  process.kill(pair.other.pid, 'SIGCONT');
  t.equal(await pair.other.ended, 1, 'it ends, to be started again');
  t.comment(
    `missed after ${missedMs} ms, ended ${Math.round(performance.now() - goesOnAt)} ms after it went on`,
  );
  const plain = pair.other.lines.filter((line) => !line.startsWith('{'));
  t.match(plain.at(-1), /^offhook: this daemon stood still, and another one has taken over/);
  t.equal(await asked(), before, 'it has commanded nothing');
  t.strictSame(await pair.call(theirs.id), ended, 'and written nothing');
  const ends = (await events(pair, theirs.id)).filter((type) => !/queued|ringing|answered/.test(type));
  t.equal(ends.length, 1, `one end: ${ends}`);
  t.equal(await pair.states([own]), 'in_progress', 'the other one’s own call goes on');
});

t.test('without the setting a second daemon is refused, in one line', async (t) => {
  const rig = await openRig(t);
  await t.rejects(rig.lab.startAnother(), /another daemon is using this data folder/);
  await t.rejects(
    rig.lab.startAnother({ DATA_DIR_SHARED: 'true' }),
    /another daemon is using this data folder/,
  );
  t.equal((await rig.lab.api('GET', '/v1/agents')).status, 200);
});
