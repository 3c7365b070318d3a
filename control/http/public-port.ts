// The public port as the control thread has it: found and held from the start, left to a media thread that listens on it, and
// taken again when that has gone.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { type ListenAddress, leaveOff, listen } from '../../bridge/listening.ts';

export class PublicPort {
  /** As the system has it: the port of one that was asked for by 0. */
  readonly address: AddressInfo;
  /** Whether other threads may listen there too; not every system lets them. */
  readonly isShared: boolean;
  readonly #take: (socket: Socket) => void;
  readonly #sockets: Set<Socket>;
  #server: Server | null;
  /** One step after the other. */
  #done: Promise<void> = Promise.resolve();

  /**
   * Listens on it. @param take given each connection
   * @throws Error of listen: EADDRINUSE also where whoever listens there would share it
   */
  static async open(at: ListenAddress, take: (socket: Socket) => void): Promise<PublicPort> {
    // Two daemons would share it without a word: one that shares with nobody finds out.
    if (at.port !== 0) {
      const alone = createServer();
      await listen(alone, at);
      await new Promise((closed) => alone.close(closed));
    }
    const sockets = new Set<Socket>();
    try {
      const shared = serverFor(sockets, take);
      await listen(shared, at, true);
      return new PublicPort(shared, true, sockets, take);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error;
      const only = serverFor(sockets, take);
      await listen(only, at);
      return new PublicPort(only, false, sockets, take);
    }
  }

  private constructor(
    server: Server,
    isShared: boolean,
    sockets: Set<Socket>,
    take: (socket: Socket) => void,
  ) {
    this.#server = server;
    this.#sockets = sockets;
    this.#take = take;
    this.isShared = isShared;
    this.address = server.address() as AddressInfo;
  }

  /** Listens, where it does not. @throws Error of listen */
  listen(): Promise<void> {
    return this.#then(async () => {
      if (this.#server !== null) return;
      const server = serverFor(this.#sockets, this.#take);
      await listen(server, { host: this.address.address, port: this.address.port }, true);
      this.#server = server;
    });
  }

  /** Listens no longer. Its connections stay. */
  leave(): Promise<void> {
    return this.#then(async () => {
      const server = this.#server;
      this.#server = null;
      if (server !== null) await leaveOff(server);
    });
  }

  /** Resolves when what was asked of it so far is done: until then somebody who comes may be reset. */
  settled(): Promise<void> {
    return this.#done;
  }

  /** Listens no longer; resolves when the last of its connections is gone. */
  async close(): Promise<void> {
    await this.leave();
    await Promise.all([...this.#sockets].map((socket) => new Promise((gone) => socket.once('close', gone))));
  }

  #then(step: () => Promise<void>): Promise<void> {
    const done = this.#done.then(step);
    this.#done = done.catch(() => {});
    return done;
  }
}

function serverFor(sockets: Set<Socket>, take: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    take(socket);
  });
}
