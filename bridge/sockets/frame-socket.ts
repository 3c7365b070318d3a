// A websocket as a call has it: `ws` for the handshake, for control frames and for closing, whole messages past it both ways
// (frame-stream.ts).
import { randomFillSync } from 'node:crypto';
import { connect, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ClientOptions, WebSocket } from 'ws';
import { FrameStream } from './frame-stream.ts';
import { FrameWriter } from './frames.ts';
import { connectSecurely } from './secure-connection.ts';

/** One for all sockets of a thread: a message is written in one go. */
const WRITER = new FrameWriter();
/** Masks to come: asking for each by itself costs more than the rest of a frame. */
const MASKS = new Int32Array(1_024);
let masksUsed = MASKS.length;

/** 32 bits that nobody can guess (RFC 6455, section 10.3). */
function nextMask(): number {
  if (masksUsed === MASKS.length) {
    randomFillSync(MASKS);
    masksUsed = 0;
  }
  return MASKS[masksUsed++]!;
}

/** Where to connect; `path` is the request's. */
type ConnectTo = TcpNetConnectOpts & { path?: string };

/** Over TLS for what `ws` calls secure, however the address is written. */
function connectTo(url: string, { path: _request, ...to }: ConnectTo, onread: OnReadOpts): Socket {
  const { protocol } = new URL(url);
  return protocol === 'wss:' || protocol === 'https:'
    ? connectSecurely(to, onread)
    : connect({ ...to, onread });
}

export class FrameSocket {
  /**
   * Its events: a message's bytes are valid during the event only. It is asked for its state, and told to ping, close and
   * terminate; messages are sent here.
   */
  readonly ws: WebSocket;
  readonly #stream: FrameStream;
  readonly #isClient: boolean;

  /** @param o.maxPayload what `ws` was opened with */
  constructor(ws: WebSocket, stream: FrameStream, o: { isClient: boolean; maxPayload: number }) {
    this.ws = ws;
    this.#stream = stream;
    this.#isClient = o.isClient;
    const begin = () =>
      stream.begin({
        masked: !o.isClient,
        maxPayload: o.maxPayload,
        onMessage: (data, isBinary) => ws.emit('message', data, isBinary),
      });
    if (ws.readyState === ws.OPEN) begin();
    else ws.once('open', begin);
  }

  /**
   * Dials.
   * @throws SyntaxError for an address that cannot be dialled
   */
  static dial(url: string, o: ClientOptions & { maxPayload: number }): FrameSocket {
    const opened: FrameStream[] = [];
    const createConnection = (to: ConnectTo): FrameStream => {
      const stream = new FrameStream((onread) => connectTo(url, to, onread));
      opened.push(stream);
      return stream;
    };
    const ws = new WebSocket(url, {
      ...o,
      // Typed for sockets only; Node's HTTP client takes any stream.
      createConnection: createConnection as unknown as typeof connect,
    });
    const [stream] = opened;
    if (stream === undefined) throw new Error('ws connects as it is constructed');
    return new FrameSocket(ws, stream, { isClient: true, maxPayload: o.maxPayload });
  }

  /** Bytes that the network has not taken yet. */
  get waitingBytes(): number {
    return this.#stream.waitingBytes;
  }

  /** Sends a message; nothing once it is closing. */
  send(write: (message: FrameWriter) => void): void {
    if (this.ws.readyState !== this.ws.OPEN) return;
    try {
      write(WRITER);
      this.#stream.write(WRITER.take(this.#isClient ? nextMask() : null));
    } catch (error) {
      WRITER.drop();
      throw error;
    }
  }

  /** What is sent until `uncork` goes out in one write. */
  cork(): void {
    this.#stream.cork();
  }

  uncork(): void {
    this.#stream.uncork();
  }
}
