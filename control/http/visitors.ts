// Who is connected to the public port, for the day on which the port is another process's: each gets the answer he waits for,
// and is to connect anew for the next. Sockets that became streams are not looked at.
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Longer than a client may leave its connection idle (connection-limits.ts). */
const LEAVE_MS = 8_000;

export class Visitors {
  readonly #sockets = new Set<Duplex>();
  readonly #answers = new Set<ServerResponse>();
  #leaving = false;
  #changed = () => {};

  /** @param server listened to for all that connects to it */
  constructor(server: Server) {
    server.on('connection', (socket: Duplex) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#gone(socket));
    });
    server.on('upgrade', (_request, socket) => this.#gone(socket));
  }

  /** Answers as `app` does. */
  through(app: RequestListener): RequestListener {
    return (request, response) => {
      this.#answers.add(response);
      response.once('close', () => this.#answers.delete(response));
      if (this.#leaving) response.shouldKeepAlive = false;
      app(request, response);
    };
  }

  /**
   * From now on an answer is the last of its connection. Resolves when nobody is connected, or only those whose answer takes
   * long.
   */
  async leave(withinMs = LEAVE_MS): Promise<void> {
    this.#leaving = true;
    for (const answer of this.#answers) if (!answer.headersSent) answer.shouldKeepAlive = false;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changed = () => {
      if (this.#sockets.size === 0) resolve();
    };
    this.#changed();
    const timer = setTimeout(resolve, withinMs);
    await promise;
    clearTimeout(timer);
  }

  #gone(socket: Duplex): void {
    this.#sockets.delete(socket);
    this.#changed();
  }
}
