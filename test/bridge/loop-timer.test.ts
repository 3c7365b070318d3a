// What a deadline does when the thread that keeps it stands still.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { afterTurning } from '../../bridge/loop-timer.ts';

const standStill = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

t.test('it comes after its time, once', async (t) => {
  const began = performance.now();
  let runs = 0;
  await new Promise<void>((done) =>
    afterTurning(100, () => {
      runs++;
      done();
    }),
  );
  t.ok(performance.now() - began >= 98);
  await new Promise((later) => setTimeout(later, 150));
  t.equal(runs, 1);
});

t.test('cancelled at any time it does not come', async (t) => {
  let runs = 0;
  const early = afterTurning(50, () => runs++);
  early();
  const late = afterTurning(50, () => runs++);
  await new Promise((later) => setTimeout(later, 35));
  late();
  await new Promise((later) => setTimeout(later, 100));
  t.equal(runs, 0);
});

t.test('a peer that has answered during a standstill has answered in time', async (t) => {
  const server = createServer((peer) => peer.on('data', () => peer.write('answer'))).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  for (const deadlineMs of [50, 250]) {
    const socket: Socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const seen: string[] = [];
    socket.on('data', () => seen.push('answer'));
    const cancel = afterTurning(deadlineMs, () => seen.push('deadline'));
    socket.write('question');
    standStill(600);
    while (seen.length === 0) await new Promise((turn) => setImmediate(turn));
    t.same(seen, ['answer'], `a deadline of ${deadlineMs} ms`);
    cancel();
    socket.destroy();
  }
});

t.test('a standstill counts for a part only', async (t) => {
  let isOver = false;
  const began = performance.now();
  const over = new Promise<void>((done) =>
    afterTurning(500, () => {
      isOver = true;
      done();
    }),
  );
  standStill(700);
  await new Promise((turn) => setImmediate(turn));
  t.notOk(isOver, 'not over when the loop turns again');
  await over;
  t.ok(performance.now() - began >= 700 + 390, 'four fifths were still to come');
});
