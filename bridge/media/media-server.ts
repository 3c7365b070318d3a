// The media listener of a thread: decides which upgrades become sockets and which socket belongs to which call.
// A socket counts for nothing until its signature, its path and its one-time token are right.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { readStreamPath, type StreamCarrier } from '../carriers/media.ts';
import type { MediaMessage, MediaWire } from '../carriers/media-wire.ts';
import { refuseUpgrade } from '../connection-limits.ts';
import { afterTurning } from '../loop-timer.ts';
import { FrameSocket } from '../sockets/frame-socket.ts';
import { FrameStream } from '../sockets/frame-stream.ts';
import { readInto } from '../sockets/read-into.ts';
import type { Upgrade } from '../upgrade.ts';
import { createUpgradeServer } from '../upgrade-server.ts';

/** A frame of 20 ms takes under 400 bytes; this leaves room for any carrier's start message. */
const MAX_MESSAGE_BYTES = 65_536;
/**
 * Whoever comes so far is the carrier, by its signature or by the call's token: what it has said may wait on a thread before
 * this one, which stands still for as long as a disk takes.
 */
const START_DEADLINE_MS = 30_000;
/** So many of these for whoever has shown the token: the call may still ring, ten minutes at most (RING_SECONDS). */
const RINGING_DEADLINES = 22;
/** Sockets that have not shown their token yet. */
const MAX_STRANGERS = 100;
const CLOSE_TIMEOUT_MS = 2_000;
/** Messages that cannot be read, after which a socket is given up. */
const MAX_MALFORMED = 1_000;

const POLICY_VIOLATION = 1008;

/** A call that a stream may belong to. */
export interface StreamedCall {
  /** Name of the carrier whose stream it is. */
  readonly carrier: string;
  /** Whether the stream that is awaited has this token; it is not used up by asking. */
  expects(token: string): boolean;
  /** False when the stream is not the call's: its token is wrong or was used. From then on the socket is the call's. */
  attach(socket: FrameSocket, wire: MediaWire, started: Extract<MediaMessage, { type: 'started' }>): boolean;
  /** A message of the attached socket. */
  media(message: MediaMessage): void;
  /** The attached socket has gone: stopped by the carrier, or lost without a word. */
  detach(how: 'stopped' | 'lost'): void;
}

export interface MediaServerOptions {
  port: number;
  /** The carrier of that name, or undefined when there is none. */
  carrier(name: string): StreamCarrier | undefined;
  find(callId: string): StreamedCall | undefined;
  refused(why: string): void;
  /** Has an upgrade that is refused answered elsewhere; false: here, and `refused` is told. */
  handBack?(upgrade: Upgrade): boolean;
  /** For tests: what a socket has to say whose it is, in milliseconds. */
  startMs?: number;
}

export interface MediaServer {
  port: number;
  /** Takes a connection that was accepted elsewhere, with the bytes that have come by it; paused. */
  take(socket: Socket, first: Buffer): void;
  close(): Promise<void>;
}

/** Whose stream an upgrade brings; else what it is refused with. @param full no more strangers are let in */
function streamOf(
  request: IncomingMessage,
  o: Pick<MediaServerOptions, 'carrier' | 'find'>,
  full: boolean,
): { call: StreamedCall; carrier: StreamCarrier; token: string | null } | { status: string; why: string } {
  const path = readStreamPath(request.url);
  const carrier = o.carrier(path?.carrier ?? '');
  if (path === null || carrier === undefined) return { status: '404 Not Found', why: 'unknown path' };
  // The signature first: a stranger learns nothing of which calls there are.
  if (!carrier.verify(request)) return { status: '403 Forbidden', why: 'signature' };
  const call = o.find(path.callId);
  if (call?.carrier !== path.carrier) return { status: '404 Not Found', why: 'unknown call' };
  const { token } = path;
  if (token === null && full) return { status: '503 Service Unavailable', why: 'too many strangers' };
  // A wrong one is told no more than that there is no such call.
  if (token !== null && !call.expects(token)) return { status: '404 Not Found', why: 'token refused' };
  return { call, carrier, token };
}

/** Sockets that have not started yet, and which one each call has. */
class Newcomers {
  #strangers = 0;
  /** Of each call the one that has shown its token: what ends it. */
  readonly #known = new Map<StreamedCall, (why: string) => void>();
  /** Of each call the one that is its stream: what has nothing of it heard any more. */
  readonly #attached = new WeakMap<StreamedCall, () => void>();

  /** No more strangers are let in. */
  get full(): boolean {
    return this.#strangers >= MAX_STRANGERS;
  }

