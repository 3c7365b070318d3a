// Two daemons on one folder and under one address, as while one takes the other's place: whatever the carrier or a program brings
// to the wrong one is done by the one that has the call; where that is gone, by its heir.
import { connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { freePort } from '../../scripts/free-port.ts';
import type { Program } from '../../scripts/lab.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { ENDED, openRig, type Rig, until } from './rig.ts';

interface Pair extends Rig {
  other: Program;
  agentId: string;
  /** New connections to the address that both have go to this one from now on. */
  lead(to: Program): void;
  /** The API of the other daemon. */
  askOther<T>(method: string, path: string): Promise<{ status: number; headers: Headers; body: T }>;
  atCarrier(to: string): Promise<CallReport>;
}

/** One address: what is brought there goes to whichever daemon it leads to. */
async function openAddress(t: Test): Promise<{ url: string; lead(to: string): void }> {
  const port = await freePort();
  const sockets = new Set<Socket>();
  let target = 0;
  const server = createServer((socket) => {
    const onwards = connect({ port: target, host: '127.0.0.1' });
    for (const [one, two] of [
      [socket, onwards],
      [onwards, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => two.destroy());
      one.on('close', () => {
        two.destroy();
        sockets.delete(one);
      });
      one.pipe(two);
    }
  });
  await new Promise<void>((listening) => server.listen(port, '127.0.0.1', listening));
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    lead(to) {
      target = Number(new URL(to).port);
    },
  };
}

async function openPair(t: Test): Promise<Pair> {
  const address = await openAddress(t);
  const callees = { '+15550400003': { ringMs: 60_000 } };
  const rig = await openRig(t, {
    carrier: { defaultCallee: { ringMs: 1_000 }, callees },
    env: { DATA_DIR_SHARED: 'true', PUBLIC_URL: address.url },
  });
  const { lab } = rig;
  address.lead(lab.daemon.url);
  const other = await lab.startAnother();
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  return {
    ...rig,
    other,
    agentId,
    lead: (to) => address.lead(to.url),
    async askOther<T>(method: string, path: string) {
      const answer = await fetch(`${other.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${lab.apiKey}` },
      });
      return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T };
    },
    async atCarrier(to) {
      const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
      const found = calls.filter((call) => call.to === to);
      t.equal(found.length, 1, `${to} was called once`);
      return found[0] as CallReport;
    },
  };
}

const logged = ({ lines }: Program, event: string) => lines.filter((line) => line.includes(`"${event}"`));

// Each has daemons of its own, and waits for them most of its time.
t.jobs = 2;

t.test('hooks, sound and commands that come to the wrong daemon go on to the right one', async (t) => {
  const pair = await openPair(t);
  pair.lead(pair.other);
  const call = await pair.dial(pair.agentId, '+15550400001');
  const ringing = await pair.dial(pair.agentId, '+15550400003');
  const heard = async () => (await pair.transcript(call.id)).map(({ heard_text }) => heard_text).join(' ');
  await until('the agent to be heard', async () => (await heard()).includes('Riverside'));
  await until('the other to ring', async () => (await pair.call(ringing.id)).status === 'ringing');

  const carried = await pair.atCarrier('+15550400001');
  t.strictSame(
    carried.hooks.filter(({ status }) => status === null || status >= 300),
    [],
    'every hook was answered',
  );
  t.strictSame(carried.violations, []);
  t.ok(logged(pair.other, 'peer.passed_on').length >= 3, 'by the daemon that has the call');
  t.strictSame(logged(pair.lab.daemon, 'peer.passed_on'), [], 'which passes nothing on');
  t.strictSame(logged(pair.lab.daemon, 'peer.refused'), []);

  const hungUp = await pair.askOther<PublicCall>('POST', `/v1/calls/${call.id}/hangup`);
  t.match(hungUp, { status: 200, body: { id: call.id, status: 'completed' } });
  const refused = await pair.askOther('POST', `/v1/calls/${call.id}/cancel`);
  t.match(refused, { status: 409, body: { error: { code: 'call_ended' } } });
  const canceled = await pair.askOther<PublicCall>('POST', `/v1/calls/${ringing.id}/cancel`);
  t.match(canceled, { status: 200, body: { id: ringing.id, status: 'canceled' } });
  for (const { id, to_number } of [call, ringing]) {
    await pair.ended(id);
    const { updates } = await pair.atCarrier(to_number);
    t.equal(updates.length, 1, 'its line was ended once');
  }
  await until('the webhook of its end', () => pair.events(call.id).length === 4);
  t.strictSame(
    pair.events(call.id).map(({ type }) => type),
    ['call.queued', 'call.ringing', 'call.answered', 'call.completed'],
  );
});

t.test('the daemon of a call is killed: what comes about it has its heir act at once', async (t) => {
  const pair = await openPair(t);
  pair.lead(pair.other);
  const call = await pair.dial(pair.agentId, '+15550400001');
  await until('a talk', async () => (await pair.call(call.id)).status === 'in_progress');
  await pair.lab.daemon.stop('SIGKILL');
  const asked = await pair.askOther<PublicCall>('POST', `/v1/calls/${call.id}/hangup`);
  // Hung up, over before that, or on its way to its end: never left alone.
  t.ok([200, 409].includes(asked.status), `answered ${asked.status} ${JSON.stringify(asked.body)}`);
  const ended = await until('its end', async () => {
    const { body } = await pair.askOther<PublicCall>('GET', `/v1/calls/${call.id}`);
    return ENDED.includes(body.status) ? body : null;
  });
  t.match(ended.status, /completed|failed/);
  const line = await until('its line to be free', async () => {
    const report = await pair.atCarrier('+15550400001');
    return report.endedAtMs === null ? null : report;
  });
  t.strictSame(
    line.hooks.filter(({ status }) => status !== null && status >= 500),
    [],
    'no hook failed',
  );
});

t.test('the daemon that passes a stream on is killed: its call goes on without it', async (t) => {
  const pair = await openPair(t);
  pair.lead(pair.other);
  const call = await pair.dial(pair.agentId, '+15550400001');
  const heard = async () => (await pair.transcript(call.id)).map(({ heard_text }) => heard_text).join(' ');
  await until('the agent to be heard', async () => (await heard()).includes('Riverside'));
  pair.lead(pair.lab.daemon);
  await pair.other.stop('SIGKILL');
  const gaps = async () => (await pair.call(call.id)).gaps;
  await until('another stream', async () => (await gaps())[0]?.to_ms != null);
  await until('the agent to go on', async () => (await heard()).includes('nine in the morning'));
  t.match(await gaps(), [{ why: 'stream_lost' }]);
  t.equal((await pair.call(call.id)).status, 'in_progress');
  t.equal((await pair.lab.api('POST', `/v1/calls/${call.id}/hangup`)).status, 200);
  t.match(await pair.ended(call.id), { status: 'completed', error_code: null });
  const { streams } = await pair.atCarrier('+15550400001');
  t.equal(streams.length, 2);
});
