// The control thread's hold of the public port, on real sockets.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { listen } from '../../../bridge/listening.ts';
import { PublicPort } from '../../../control/http/public-port.ts';
import { freePort } from '../../../scripts/free-port.ts';

const HOST = '127.0.0.1';

t.test(
  'any free port is found once; others listen there beside it, and it leaves and comes back',
  async (t) => {
    const mine: Socket[] = [];
    const port = await PublicPort.open({ host: HOST, port: 0 }, (socket) => mine.push(socket));
    t.teardown(() => port.close());
    t.equal(port.isShared, process.platform === 'linux');
    const at = { host: HOST, port: port.address.port };
    const ask = async () => {
      const socket = connect(at.port, HOST);
      await once(socket, 'connect');
      return socket;
    };
    const first = await ask();
    while (mine.length === 0) await new Promise((turn) => setImmediate(turn));

    const theirs: Socket[] = [];
    const other = createServer((socket) => void theirs.push(socket));
    await listen(other, at, true);
    await port.leave();
    const others = await Promise.all(Array.from({ length: 20 }, ask));
    while (theirs.length < 20) await new Promise((turn) => setImmediate(turn));
    t.equal(mine.length, 1, 'it left the port to the other');
    t.equal(mine[0]?.destroyed, false, 'and kept what it had');

    await port.listen();
    await port.listen();
    await new Promise<void>((closed) => {
      other.close(() => closed());
      for (const socket of [...theirs, ...others]) socket.destroy();
    });
    const last = await ask();
    while (mine.length < 2) await new Promise((turn) => setImmediate(turn));
    for (const socket of [first, last, ...mine]) socket.destroy();
  },
);

t.test('a port that somebody shares is taken all the same', async (t) => {
  const at = { host: HOST, port: await freePort() };
  const daemon = createServer();
  await listen(daemon, at, true);
  t.teardown(() => daemon.close());
  await t.rejects(
    PublicPort.open(at, () => {}),
    { code: 'EADDRINUSE' },
  );
});
