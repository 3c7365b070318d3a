// The server of those who ask to become a stream, brought connections as the thread does that has the public port: it listens
// nowhere itself, and its deadlines hold all the same.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import t, { type Test } from 'tap';
import { createUpgradeServer } from '../../bridge/upgrade-server.ts';
import { until } from '../../scripts/lab.ts';

async function open(t: Test) {
  const upgrades: string[] = [];
  const { limits, take } = createUpgradeServer(({ request, socket }) => {
    upgrades.push(request.url ?? '');
    limits.release(socket);
    socket.destroy();
  });
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    socket.on('error', () => socket.destroy());
    take(socket, Buffer.from('GET /media/1/twilio/x HTTP/1.1\r\n'));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  const client = async (): Promise<{ socket: Socket; heard: () => string; closed: () => boolean }> => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' });
    t.teardown(() => socket.destroy());
    let heard = '';
    let closed = false;
    socket.on('data', (data) => {
      heard += data.toString('latin1');
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      closed = true;
    });
    await once(socket, 'connect');
    return { socket, heard: () => heard, closed: () => closed };
  };
  return { upgrades, limits, client };
}

t.test('who asks for no upgrade is told so, and who does is counted no longer', async (t) => {
  const rig = await open(t);
  const wrong = await rig.client();
  wrong.socket.write('Host: x\r\n\r\n');
  await until('the answer', () => wrong.heard().startsWith('HTTP/1.1 426 ') && wrong.closed());
  const right = await rig.client();
  right.socket.write('Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  await until('the upgrade', () => rig.upgrades.length === 1 && rig.limits.size === 0);
});

t.test('headers that come a little at a time, for ever, are not waited for', async (t) => {
  const rig = await open(t);
  const slow = await rig.client();
  const drip = setInterval(() => slow.socket.write('X-A: b\r\n'), 500);
  t.teardown(() => clearInterval(drip));
  await until('it to be known', () => rig.limits.size === 1);
  await until('its end', () => slow.closed() && rig.limits.size === 0, 60_000);
});
