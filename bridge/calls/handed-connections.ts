// Connections on the public port that a media thread has accepted and this one answers: each is a stream whose bytes that
// thread reads and writes. Nobody but a media thread brings one, so the address that it says is the one that it saw.
import { Duplex } from 'node:stream';
import type { MessagePort } from 'node:worker_threads';
import type { ConnectionEnds, FromListener, ToListener } from '../handed-messages.ts';

/** What those that are open have to end, when the thread is to. */
const FINISH_MS = 1_000;

type Message = Exclude<FromListener, { type: 'opened' | 'left' }>;

/** As a socket to whoever answers requests by it. A write is done when its bytes have left the media thread. */
export class HandedConnection extends Duplex implements ConnectionEnds {
  readonly remoteAddress: string;
  readonly remotePort: number | undefined;
  readonly localAddress: string | undefined;
  readonly localPort: number | undefined;
  readonly #tell: (message: ToListener) => void;
  readonly #id: number;
  readonly #onClose: () => void;
  /** Of bytes that are leaving. */
  #written: ((error?: Error) => void) | null = null;
  /** Bytes have come, and no more were asked for. */
  #owesMore = false;
  #isGone = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(o: {
    id: number;
    ends: ConnectionEnds;
    tell: (message: ToListener) => void;
    onClose: () => void;
  }) {
    super();
    this.remoteAddress = o.ends.remoteAddress;
    this.remotePort = o.ends.remotePort;
    this.localAddress = o.ends.localAddress;
    this.localPort = o.ends.localPort;
    this.#id = o.id;
    this.#tell = o.tell;
    this.#onClose = o.onClose;
  }

  /** As a socket's: `timeout` is emitted once nothing has moved for `ms` milliseconds; 0: never. */
  setTimeout(ms: number, listener?: () => void): this {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    if (ms > 0 && !this.destroyed) this.#idle = setTimeout(() => this.emit('timeout'), ms).unref();
    if (listener !== undefined && ms > 0) this.once('timeout', listener);
    if (listener !== undefined && ms === 0) this.off('timeout', listener);
    return this;
  }

  /** As a socket's: closes when all that was written has left. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  /** What the media thread tells of it. */
  receive(message: Message): void {
    this.#idle?.refresh();
    switch (message.type) {
      case 'data':
        this.#owesMore = true;
        this.push(message.bytes);
        return;
      case 'written':
        if (message.all) this.#settle();
        return;
      case 'ended':
        this.push(null);
        return;
      case 'closed':
        this.gone();
    }
  }

  /** The media thread has it no longer. */
  gone(): void {
    this.#isGone = true;
    this.destroy();
  }

  override _read(): void {
    if (!this.#owesMore) return;
    this.#owesMore = false;
    this.#tell({ type: 'more', id: this.#id });
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    // An answer's end behind its last bytes: whoever has those may ask again before this would have gone there and back.
    if (chunk.length === 0) {
      done();
      return;
    }
    this.#idle?.refresh();
    this.#written = done;
    this.#tell({ type: 'send', id: this.#id, bytes: new Uint8Array(chunk) });
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error) => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done);
  }

  override _final(done: () => void): void {
    this.#tell({ type: 'end', id: this.#id });
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#idle);
    if (!this.#isGone) this.#tell({ type: 'close', id: this.#id });
    this.#onClose();
    this.#settle(error ?? new Error('The connection is closed.'));
    done(error);
  }

  #settle(error?: Error): void {
    const written = this.#written;
    this.#written = null;
    written?.(error);
  }
}

/** Those of one media thread. */
export class HandedConnections {
  readonly #port: MessagePort;
  readonly #take: (connection: HandedConnection) => void;
  readonly #open = new Map<number, HandedConnection>();
  /** The thread still listens. */
  #listens = true;
  #changed = () => {};

  /** @param take told of each as it is accepted, before anything of it is read */
  constructor(port: MessagePort, take: (connection: HandedConnection) => void) {
    this.#port = port;
    this.#take = take;
    port.on('message', (message: FromListener) => this.#receive(message));
    port.on('close', () => this.close());
    // Of those who are there the server keeps the process; of this way, nobody need.
    port.unref();
  }

  /** Has the thread listen no longer; resolves when it does not. Those who are there stay. */
  async leave(): Promise<void> {
    if (!this.#listens) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changed = () => {
      if (!this.#listens) resolve();
    };
    this.#tell({ type: 'leave' });
    await promise;
  }

  /** Has the thread listen no longer, and waits until none is left: for a second at most, in a hurry not at all. */
  async finish(hurry: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#changed = () => {
      if (!this.#listens && this.#open.size === 0) resolve();
    };
    this.#tell({ type: 'leave' });
    const timer = setTimeout(resolve, FINISH_MS);
    if (hurry.aborted) resolve();
    else hurry.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    clearTimeout(timer);
    this.close();
  }

  /** Ends those that are left. Safe to call twice. */
  close(): void {
    this.#listens = false;
    for (const connection of this.#open.values()) connection.destroy();
    this.#changed();
    this.#port.close();
  }

  #receive(message: FromListener): void {
    if (message.type === 'opened') this.#opened(message);
    else if (message.type !== 'left') this.#open.get(message.id)?.receive(message);
    else {
      this.#listens = false;
      this.#changed();
    }
  }

  #opened({ id, ends }: Extract<FromListener, { type: 'opened' }>): void {
    const connection = new HandedConnection({
      id,
      ends,
      tell: (message) => this.#tell(message),
      onClose: () => {
        this.#open.delete(id);
        this.#changed();
      },
    });
    this.#open.set(id, connection);
    this.#take(connection);
  }

  #tell(message: ToListener): void {
    this.#port.postMessage(message, message.type === 'send' ? [message.bytes.buffer] : []);
  }
}
