// The carrier's side of one stream that a call has: its socket, written in the carrier's words, and whether it still carries.
import type { MediaWire } from '../carriers/media-wire.ts';
import type { FrameSocket } from '../sockets/frame-socket.ts';
import { type LineState, LineWatch } from './line-watch.ts';

/** A carrier that does not answer the closing of its socket is not waited for. */
const CLOSE_TIMEOUT_MS = 2_000;

export class CarrierLine {
  /** As it was when it was looked at last. */
  state: LineState = 'open';
  readonly #socket: FrameSocket;
  readonly #wire: MediaWire;
  readonly #streamId: string;
  readonly #watch: LineWatch;

  constructor(o: { socket: FrameSocket; wire: MediaWire; streamId: string }, startMs: number) {
    this.#socket = o.socket;
    this.#wire = o.wire;
    this.#streamId = o.streamId;
    this.#watch = new LineWatch(startMs);
  }

  /** When something came of it last, or it began. */
  get heardMs(): number {
    return this.#watch.heardMs;
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
    this.state = this.#watch.look(nowMs, this.#socket.waitingBytes);
    return this.state;
  }

  /** What is sent until `uncork` goes out in one write. */
  cork(): void {
    this.#socket.cork();
  }

  uncork(): void {
    this.#socket.uncork();
  }

  /** Whole frames in what the carrier takes; copied. */
  audio(payload: Buffer): void {
    this.#socket.send((message) => this.#wire.audio(message, this.#streamId, payload));
  }

  mark(name: string, nowMs: number): void {
    this.#socket.send((message) => this.#wire.mark(message, this.#streamId, name));
    this.#watch.markSent(nowMs);
  }

  /** Empties the carrier's buffer. */
  clear(): void {
    this.#socket.send((message) => this.#wire.clear(message, this.#streamId));
    if (!this.#wire.clearReturnsMarks) this.#watch.cleared();
  }

  close(): void {
    const { ws } = this.#socket;
    ws.close(1000);
    const timer = setTimeout(() => ws.terminate(), CLOSE_TIMEOUT_MS);
    ws.once('close', () => clearTimeout(timer));
  }
}
