// Whole messages past `ws`, all else by it: whatever a peer sends, cut wherever, what is told and answered is what `ws` alone
// tells and answers.
import type { IncomingMessage } from 'node:http';
import type { OnReadOpts } from 'node:net';
import { Duplex } from 'node:stream';
import t from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';
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

const server = new WebSocketServer({
  noServer: true,
  maxPayload: MAX_PAYLOAD,
  perMessageDeflate: false,
  skipUTF8Validation: true,
});

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

/** By `ws` alone. */
function openPlain(head: Buffer, use: (opened: Opened) => void): void {
  const pipe = new Pipe(null);
  server.handleUpgrade(REQUEST, pipe, head, (ws) => use({ ws, pipe, send: (text) => ws.send(text) }));
}

/** @param into whether it is read into a buffer */
function openLean(into: boolean, head: Buffer, use: (opened: Opened) => void): void {
  let pipe: Pipe | undefined;
  const stream = new FrameStream((onread) => {
    pipe = new Pipe(into ? onread : null);
    return pipe;
  });
  server.handleUpgrade(REQUEST, stream, head, (ws) => {
    const socket = new FrameSocket(ws, stream, { isClient: false, maxPayload: MAX_PAYLOAD });
    use({ ws, pipe: pipe!, send: (text) => socket.send((message) => message.text(text)) });
  });
}

const turn = () => new Promise((next) => setImmediate(next));

/** Everything that is told of a stream, in order, and what was sent back. */
async function told(
  open: (head: Buffer, use: (opened: Opened) => void) => void,
  o: Peer & { manner: Manner },
): Promise<{ log: string[]; sent: string }> {
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
  return { log, sent: opened.pipe.sent.toString('hex') };
}

async function compare(seed: number): Promise<{ same: boolean; why: unknown }> {
  const random: Random = seeded(seed);
  const frames = new OddFrames(random, true);
  const stream = frames.stream();
  const head = stream.subarray(0, frames.chance(0.3) ? frames.below(Math.min(stream.length, 900)) : 0);
  const rest = stream.subarray(head.length);
  const manner = {
    answers: frames.chance(0.5) ? 1 + frames.below(4) : 1_000,
    closesAt: frames.chance(0.1) ? 1 + frames.below(9) : -1,
  };
  const reads = frames.chance(0.2) ? 1 + frames.below(80) : Number.POSITIVE_INFINITY;
  const peer = () => ({ head: Buffer.from(head), pieces: [...frames.cut(rest)], reads });
  const expected = await told(openPlain, { ...peer(), manner });
  for (const into of [true, false]) {
    const got = await told((...args) => openLean(into, ...args), { ...peer(), manner });
    // Of the answer that is taken no more `ws` has written the header alone.
    const sameSent =
      got.sent === expected.sent || (reads < Number.POSITIVE_INFINITY && got.sent.startsWith(expected.sent));
    const same = sameSent && got.log.join('\n') === expected.log.join('\n');
    if (!same) return { same, why: { seed, into, manner, expected, got } };
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
  for (const open of [openPlain, openLean.bind(null, true), openLean.bind(null, false)]) {
    const pieces = Array.from({ length: 500 }, () => frames.ping('x'.repeat(100)));
    const { log, sent } = await told(open, { head: Buffer.alloc(0), pieces, reads: 200, manner });
    t.equal(log.at(-1), 'close 1006 ');
    t.ok(log.length < 100, `${log.length} pings, of ${pieces.length}`);
    t.ok(sent.length < 2 * 1_000, 'no more answers than it reads');
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
