// Who is connected when the port becomes another process's, on real sockets.
import { once } from 'node:events';
import { Agent, get, createServer as httpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { Visitors } from '../../../control/http/visitors.ts';

t.test('each has the answer he waits for, and streams are left alone', async (t) => {
  const server = httpServer();
  const visitors = new Visitors(server);
  const slow = Promise.withResolvers<void>();
  server.on(
    'request',
    visitors.through((request, response) => {
      if (request.url === '/slow') void slow.promise.then(() => response.end('slow'));
      else response.end('quick');
    }),
  );
  server.on('upgrade', (_request, socket) => void socket.write('HTTP/1.1 101 Yes\r\n\r\n'));
  const port = createServer((socket) => server.emit('connection', socket));
  await new Promise<void>((listening) => port.listen(0, '127.0.0.1', listening));
  t.teardown(() => port.close());
  const at = (port.address() as AddressInfo).port;
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  const ask = async (path: string) => {
    const [answer] = (await once(get({ port: at, path, agent }), 'response')) as [IncomingMessage];
    return answer;
  };

  const quick = await ask('/');
  t.equal(await text(quick), 'quick');
  t.equal(quick.headers.connection, 'keep-alive');
  const waiting = ask('/slow');
  const stream = connect(at, '127.0.0.1');
  stream.write('GET / HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');
  await once(stream, 'data');
  t.teardown(() => stream.destroy());

  let left = false;
  const leaving = visitors.leave(20_000).then(() => {
    left = true;
  });
  t.notOk(left, 'one waits yet');
  // By the connection that was kept.
  const last = await ask('/');
  t.equal(await text(last), 'quick');
  t.equal(last.headers.connection, 'close');
  slow.resolve();
  const answered = await waiting;
  t.equal(answered.headers.connection, 'close');
  t.equal(await text(answered), 'slow');
  await leaving;
  t.notOk(stream.destroyed, 'the stream goes on');
});

t.test('who does not go is not waited for', async (t) => {
  const server = httpServer();
  const visitors = new Visitors(server);
  const port = createServer((socket) => server.emit('connection', socket));
  await new Promise<void>((listening) => port.listen(0, '127.0.0.1', listening));
  const idle = connect((port.address() as AddressInfo).port, '127.0.0.1');
  await once(port, 'connection');
  await visitors.leave(5);
  t.notOk(idle.destroyed);
  idle.destroy();
  port.close();
});
