// Two daemons on one folder, each with calls of its own: neither touches the other's, whatever becomes of it, until it is
// dead; and then each of its calls goes on at the other.
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

t.test('one is killed: the other goes on with what it had, and with its own', async (t) => {
  const pair = await openPair(t);
  const own = [await pair.dial(pair.agentId, '+15550400001'), await pair.dial(pair.agentId, '+15550400003')];
  const theirs = [await pair.dialOther('+15550400011'), await pair.dialOther('+15550400013')];
  const all = [...own, ...theirs];
  const states = 'in_progress,ringing,in_progress,ringing';
  await until('a talk and a ring on each', async () => (await pair.states(all)) === states);
  await until('its talk to be heard', async () =>
    (await pair.transcript(theirs[0]?.id ?? '')).some(({ heard_text }) => heard_text !== ''),
  );

  await pair.other.stop('SIGKILL');
  await until(
    'its talk to have its sound again',
    async () => (await pair.call(theirs[0]?.id ?? '')).gaps.at(-1)?.to_ms != null,
  );
  t.equal(await pair.states(all), states, 'all go on');
  t.match(await pair.call(theirs[0]?.id ?? ''), { gaps: [{ why: 'daemon_restart' }] });
  t.equal((await pair.atCarrier('+15550400011')).streams.length, 2);

  for (const { id, to_number } of all) {
    const verb = (await pair.call(id)).status === 'ringing' ? 'cancel' : 'hangup';
    t.equal((await pair.lab.api('POST', `/v1/calls/${id}/${verb}`)).status, 200);
    await pair.ended(id);
    const types = await events(pair, id);
    t.equal(types.filter((type) => !/queued|ringing|answered/.test(type)).length, 1, `one end: ${types}`);
    const { updates } = await pair.atCarrier(to_number);
    t.strictSame(
      updates.map(({ asked }) => asked).filter((asked) => asked.startsWith('Status')),
      [verb === 'cancel' ? 'Status=canceled' : 'Status=completed'],
      'ended once',
    );
    t.ok(updates.every(({ code }) => code === null));
  }
  t.equal(await pair.states(all), 'completed,canceled,completed,canceled');
});

t.test('one stands still: its calls are the other one’s, and when it goes on it ends', async (t) => {
  const pair = await openPair(t);
  const theirs = await pair.dialOther('+15550400011');
  const ringing = await pair.dialOther('+15550400013');
  const own = await pair.dial(pair.agentId, '+15550400001');
  const said = async (id: string) => (await pair.transcript(id)).map(({ heard_text }) => heard_text).join();
  await until('both to talk', async () => (await said(theirs.id)) !== '' && (await said(own.id)) !== '');
  await until('the other to ring', async () => (await pair.states([ringing])) === 'ringing');

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
  const logged = (event: string) => pair.lab.daemon.lines.filter((line) => line.includes(`"${event}"`));
  const missed = until('it to be missed', () => logged('daemon.stands_still').length > 0).then(() =>
    Math.round(performance.now() - stoppedAt),
  );
  // Whoever asks meanwhile waits, and asks again when he is told to.
  const answers: number[] = [];
  await until('its ringing call to be canceled', async () => {
    const { status } = await pair.lab.api('POST', `/v1/calls/${ringing.id}/cancel`);
    answers.push(status);
    return status !== 503;
  });
  t.match(answers.at(-1), 200, `${answers}`);
  const missedMs = await missed;
  t.ok(missedMs > 9_000, 'not before it has said nothing for ten seconds');
  await until('its talk to go on', async () => (await pair.call(theirs.id)).gaps[0]?.to_ms != null);
  t.match((await pair.call(theirs.id)).gaps, [{ why: 'daemon_restart' }]);
  const asked = async (to: string) => (await pair.atCarrier(to)).updates.map(({ asked }) => asked);
  const before = await asked('+15550400011');
  const canceled = await pair.ended(ringing.id);

  const goesOnAt = performance.now();
  process.kill(pair.other.pid, 'SIGCONT');
  t.equal(await pair.other.ended, 1, 'it ends, to be started again');
  t.comment(
    `missed after ${missedMs} ms, ended ${Math.round(performance.now() - goesOnAt)} ms after it went on`,
  );
  const plain = pair.other.lines.filter((line) => !line.startsWith('{'));
  t.match(plain.at(-1), /^offhook: this daemon stood still, and another one has taken over/);
  t.strictSame(await asked('+15550400011'), before, 'it has commanded nothing');
  t.strictSame(await pair.call(ringing.id), canceled, 'and written nothing');
  t.equal((await asked('+15550400013')).length, 1);
  const heard = await said(theirs.id);
  await until('more of its talk', async () => (await said(theirs.id)) !== heard);
  t.equal((await pair.call(theirs.id)).gaps.length, 1, 'of which nothing was lost by that');
  t.equal((await pair.lab.api('POST', `/v1/calls/${theirs.id}/hangup`)).status, 200);
  t.match(await pair.ended(theirs.id), { status: 'completed', error_code: null });
  for (const { id } of [theirs, ringing]) {
    const ends = (await events(pair, id)).filter((type) => !/queued|ringing|answered/.test(type));
    t.equal(ends.length, 1, `one end: ${ends}`);
  }
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
