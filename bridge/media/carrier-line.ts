// The carrier's side of one stream that a call has: its socket, written in the carrier's words, and whether it still carries.
import type { WebSocket } from 'ws';
import type { MediaWire } from '../carriers/media-wire.ts';
import { type LineState, LineWatch } from './line-watch.ts';

/** A carrier that does not answer the closing of its socket is not waited for. */
const CLOSE_TIMEOUT_MS = 2_000;

/** What carries the socket: messages sent between the two go out in one write. */
export interface Transport {
  cork(): void;
  uncork(): void;
}

/** Every message in a write of its own. */
export const SEPARATELY: Transport = { cork() {}, uncork() {} };

export class CarrierLine {
  /** As it was when it was looked at last. */
  state: LineState = 'open';
  readonly #socket: WebSocket;
  readonly #transport: Transport;
  readonly #wire: MediaWire;
  readonly #streamId: string;
  readonly #watch: LineWatch;

  constructor(
    o: { socket: WebSocket; transport: Transport; wire: MediaWire; streamId: string },
    startMs: number,
  ) {
    this.#socket = o.socket;
    this.#transport = o.transport;
    this.#wire = o.wire;
    this.#streamId = o.streamId;
    this.#watch = new LineWatch(startMs);
  }

  /** A frame of the caller's has come. */
  frame(nowMs: number): void {
    this.#watch.frame(nowMs);
  }

  /** A mark has come back. */
  markBack(nowMs: number): void {
    this.#watch.markBack(nowMs);
  }

  look(nowMs: number): LineState {
    this.state = this.#watch.look(nowMs, this.#socket.bufferedAmount);
    return this.state;
  }

  /** What is sent until `uncork` goes out in one write. */
  cork(): void {
    this.#transport.cork();
  }

  uncork(): void {
    this.#transport.uncork();
  }

  /** Whole frames in what the carrier takes; copied. */
  audio(payload: Buffer): void {
    this.#socket.send(this.#wire.audio(this.#streamId, payload));
  }

  mark(name: string, nowMs: number): void {
    this.#socket.send(this.#wire.mark(this.#streamId, name));
    this.#watch.markSent(nowMs);
  }

  /** Empties the carrier's buffer. */
  clear(): void {
    this.#socket.send(this.#wire.clear(this.#streamId));
    if (!this.#wire.clearReturnsMarks) this.#watch.cleared();
  }

  close(): void {
    this.#socket.close(1000);
    const timer = setTimeout(() => this.#socket.terminate(), CLOSE_TIMEOUT_MS);
    this.#socket.once('close', () => clearTimeout(timer));
  }
}
