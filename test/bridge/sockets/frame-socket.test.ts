// Sockets with lean ways in and out, against `ws` on real connections: dialled, dialled over TLS, accepted, slow to be read.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type OnReadOpts, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameSocket } from '../../../bridge/sockets/frame-socket.ts';
import { FrameStream } from '../../../bridge/sockets/frame-stream.ts';
import { readInto } from '../../../bridge/sockets/read-into.ts';
import { makeCertificate } from '../../bench/certificate.ts';
import { seeded } from '../../random.ts';
import { SEED } from '../seed.ts';

const MAX_PAYLOAD = 1_000_000;
const OPTIONS = { perMessageDeflate: false, maxPayload: MAX_PAYLOAD, skipUTF8Validation: true } as const;
/** No certificate: both sides agree on a cipher that needs none. */
const ANONYMOUS = {
  ciphers: 'AECDH-AES128-SHA:@SECLEVEL=0',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;
const TRUSTING = { secureContext: createSecureContext(ANONYMOUS), rejectUnauthorized: false };

async function listen(t: Test, server: Server | ReturnType<typeof createNetServer>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => new Promise((closed) => server.close(closed)));
  return (server.address() as AddressInfo).port;
}

/** The texts that come, until there are so many. */
function texts(ws: WebSocket, count: number): Promise<string[]> {
  const heard: string[] = [];
  return new Promise((done) =>
    ws.on('message', (data) => {
      heard.push(String(data));
      if (heard.length === count) done(heard);
    }),
  );
}

/** Texts of all lengths, ten thousand bytes and more among them. */
function some(count: number): string[] {
  const random = seeded(SEED);
  return Array.from({ length: count }, (_, i) => `${i} ${'größe'.repeat(Math.floor(random() ** 4 * 5_000))}`);
}

for (const secure of [false, true]) {
  t.test(`dialled${secure ? ' over TLS' : ''}: what each side sends comes whole and in order`, async (t) => {
    const http = secure ? createTlsServer(ANONYMOUS) : createServer();
    const server = new WebSocketServer({ server: http, ...OPTIONS });
    const port = await listen(t, http);
    const socket = FrameSocket.dial(`${secure ? 'wss' : 'ws'}://127.0.0.1:${port}/path?query`, {
      ...OPTIONS,
      ...(secure ? TRUSTING : {}),
      headers: { Authorization: 'Bearer key' },
      handshakeTimeout: 60_000,
    });
    const [peer, request] = await once(server, 'connection');
    t.equal(request.url, '/path?query');
    t.equal(request.headers.authorization, 'Bearer key');
    if (socket.ws.readyState !== WebSocket.OPEN) await once(socket.ws, 'open');

    const sounds = some(300);
    const there = texts(peer, sounds.length);
    for (const text of sounds) socket.send((message) => message.text(text));
    t.same(await there, sounds);
    const back = texts(socket.ws, sounds.length);
    for (const text of sounds) peer.send(text);
    t.same(await back, sounds);

    socket.ws.ping('are you there');
    t.equal(String((await once(socket.ws, 'pong'))[0]), 'are you there');
    peer.close(4_001, 'enough');
    const [code, reason] = await once(socket.ws, 'close');
    t.same([code, String(reason)], [4_001, 'enough']);
    socket.send((message) => message.text('too late'));
  });
}

t.test(
  'an address of TLS is dialled over TLS, however it is written: nothing goes out in the clear',
  async (t) => {
    const first: Buffer[] = [];
    const server = createNetServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', (data) => {
        first.push(data);
        socket.destroy();
      });
    });
    const port = await listen(t, server);
    for (const scheme of ['wss', 'WSS', 'wsS', 'https', 'HTTPS', 'ws', 'WS', 'http']) {
      const { ws } = FrameSocket.dial(`${scheme}://127.0.0.1:${port}/`, OPTIONS);
      ws.on('error', () => {});
      await new Promise((closed) => ws.once('close', closed));
      const said = first.pop()?.toString('latin1') ?? '';
      const isTls = /^(wss|https)$/i.test(scheme);
      // A record of the handshake, or the request as it is.
      t.ok(isTls ? said.startsWith('\x16\x03') : said.startsWith('GET / '), scheme);
    }
  },
);

