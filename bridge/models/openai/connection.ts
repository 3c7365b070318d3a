// Keeps one configured socket to the model in force: the first dial, dialling again after a loss, and moving to a fresh
// socket before the old one expires. What was said is told to each new socket by the session.
import type { Log } from '../../../log.ts';
import type { Fault, FaultCode } from '../../protocol/call-reasons.ts';
import type { ModelConfig } from '../model.ts';
import type { ModelEvent } from './server-events.ts';
import { type Loss, type ModelSocket, openModelSocket, type Timers } from './socket.ts';

/** Waits before each attempt: one at once, then two more. */
const ATTEMPT_DELAYS_MS = [0, 250, 1_000];
/** From the loss to a socket in force; a caller does not wait longer in silence. */
const RECONNECT_BUDGET_MS = 5_000;
const RECONNECT_ATTEMPT_MS = 3_000;
/** While the phone rings there is more time. */
const FIRST_BUDGET_MS = 12_000;
const FIRST_ATTEMPT_MS = 8_000;
/** So many losses within a minute, and the server is of no use for a call. */
const MAX_LOSSES_A_MINUTE = 5;
const RENEW_AGAIN_MS = 30_000;
/** How long before its granted end a session is renewed. */
const EXPIRY_MARGIN_MS = 120_000;

export interface ConnectionListener {
  /** This socket is in force from now on; it knows nothing yet. */
  online(socket: ModelSocket, info: { renewed: boolean; tookMs: number }): void;
  event(event: ModelEvent): void;
  /** The socket in force is gone; another is being dialled. */
  lost(why: string): void;
  failed(failure: Fault): void;
  /** A fresh socket is ready: true when nothing is under way that the old one would have to finish. */
  mayMove(): boolean;
}

export interface ModelConnection {
  open(): void;
  /** Dials a fresh socket beside the one in force. */
  renew(): void;
  /** To be called when `mayMove` may have become true. */
  moveIfReady(): void;
  /** Gives up the socket in force, as if it were lost. */
  drop(why: string): void;
  /** Since the socket in force came into force. */
  ageMs(): number;
  close(): Promise<void>;
}

export interface ConnectionOptions {
  config: ModelConfig;
  listener: ConnectionListener;
  timers: Timers;
  now: () => number;
  log: Log | undefined;
  /** Age at which a socket is replaced. */
  renewAfterMs: number;
}

export function openModelConnection(o: ConnectionOptions): ModelConnection {
  const { listener, timers, now } = o;
  let current: ModelSocket | null = null;
  /** Dialled, or ready and waiting to take over. */
  let next: { socket: ModelSocket; ready: { expiresInMs: number | null } | null } | null = null;
  let everOnline = false;
  let over = false;
  let onlineSince = 0;
  /** When the dialling under way began. */
  let since = 0;
  let attempt = 0;
  let losses: number[] = [];
  let cancelRetry = () => {};
  let cancelBudget = () => {};
  let cancelRenewal = () => {};
  const closing: Promise<void>[] = [];

  function fail(code: FaultCode, message: string): void {
    if (over) return;
    stop();
    listener.failed({ code, message });
  }

  function stop(): void {
    over = true;
    cancelRetry();
    cancelBudget();
    cancelRenewal();
    if (current) letGo(current);
    if (next) letGo(next.socket);
    current = null;
    next = null;
  }

  function letGo(socket: ModelSocket): void {
    closing.push(socket.close());
  }

  function dial(readyTimeoutMs: number): void {
    const socket = openModelSocket({
      config: o.config,
      readyTimeoutMs,
      timers,
      log: o.log,
      listener: {
        ready(info) {
          if (next?.socket !== socket) return;
          next.ready = info;
          if (current === null || listener.mayMove()) move();
        },
        event(event) {
          if (current === socket) listener.event(event);
        },
        lost(loss) {
          if (current === socket) lose(loss);
          else if (next?.socket === socket) missed(loss);
        },
      },
    });
    next = { socket, ready: null };
  }

  /** The ready socket takes over. */
  function move(): void {
    if (next === null || next.ready === null) return;
    const { socket, ready } = next;
    const renewed = everOnline;
    if (current) letGo(current);
    cancelRetry();
    cancelBudget();
    current = socket;
    next = null;
    everOnline = true;
    onlineSince = now();
    const untilExpiry =
      ready.expiresInMs === null ? Number.POSITIVE_INFINITY : ready.expiresInMs - EXPIRY_MARGIN_MS;
    scheduleRenewal(Math.min(o.renewAfterMs, Math.max(untilExpiry, RENEW_AGAIN_MS)));
    listener.online(socket, { renewed, tookMs: Math.round(now() - since) });
  }

  function scheduleRenewal(afterMs: number): void {
    cancelRenewal();
    cancelRenewal = timers.after(afterMs, renew);
  }

  function renew(): void {
    if (over || current === null || next !== null) return;
    since = now();
    dial(FIRST_ATTEMPT_MS);
  }

  /** The socket in force is gone. A renewal under way goes on in its place. */
  function lose(loss: Loss): void {
    current = null;
    cancelRenewal();
    const at = now();
    losses = [...losses.filter((one) => at - one < 60_000), at];
    if (!loss.retryable) fail(loss.code, loss.message);
    else if (losses.length >= MAX_LOSSES_A_MINUTE) fail('model_lost', loss.message);
    else {
      o.log?.warn({ why: loss.message }, 'model.connection.lost');
      listener.lost(loss.message);
      if (!over) begin(RECONNECT_BUDGET_MS, 'model_lost');
    }
  }

  function begin(budgetMs: number, code: FaultCode): void {
    since = now();
    attempt = 0;
    cancelBudget = timers.after(budgetMs, () => fail(code, 'the model server could not be reached in time'));
    if (next?.ready) move();
    else if (next === null) tryAgain(null);
  }

  function tryAgain(loss: Loss | null): void {
    const delay = ATTEMPT_DELAYS_MS[attempt++];
    if (delay === undefined) {
      const code = everOnline ? 'model_lost' : (loss?.code ?? 'model_unreachable');
      fail(code, loss?.message ?? 'the model server could not be reached');
      return;
    }
    const readyTimeoutMs = everOnline ? RECONNECT_ATTEMPT_MS : FIRST_ATTEMPT_MS;
    if (delay === 0) dial(readyTimeoutMs);
    else cancelRetry = timers.after(delay, () => dial(readyTimeoutMs));
  }

  /** A dialled socket came to nothing. */
  function missed(loss: Loss): void {
    next = null;
    o.log?.warn({ why: loss.message, attempt }, 'model.dial.failed');
    // While the old socket still serves, a renewal has time.
    if (current !== null) scheduleRenewal(RENEW_AGAIN_MS);
    else if (!loss.retryable) fail(loss.code, loss.message);
    else tryAgain(loss);
  }

  return {
    open() {
      if (over || everOnline || next !== null) return;
      begin(FIRST_BUDGET_MS, 'model_unreachable');
    },
    renew,
    moveIfReady() {
      if (!over && next !== null && next.ready !== null && listener.mayMove()) move();
    },
    drop(why) {
      if (over || current === null) return;
      letGo(current);
      lose({ code: 'model_lost', message: why, retryable: true });
    },
    ageMs: () => (current === null ? 0 : now() - onlineSince),
    async close() {
      if (!over) stop();
      await Promise.all(closing);
    },
  };
}
