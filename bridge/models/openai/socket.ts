// One connection to an OpenAI Realtime server: dial, configure, check that the configuration is in force, keep alive.
// It tells of its end once. What is said over it, and what comes after it, is the session's.
import type { WebSocket } from 'ws';
import type { Log } from '../../../log.ts';
import { afterTurning } from '../../loop-timer.ts';
import { FrameSocket } from '../../sockets/frame-socket.ts';
import type { ModelConfig } from '../model.ts';
import { sessionUpdate } from './client-events.ts';
import { isFatal, isPassing } from './errors.ts';
import { formatFor, isFormat } from './formats.ts';
import type { ModelEvent } from './server-events.ts';
import { createOpenAIWire } from './wire.ts';

const CONFIG_EVENT_ID = 'configure';
const HANDSHAKE_TIMEOUT_MS = 10_000;
const PING_EVERY_MS = 5_000;
/** While an answer is expected, a dead line must show sooner. */
const PING_EXPECTING_MS = 2_500;
const CLOSE_TIMEOUT_MS = 1_000;
/** The largest event we know is a conversation item with a long text. */
const MAX_PAYLOAD_BYTES = 4 * 1024 * 1024;

/** Timers that a test can hold in its hand. */
export interface Timers {
  /** Runs `run` once after `ms`; the answer cancels it. */
  after(ms: number, run: () => void): () => void;
}

/** A model server is not blamed for a standstill of our own thread. */
export const systemTimers: Timers = { after: afterTurning };

export interface Loss {
  code: 'model_unreachable' | 'model_refused' | 'model_lost';
  message: string;
  /** False: the same attempt would fail again. */
  retryable: boolean;
}

export interface ModelSocketListener {
  /** The configuration is in force. `expiresInMs` is what the server grants, null where it does not say. */
  ready(info: { expiresInMs: number | null }): void;
  /** Any event after that; a payload is valid only during the call. */
  event(event: ModelEvent): void;
  /** The connection is of no use any more. Comes once, and nothing after it; not after `close`. */
  lost(loss: Loss): void;
}

export interface ModelSocketOptions {
  config: ModelConfig;
  /** From the dial to the configuration in force. */
  readyTimeoutMs: number;
  listener: ModelSocketListener;
  timers: Timers;
  log: Log | undefined;
}

/** What a session has of its connection, once it is in force. */
export type SessionSocket = Pick<ModelSocket, 'send' | 'append' | 'expect' | 'backlogBytes' | 'close'>;

/** Opens a connection; nothing is told of it from within. */
export type DialModel = (o: ModelSocketOptions) => SessionSocket;

export const dialModel: DialModel = (o) => new ModelSocket(o);

/** The socket's address: a plain http base URL means ws. */
function realtimeUrl(baseUrl: string, model: string): string {
  const base = baseUrl.replace(/^http/i, 'ws').replace(/\/+$/, '');
  return `${base}/realtime?model=${encodeURIComponent(model)}`;
}

/**
 * ```
 * open -> session.created -> session.update -> session.updated, checked -> ready -> events -> lost
 * ```
 */
class ModelSocket {
  readonly #o: ModelSocketOptions;
  readonly #wire = createOpenAIWire();
  /** Null where the address cannot even be dialled. */
  readonly #socket: FrameSocket | null;
  readonly #closed: Promise<void>;
  #state: 'dialing' | 'configuring' | 'ready' | 'over' = 'dialing';
  #expiresInMs: number | null = null;
  #heardSincePing = false;
  #expecting = false;
  #cancelPing = () => {};
  #cancelReady = () => {};

