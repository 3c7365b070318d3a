// The media listener's own decisions about a socket, against a call that takes none.
import { once } from 'node:events';
import { connect } from 'node:net';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { MULAW_8K } from '../../../audio/format.ts';
import { createBrowserWire } from '../../../bridge/carriers/browser/wire.ts';
import type { MediaCall } from '../../../bridge/media/media-call.ts';
import { openMediaServer } from '../../../bridge/media/media-server.ts';

t.test('a socket that is refused is refused once, whatever it still sends', async (t) => {
  const callId = '0192f5a0-0000-7000-8000-000000000000';
  const refused: string[] = [];
  let asked = 0;
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ verify: () => true, createWire: createBrowserWire, format: MULAW_8K }),
    find: () => {
      const call: Partial<MediaCall> = {
        callId,
        carrier: 'browser',
        attach() {
          asked++;
          return false;
        },
      };
      return call as MediaCall;
    },
    refused: (why) => void refused.push(why),
  });
  t.teardown(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/media/1/1/browser/${callId}`);
  await once(socket, 'open');
  const start = JSON.stringify({ type: 'start', version: 1, call_id: callId, token: 'guessed' });
  for (let i = 0; i < 20; i++) socket.send(start);
  const [code] = await once(socket, 'close');
  t.equal(code, 1008);
  t.same([refused, asked], [['token refused'], 1], 'one guess per socket');
});

t.test('a refused socket is gone, though its client never closes its side', async (t) => {
  const refused: string[] = [];
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ verify: () => false, createWire: createBrowserWire, format: MULAW_8K }),
    find: () => undefined,
    refused: (why) => void refused.push(why),
  });
  t.teardown(() => server.close());
  const socket = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true });
  socket.setEncoding('utf8');
  let heard = '';
  socket.on('data', (text) => {
    heard += text;
  });
  socket.write(
    'GET /media/1/1/browser/0192f5a0-0000-7000-8000-000000000000 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n' +
      'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n',
  );
  await once(socket, 'end');
  t.match(heard, /^HTTP\/1\.1 403 /);
  // What is written to a socket that is closed is answered by a reset; to one that is half open, by nothing.
  const writing = setInterval(() => socket.write('x'), 100);
  socket.on('error', () => {});
  await new Promise((closed) => socket.once('close', closed));
  clearInterval(writing);
  t.same(refused, ['signature']);
});

/** A server whose only call takes any stream; what became of them. */
async function openTaking(t: Test, startMs?: number) {
  const callId = '0192f5a0-0000-7000-8000-000000000000';
  const seen = { refused: [] as string[], taken: 0 };
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ verify: () => true, createWire: createBrowserWire, format: MULAW_8K }),
    find: () => {
      const call: Partial<MediaCall> = {
        callId,
        carrier: 'browser',
        attach() {
          seen.taken++;
          return true;
        },
        detach() {},
      };
      return call as MediaCall;
    },
    refused: (why) => void seen.refused.push(why),
    ...(startMs === undefined ? {} : { startMs }),
  });
  t.teardown(() => server.close());
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/media/1/1/browser/${callId}`);
  t.teardown(() => socket.terminate());
  await once(socket, 'open');
  const start = JSON.stringify({ type: 'start', version: 1, call_id: callId, token: 'right' });
  return { seen, socket, start };
}

const settled = async (seen: { refused: string[]; taken: number }) => {
  while (seen.taken + seen.refused.length === 0) await new Promise((turn) => setImmediate(turn));
};

t.test('a stream that has said its start while the thread stood still has said it in time', async (t) => {
  const { seen, socket, start } = await openTaking(t, 1_000);
  socket.send(start);
  // Longer than a stream has for its start.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_200);
  await settled(seen);
  t.same(seen, { refused: [], taken: 1 });
});

t.test(
  'a start that a thread before this one held back for seconds is taken; none at all is not',
  async (t) => {
    const { seen, socket, start } = await openTaking(t);
    await new Promise((later) => setTimeout(later, 6_000));
    socket.send(start);
    await settled(seen);
    t.same(seen, { refused: [], taken: 1 });

    const { seen: never } = await openTaking(t, 100);
    await settled(never);
    t.same(never, { refused: ['no start'], taken: 0 });
  },
);

