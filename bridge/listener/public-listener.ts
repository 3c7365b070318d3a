// The public port as a daemon's only media thread listens on it, or beside several the listening thread. Of each connection the
// first bytes say whose it is: a stream's of a call is taken as it is, and whatever else comes is the control thread's to answer: its bytes go there and back.
// Who may stay is decided there too.
import { createServer, type Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import { type StreamPath, streamAsked } from '../carriers/media.ts';
import type { FromListener, ToListener } from '../handed-messages.ts';
import { descriptorOf, type ListenAddress, leaveOff, listen } from '../listening.ts';

export interface PublicListenerOptions {
  address: ListenAddress;
  /** To the control thread. */
  control: MessagePort;
  /** Whether the call of a path lives here. */
  isHere(path: StreamPath): boolean;
  /** Takes a connection to such a call, paused, with the bytes that have come. */
  take(socket: Socket, first: Buffer): void;
  /** Told of each connection as it is let in. */
  letIn(): void;
  /** For tests: MOST_UNANSWERED. */
  mostUnanswered?: number;
}

/**
 * Connections to which the control thread has not said a word yet. It lets fewer stay: only where it stands still, they
 * come to this, and who has waited longest gives way.
 */
const MOST_UNANSWERED = 2_500;
/** A client that takes little has at least so much of an answer told as taken, at once. */
const PIECE_BYTES = 65_536;
/** What answers may take of one turn of the loop; the rest waits for the next one, behind the audio of this. */
const TURN_BYTES = 262_144;
const NOTHING = Buffer.alloc(0);

interface Connection {
  readonly id: number;
  readonly socket: Socket;
  /** What has come while it does not say yet whose it is; null once that is known. */
  first: Buffer | null;
  /** Listens to it no longer. */
  release(): void;
}

export class PublicListener {
  readonly #o: PublicListenerOptions;
  readonly #server: Server;
  readonly #connections = new Map<number, Connection>();
  /** By how long they have waited. */
  readonly #unanswered = new Set<Connection>();
  #lastId = 0;
  /** Of this turn; the first piece sets them back. */
  #turnBytes = 0;
  #waiting: (() => void)[] = [];

  /** @throws Error where this thread cannot listen on that port */
  static async open(o: PublicListenerOptions): Promise<PublicListener> {
    const listener = new PublicListener(o);
    await listen(listener.#server, o.address, true);
    o.control.on('message', (message: ToListener) => listener.#obey(message));
    return listener;
  }

  private constructor(o: PublicListenerOptions) {
    this.#o = o;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      o.letIn();
      this.#open(socket, NOTHING);
    });
  }

  /** By which it listens; null where that is not known. */
  descriptor(): number | null {
    return descriptorOf(this.#server);
  }

  /**
   * An upgrade that was taken here and is refused: the control thread says so, and tells of it, as of all that it refuses.
   * @param bytes of the request, and what came after them
   * @returns false for one that did not come by this listener's port; nothing is done to it
   */
  takeBack(socket: Duplex, bytes: Buffer): boolean {
    if (!(socket instanceof Socket) || socket.localPort !== this.#o.address.port) return false;
    socket.setTimeout(0);
    const connection = this.#open(socket, null);
    if (connection !== null) this.#hand(connection, bytes);
    return true;
  }

  /** Ends it with all its connections, but those that were taken here. */
  close(): void {
    this.#server.close();
    for (const { socket } of this.#connections.values()) socket.destroy();
    this.#o.control.close();
  }

  #open(socket: Socket, first: Buffer | null): Connection | null {
    const { remoteAddress, remotePort, localAddress, localPort } = socket;
    // Gone already.
    if (remoteAddress === undefined) {
      socket.destroy();
      return null;
    }
    const id = ++this.#lastId;
    const data = (bytes: Buffer) => this.#heard(connection, bytes);
    const end = () => {
      if (connection.first !== null && connection.first.length > 0) this.#hand(connection, connection.first);
      this.#tell({ type: 'ended', id });
    };
    const error = () => socket.destroy();
    const close = () => {
      if (this.#forget(connection)) this.#tell({ type: 'closed', id });
    };
    const connection: Connection = {
      id,
      socket,
      first,
      release: () => void socket.off('data', data).off('end', end).off('error', error).off('close', close),
    };
    this.#connections.set(id, connection);
    this.#unanswered.add(connection);
    this.#tell({ type: 'opened', id, ends: { remoteAddress, remotePort, localAddress, localPort } });
    socket.on('data', data).on('end', end).on('error', error).on('close', close);
    if (this.#unanswered.size > (this.#o.mostUnanswered ?? MOST_UNANSWERED)) this.#giveWay();
    return connection;
  }

  #giveWay(): void {
    const [longest] = this.#unanswered;
    if (longest === undefined) return;
    this.#unanswered.delete(longest);
    longest.socket.destroy();
  }

  #forget(connection: Connection): boolean {
    this.#unanswered.delete(connection);
    return this.#connections.delete(connection.id);
  }

  #heard(connection: Connection, bytes: Buffer): void {
    if (connection.first === null) {
      this.#hand(connection, bytes);
      return;
    }
    const first = connection.first.length === 0 ? bytes : Buffer.concat([connection.first, bytes]);
    const asked = streamAsked(first);
    if (asked === 'unclear') {
      connection.first = first;
      return;
    }
    if (asked !== null && this.#o.isHere(asked)) this.#o.take(this.#release(connection), first);
    else this.#hand(connection, first);
  }

  /** From here on it is nothing to the control thread, and none of its bytes are read here. */
  #release(connection: Connection): Socket {
    const { socket } = connection;
    connection.release();
    socket.pause();
    this.#forget(connection);
    this.#tell({ type: 'closed', id: connection.id });
    return socket;
  }

  /** Bytes for the control thread, which asks for the next. */
  #hand(connection: Connection, bytes: Buffer): void {
    connection.first = null;
    connection.socket.pause();
    this.#tell({ type: 'data', id: connection.id, bytes: new Uint8Array(bytes) });
  }

  #obey(message: ToListener): void {
    if (message.type === 'leave') {
      void leaveOff(this.#server).then(() => this.#tell({ type: 'left' }));
      return;
    }
    const connection = this.#connections.get(message.id);
    if (connection === undefined) return;
    const { socket } = connection;
    switch (message.type) {
      case 'send':
        this.#unanswered.delete(connection);
        this.#send(connection, message.bytes, 0);
        return;
      case 'more':
        socket.resume();
        return;
      case 'end':
        socket.end();
        return;
      case 'close':
        this.#forget(connection);
        socket.destroy();
    }
  }

  /** Writes the bytes from `from` on, piece by piece. */
  #send(connection: Connection, bytes: Uint8Array, from: number): void {
    if (this.#turnBytes >= TURN_BYTES) {
      this.#waiting.push(() => this.#send(connection, bytes, from));
      return;
    }
    const to = Math.min(from + PIECE_BYTES, bytes.length);
    if (this.#turnBytes === 0) setImmediate(() => this.#turn());
    this.#turnBytes += to - from;
    const { id, socket } = connection;
    socket.write(bytes.subarray(from, to), (error) => {
      if (error) return;
      this.#tell({ type: 'written', id, all: to === bytes.length });
      if (to < bytes.length) this.#send(connection, bytes, to);
    });
  }

  #turn(): void {
    this.#turnBytes = 0;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const send of waiting) send();
  }

  #tell(message: FromListener): void {
    this.#o.control.postMessage(message, message.type === 'data' ? [message.bytes.buffer] : []);
  }
}
