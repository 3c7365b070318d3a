// The wire of one session: sends its frames, and goes wrong below the protocol where it is told to.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock } from './clock.ts';

export class Line {
  readonly #socket: WebSocket;
  readonly #tcp: Socket;
  readonly #clock: Clock;
  #silentUntilMs = 0;
  #held: string[] = [];
  #dead = false;

  /** `tcp` is the socket below, for what a WebSocket cannot do. */
  constructor(socket: WebSocket, tcp: Socket, clock: Clock) {
    this.#socket = socket;
    this.#tcp = tcp;
    this.#clock = clock;
  }

  /** True after `die`: what still comes in is not heard. */
  isDead(): boolean {
    return this.#dead;
  }

  /** Sends a text frame, or holds it during a silence. */
  send(frame: string): void {
    if (this.#dead) return;
    if (this.#silentUntilMs > this.#clock.now()) this.#held.push(frame);
    else this.#socket.send(frame);
  }

  sendBinary(bytes: Buffer): void {
    if (!this.#dead) this.#socket.send(bytes);
  }

  /** Holds everything back for a while, then sends all of it. */
  silence(ms: number): void {
    this.#silentUntilMs = this.#clock.now() + ms;
    this.#clock.at(this.#silentUntilMs, () => {
      if (this.#dead || this.#socket.readyState !== this.#socket.OPEN) return;
      this.#silentUntilMs = 0;
      for (const frame of this.#held.splice(0)) this.#socket.send(frame);
    });
  }

  /** Half-open: nothing is read any more, so no pong goes out either, and no FIN is sent. The peer has to notice by itself. */
  die(): void {
    this.#dead = true;
    this.#tcp.pause();
  }

  /** Ends the connection with a TCP reset. */
  reset(): void {
    this.#tcp.resetAndDestroy();
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