  came({ call, token }: Newcomer, reject: (why: string) => void): void {
    if (token === null) {
      this.#strangers++;
      return;
    }
    this.#known.get(call)?.('another came');
    this.#known.set(call, reject);
  }

  gone({ call, token }: Newcomer, reject: (why: string) => void): void {
    if (token === null) this.#strangers--;
    else if (this.#known.get(call) === reject) this.#known.delete(call);
  }

  /** The call has this one from now on: neither the sound nor the end of the one before is its own. */
  attached({ call }: Newcomer, deafen: () => void): void {
    this.#attached.get(call)?.();
    this.#attached.set(call, deafen);
  }
}

interface Newcomer extends Pick<MediaServerOptions, 'refused' | 'startMs'> {
  newcomers: Newcomers;
  call: StreamedCall;
  wire: MediaWire;
  /** The call's, where the path has brought it; null: the start must. */
  token: string | null;
}

/** Lets a socket say whose it is, and hands it to its call. */
function greet(socket: FrameSocket, newcomer: Newcomer): void {
  const { newcomers, call, wire, token } = newcomer;
  const { ws } = socket;
  const startMs = newcomer.startMs ?? START_DEADLINE_MS;
  let attached = false;
  let ended = false;
  let malformed = 0;
  let cancelDeadline = () => {};
  newcomers.came(newcomer, reject);
  expectStart(token === null ? 1 : RINGING_DEADLINES);

  /** One that has shown the token waits no longer than the call does. */
  function expectStart(deadlines: number): void {
    cancelDeadline = afterTurning(startMs, () => {
      if (deadlines > 1 && token !== null && call.expects(token)) expectStart(deadlines - 1);
      else reject('no start');
    });
  }

  function reject(why: string): void {
    // What still comes is not looked at: one guess per socket.
    ended = true;
    newcomer.refused(why);
    ws.close(POLICY_VIOLATION, why);
    setTimeout(() => ws.terminate(), CLOSE_TIMEOUT_MS).unref();
  }

  function known(): void {
    if (attached) return;
    newcomers.gone(newcomer, reject);
    cancelDeadline();
  }

  ws.on('message', (data, isBinary) => {
    if (ended) return;
    const message = wire.decode(data as Buffer, isBinary);
    if (message.type === 'malformed' && ++malformed > MAX_MALFORMED) {
      ws.terminate();
      return;
    }
    if (attached) {
      if (message.type === 'started') return;
      if (message.type === 'stopped') {
        ended = true;
        call.detach('stopped');
      } else call.media(message);
      return;
    }
    if (message.type === 'connected' || message.type === 'ignored') return;
    if (message.type !== 'started') return reject('start expected');
    const started = token === null ? message : { ...message, parameters: { ...message.parameters, token } };
    if (!call.attach(socket, wire, started)) return reject('token refused');
    known();
    attached = true;
    newcomers.attached(newcomer, () => {
      ended = true;
    });
  });
  ws.on('error', () => {});
  ws.on('close', () => {
    known();
    if (attached && !ended) {
      ended = true;
      call.detach('lost');
    }
  });
}

/** Listens on loopback, for streams that are joined to it or a proxy's; sockets of the public port may be brought by `take`. */
export async function openMediaServer(o: MediaServerOptions): Promise<MediaServer> {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
    // The wire checks what it reads; text of a known layout is never looked at as text.
    skipUTF8Validation: true,
    clientTracking: true,
  });
  const newcomers = new Newcomers();
  const { server, limits, take } = createUpgradeServer(({ request, socket, head }) => {
    socket.on('error', () => socket.destroy());
    const found = streamOf(request, o, newcomers.full);
    if ('status' in found) {
      if (o.handBack?.({ request, socket, head }) === true) return limits.release(socket);
      o.refused(found.why);
      refuseUpgrade(socket, found.status);
      return;
    }
    const { call, carrier, token } = found;
    limits.release(socket);
    const stream = new FrameStream((onread) => readInto(socket, onread));
    sockets.handleUpgrade(request, stream, head, (accepted) => {
      const opened = new FrameSocket(accepted, stream, { isClient: false, maxPayload: MAX_MESSAGE_BYTES });
      greet(opened, { ...o, newcomers, call, wire: carrier.createWire(), token });
    });
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: o.port, host: '127.0.0.1' }, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : o.port,
    take,
    async close() {
      for (const client of sockets.clients) if (client.readyState !== WebSocket.CLOSED) client.terminate();
      sockets.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