t.test('a server that is not who it says is told nothing', async (t) => {
  const files = makeCertificate(t.testdir({}));
  const trusted = { secureContext: createSecureContext({ ca: readFileSync(files.authority) }) };
  const http = createTlsServer({ key: readFileSync(files.key), cert: readFileSync(files.certificate) });
  new WebSocketServer({ server: http, ...OPTIONS });
  let requests = 0;
  http.on('upgrade', () => requests++);
  const port = await listen(t, http);
  const dialled = (host: string, o: { secureContext?: SecureContext }) => {
    const { ws } = FrameSocket.dial(`wss://${host}:${port}/`, { ...OPTIONS, ...o });
    return new Promise((done) => {
      ws.once('error', (error: Error & { code?: string }) => done(error.code));
      ws.once('open', () => {
        ws.terminate();
        done('open');
      });
    });
  };
  t.equal(await dialled('127.0.0.1', {}), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'by nobody we trust');
  t.equal(await dialled('localhost', trusted), 'ERR_TLS_CERT_ALTNAME_INVALID', 'of another name');
  t.equal(requests, 0);
  t.equal(await dialled('127.0.0.1', trusted), 'open');
  t.equal(requests, 1);
});

t.test('dialled in vain: as `ws` says it', async (t) => {
  const port = await listen(
    t,
    createServer((_request, response) => response.writeHead(401).end()),
  );
  const refused = FrameSocket.dial(`ws://127.0.0.1:${port}/`, OPTIONS);
  const [, response] = await once(refused.ws, 'unexpected-response');
  t.equal(response.statusCode, 401);
  refused.ws.on('error', () => {});
  refused.ws.terminate();
  await new Promise((closed) => refused.ws.once('close', closed));

  const deaf = createNetServer();
  const nobody = await listen(t, deaf);
  deaf.close();
  const [unreachable] = await once(FrameSocket.dial(`ws://127.0.0.1:${nobody}/`, OPTIONS).ws, 'error');
  t.equal(unreachable.code, 'ECONNREFUSED');

  const silent = await listen(
    t,
    createNetServer((socket) => void socket.resume().on('error', () => {})),
  );
  const waits = FrameSocket.dial(`ws://127.0.0.1:${silent}/`, { ...OPTIONS, handshakeTimeout: 50 });
  const [late] = await once(waits.ws, 'error');
  t.match(late.message, /timed out/);
  t.throws(() => FrameSocket.dial('not an address', OPTIONS), SyntaxError);
});

/** A server whose upgrades become lean sockets. */
async function openLean(t: Test, read: typeof readInto = readInto) {
  const http = createServer();
  const server = new WebSocketServer({ noServer: true, ...OPTIONS });
  const transports: Duplex[] = [];
  http.on('upgrade', (request, socket, head) => {
    const stream = new FrameStream((onread) => {
      const transport = read(socket, onread);
      transports.push(transport);
      return transport;
    });
    server.handleUpgrade(request, stream, head, (ws) =>
      server.emit('lean', new FrameSocket(ws, stream, { isClient: false, maxPayload: MAX_PAYLOAD }), socket),
    );
  });
  const port = await listen(t, http);
  const accept = async () => {
    const accepted = once(server, 'lean');
    const peer = new WebSocket(`ws://127.0.0.1:${port}/`, OPTIONS);
    t.teardown(() => peer.terminate());
    const opened = once(peer, 'open');
    const [socket, accepting] = (await accepted) as [FrameSocket, Socket];
    await opened;
    return { peer, socket, accepting, transport: transports.at(-1) as Socket };
  };
  return { accept };
}

t.test('accepted: read into a buffer of ours, and otherwise the connection it was', async (t) => {
  const { accept } = await openLean(t);
  const { peer, socket, accepting, transport } = await accept();
  t.not(transport, accepting, 'taken over');
  t.ok(accepting.destroyed);
  const sounds = some(300);
  const there = texts(socket.ws, sounds.length);
  for (const text of sounds) peer.send(text);
  t.same(await there, sounds);
  const back = texts(peer, sounds.length);
  for (const text of sounds) socket.send((message) => message.text(text));
  t.same(await back, sounds);
  peer.ping('and you');
  t.equal(String((await once(peer, 'pong'))[0]), 'and you');
  peer.terminate();
  const [code] = await once(socket.ws, 'close');
  t.equal(code, 1006);
  t.ok(transport.destroyed);
});

t.test('accepted, and closed from here: the peer hears why, and the connection ends', async (t) => {
  const { accept } = await openLean(t);
  const { peer, socket, transport } = await accept();
  const closed = once(peer, 'close');
  socket.ws.close(4_002, 'done');
  const [code, reason] = await closed;
  t.same([code, String(reason)], [4_002, 'done']);
  if (socket.ws.readyState !== WebSocket.CLOSED) await once(socket.ws, 'close');
  if (!transport.closed) await once(transport, 'close');
});

