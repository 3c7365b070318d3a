// Daemons that reach each other, on real sockets: each with its private port, and none that listens to anybody else.
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname } from 'node:os';
import t, { type Test } from 'tap';
import { keepHookBody } from '../../../bridge/carriers/hook-body.ts';
import { Peers } from '../../../bridge/peers/peers.ts';
import { PrivatePort, type PrivatePortOptions, wasPassedOn } from '../../../bridge/peers/private-port.ts';
import { PEER_HEADER, sign } from '../../../bridge/peers/signature.ts';
import { AppError, CallElsewhere } from '../../../errors.ts';
import { openLog } from '../../../log.ts';
import type { DaemonRecord } from '../../../storage/records.ts';

const SECRET = Buffer.alloc(32, 7);
const CALL = '0190b6a4-7c3e-7000-8000-0123456789ab';
const NONCE = 'a'.repeat(32);
const now = () => new Date();

const record = (epoch: number, port: number | null, more: Partial<DaemonRecord> = {}): DaemonRecord => ({
  epoch,
  host: hostname(),
  pid: 1,
  started_at: now().toISOString(),
  ended_at: null,
  version: '',
  state: 'running',
  private_port: port,
  alive_at: null,
  ...more,
});

async function openPort(t: Test, epoch: number, o: Partial<PrivatePortOptions> = {}) {
  const refused: string[] = [];
  const port = await PrivatePort.open({
    secret: SECRET,
    epoch,
    now,
    log: openLog('silent'),
    strangers: { saw: ({ why }) => void refused.push(why) },
    onHook: (_request, response) => void response.writeHead(404).end(),
    commands: {},
    ...o,
  });
  t.teardown(() => port.close());
  return { port: port.port, refused, close: () => port.close() };
}

function openPeers(o: {
  owner?: () => DaemonRecord | null;
  daemons?: () => DaemonRecord[];
  lookForDead?: () => Promise<void>;
  clock?: { ms: number };
  passMs?: number;
  counted?: (what: string, taken: boolean) => void;
}) {
  const self = record(1, null);
  return new Peers({
    store: {
      self: () => self,
      daemons: async () => [self, ...(o.daemons?.() ?? [])],
      ownerOf: async () => o.owner?.() ?? null,
    },
    secret: SECRET,
    now,
    monotonicMs: () => o.clock?.ms ?? 0,
    log: openLog('silent'),
    lookForDead: o.lookForDead ?? (async () => {}),
    ...(o.passMs === undefined ? {} : { passMs: o.passMs }),
    ...(o.counted === undefined ? {} : { counted: o.counted }),
  });
}

/** What a request that did not come from a peer of ours is answered. */
function ask(port: number, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', reject);
    sent.end();
  });
}

t.test('it answers to what is signed for it, once, and to nothing else', async (t) => {
  const { port, refused } = await openPort(t, 3);
  const asked = { to: 3, method: 'GET', path: '/peer/here', body: Buffer.alloc(0) };
  const header = sign(SECRET, asked, { nowMs: Date.now(), nonce: NONCE });
  t.equal(await ask(port, '/peer/here'), 403);
  t.equal(await ask(port, '/peer/here', { [PEER_HEADER]: header }), 200);
  t.equal(await ask(port, '/peer/here', { [PEER_HEADER]: header }), 403, 'not twice');
  const other = sign(SECRET, { ...asked, to: 4 }, { nowMs: Date.now(), nonce: 'b'.repeat(32) });
  t.equal(await ask(port, '/peer/here', { [PEER_HEADER]: other }), 403, 'of another daemon');
  t.strictSame(refused, ['not signed', 'was there before', 'wrong signature']);
});

