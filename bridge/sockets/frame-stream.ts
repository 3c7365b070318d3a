// A websocket's connection between the network and `ws`. Whole messages, which is what sound comes in, are told from the buffer
// they were read into, by no stream; the handshake and all else goes on to `ws`, which knows what to do with it: control frames,
// messages in parts or split over two reads, and whatever breaks the protocol.
import type { OnReadOpts, Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { headerBytes, isLast, isMasked, payloadBytes, unmask, wholeMessage } from './frames.ts';

/** One for all sockets of a thread: what was read is worked on before the next is. */
const READ_BUFFER = Buffer.allocUnsafeSlow(64 * 1024);

type Done = (error?: Error | null) => void;

export interface FramesFrom {
  /** Whether the other side's frames must have a mask: a client's must, a server's must not. */
  masked: boolean;
  /** Longer messages are left to `ws`, which refuses them. */
  maxPayload: number;
  /** A whole message; the bytes are valid during the call. */
  onMessage(data: Buffer, isBinary: boolean): void;
}

export class FrameStream extends Duplex {
  readonly #socket: Duplex & Pick<Partial<Socket>, 'setTimeout' | 'setNoDelay'>;
  #frames: FramesFrom | null = null;
  /** What was read beyond the handshake, until frames are told. */
  #beyond: Buffer | null = null;
  /** The beginning of a header that was cut. */
  #cut: Buffer | null = null;
  /** Bytes of a frame that `ws` has the beginning of. */
  #owed = 0;
  /** Between the parts of a message. */
  #inParts = false;

  /**
   * @param open the connection, which is to be read as it is told; where it cannot be, it is read as any other
   */
  constructor(open: (onread: OnReadOpts) => Duplex) {
    super();
    const socket = open({
      buffer: READ_BUFFER,
      callback: (bytes) => {
        this.#read(READ_BUFFER, bytes);
        return true;
      },
    });
    this.#socket = socket;
    socket.on('data', (data: Buffer) => this.#read(data, data.length));
    socket.on('end', () => this.#ended());
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /** Bytes that the network has not taken yet. */
  get waitingBytes(): number {
    return this.#socket.writableLength;
  }

  /** The handshake is done: from now on the other side sends frames. Once. */
  begin(frames: FramesFrom): void {
    this.#frames = frames;
    const beyond = this.#beyond;
    this.#beyond = null;
    // As a stream would: when whoever begins has returned.
    if (beyond !== null) process.nextTick(() => this.#read(beyond, beyond.length));
  }

  /** Who did the handshake gives back what was read beyond it. */
  override unshift(beyond: Buffer): boolean {
    this.#beyond = Buffer.from(beyond);
    return true;
  }

  override _read(): void {
    this.#socket.resume();
  }

  /**
   * Straight to the network, in the order in which `ws` and we write. `done` is called when that has taken it: so `ws` knows of a
   * peer that asks for answers and reads none.
   */
  override write(chunk: Uint8Array | string, encoding?: BufferEncoding | Done, done?: Done): boolean {
    return this.#socket.write(chunk, encoding as BufferEncoding, done);
  }

  /** What is written until `uncork` goes out in one piece. */
  override cork(): void {
    this.#socket.cork();
  }

  override uncork(): void {
    this.#socket.uncork();
  }

  /** What is given to `end`. */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: Done): void {
    this.#socket.write(chunk, done);
  }

  override _final(done: () => void): void {
    this.#socket.end(() => done());
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /** 0: none any more. */
  setTimeout(ms: number): this {
    this.#socket.setTimeout?.(ms);
    return this;
  }

  setNoDelay(): this {
    this.#socket.setNoDelay?.();
    return this;
  }

  #read(data: Buffer, end: number): void {
    if (this.#frames === null) this.#pass(data, 0, end);
    else if (this.#cut === null) this.#tell(data, end, this.#frames);
    else {
      const whole = Buffer.concat([this.#cut, data.subarray(0, end)]);
      this.#cut = null;
      this.#tell(whole, whole.length, this.#frames);
    }
  }

  #tell(data: Buffer, end: number, frames: FramesFrom): void {
    for (let at = 0; at < end && !this.destroyed; ) {
      if (this.#owed === 0) {
        const header = end - at < 2 ? Number.POSITIVE_INFINITY : headerBytes(data[at + 1]!);
        if (header > end - at) {
          this.#cut = Buffer.from(data.subarray(at, end));
          return;
        }
        const length = payloadBytes(data, at);
        const from = at + header;
        const kind = wholeMessage(data[at]!);
        if (
          kind !== null &&
          from + length <= end &&
          length <= frames.maxPayload &&
          isMasked(data[at + 1]!) === frames.masked &&
          this.#wouldPass()
        ) {
          if (frames.masked) unmask(data, from, from + length);
          frames.onMessage(data.subarray(from, from + length), kind === 'binary');
          at = from + length;
          continue;
        }
        const last = isLast(data[at]!);
        if (last !== null) this.#inParts = !last;
        this.#owed = header + length;
      }
      const to = Math.min(end, at + this.#owed);
      this.#owed -= to - at;
      this.#pass(data, at, to);
      at = to;
    }
  }

  /**
   * Whether `ws` would tell of a whole message at once: it listens, nothing is before it, and it waits for no part of another.
   * After a frame that breaks the protocol it takes nothing more, and says so by pausing.
   */
  #wouldPass(): boolean {
    return (
      !this.#inParts &&
      this.readableFlowing === true &&
      this.readableLength === 0 &&
      this.listenerCount('data') > 0
    );
  }

  #pass(data: Buffer, from: number, to: number): void {
    if (!this.push(Buffer.from(data.subarray(from, to)))) this.#socket.pause();
  }

  #ended(): void {
    if (this.#cut !== null) this.#pass(this.#cut, 0, this.#cut.length);
    this.#cut = null;
    this.push(null);
  }
}
