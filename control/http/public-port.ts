// The public port as the control thread has it: found and held from the start, left to a media thread that listens on it, and
// taken again when that has gone.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { descriptorOf, type ListenAddress, leaveOff, listen } from '../../bridge/listening.ts';

export class PublicPort {
  /** As the system has it: the port of one that was asked for by 0. */
  readonly address: AddressInfo;
  /** Whether other threads may listen there too; not every system lets them. */
  readonly isShared: boolean;
  readonly #take: (socket: Socket) => void;
  readonly #sockets: Set<Socket>;
  #server: Server | null;
  /** Of a socket that listens there and that nobody has yet. */
  #fd: number | undefined;
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
      return new PublicPort({ server: shared, address: addressOf(shared), isShared: true, sockets, take });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOTSUP') throw error;
      const only = serverFor(sockets, take);
      await listen(only, at);
      return new PublicPort({ server: only, address: addressOf(only), isShared: false, sockets, take });
    }
  }

  /**
   * One that another process listens on: nobody does here before he is told to. By its socket, where that was left to this
   * process; else beside it.
   * @param o.isShared whether other threads may listen there too
   */
  static beside(o: {
    address: AddressInfo;
    fd: number | undefined;
    isShared: boolean;
    take: (socket: Socket) => void;
  }): PublicPort {
    return new PublicPort({ ...o, server: null, sockets: new Set() });
  }

  /** By a socket that listens already and stays another's, such as systemd's: no other thread may. @throws Error of listen */
  static async adopt(fd: number, take: (socket: Socket) => void): Promise<PublicPort> {
    const sockets = new Set<Socket>();
    const server = serverFor(sockets, take);
    await listen(server, { host: '', port: 0, fd });
    const address = server.address();
    if (address === null || typeof address === 'string') {
      server.close();
      throw new Error(
        `The socket that was given to listen on (${address}) has no port: it has to be of TCP.`,
      );
    }
    return new PublicPort({ server, address, isShared: false, sockets, take });
  }

  private constructor(o: {
    server: Server | null;
    address: AddressInfo;
    isShared: boolean;
    sockets: Set<Socket>;
    take: (socket: Socket) => void;
    fd?: number | undefined;
  }) {
    this.#server = o.server;
    this.#fd = o.fd;
    this.#sockets = o.sockets;
    this.#take = o.take;
    this.isShared = o.isShared;
    this.address = o.address;
  }

  /** Listens, where it does not. @throws Error of listen */
  listen(): Promise<void> {
    return this.#then(async () => {
      if (this.#server !== null) return;
      const server = serverFor(this.#sockets, this.#take);
      const { address: host, port } = this.address;
      await listen(server, { host, port, fd: this.takeDescriptor() }, this.isShared);
      this.#server = server;
    });
  }

  /** A socket that was left to this process, once: whoever has it listens by it. */
  takeDescriptor(): number | undefined {
    const fd = this.#fd;
    this.#fd = undefined;
    return fd;
  }

  /** By which it listens; null where it does not, or that is not known. */
  descriptor(): number | null {
    return this.#server === null ? null : descriptorOf(this.#server);
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

const addressOf = (server: Server) => server.address() as AddressInfo;

function serverFor(sockets: Set<Socket>, take: (socket: Socket) => void): Server {
  return createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    take(socket);
  });
}