t.test('who is there proves it; who has its port now does not', async (t) => {
  const { port } = await openPort(t, 3);
  const peers = openPeers({});
  t.equal(await peers.isHere(record(3, port), 2_000), true);
  t.equal(await peers.isHere(record(4, port), 2_000), false, 'another daemon');
  t.equal(await peers.isHere(record(3, null), 2_000), false, 'one without a port');
  t.equal(await peers.isHere(record(3, port, { host: 'elsewhere' }), 2_000), false, 'one on another host');
  const seen: string[] = [];
  const stranger = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end('yes');
  }).listen(0, '127.0.0.1');
  t.teardown(() => void stranger.close());
  await new Promise((listening) => stranger.once('listening', listening));
  const there = record(3, (stranger.address() as AddressInfo).port);
  t.equal(await peers.isHere(there, 2_000), false);
  t.equal(await peers.command(there, 'end-call', { secret: 'x' }, AbortSignal.timeout(5_000)), null);
  t.strictSame(seen, ['GET /peer/here', 'GET /peer/here'], 'and is sent nothing');
});

t.test('a command is done by the owner, which refuses it by its own code', async (t) => {
  const asked: unknown[] = [];
  const { port } = await openPort(t, 3, {
    commands: {
      async 'end-call'(body) {
        asked.push(body);
        if (asked.length === 2) throw new AppError('call_ended', 'The call has ended.');
      },
    },
  });
  const peers = openPeers({ owner: () => record(3, port) });
  await peers.commandOwner(CALL, 'end-call', { verb: 'cancel' });
  t.strictSame(asked, [{ verb: 'cancel' }]);
  await t.rejects(peers.commandOwner(CALL, 'end-call', {}), { code: 'call_ended', status: 409 });
  await t.rejects(peers.commandOwner(CALL, 'no-such', {}), /answered 404/);
});

t.test('a daemon is asked by its epoch, as for the port of a stream', async (t) => {
  const { port } = await openPort(t, 3, {
    commands: { 'stream-port': async (body) => ((body as { thread: number }).thread === 1 ? 4_711 : null) },
  });
  const peers = openPeers({ daemons: () => [record(3, port), record(4, null)] });
  t.equal(await peers.commandEpoch(3, 'stream-port', { thread: 1 }), 4_711);
  t.equal(await peers.commandEpoch(3, 'stream-port', { thread: 2 }), null);
  t.equal(await peers.commandEpoch(4, 'stream-port', { thread: 1 }), null, 'one without a port');
  t.equal(await peers.commandEpoch(5, 'stream-port', { thread: 1 }), null, 'one that there is not');
});

t.test(
  'of an owner that does not answer it is looked whether it is dead; then its heir does it',
  async (t) => {
    const gone = await openPort(t, 3);
    await gone.close();
    const done: unknown[] = [];
    const { port } = await openPort(t, 4, { commands: { 'end-call': async (body) => void done.push(body) } });
    let owner: DaemonRecord | null = record(3, gone.port);
    let looks = 0;
    const counted: unknown[] = [];
    let heirAt = Number.POSITIVE_INFINITY;
    const peers = openPeers({
      owner: () => owner,
      async lookForDead() {
        looks++;
        if (looks >= heirAt) owner = record(4, port);
      },
      passMs: 1_200,
      counted: (...one) => void counted.push(one),
    });
    const refused = await peers.commandOwner(CALL, 'end-call', 1).catch((error: unknown) => error);
    t.match(refused, CallElsewhere);
    t.ok(looks > 1, 'again and again, for one that stands still is missed after a while');
    heirAt = looks + 2;
    await peers.commandOwner(CALL, 'end-call', 2);
    t.strictSame(counted, [
      ['command', false],
      ['command', true],
    ]);
    t.strictSame(done, [2]);

    looks = 0;
    for (const none of [null, record(5, null), record(5, port, { host: 'elsewhere' })]) {
      owner = none;
      await t.rejects(peers.commandOwner(CALL, 'end-call', 3), { code: 'call_elsewhere' });
    }
    t.equal(looks, 0, 'nobody waits for one that cannot be reached');
    t.strictSame(done, [2]);
  },
);