t.test('a connection that cannot be taken over is read as any other', async (t) => {
  for (const read of [(socket: Duplex) => socket, withoutHandle]) {
    const { accept } = await openLean(t, read);
    const { peer, socket, accepting, transport } = await accept();
    t.equal(transport, accepting);
    const there = texts(socket.ws, 2);
    peer.send('one');
    peer.send('two');
    t.same(await there, ['one', 'two']);
    peer.terminate();
    await once(socket.ws, 'close');
  }

  /** As in a Node that keeps its handles to itself. */
  function withoutHandle(socket: Duplex, onread: OnReadOpts): Duplex {
    Object.defineProperty(socket, '_handle', { configurable: true, value: null });
    const answer = readInto(socket, onread);
    Reflect.deleteProperty(socket, '_handle');
    return answer;
  }
});

t.test('a peer that does not read: what waits is known, and comes whole when it does', async (t) => {
  const { accept } = await openLean(t);
  const { peer, socket } = await accept();
  peer.pause();
  const sent: string[] = [];
  for (let n = 0; socket.waitingBytes < 500_000; n++) {
    const text = `${n} ${'x'.repeat(n % 9_000)}`;
    sent.push(text);
    socket.cork();
    socket.send((message) => message.text(text));
    socket.send((message) => message.text(`${n} again`));
    socket.uncork();
    sent.push(`${n} again`);
  }
  const there = texts(peer, sent.length);
  peer.resume();
  const heard = await there;
  t.ok(
    heard.every((text, n) => text === sent[n]),
    'every message, as it was written',
  );
  while (socket.waitingBytes > 0) await new Promise((turn) => setImmediate(turn));
});

for (const secure of [false, true]) {
  t.test(
    `dialled${secure ? ' over TLS' : ''}, and not read for long: sound goes out as it was when it was sent`,
    async (t) => {
      const http = secure ? createTlsServer(ANONYMOUS) : createServer();
      const server = new WebSocketServer({ server: http, ...OPTIONS });
      const port = await listen(t, http);
      const socket = FrameSocket.dial(`${secure ? 'wss' : 'ws'}://127.0.0.1:${port}/`, {
        ...OPTIONS,
        ...(secure ? TRUSTING : {}),
      });
      const [peer] = (await once(server, 'connection')) as [WebSocket];
      if (socket.ws.readyState !== WebSocket.OPEN) await once(socket.ws, 'open');
      peer.pause();
      // As all calls of a thread have it: one place, written over when the message is sent.
      const sound = Buffer.alloc(2_000);
      const fill = (n: number) => sound.fill(`${n} `).subarray(0, 160 + (n % 1_840));
      let sent = 0;
      for (; socket.waitingBytes < 500_000; sent++) {
        const payload = fill(sent);
        socket.send((message) =>
          sent % 2 === 0 ? message.binary().bytes(payload) : message.base64(payload),
        );
      }
      const wrong: number[] = [];
      let heard = 0;
      const all = new Promise<void>((done) =>
        peer.on('message', (data: Buffer, isBinary: boolean) => {
          const payload = isBinary ? data : Buffer.from(data.toString(), 'base64');
          if (isBinary !== (heard % 2 === 0) || !payload.equals(fill(heard))) wrong.push(heard);
          if (++heard === sent) done();
        }),
      );
      peer.resume();
      await all;
      t.same(wrong, []);
      const over = once(socket.ws, 'close');
      peer.close();
      await over;
    },
  );
}

t.test('a server that was reached over TLS before goes on with what was agreed on then', async (t) => {
  const files = makeCertificate(t.testdir());
  const http = createTlsServer({ key: readFileSync(files.key), cert: readFileSync(files.certificate) });
  http.on('tlsClientError', () => {});
  const reused: boolean[] = [];
  const server = new WebSocketServer({ server: http, ...OPTIONS });
  server.on('connection', (peer, { socket }) => {
    reused.push((socket as TLSSocket).isSessionReused());
    peer.send('hello');
  });
  const port = await listen(t, http);
  const dial = async (trusts: object): Promise<string> => {
    const { ws } = FrameSocket.dial(`wss://127.0.0.1:${port}/`, { ...OPTIONS, ...trusts });
    const over = new Promise((gone) => ws.once('close', gone));
    const outcome = await new Promise<string>((done) => {
      ws.on('message', (data) => done(String(data)));
      ws.on('error', (error: NodeJS.ErrnoException) => done(error.code ?? ''));
    });
    ws.terminate();
    await over;
    return outcome;
  };
  const believing = { secureContext: createSecureContext({ ca: readFileSync(files.authority) }) };
  t.equal(await dial({}), 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'nobody vouches for it');
  for (let time = 1; time <= 3; time++) t.equal(await dial(believing), 'hello');
  t.same(reused, [false, true, true]);
});
