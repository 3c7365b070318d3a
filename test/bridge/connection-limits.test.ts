// Who may hold connections, on real sockets. That thousands change nothing for a call is test/e2e/hostile-connections.test.ts.
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import {
  type ConnectionRules,
  DEADLINES,
  limitConnections,
  refuseUpgrade,
} from '../../bridge/connection-limits.ts';
import { until } from '../../scripts/lab.ts';

const HEAD = 'GET / HTTP/1.1\r\nHost: x\r\n';

interface Client {
  socket: Socket;
  heard: string;
  /** Whether the server has closed. */
  ended: boolean;
}

async function open(
  t: Test,
  o: Partial<ConnectionRules> = {},
  listener: RequestListener = (_request, response) => response.end('yes'),
) {
  const server = createServer(DEADLINES, listener);
  const limits = limitConnections(server, {
    most: 100,
    share: 100,
    clientOf: (address) => ({ address, shared: false }),
    ...o,
  });
  server.on('upgrade', (_request, socket) => refuseUpgrade(socket, '403 Forbidden'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const sockets = new Set<Socket>();
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    limits,
    /** A client that never closes its side. */
    async client(text: string, localAddress = '127.0.0.1'): Promise<Client> {
      const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true });
      sockets.add(socket);
      const made: Client = { socket, heard: '', ended: false };
      socket.setEncoding('utf8');
      socket.on('data', (data) => {
        made.heard += data;
      });
      socket.on('end', () => {
        made.ended = true;
      });
      socket.on('error', () => {
        made.ended = true;
      });
      await once(socket, 'connect');
      socket.write(text);
      return made;
    },
  };
}

t.test('an address has its share: of those that keep us waiting the oldest give way', async (t) => {
  const { client, limits } = await open(t, { share: 3 });
  const strangers: Client[] = [];
  for (let i = 0; i < 6; i++) strangers.push(await client(HEAD, '127.0.0.2'));
  await until('the first three to be ended', () => strangers.slice(0, 3).every(({ ended }) => ended));
  t.same(
    strangers.map(({ ended }) => ended),
    [true, true, true, false, false, false],
  );
  t.equal(limits.size, 3);
  const good = await client(`${HEAD}\r\n`, '127.0.0.3');
  await until('an answer', () => good.heard.endsWith('yes'));
  t.equal(limits.size, 4);
});

t.test('behind a proxy the share is of who is told to ask', async (t) => {
  const waiting: ServerResponse[] = [];
  const { client } = await open(
    t,
    {
      share: 2,
      clientOf: (address, headers) => {
        const told = headers?.['x-forwarded-for'];
        return typeof told === 'string' ? { address: told, shared: false } : { address, shared: true };
      },
    },
    (request, response) => {
      if (request.method === 'GET') waiting.push(response);
    },
  );
  const slow = `POST / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 203.0.113.7\r\nContent-Length: 100\r\n\r\n`;
  const strangers: Client[] = [];
  for (let i = 0; i < 4; i++) strangers.push(await client(slow));
  const good = await client(`${HEAD}X-Forwarded-For: 198.51.100.1\r\n\r\n`);
  await until('two of them to be ended', () => strangers.filter(({ ended }) => ended).length === 2);
  await until('the good request', () => waiting.length === 1);
  waiting[0]?.end('here');
  await until('its answer', () => good.heard.endsWith('here'));
});

t.test('when all are taken, who has most gives way; what waits for us never does', async (t) => {
  const waiting: ServerResponse[] = [];
  const { client, limits } = await open(t, { most: 6 }, (request, response) => {
    if (request.url === '/poll') waiting.push(response);
    else response.end('yes');
  });
  const polls: Client[] = [];
  for (let i = 0; i < 2; i++) polls.push(await client('GET /poll HTTP/1.1\r\nHost: x\r\n\r\n', '127.0.0.4'));
  const one = await client(HEAD, '127.0.0.3');
  const many: Client[] = [];
  for (let i = 0; i < 6; i++) many.push(await client(HEAD, '127.0.0.2'));
  await until('room', () => many.filter(({ ended }) => ended).length === 3);
  t.notOk(one.ended, 'who has one keeps it');
  one.socket.write('\r\n');
  await until('its answer', () => one.heard.endsWith('yes'));
  await until('both polls', () => waiting.length === 2);
  for (const response of waiting) response.end('news');
  await until('both told', () => polls.every(({ heard }) => heard.endsWith('news')));
  t.equal(limits.size, 6);
});

t.test('a refused client that never closes its side is closed, and has its answer', async (t) => {
  const { client, limits } = await open(t);
  const refused = await client(`${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  await until('the answer', () => refused.ended);
  t.match(refused.heard, /^HTTP\/1\.1 403 Forbidden\r\nConnection: close\r\n/);
  await until('nothing to be held', () => limits.size === 0, 5_000);
});

t.test('requests ahead of their answers end the connection', async (t) => {
  let asked = 0;
  const { client, limits } = await open(t, {}, (request, response) => {
    if (request.socket.destroyed) return;
    asked++;
    setImmediate(() => response.end('yes'));
  });
  const greedy = await client(`${HEAD}\r\n`.repeat(20));
  await until('its end', () => greedy.ended);
  t.equal(asked, 1);
  t.equal(limits.size, 0);

  const polite = await client(`${HEAD}\r\n`);
  for (let i = 1; i <= 3; i++) {
    await until('an answer', () => polite.heard.match(/yes/g)?.length === i);
    if (i < 3) polite.socket.write(`${HEAD}\r\n`);
  }
  t.notOk(polite.ended, 'one after the other, as many as you like');
});