/** A hook as the daemon that it came to has it, and what that answers when it was passed on. */
function comeTo(t: Test, peers: Peers): Promise<string> {
  return new Promise((resolve) => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
      keepHookBody(request, Buffer.concat(chunks));
      if (!(await peers.passHook(request, response, CALL))) response.writeHead(503).end();
    }).listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}/carriers/twilio/status?x=1`),
    );
    t.teardown(() => void server.close());
  });
}

t.test('a hook goes on whole: what the carrier has signed is there for the owner to see', async (t) => {
  const seen: unknown[] = [];
  const onHook = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push({ method, url, body: Buffer.concat(chunks).toString(), headers, passed: wasPassedOn(request) });
    response.writeHead(200, { 'content-type': 'text/xml', 'x-request-id': 'theirs' }).end('<Response/>');
  };
  const { port } = await openPort(t, 3, { onHook });
  const counted: unknown[] = [];
  const peers = openPeers({ owner: () => record(3, port), counted: (...one) => void counted.push(one) });
  const url = await comeTo(t, peers);
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'x-twilio-signature': 'sig', 'x-forwarded-for': '203.0.113.9' },
    body: new URLSearchParams({ CallSid: 'CA1', Body: 'a b&c' }),
  });
  t.equal(answer.status, 200);
  t.equal(answer.headers.get('x-request-id'), 'theirs');
  t.equal(await answer.text(), '<Response/>');
  t.strictSame(counted, [['hook', true]]);
  t.match(seen, [
    {
      method: 'POST',
      url: '/carriers/twilio/status?x=1',
      body: 'CallSid=CA1&Body=a+b%26c',
      headers: {
        'x-twilio-signature': 'sig',
        'content-type': /urlencoded/,
        'x-forwarded-for': '203.0.113.9, 127.0.0.1',
      },
      passed: true,
    },
  ]);
});

t.test('a hook that was passed on is passed on no further', async (t) => {
  const peers = openPeers({ owner: () => record(3, port), passMs: 1_000 });
  let tries = 0;
  const { port } = await openPort(t, 3, {
    async onHook(request, response) {
      tries++;
      keepHookBody(request, Buffer.alloc(0));
      const passed = await peers.passHook(request, response, CALL);
      if (!passed) response.writeHead(503).end();
    },
  });
  const url = await comeTo(t, peers);
  t.equal((await fetch(url, { method: 'POST', body: 'x' })).status, 503);
  t.ok(tries > 0, 'the owner was asked, and asked nobody');
});

t.test('who says nothing for ten seconds and answers nobody stands still', async (t) => {
  const { port } = await openPort(t, 3);
  const deaf = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((listening) => deaf.once('listening', listening));
  t.teardown(() => {
    deaf.closeAllConnections();
    deaf.close();
  });
  const at = '2026-01-01T00:00:00.000Z';
  const there = record(3, port, { alive_at: at });
  const still = record(4, (deaf.address() as AddressInfo).port, { alive_at: at });
  const idle = { ...still, epoch: 5, alive_at: null };
  const abroad = { ...still, epoch: 6, host: 'elsewhere' };
  const clock = { ms: 0 };
  let daemons = [there, still, idle, abroad];
  const peers = openPeers({ daemons: () => daemons, clock });
  const look = async (ms: number) => {
    clock.ms = ms;
    return (await peers.standingStill()).map(({ epoch }) => epoch);
  };
  t.strictSame(await look(0), []);
  t.strictSame(await look(9_000), []);
  t.strictSame(await look(10_000), [4], 'of those with calls on this host, who does not answer');
  daemons = [there, { ...still, alive_at: '2026-01-01T00:00:11.000Z' }];
  t.strictSame(await look(12_000), [], 'it has said something');
  t.strictSame(await look(21_000), []);
  t.strictSame(await look(22_000), [4]);
});
