// The control thread's hold of the public port, on real sockets.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
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

for (const [how, isShared] of [
  ['beside', 'shared'],
  ['adopt', 'alone'],
]) {
  t.test(
    `a process that was left the socket goes on with it, and nobody is turned away (${how})`,
    async (t) => {
      const port = await PublicPort.open({ host: HOST, port: 0 }, (socket) => socket.end('first'));
      const fd = port.descriptor();
      if (fd === null) throw new Error('no descriptor');
      const program = join(import.meta.dirname, 'port-heir.ts');
      const heir = spawn(process.execPath, [program, String(port.address.port), String(how)], {
        stdio: ['pipe', 'pipe', 'inherit', fd],
      });
      const { stdin, stdout } = heir;
      if (stdin === null || stdout === null) throw new Error('no pipes');
      const gone = once(heir, 'exit');
      const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
      t.equal((await lines.next()).value, 'ready');

      const said: string[] = [];
      let asking = true;
      const clients = Array.from({ length: 8 }, async () => {
        while (asking) said.push(await ask(port.address.port));
      });
      const some = async (more: number) => {
        const until = said.length + more;
        while (said.length < until) await new Promise((turn) => setTimeout(turn, 5));
      };
      await some(100);
      stdin.write('listen');
      t.equal((await lines.next()).value, `listens on ${port.address.port}, ${isShared}`);
      await some(100);
      await port.leave();
      await some(8);
      const from = said.length;
      await some(100);
      asking = false;
      await Promise.all(clients);
      stdin.end();
      await gone;
      t.same([...new Set(said.slice(from))], ['heir']);
      t.same(
        [...new Set(said)].sort(),
        ['first', 'heir'],
        'none was refused, reset or left without an answer',
      );
      await port.close();
    },
  );
}

/** What is said to a connection before it ends; or why there was none. */
function ask(port: number): Promise<string> {
  return new Promise((answered) => {
    let said = '';
    const socket = connect(port, HOST);
    socket.on('data', (bytes) => {
      said += bytes;
    });
    socket.on('error', (error) => answered(error.message));
    socket.on('close', () => answered(said));
  });
}

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
