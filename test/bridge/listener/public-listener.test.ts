// A media thread's listener on the public port, with the control thread's end of what it hands over and the daemon's own
// server behind it, on real sockets; both ends in one thread.
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { MessageChannel } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { HandedConnections } from '../../../bridge/calls/handed-connections.ts';
import { closeSoon } from '../../../bridge/connection-limits.ts';
import { PublicListener } from '../../../bridge/listener/public-listener.ts';
import { createHttpServer } from '../../../control/http/http-server.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { until } from '../../../scripts/lab.ts';

const HERE = '0190b6a4-7c3e-7000-8000-0000000000aa';
const HEAD = 'Host: x\r\n';
const line = (thread: number, callId: string) => `GET /media/1/${thread}/twilio/${callId} HTTP/1.1\r\n`;

interface Client {
  socket: Socket;
  heard: string;
  ended: boolean;
  write(text: string | Buffer): void;
}

async function open(t: Test, o: { app?: RequestListener; most?: number } = {}) {
  const { port1, port2 } = new MessageChannel();
  const seen: string[] = [];
  const app: RequestListener = (request, response) => {
    const { remoteAddress, localPort } = request.socket;
    seen.push(`${request.method} ${request.url} ${remoteAddress} ${localPort}`);
    request.pipe(response);
  };
  const { server, limits } = createHttpServer(o.app ?? app);
  const upgrades: string[] = [];
  server.on('upgrade', (request, socket) => {
    upgrades.push(request.url ?? '');
    closeSoon(socket, 'HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  const handed = new HandedConnections(port1, (connection) => server.emit('connection', connection));
  const taken: { socket: Socket; first: string }[] = [];
  const port = await freePort();
  const listener = await PublicListener.open({
    address: { host: '127.0.0.1', port },
    control: port2,
    isHere: ({ callId }) => callId === HERE,
    letIn: () => {},
    take: (socket, first) => taken.push({ socket, first: first.toString('latin1') }),
    ...(o.most === undefined ? {} : { mostUnanswered: o.most }),
  });
  const sockets: Socket[] = [];
  t.teardown(() => {
    for (const { socket } of taken) socket.destroy();
    for (const socket of sockets) socket.destroy();
    listener.close();
    handed.close();
    server.closeAllConnections();
  });
  return {
    seen,
    upgrades,
    taken,
    listener,
    handed,
    limits,
    port,
    async client(localAddress = '127.0.0.1'): Promise<Client> {
      const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true, noDelay: true });
      sockets.push(socket);
      const made: Client = {
        socket,
        heard: '',
        ended: false,
        write: (text) => void socket.write(text),
      };
      socket.on('data', (data) => {
        made.heard += data.toString('latin1');
      });
      socket.on('end', () => {
        made.ended = true;
      });
      socket.on('error', () => {
        made.ended = true;
      });
      await once(socket, 'connect');
      return made;
    },
  };
}

t.test('a request is answered by the control thread, which sees who asks', async (t) => {
  const rig = await open(t);
  const client = await rig.client('127.0.0.9');
  client.write(`POST /v1/calls HTTP/1.1\r\n${HEAD}Content-Length: 5\r\n\r\nhello`);
  await until('the answer', () => client.heard.endsWith('5\r\nhello\r\n0\r\n\r\n'));
  t.match(client.heard, /^HTTP\/1\.1 200 /);
  client.write(`GET /again HTTP/1.1\r\n${HEAD}\r\n`);
  await until('another on the same connection', () => rig.seen.length === 2);
  t.same(rig.seen, [`POST /v1/calls 127.0.0.9 ${rig.port}`, `GET /again 127.0.0.9 ${rig.port}`]);
  t.equal(rig.limits.size, 1);
  client.socket.end();
  await until('its end', () => client.ended && rig.limits.size === 0);
});

t.test("a stream of a call that lives here is the thread's own, with every byte that it sent", async (t) => {
  const rig = await open(t);
  const whole = await rig.client();
  const request = `${line(1, HERE)}${HEAD}Upgrade: websocket\r\n\r\nand frames`;
  whole.write(request);
  await until('it to be taken', () => rig.taken.length === 1);
  t.equal(rig.taken[0]?.first, request);
  await until('the control thread to have forgotten it', () => rig.limits.size === 0);

  const split = await rig.client();
  for (const letter of line(1, HERE)) {
    split.write(letter);
    await new Promise((turn) => setImmediate(turn));
  }
  await until('it to be taken', () => rig.taken.length === 2);
  const second = rig.taken[1];
  t.ok(line(1, HERE).startsWith(second?.first ?? 'none'));
  split.write('more');
  let rest = second?.first ?? '';
  second?.socket.on('data', (data) => {
    rest += data.toString('latin1');
  });
  second?.socket.resume();
  await until('what follows', () => rest.endsWith('more'));
  t.equal(rest, `${line(1, HERE)}more`);
  t.same(rig.seen, []);
});

t.test('whatever else comes is answered as it always was', async (t) => {
  const rig = await open(t);
  const answers: [string, string | Buffer, RegExp][] = [
    ['garbage', '\0\x01garbage\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"invalid_request"/s],
    ['a TLS hello', Buffer.from('160301020001000001fc0303', 'hex'), /^HTTP\/1\.1 400 /],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a huge request line', `GET /media/${'1'.repeat(20_000)} HTTP/1.1\r\n`, /^HTTP\/1\.1 431 /],
    [
      'an upgrade for no call',
      `${line(1, HERE.replace('a', 'c'))}${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      /^HTTP\/1\.1 403 /,
    ],
    [
      'a path that is nearly one',
      `GET /media/1/1/twilio/${HERE}/x HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
      /^HTTP\/1\.1 200 /,
    ],
    [
      'another method',
      `POST /media/1/1/twilio/${HERE} HTTP/1.1\r\n${HEAD}Connection: close\r\nContent-Length: 0\r\n\r\n`,
      /^HTTP\/1\.1 200 /,
    ],
  ];
  for (const [name, bytes, answer] of answers) {
    const client = await rig.client();
    client.write(bytes);
    await until(`the end of ${name}`, () => client.ended);
    t.match(client.heard, answer, name);
  }
  t.same(rig.taken, []);
  const ahead = await rig.client();
  ahead.write(`GET /1 HTTP/1.1\r\n${HEAD}\r\n`.repeat(3));
  await until('who asks ahead of the answers to be ended', () => ahead.ended);

  const upgrades = await rig.client();
  upgrades.write(`GET /first HTTP/1.1\r\n${HEAD}\r\n`);
  await until('an answer', () => upgrades.heard.includes(' 200 '));
  upgrades.write(`${line(1, HERE)}${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await until('an upgrade after a request, at the control thread', () => rig.upgrades.length === 2);
});

t.test('an upgrade that is refused here is refused by the control thread', async (t) => {
  const rig = await open(t);
  const client = await rig.client('127.0.0.9');
  const request = `${line(1, HERE)}${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
  client.write(request);
  const [taken] = await until('it to be taken', () => rig.taken.length > 0 && rig.taken);
  if (taken === undefined) throw new Error('none');
  t.equal(rig.listener.takeBack(taken.socket, Buffer.from(taken.first)), true);
  await until('the answer', () => client.heard.startsWith('HTTP/1.1 403'));
  t.match(rig.upgrades, [`/media/1/1/twilio/${HERE}`]);

  const away = createServer();
  await once(away.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => away.close());
  const came = once(away, 'connection') as Promise<Socket[]>;
  const proxy = connect((away.address() as AddressInfo).port, '127.0.0.1');
  t.teardown(() => proxy.destroy());
  const [socket] = await came;
  if (socket === undefined) throw new Error('none');
  t.equal(rig.listener.takeBack(socket, Buffer.alloc(0)), false, 'one of another port is not its own');
});

t.test('an answer waits for whoever reads it slowly, and takes no memory meanwhile', async (t) => {
  const chunk = Buffer.alloc(65_536, 'x');
  const WHOLE = 64 * 1024 * 1024;
  let written = 0;
  const rig = await open(t, {
    app(_request, response) {
      response.setHeader('content-length', WHOLE);
      const go = () => {
        while (written < WHOLE) {
          written += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', go);
        }
        response.end();
      };
      go();
    },
  });
  const client = await rig.client();
  client.socket.removeAllListeners('data');
  client.socket.pause();
  client.write(`GET / HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
  let before = -1;
  await until('it to stand still', async () => {
    const same = written > 0 && written === before;
    before = written;
    return same;
  });
  t.ok(written < WHOLE / 2, `${written} bytes before anybody read`);
  let read = 0;
  client.socket.on('data', (data) => {
    read += data.length;
  });
  client.socket.resume();
  await until('the end', () => client.ended);
  t.ok(read > WHOLE && read < WHOLE + 1_000, 'and then has all of it');
});

t.test('a body waits for whoever works on it slowly', async (t) => {
  const BODY = 32 * 1024 * 1024;
  let go = () => {};
  let got = 0;
  const rig = await open(t, {
    app(request, response) {
      go = () => {
        request.on('data', (data: Buffer) => {
          got += data.length;
        });
        request.on('end', () => response.end('done'));
      };
    },
  });
  const client = await rig.client();
  client.write(`POST / HTTP/1.1\r\n${HEAD}Content-Length: ${BODY}\r\n\r\n`);
  const body = Buffer.alloc(BODY, 'x');
  client.write(body);
  let before = -1;
  await until('it to stand still', () => {
    const left = client.socket.writableLength;
    const same = left > 0 && left === before;
    before = left;
    return same;
  });
  t.ok(client.socket.bytesWritten > 0 && client.socket.writableLength > 0, 'it was not all taken');
  go();
  await until('the answer', () => client.heard.includes('done'));
  t.equal(got, BODY);
});

t.test('a connection that dies is gone on both sides, whoever ends it', async (t) => {
  let aborted = 0;
  const rig = await open(t, {
    app(request, response) {
      if (request.url === '/end') return void request.socket.destroy();
      response.on('close', () => aborted++);
    },
  });
  const client = await rig.client();
  client.write(`GET /wait HTTP/1.1\r\n${HEAD}\r\n`);
  await until('its place', () => rig.limits.size === 1);
  client.socket.resetAndDestroy();
  await until('its end', () => aborted === 1 && rig.limits.size === 0);
  const other = await rig.client();
  other.write(`GET /end HTTP/1.1\r\n${HEAD}\r\n`);
  await until('the end of another', () => other.ended && rig.limits.size === 0);
});

t.test('while the control thread says nothing, who has waited longest gives way', async (t) => {
  const rig = await open(t, { app: () => {}, most: 3 });
  const clients: Client[] = [];
  for (let i = 0; i < 5; i++) {
    clients.push(await rig.client());
    await until('it to be known', () => rig.limits.size === Math.min(i + 1, 3));
  }
  await until('two to be gone', () => clients.filter(({ ended }) => ended).length === 2);
  t.same(
    clients.map(({ ended }) => ended),
    [true, true, false, false, false],
  );
});

t.test(
  'who is about to be accepted when it leaves off is accepted; who was told nothing is waited for',
  async (t) => {
    let answer = () => {};
    const rig = await open(t, {
      app(_request, response) {
        answer = () => response.end('late');
      },
    });
    const client = await rig.client();
    client.write(`GET / HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`);
    await until('the request', () => rig.limits.size === 1);
    const burst = Array.from({ length: 100 }, () => connect(rig.port, '127.0.0.1'));
    const lost: unknown[] = [];
    for (const one of burst) one.on('error', (error) => lost.push(error));
    await Promise.all(burst.map((one) => once(one, 'connect')));
    const hurry = new AbortController();
    const finished = rig.handed.finish(hurry.signal);
    await until('all of them', () => rig.limits.size === 101);
    t.same(lost, []);
    for (const one of burst) one.destroy();
    answer();
    await finished;
    await until('the answer', () => client.heard.endsWith('late'));
    const refused = connect(rig.port, '127.0.0.1');
    const [error] = (await once(refused, 'error')) as [NodeJS.ErrnoException];
    t.equal(error.code, 'ECONNREFUSED');
  },
);
