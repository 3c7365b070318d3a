// Who is let in while requests wait for their work: against the real loop for what it is there for, with turns and a clock of
// the test's own for its bounds.
import { EventEmitter } from 'node:events';
import type { RequestListener, Server } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { createHttpServer } from '../../../control/http/http-server.ts';
import { queueRequests } from '../../../control/http/request-queue.ts';

const HOLD_MS = 5;
const BUSY_MS = 15;
const HOOKS = 60;

t.test('a media socket does not wait for the work of those who knocked before it', async (t) => {
  let worked = 0;
  const { server } = createHttpServer((_request, response) => {
    for (const end = performance.now() + BUSY_MS; performance.now() < end; );
    worked++;
    response.setHeader('connection', 'close').end();
  });
  let workedBefore = Number.NaN;
  server.on('upgrade', (_request, socket) => {
    workedBefore = worked;
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as { port: number };
  const knock = (lines: string[]) =>
    new Promise<void>((closed) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
      socket.on('error', () => {}).on('close', () => closed());
      socket.resume();
    });
  const hooks = Array.from({ length: HOOKS }, () => knock(['GET /hook HTTP/1.1', 'Host: x']));
  const media = knock(['GET /media HTTP/1.1', 'Host: x', 'Connection: Upgrade', 'Upgrade: websocket']);
  await Promise.all([...hooks, media]);
  t.equal(worked, HOOKS, 'everybody was answered');
  t.ok(workedBefore <= HOOKS / 2, `${workedBefore} of ${HOOKS} were worked on before it`);
  await new Promise((closed) => server.close(closed));
});

/** A server, a loop and a clock in the test's hands. */
function openQueue(workMs: number) {
  const server = new EventEmitter();
  const done: number[] = [];
  const waits: number[] = [];
  let nowMs = 0;
  let next: (() => void)[] = [];
  const work = ((request: unknown) => {
    nowMs += workMs;
    done.push((request as { id: number }).id);
  }) as unknown as RequestListener;
  queueRequests(server as unknown as Pick<Server, 'on'>, work, {
    nextTurn: (run) => next.push(run),
    now: () => nowMs,
    waited: (ms) => waits.push(ms),
  });
  return {
    done,
    waits,
    knock: () => server.emit('connection'),
    /** Answers a request that can be given up. */
    ask(id: number) {
      const request = { id, destroyed: false };
      server.emit('request', request, null);
      return request;
    },
    /** A turn of the loop that takes so long; how many it ran. */
    turn(ms = 0.1) {
      nowMs += ms;
      const now = next;
      next = [];
      for (const run of now) run();
      return now.length;
    },
  };
}

t.test('a request on its own is worked on in the turn in which it came', async (t) => {
  const queue = openQueue(1);
  queue.knock();
  queue.turn();
  queue.ask(1);
  queue.turn();
  queue.turn();
  t.same(queue.done, [1]);
  t.equal(queue.turn(), 0, 'nothing runs when nobody waits');
  queue.ask(2);
  queue.turn();
  t.same(queue.done, [1, 2], 'the same connection asks again');
});

t.test('one request per turn, in their order', async (t) => {
  const queue = openQueue(1);
  for (const id of [1, 2, 3]) queue.ask(id);
  queue.turn();
  t.same(queue.done, [1]);
  queue.turn();
  queue.turn();
  t.same(queue.done, [1, 2, 3]);
  t.same(
    queue.waits.map((ms) => Math.round(ms * 10) / 10),
    [0.1, 1.2, 2.3],
    'and each is asked how long it waited',
  );
});

t.test('who has given up takes no time of others', async (t) => {
  const queue = openQueue(1);
  const [first, second, third] = [queue.ask(1), queue.ask(2), queue.ask(3)];
  queue.turn();
  second.destroyed = true;
  queue.turn();
  t.same(queue.done, [1, 3]);
  t.equal(queue.turn(), 0);
  first.destroyed = third.destroyed = true;
  queue.ask(4).destroyed = true;
  queue.turn();
  queue.ask(5);
  queue.turn();
  t.same(queue.done, [1, 3, 5], 'the last one that waited may be it');
});

t.test('who knocks turn after turn holds the work for a while, not for ever', async (t) => {
  for (const workMs of [1, 40]) {
    const queue = openQueue(workMs);
    for (let id = 0; id < 50; id++) queue.ask(id);
    let turns = 0;
    for (; turns < 10_000 && queue.done.length < 20; turns++) {
      queue.knock();
      queue.turn();
    }
    t.equal(queue.done.length, 20);
    const heldMs = turns * 0.1;
    t.ok(heldMs >= 20 * 0.8 * Math.max(HOLD_MS, workMs) * 0.9, 'everybody was let in meanwhile');
    t.ok(
      heldMs <= 20 * Math.max(HOLD_MS, workMs) + HOLD_MS,
      `${workMs} ms of work: half of the time is work`,
    );
  }
});

t.test('where others take the time of the loop, some are let in all the same before each work', async (t) => {
  const queue = openQueue(1);
  for (let id = 0; id < 5; id++) queue.ask(id);
  let knocks = 0;
  while (queue.done.length < 3) {
    queue.knock();
    knocks++;
    queue.turn(50);
  }
  t.equal(knocks, 33, 'ten for each, and the one in whose turn it is worked on');
});

t.test('work that throws does not stop the others', async (t) => {
  const server = new EventEmitter();
  const done: unknown[] = [];
  let next: (() => void)[] = [];
  queueRequests(
    server as unknown as Pick<Server, 'on'>,
    ((request: unknown) => {
      if ((request as { id: number }).id === 1) throw new Error('broken');
      done.push(request);
    }) as unknown as RequestListener,
    { nextTurn: (run) => next.push(run), now: () => 0 },
  );
  server.emit('request', { id: 1 }, null);
  server.emit('request', { id: 2 }, null);
  const turn = () => {
    const now = next;
    next = [];
    for (const run of now) run();
  };
  t.throws(turn, /broken/);
  turn();
  t.same(done, [{ id: 2 }]);
});
