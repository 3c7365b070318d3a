// A join of a media socket and its thread's listener, on real sockets: every byte, either way, however slowly it is taken; and
// what becomes of one end when the other ends.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import t, { type Test } from 'tap';
import { MediaJoin } from '../../../bridge/listener/media-join.ts';
import { readInto } from '../../../bridge/sockets/read-into.ts';
import { freePort } from '../../../scripts/free-port.ts';
import { until } from '../../../scripts/lab.ts';

const REQUEST = 'GET /media/1/twilio/x HTTP/1.1\r\nHost: x\r\n\r\n';
const PATIENT_MS = 60_000;

async function listenFor(t: Test, take: (socket: Socket) => void): Promise<number> {
  const server: Server = createServer({ allowHalfOpen: true, noDelay: true }, take);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** What came by a socket, and how it went. */
function watch(socket: Socket) {
  const seen = { socket, heard: '', ended: false, closed: false };
  socket.on('data', (data) => {
    seen.heard += data.toString('latin1');
  });
  socket.on('end', () => {
    seen.ended = true;
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    seen.closed = true;
  });
  return seen;
}

interface JoinRig {
  carrier: ReturnType<typeof watch>;
  thread: ReturnType<typeof watch>;
  join: MediaJoin;
  parted: () => number;
}

/** @param o `asStream`: the carrier's socket is no socket to us, as one that another thread has accepted */
async function open(t: Test, o: { asStream?: boolean } = {}): Promise<JoinRig> {
  const threads: Socket[] = [];
  const threadPort = await listenFor(t, (socket) => threads.push(socket));
  let parted = 0;
  let join: MediaJoin | undefined;
  const port = await listenFor(t, (socket) => {
    socket.on('error', () => socket.destroy());
    const end = o.asStream === true ? Duplex.from({ readable: socket, writable: socket }) : socket;
    const request = { method: 'GET', url: '/media/1/twilio/x', rawHeaders: ['Host', 'x'] };
    join = new MediaJoin(
      { request: request as unknown as IncomingMessage, socket: end, head: Buffer.from('ahead') },
      { port: threadPort, answerMs: PATIENT_MS, onParted: () => parted++ },
    );
  });
  const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  await once(client, 'connect');
  const [socket] = await until('the thread to have it', () => threads.length > 0 && threads);
  if (join === undefined || socket === undefined) throw new Error('none');
  const rig = { carrier: watch(client), thread: watch(socket), join, parted: () => parted };
  t.teardown(() => {
    rig.join.destroy();
    client.destroy();
    socket.destroy();
  });
  await until('the request', () => rig.thread.heard === `${REQUEST}ahead`);
  return rig;
}

t.test('the request goes first, with what came after it; then each hears what the other says', async (t) => {
  for (const asStream of [false, true]) {
    const { carrier, thread, join } = await open(t, { asStream });
    t.equal(join.connecting, false);
    carrier.socket.write(' up');
    await until('it', () => thread.heard.endsWith('ahead up'));
    thread.socket.write('down');
    await until('it', () => carrier.heard === 'down');
  }
});

t.test('who takes little holds up who sends, and gets all of it, byte for byte', async (t) => {
  const SENT = 24 * 1024 * 1024;
  for (const asStream of [false, true])
    for (const way of ['up', 'down'] as const) {
      const rig = await open(t, { asStream });
      const [from, to] = way === 'up' ? [rig.carrier, rig.thread] : [rig.thread, rig.carrier];
      to.socket.removeAllListeners('data');
      to.socket.pause();
      const sent = Buffer.alloc(SENT);
      for (let at = 0; at < SENT; at += 4) sent.writeUInt32LE((at * 2_654_435_761) % 2 ** 32, at);
      from.socket.write(sent);
      let before = -1;
      await until('it to stand still', async () => {
        const same = from.socket.bytesWritten - from.socket.writableLength === before;
        before = from.socket.bytesWritten - from.socket.writableLength;
        await new Promise((later) => setTimeout(later, 50));
        return same;
      });
      t.ok(from.socket.writableLength > 0, `${way}: it was not all taken`);
      // Meanwhile the other way is open.
      to.socket.write('and back');
      await until('what comes back', () => from.heard.endsWith('and back'));
      const hash = createHash('sha1');
      let got = 0;
      to.socket.on('data', (data) => {
        got += data.length;
        hash.update(data);
      });
      to.socket.resume();
      await until('the rest', () => got >= SENT);
      t.equal(hash.digest('hex'), createHash('sha1').update(sent).digest('hex'), way);
    }
});

t.test('an end that says no more still hears the last word of the other', async (t) => {
  for (const way of ['carrier', 'thread'] as const) {
    const rig = await open(t);
    const [first, second] = way === 'carrier' ? [rig.carrier, rig.thread] : [rig.thread, rig.carrier];
    first.socket.end('the end of one');
    await until('the other to know', () => second.ended);
    t.match(second.heard, /the end of one$/);
    t.equal(rig.parted(), 1);
    second.socket.end('and of the other');
    await until('both to be gone', () => first.closed && second.closed);
    t.match(first.heard, /and of the other$/);
    t.equal(rig.parted(), 1);
  }
});

t.test('one that is cut off ends the other, and one that never ends is not waited for', async (t) => {
  const cut = await open(t);
  cut.carrier.socket.resetAndDestroy();
  await until('the thread to know', () => cut.thread.ended);
  t.equal(cut.parted(), 1);

  const died = await open(t);
  died.thread.socket.resetAndDestroy();
  await until('the carrier to know', () => died.carrier.ended);

  const stays = await open(t);
  stays.carrier.socket.end();
  await until('the thread to know', () => stays.thread.ended);
  // It says nothing and does not end: after a second it is cut off.
  await until('both to be gone', () => stays.carrier.closed);
});

t.test('where no thread listens the carrier is told nothing, and its socket ends', async (t) => {
  const nobody = await freePort();
  let parted = 0;
  const port = await listenFor(t, (socket) => {
    const request = { method: 'GET', url: '/', rawHeaders: [] } as unknown as IncomingMessage;
    new MediaJoin(
      { request, socket, head: Buffer.alloc(0) },
      { port: nobody, answerMs: PATIENT_MS, onParted: () => parted++ },
    );
  });
  const carrier = watch(connect({ port, host: '127.0.0.1' }));
  await until('its end', () => carrier.closed);
  t.equal(carrier.heard, '');
  t.equal(parted, 1);
});

t.test('a thread that does not answer is given up', async (t) => {
  const port = await listenFor(t, () => {});
  const thread = await listenFor(t, (socket) => {
    const request = { method: 'GET', url: '/', rawHeaders: [] } as unknown as IncomingMessage;
    new MediaJoin({ request, socket, head: Buffer.alloc(0) }, { port, answerMs: 50, onParted: () => {} });
  });
  const carrier = watch(connect({ port: thread, host: '127.0.0.1' }));
  await until('its end', () => carrier.closed);
});

t.test('what is read is read into one buffer', async (t) => {
  // Where a Node does not let us, a join holds all the same, and costs more.
  let sizes = 0;
  const port = await listenFor(t, (socket) => {
    const taken = readInto(socket, {
      buffer: Buffer.alloc(16),
      callback: (bytes) => {
        sizes = Math.max(sizes, bytes);
        return true;
      },
    });
    t.teardown(() => taken.destroy());
    t.not(taken, socket);
  });
  const client = connect({ port, host: '127.0.0.1' });
  t.teardown(() => client.destroy());
  client.write('x'.repeat(100));
  await until('it', () => sizes === 16);
});