t.test(
  'a token in the path: known at the upgrade, waiting for as long as the call rings, and brought to the call',
  async (t) => {
    const callId = '0192f5a0-0000-7000-8000-000000000000';
    const token = 'T'.repeat(43);
    const refused: string[] = [];
    const brought: unknown[] = [];
    let rings = true;
    const call: Partial<MediaCall> = {
      callId,
      carrier: 'browser',
      expects: (given) => rings && given === token,
      attach(_socket, _wire, started) {
        brought.push(started.parameters.token);
        return true;
      },
      detach() {},
    };
    const server = await openMediaServer({
      port: 0,
      carrier: () => ({ verify: () => true, createWire: createBrowserWire, format: MULAW_8K }),
      find: () => call as MediaCall,
      refused: (why) => void refused.push(why),
      startMs: 500,
    });
    t.teardown(() => server.close());
    const at = `ws://127.0.0.1:${server.port}/media/1/1/browser/${callId}`;
    const guess = new WebSocket(`${at}/${'G'.repeat(43)}`);
    const [, answer] = (await once(guess, 'unexpected-response')) as [unknown, { statusCode: number }];
    guess.on('error', () => {});
    guess.terminate();
    t.equal(answer.statusCode, 404, 'as if there were no such call');
    const stranger = new WebSocket(at);
    t.equal((await once(stranger, 'close'))[0], 1008);
    t.same(refused, ['token refused', 'no start']);

    const first = new WebSocket(`${at}/${token}`);
    await once(first, 'open');
    const socket = new WebSocket(`${at}/${token}`);
    t.teardown(() => socket.terminate());
    t.equal((await once(first, 'close'))[0], 1008);
    t.same(refused.slice(2), ['another came'], 'a call has one that waits');
    // Another stranger's time comes and goes meanwhile.
    await once(new WebSocket(at), 'close');
    socket.send(JSON.stringify({ type: 'start', version: 1, call_id: callId, token: 'of the start' }));
    while (brought.length === 0) await new Promise((turn) => setImmediate(turn));
    t.same(brought, [token], 'the path decides');
    t.same(refused.slice(3), ['no start']);

    const late = new WebSocket(`${at}/${token}`);
    await once(late, 'open');
    rings = false;
    t.equal((await once(late, 'close'))[0], 1008, 'who waits for a call that is over');
    t.same(refused.slice(4), ['no start']);
  },
);

t.test('who has another stream is not left with the end of the one before, nor hears it', async (t) => {
  const callId = '0192f5a0-0000-7000-8000-000000000000';
  const seen: string[] = [];
  let taken = 0;
  const call: Partial<MediaCall> = {
    callId,
    carrier: 'browser',
    attach() {
      seen.push(`stream ${++taken}`);
      return true;
    },
    media: (message) => void seen.push(message.type),
    detach: (how) => void seen.push(how),
  };
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ verify: () => true, createWire: createBrowserWire, format: MULAW_8K }),
    find: () => call as MediaCall,
    refused: (why) => void seen.push(why),
  });
  t.teardown(() => server.close());
  const until = async (what: string) => {
    while (seen.at(-1) !== what) await new Promise((turn) => setImmediate(turn));
  };
  async function stream() {
    const socket = new WebSocket(`ws://127.0.0.1:${server.port}/media/1/1/browser/${callId}`);
    t.teardown(() => socket.terminate());
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'start', version: 1, call_id: callId, token: 'right' }));
    await until(`stream ${taken + 1}`);
    return socket;
  }
  const before = await stream();
  const after = await stream();
  before.send(Buffer.alloc(168));
  before.close();
  await once(before, 'close');
  after.send(Buffer.alloc(168));
  await until('audio');
  after.close();
  await until('lost');
  t.same(seen, ['stream 1', 'stream 2', 'audio', 'lost']);
});
