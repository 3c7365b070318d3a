// Keeps one configured socket to the model in force: the first dial, dialling again after a loss, and moving to a fresh
// socket before the old one expires. What was said is told to each new socket by the session.
import type { Log } from '../../../log.ts';
import type { Fault, FaultCode } from '../../protocol/call-reasons.ts';
import type { ModelConfig } from '../model.ts';
import type { ModelEvent } from './server-events.ts';
import type { DialModel, Loss, SessionSocket, Timers } from './socket.ts';

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
  online(socket: SessionSocket, info: { renewed: boolean; tookMs: number }): void;
  event(event: ModelEvent): void;
  /** The socket in force is gone; another is being dialled. */
  lost(why: string): void;
  failed(failure: Fault): void;
  /** A fresh socket is ready: true when nothing is under way that the old one would have to finish. */
  mayMove(): boolean;
}

export interface ConnectionOptions {
  config: ModelConfig;
  listener: ConnectionListener;
  timers: Timers;
  now: () => number;
  log: Log | undefined;
  dial: DialModel;
  /** Age at which a socket is replaced. */
  renewAfterMs: number;
}

export class ModelConnection {
  readonly #o: ConnectionOptions;
  #current: SessionSocket | null = null;
  /** Dialled, or ready and waiting to take over. */
  #next: { socket: SessionSocket; ready: { expiresInMs: number | null } | null } | null = null;
  #everOnline = false;
  #over = false;
  /** When the dialling under way began. */
  #since = 0;
  #attempt = 0;
  #losses: number[] = [];
  #cancelRetry = () => {};
  #cancelBudget = () => {};
  #cancelRenewal = () => {};
  readonly #closing: Promise<void>[] = [];

  constructor(o: ConnectionOptions) {
    this.#o = o;
  }

  /** Dials the first socket. */
  open(): void {
    if (this.#over || this.#everOnline || this.#next !== null) return;
    this.#begin(FIRST_BUDGET_MS, 'model_unreachable');
  }

  /** To be called when `mayMove` may have become true. */
  moveIfReady(): void {
    if (!this.#over && this.#next !== null && this.#next.ready !== null && this.#o.listener.mayMove())
      this.#move();
  }

  /** Gives up the socket in force, as if it were lost. */
  drop(why: string): void {
    if (this.#over || this.#current === null) return;
    this.#letGo(this.#current);
    this.#lose({ code: 'model_lost', message: why, retryable: true });
  }

  async close(): Promise<void> {
    if (!this.#over) this.#stop();
    await Promise.all(this.#closing);
  }

  #fail(code: FaultCode, message: string): void {
    if (this.#over) return;
    this.#stop();
    this.#o.listener.failed({ code, message });
  }

  #stop(): void {
    this.#over = true;
    this.#cancelRetry();
    this.#cancelBudget();
    this.#cancelRenewal();
    if (this.#current) this.#letGo(this.#current);
    if (this.#next) this.#letGo(this.#next.socket);
    this.#current = null;
    this.#next = null;
  }

  #letGo(socket: SessionSocket): void {
    this.#closing.push(socket.close());
  }

  #dial(readyTimeoutMs: number): void {
    const { config, timers, log, listener, dial } = this.#o;
    const socket = dial({
      config,
      readyTimeoutMs,
      timers,
      log,
      listener: {
        ready: (info) => {
          if (this.#next?.socket !== socket) return;
          this.#next.ready = info;
          if (this.#current === null || listener.mayMove()) this.#move();
        },
        event: (event) => {
          if (this.#current === socket) listener.event(event);
        },
        lost: (loss) => {
          if (this.#current === socket) this.#lose(loss);
          else if (this.#next?.socket === socket) this.#missed(loss);
        },
      },
    });
    this.#next = { socket, ready: null };
  }

  /** The ready socket takes over. */
  #move(): void {
    if (this.#next === null || this.#next.ready === null) return;
    const { socket, ready } = this.#next;
    const renewed = this.#everOnline;
    if (this.#current) this.#letGo(this.#current);
    this.#cancelRetry();
    this.#cancelBudget();
    this.#current = socket;
    this.#next = null;
    this.#everOnline = true;
    const untilExpiry =
      ready.expiresInMs === null ? Number.POSITIVE_INFINITY : ready.expiresInMs - EXPIRY_MARGIN_MS;
    this.#scheduleRenewal(Math.min(this.#o.renewAfterMs, Math.max(untilExpiry, RENEW_AGAIN_MS)));
    this.#o.listener.online(socket, { renewed, tookMs: Math.round(this.#o.now() - this.#since) });
  }

  #scheduleRenewal(afterMs: number): void {
    this.#cancelRenewal();
    this.#cancelRenewal = this.#o.timers.after(afterMs, () => this.#renew());
  }

  /** Dials a fresh socket beside the one in force. */
  #renew(): void {
    if (this.#over || this.#current === null || this.#next !== null) return;
    this.#since = this.#o.now();
    this.#dial(FIRST_ATTEMPT_MS);
  }

  /** The socket in force is gone. A renewal under way goes on in its place. */
  #lose(loss: Loss): void {
    this.#current = null;
    this.#cancelRenewal();
    const at = this.#o.now();
    this.#losses = [...this.#losses.filter((one) => at - one < 60_000), at];
    if (!loss.retryable) this.#fail(loss.code, loss.message);
    else if (this.#losses.length >= MAX_LOSSES_A_MINUTE) this.#fail('model_lost', loss.message);
    else {
      this.#o.log?.warn({ why: loss.message }, 'model.connection.lost');
      this.#o.listener.lost(loss.message);
      if (!this.#over) this.#begin(RECONNECT_BUDGET_MS, 'model_lost');
    }
  }

  #begin(budgetMs: number, code: FaultCode): void {
    this.#since = this.#o.now();
    this.#attempt = 0;
    this.#cancelBudget = this.#o.timers.after(budgetMs, () =>
      this.#fail(code, 'the model server could not be reached in time'),
    );
    if (this.#next?.ready) this.#move();
    else if (this.#next === null) this.#tryAgain(null);
  }

  #tryAgain(loss: Loss | null): void {
    const delay = ATTEMPT_DELAYS_MS[this.#attempt++];
    if (delay === undefined) {
      const code = this.#everOnline ? 'model_lost' : (loss?.code ?? 'model_unreachable');
      this.#fail(code, loss?.message ?? 'the model server could not be reached');
      return;
    }
    const readyTimeoutMs = this.#everOnline ? RECONNECT_ATTEMPT_MS : FIRST_ATTEMPT_MS;
    if (delay === 0) this.#dial(readyTimeoutMs);
    else this.#cancelRetry = this.#o.timers.after(delay, () => this.#dial(readyTimeoutMs));
  }

  /** A dialled socket came to nothing. */
  #missed(loss: Loss): void {
    this.#next = null;
    this.#o.log?.warn({ why: loss.message, attempt: this.#attempt }, 'model.dial.failed');
    // While the old socket still serves, a renewal has time.
    if (this.#current !== null) this.#scheduleRenewal(RENEW_AGAIN_MS);
    else if (!loss.retryable) this.#fail(loss.code, loss.message);
    else this.#tryAgain(loss);
  }
}
