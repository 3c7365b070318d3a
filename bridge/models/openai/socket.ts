// One connection to an OpenAI Realtime server: dial, configure, check that the configuration is in force, keep alive.
// It tells of its end once. What is said over it, and what comes after it, is the session's.
import { WebSocket } from 'ws';
import type { Log } from '../../../log.ts';
import { afterTurning } from '../../loop-timer.ts';
import type { ModelConfig } from '../model.ts';
import { sessionUpdate } from './client-events.ts';
import { isFatal, isPassing } from './errors.ts';
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
/** What both dialects call mu-law at 8 kHz. */
const MULAW = new Set(['audio/pcmu', 'g711_ulaw']);

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

export interface ModelSocket {
  send(event: string): void;
  /** mu-law 8 kHz. */
  append(payload: Buffer): void;
  /** Whether an answer is expected: then the other end must show a sign of life all the time. */
  expect(expecting: boolean): void;
  /** Bytes that the network has not taken yet. */
  backlogBytes(): number;
  /** Gives it up: nothing more is told. Resolves when the socket is closed. */
  close(): Promise<void>;
}

export interface ModelSocketOptions {
  config: ModelConfig;
  /** From the dial to the configuration in force. */
  readyTimeoutMs: number;
  listener: ModelSocketListener;
  timers: Timers;
  log: Log | undefined;
}

/** The socket's address: a plain http base URL means ws. */
export function realtimeUrl(baseUrl: string, model: string): string {
  const base = baseUrl.replace(/^http/i, 'ws').replace(/\/+$/, '');
  return `${base}/realtime?model=${encodeURIComponent(model)}`;
}

/**
 * Dials at once.
 * ```
 * open -> session.created -> session.update -> session.updated, checked -> ready -> events -> lost
 * ```
 */
export function openModelSocket(o: ModelSocketOptions): ModelSocket {
  const { config, listener, timers } = o;
  const wire = createOpenAIWire();
  let state: 'dialing' | 'configuring' | 'ready' | 'over' = 'dialing';
  let expiresInMs: number | null = null;
  let heardSincePing = false;
  let cancelPing = () => {};
  let expecting = false;
  const cancelReady = timers.after(o.readyTimeoutMs, () =>
    end({ code: 'model_unreachable', message: 'the model server did not answer in time', retryable: true }),
  );

  let socket: WebSocket;
  try {
    socket = new WebSocket(realtimeUrl(config.url, config.model), {
      headers: { Authorization: `Bearer ${config.apiKey}` },
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      maxPayload: MAX_PAYLOAD_BYTES,
      skipUTF8Validation: true,
    });
  } catch (cause) {
    cancelReady();
    const message = `the model's address cannot be used: ${cause instanceof Error ? cause.message : ''}`;
    queueMicrotask(() => {
      if (state !== 'over') listener.lost({ code: 'model_refused', message, retryable: false });
      state = 'over';
    });
    const nothing = () => {};
    const close = async () => {
      state = 'over';
    };
    return { send: nothing, append: nothing, expect: nothing, backlogBytes: () => 0, close };
  }
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));

  /** Stops listening and lets the socket go; `loss` null when we wanted it. */
  function end(loss: Loss | null): void {
    if (state === 'over') return;
    state = 'over';
    cancelReady();
    cancelPing();
    if (loss === null && socket.readyState === WebSocket.OPEN) {
      socket.close(1000);
      const cancel = timers.after(CLOSE_TIMEOUT_MS, () => socket.terminate());
      void closed.then(cancel);
    } else {
      socket.terminate();
    }
    if (loss !== null) listener.lost(loss);
  }

  function ping(): void {
    cancelPing();
    heardSincePing = false;
    socket.ping();
    cancelPing = timers.after(expecting ? PING_EXPECTING_MS : PING_EVERY_MS, () => {
      if (heardSincePing) ping();
      else end({ code: 'model_lost', message: 'the model server gives no sign of life', retryable: true });
    });
  }

  function alive(): void {
    heardSincePing = true;
  }

  function configure(event: ModelEvent): void {
    if (event.type === 'session-created' && state === 'dialing') {
      state = 'configuring';
      expiresInMs = grantedMs(event.expiresAt);
      socket.send(sessionUpdate(config, CONFIG_EVENT_ID));
    } else if (event.type === 'session-updated' && state === 'configuring') {
      const wrong = wrongInForce(event, config);
      if (wrong === null) {
        state = 'ready';
        cancelReady();
        ping();
        listener.ready({ expiresInMs: grantedMs(event.expiresAt) ?? expiresInMs });
      } else end({ code: 'model_refused', message: wrong, retryable: false });
    } else if (event.type === 'error') {
      const message = `the model server refused the session: ${event.message || event.code}`;
      end({ code: 'model_refused', message, retryable: isPassing(event.code) });
    }
  }

  socket.on('message', (data, isBinary) => {
    if (state === 'over') return;
    alive();
    const event = wire.decode(asBuffer(data), isBinary);
    if (event.type === 'malformed') o.log?.warn({ why: event.why }, 'model.event.malformed');
    else if (state !== 'ready') configure(event);
    else if (event.type === 'error' && isFatal(event.code))
      end({
        code: 'model_refused',
        message: `the model server refused: ${event.message || event.code}`,
        retryable: false,
      });
    else listener.event(event);
  });
  socket.on('pong', alive);
  socket.on('ping', alive);
  socket.on('unexpected-response', (_request, response) => {
    const status = response.statusCode ?? 0;
    response.resume();
    const refused = status >= 400 && status < 500 && status !== 408 && status !== 429;
    const message = `the model server answered with status ${status}`;
    end({ code: refused ? 'model_refused' : 'model_unreachable', message, retryable: !refused });
  });
  socket.on('error', (error: Error & { code?: string }) => {
    o.log?.debug({ code: error.code, message: error.message }, 'model.socket.error');
    end({
      code: state === 'ready' ? 'model_lost' : 'model_unreachable',
      message: `the connection to the model failed: ${error.code ?? error.message}`,
      retryable: true,
    });
  });
  socket.on('close', (code, reason) => {
    const text = reason.toString('utf8').slice(0, 200);
    // A key that is not accepted may show only here: 3000 invalid_request_error.invalid_api_key.
    const refused = [...text.matchAll(/[a-z_]+/g)].some(([word]) => isFatal(word));
    end({
      code: refused ? 'model_refused' : state === 'ready' ? 'model_lost' : 'model_unreachable',
      message: `the model server closed the connection (${code}${text === '' ? '' : ` ${text}`})`,
      retryable: !refused,
    });
  });

  return {
    send(event) {
      if (state === 'ready' && socket.readyState === WebSocket.OPEN) socket.send(event);
    },
    append(payload) {
      if (state === 'ready' && socket.readyState === WebSocket.OPEN)
        socket.send(wire.append(payload), { binary: false });
    },
    expect(now) {
      if (state !== 'ready' || now === expecting) return;
      expecting = now;
      // The one under way may have longer to go than we have patience now.
      if (expecting) ping();
    },
    backlogBytes: () => socket.bufferedAmount,
    close() {
      end(null);
      return closed;
    },
  };
}

/** Why the configuration in force is not the one we need; null when it is. A server that detects turns unasked would answer by itself. */
function wrongInForce(
  event: Extract<ModelEvent, { type: 'session-updated' }>,
  config: ModelConfig,
): string | null {
  if (!MULAW.has(event.inputFormat) || !MULAW.has(event.outputFormat))
    return `the model server does not speak mu-law (${event.inputFormat || 'none'} in, ${event.outputFormat || 'none'} out)`;
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
