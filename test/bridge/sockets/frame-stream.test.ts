// Whole messages past `ws`, all else by it: whatever a peer sends, cut wherever, what is told and answered is what `ws` alone
// tells and answers.
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { connect, OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { FrameSocket } from '../../../bridge/sockets/frame-socket.ts';
import { FrameStream } from '../../../bridge/sockets/frame-stream.ts';
import { type Random, seeded } from '../../random.ts';
import { RUNS, SEED } from '../seed.ts';
import { MAX_PAYLOAD, OddFrames } from './odd-frames.ts';

/** Cases that have failed once. */
const KEPT: readonly number[] = [];
const CASES = 400;

/** A connection in memory. */
class Pipe extends Duplex {
  /** Bytes that it still takes; the rest waits. */
  takes = Number.POSITIVE_INFINITY;
  readonly #into: OnReadOpts | null;
  readonly #sent: Buffer[] = [];

  /** @param into where it is read to; else it is read as any stream */
  constructor(into: OnReadOpts | null) {
    super();
    this.#into = into;
  }

  get sent(): Buffer {
    return Buffer.concat(this.#sent);
  }

  /** What has come from the network; of no use to anybody once it was read. */
  arrive(bytes: Buffer): void {
    if (this.destroyed) return;
    if (this.#into === null) {
      this.push(Buffer.from(bytes));
      return;
    }
    const buffer = this.#into.buffer as Buffer;
    for (let at = 0; at < bytes.length; at += buffer.length) {
      const read = bytes.copy(buffer, 0, at, at + buffer.length);
      this.#into.callback(read, buffer);
      buffer.fill(0xee, 0, read);
    }
  }

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    if (this.#sent.length === 0) this.emit('first', chunk);
    this.#sent.push(Buffer.from(chunk));
    this.takes -= chunk.length;
    if (this.takes > 0) done();
  }
}

const REQUEST = {
  method: 'GET',
  url: '/',
  headers: {
    upgrade: 'websocket',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    'sec-websocket-version': '13',
  },
} as unknown as IncomingMessage;

const OPTIONS = { maxPayload: MAX_PAYLOAD, perMessageDeflate: false, skipUTF8Validation: true } as const;
const server = new WebSocketServer({ noServer: true, ...OPTIONS });

/** What the side that takes the messages does meanwhile. */
interface Manner {
  /** Answers each message of so many. */
  answers: number;
  /** Closes at this message. */
  closesAt: number;
}

/** What the other side does meanwhile. */
interface Peer {
  /** What comes with the handshake's end, and after it. */
  head: Buffer;
  pieces: readonly Buffer[];
  /** It reads about so many bytes, and then no more. */
  reads: number;
}

interface Opened {
  ws: WebSocket;
  pipe: Pipe;
  send(text: string): void;
}

type Open = (head: Buffer, use: (opened: Opened) => void) => void;

/** A connection, and what brings its frames past `ws`; null: nothing does. */
function connected(how: How): { pipe: Pipe; stream: FrameStream | null } {
  if (how === 'plain') return { pipe: new Pipe(null), stream: null };
  let pipe: Pipe | undefined;
  const stream = new FrameStream((onread) => {
    pipe = new Pipe(how === 'into a buffer' ? onread : null);
    return pipe;
  });
  return { pipe: pipe!, stream };
}

/** By `ws` alone, or past it, into a buffer of ours or as any stream is read. */
type How = 'plain' | 'into a buffer' | 'as a stream';

function senderOf(ws: WebSocket, stream: FrameStream | null, isClient: boolean): Opened['send'] {
  if (stream === null) return (text) => ws.send(text);
  const socket = new FrameSocket(ws, stream, { isClient, maxPayload: MAX_PAYLOAD });
  return (text) => socket.send((message) => message.text(text));
}

const asServer =
  (how: How): Open =>
  (head, use) => {
    const { pipe, stream } = connected(how);
    server.handleUpgrade(REQUEST, stream ?? pipe, head, (ws) =>
      use({ ws, pipe, send: senderOf(ws, stream, false) }),
    );
  };

/** The head comes in one piece with the answer to the handshake. */
const asClient =
  (how: How): Open =>
  (head, use) => {
    const { pipe, stream } = connected(how);
    pipe.once('first', (request: Buffer) => {
      const [, key = ''] = /sec-websocket-key: (.*)\r\n/i.exec(request.toString()) ?? [];
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
      const answer = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;
      setImmediate(() => pipe.arrive(Buffer.concat([Buffer.from(answer), head])));
    });
    const ws = new WebSocket('ws://peer/', {
      ...OPTIONS,
      createConnection: (() => stream ?? pipe) as unknown as typeof connect,
    });
    const send = senderOf(ws, stream, true);
    ws.once('open', () => use({ ws, pipe, send }));
  };

const turn = () => new Promise((next) => setImmediate(next));

/** Everything that is told of a stream, in order, and what was sent back. */
async function told(open: Open, o: Peer & { manner: Manner }): Promise<{ log: string[]; sent: Buffer }> {
  const log: string[] = [];
  const opened = await new Promise<Opened>((found) =>
    open(o.head, (one) => {
      const { ws, pipe } = one;
      pipe.takes = o.reads;
      let messages = 0;
      ws.on('message', (data: Buffer, isBinary) => {
        log.push(`${isBinary ? 'binary' : 'text'} ${data.toString('hex')}`);
        messages++;
        if (messages % o.manner.answers === 0) one.send(`answer ${messages}`);
        if (messages === o.manner.closesAt) ws.close(4_000, 'enough');
      });
      ws.on('ping', (data) => log.push(`ping ${data}`));
      ws.on('pong', (data) => log.push(`pong ${data}`));
      ws.on('error', (error: Error & { code?: string }) => log.push(`error ${error.code} ${error.message}`));
      ws.on('close', (code, reason) => log.push(`close ${code} ${reason}`));
      found(one);
    }),
  );
  await turn();
  for (const piece of o.pieces) {
    opened.pipe.arrive(piece);
    await turn();
  }
  opened.pipe.push(null);
  for (let turns = 0; !log.at(-1)?.startsWith('close') && turns < 50; turns++) await turn();
  opened.ws.terminate();
  await turn();
  return { log, sent: opened.pipe.sent };
}

/** Whether as much was sent, and the same where no mask is on it. */
function sameSent(got: Buffer, expected: Buffer, o: { isClient: boolean; stopped: boolean }): boolean {
  // Of the answer that is taken no more `ws` has written the header alone.
  const both = o.stopped ? got.subarray(0, expected.length) : got;
  return o.isClient ? both.length === expected.length : both.equals(expected);
}

async function compare(seed: number): Promise<{ same: boolean; why: unknown }> {
  const random: Random = seeded(seed);
  const isClient = random() < 0.5;
  const open = isClient ? asClient : asServer;
  const frames = new OddFrames(random, !isClient);
  const stream = frames.stream();
  const head = stream.subarray(0, frames.chance(0.3) ? frames.below(Math.min(stream.length, 900)) : 0);
  const rest = stream.subarray(head.length);
  const manner = {
    answers: frames.chance(0.5) ? 1 + frames.below(4) : 1_000,
    closesAt: frames.chance(0.1) ? 1 + frames.below(9) : -1,
  };
  const stopped = frames.chance(0.2);
  const reads = stopped ? 1 + frames.below(80) : Number.POSITIVE_INFINITY;
  const peer = () => ({ head: Buffer.from(head), pieces: [...frames.cut(rest)], reads });
  const expected = await told(open('plain'), { ...peer(), manner });
  for (const how of ['into a buffer', 'as a stream'] as const) {
    const got = await told(open(how), { ...peer(), manner });
    const same =
      sameSent(got.sent, expected.sent, { isClient, stopped }) &&
      got.log.join('\n') === expected.log.join('\n');
    if (!same) return { same, why: { seed, isClient, how, manner, expected, got } };
  }
  return { same: true, why: null };
}

t.test('whatever a peer sends, cut wherever: told and answered as by `ws` alone', async (t) => {
  t.setTimeout(30_000 * RUNS);
  for (const seed of KEPT) {
    const { same, why } = await compare(seed);
    t.ok(same, `seed ${seed}`, { why });
  }
  for (let n = 0; n < CASES * RUNS; n++) {
    const { same, why } = await compare((SEED + n) % 0x7fff_ffff);
    if (same) continue;
    t.fail(`seed ${(SEED + n) % 0x7fff_ffff}`, { why });
    return;
  }
  t.pass(`${CASES * RUNS} streams from seed ${SEED}`);
});

t.test('a peer that asks for answers and reads none is ended, as by `ws` alone', async (t) => {
  const frames = new OddFrames(seeded(1), true);
  const manner = { answers: 1_000, closesAt: -1 };
  for (const how of ['plain', 'into a buffer', 'as a stream'] as const) {
    const pieces = Array.from({ length: 500 }, () => frames.ping('x'.repeat(100)));
    const { log, sent } = await told(asServer(how), { head: Buffer.alloc(0), pieces, reads: 200, manner });
    t.equal(log.at(-1), 'close 1006 ');
    t.ok(log.length < 100, `${log.length} pings, of ${pieces.length}`);
    t.ok(sent.length < 1_000, 'no more answers than it reads');
  }
});

t.test('messages of one read are told past the stream, in the buffer that was read into', async (t) => {
  const frames = new OddFrames(seeded(1), true);
  let into: OnReadOpts | undefined;
  let pipe: Pipe | undefined;
  const stream = new FrameStream((onread) => {
    into = onread;
    pipe = new Pipe(onread);
    return pipe;
  });
  const ws = await new Promise<WebSocket>((done) =>
    server.handleUpgrade(REQUEST, stream, Buffer.alloc(0), done),
  );
  new FrameSocket(ws, stream, { isClient: false, maxPayload: MAX_PAYLOAD });
  const heard: Buffer[] = [];
  ws.on('message', (data: Buffer) => heard.push(data));
  await turn();
  let pushed = 0;
  stream.on('data', () => pushed++);
  const one = frames.text('sound');
  pipe?.arrive(Buffer.concat([one, one, one]));
  t.equal(heard.length, 3);
  const buffer = into?.buffer as Buffer;
  t.ok(heard.every((data) => data.buffer === buffer.buffer));
  t.equal(pushed, 0);
  pipe?.arrive(one.subarray(0, 7));
  pipe?.arrive(Buffer.concat([one.subarray(7), one]));
  await turn();
  t.same(
    [heard.length, pushed > 0],
    [5, true],
    'what was cut, and what came with its end, went through `ws`',
  );
  pipe?.arrive(one);
  t.equal(heard.length, 6);
  t.equal(heard[5]?.buffer, buffer.buffer, 'and then past it again');
  ws.terminate();
});