  /** Dials at once. */
  constructor(o: ModelSocketOptions) {
    this.#o = o;
    this.#socket = this.#dial();
    const ws = this.#socket?.ws;
    this.#closed =
      ws === undefined ? Promise.resolve() : new Promise((resolve) => ws.once('close', () => resolve()));
    if (ws === undefined) return;
    this.#cancelReady = o.timers.after(o.readyTimeoutMs, () =>
      this.#end({
        code: 'model_unreachable',
        message: 'the model server did not answer in time',
        retryable: true,
      }),
    );
    this.#listen(ws);
  }

  send(event: string): void {
    if (this.#state === 'ready') this.#socket?.send((message) => message.text(event));
  }

  /** The caller's sound, in the session's format. */
  append(payload: Buffer): void {
    if (this.#state === 'ready') this.#socket?.send((message) => this.#wire.append(message, payload));
  }

  /** Whether an answer is expected: then the other end must show a sign of life all the time. */
  expect(expecting: boolean): void {
    if (this.#state !== 'ready' || expecting === this.#expecting) return;
    this.#expecting = expecting;
    // The one under way may have longer to go than we have patience now.
    if (expecting) this.#ping();
  }

  /** Bytes that the network has not taken yet. */
  backlogBytes(): number {
    return this.#socket?.waitingBytes ?? 0;
  }

  /** Gives it up: nothing more is told. Resolves when the socket is closed. */
  close(): Promise<void> {
    this.#end(null);
    return this.#closed;
  }

  #dial(): FrameSocket | null {
    const { config, listener } = this.#o;
    try {
      return FrameSocket.dial(realtimeUrl(config.url, config.model), {
        headers: { Authorization: `Bearer ${config.apiKey}` },
        perMessageDeflate: false,
        handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
        maxPayload: MAX_PAYLOAD_BYTES,
        skipUTF8Validation: true,
      });
    } catch (cause) {
      const message = `the model's address cannot be used: ${cause instanceof Error ? cause.message : ''}`;
      queueMicrotask(() => {
        if (this.#state !== 'over') listener.lost({ code: 'model_refused', message, retryable: false });
        this.#state = 'over';
      });
      return null;
    }
  }

  #listen(socket: WebSocket): void {
    const alive = () => {
      this.#heardSincePing = true;
    };
    socket.on('message', (data, isBinary) => this.#onMessage(data, isBinary));
    socket.on('pong', alive);
    socket.on('ping', alive);
    socket.on('unexpected-response', (_request, response) => {
      response.resume();
      this.#onRefusal(response.statusCode ?? 0);
    });
    socket.on('error', (error: Error & { code?: string }) => {
      this.#o.log?.debug({ code: error.code, message: error.message }, 'model.socket.error');
      this.#end({
        code: this.#state === 'ready' ? 'model_lost' : 'model_unreachable',
        message: `the connection to the model failed: ${error.code ?? error.message}`,
        retryable: true,
      });
    });
    socket.on('close', (code, reason) => this.#onClose(code, reason.toString('utf8').slice(0, 200)));
  }

  #onMessage(data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean): void {
    const { listener, log } = this.#o;
    if (this.#state === 'over') return;
    this.#heardSincePing = true;
    const event = this.#wire.decode(asBuffer(data), isBinary);
    if (event.type === 'malformed') log?.warn({ why: event.why }, 'model.event.malformed');
    else if (this.#state !== 'ready') this.#configure(event);
    else if (event.type === 'error' && isFatal(event.code))
      this.#end({
        code: 'model_refused',
        message: `the model server refused: ${event.message || event.code}`,
        retryable: false,
      });
    else listener.event(event);
  }

  #onRefusal(status: number): void {
    const refused = status >= 400 && status < 500 && status !== 408 && status !== 429;
    const message = `the model server answered with status ${status}`;
    this.#end({ code: refused ? 'model_refused' : 'model_unreachable', message, retryable: !refused });
  }

  #onClose(code: number, reason: string): void {
    // A key that is not accepted may show only here: 3000 invalid_request_error.invalid_api_key.
    const refused = [...reason.matchAll(/[a-z_]+/g)].some(([word]) => isFatal(word));
    this.#end({
      code: refused ? 'model_refused' : this.#state === 'ready' ? 'model_lost' : 'model_unreachable',
      message: `the model server closed the connection (${code}${reason === '' ? '' : ` ${reason}`})`,
      retryable: !refused,
    });
  }

  #configure(event: ModelEvent): void {
    const { config, listener } = this.#o;
    if (event.type === 'session-created' && this.#state === 'dialing') {
      this.#state = 'configuring';
      this.#expiresInMs = grantedMs(event.expiresAt);
      this.#socket?.send((message) => message.text(sessionUpdate(config, CONFIG_EVENT_ID)));
    } else if (event.type === 'session-updated' && this.#state === 'configuring') {
      const wrong = wrongInForce(event, config);
      if (wrong === null) {
        this.#state = 'ready';
        this.#cancelReady();
        this.#ping();
        listener.ready({ expiresInMs: grantedMs(event.expiresAt) ?? this.#expiresInMs });
      } else this.#end({ code: 'model_refused', message: wrong, retryable: false });
    } else if (event.type === 'error') {
      const message = `the model server refused the session: ${event.message || event.code}`;
      this.#end({ code: 'model_refused', message, retryable: isPassing(event.code) });
    }
  }

  #ping(): void {
    this.#cancelPing();
    this.#heardSincePing = false;
    this.#socket?.ws.ping();
    const patienceMs = this.#expecting ? PING_EXPECTING_MS : PING_EVERY_MS;
    this.#cancelPing = this.#o.timers.after(patienceMs, () => {
      if (this.#heardSincePing) this.#ping();
      else
        this.#end({ code: 'model_lost', message: 'the model server gives no sign of life', retryable: true });
    });
  }

  /** Stops listening and lets the socket go; `loss` null when we wanted it. */
  #end(loss: Loss | null): void {
    if (this.#state === 'over') return;
    this.#state = 'over';
    this.#cancelReady();
    this.#cancelPing();
    const ws = this.#socket?.ws;
    if (loss === null && ws !== undefined && ws.readyState === ws.OPEN) {
      ws.close(1000);
      const cancel = this.#o.timers.after(CLOSE_TIMEOUT_MS, () => ws.terminate());
      void this.#closed.then(cancel);
    } else ws?.terminate();
    if (loss !== null) this.#o.listener.lost(loss);
  }
}

/** Why the configuration in force is not the one we need; null when it is. A server that detects turns unasked would answer by itself. */
function wrongInForce(
  event: Extract<ModelEvent, { type: 'session-updated' }>,
  config: ModelConfig,
): string | null {
  const format = formatFor(config.line);
  if (!isFormat(event.inputFormat, format) || !isFormat(event.outputFormat, format))
    return `the model server does not speak ${format.encoding} (${event.inputFormat || 'none'} in, ${event.outputFormat || 'none'} out)`;
  const asked = config.turnDetection ?? 'local';
  if (asked !== 'local')
    return event.turnDetection === asked
      ? null
      : `the model server does not offer ${asked} (it keeps ${event.turnDetection ?? 'none'}); set TURN_DETECTION to another`;
  if (event.turnDetection !== null)
    return `the model server keeps its own turn detection (${event.turnDetection})`;
  return null;
}

/** `expiresAt` is in seconds of the server's wall clock; a session that is over as it begins means that ours is wrong. */
function grantedMs(expiresAt: number | null): number | null {
  const ms = expiresAt === null ? 0 : expiresAt * 1000 - Date.now();
  return ms > 0 ? ms : null;
}

function asBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}
