// A media socket of the public port and its thread's listener: each is given what the other sends, until both have ended. Sound
// passes here whole or in pieces, as it is read: nothing is looked at, and nothing is kept but what the other end does not take.
import { connect, type OnReadOpts, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterTurning } from '../loop-timer.ts';
import { readInto } from '../sockets/read-into.ts';
import { bytesOf, type Upgrade } from '../upgrade.ts';

export interface MediaJoinOptions {
  /** Of the thread's listener. */
  port: number;
  /** What the thread has to answer, in milliseconds. */
  answerMs: number;
  onParted(join: MediaJoin): void;
}

/** Of what is read at once: a message of sound takes some hundreds. */
const READ_BYTES = 8_192;
/** What one end has to end after the other. */
const LINGER_MS = 1_000;

/** One way of a join. What was read lies in one buffer until the other end has taken it; meanwhile no more is read. */
class Way {
  /** For whoever opens the end that is read. */
  readonly onread: OnReadOpts;
  readonly #onFirst: () => void;
  #from: Duplex | null = null;
  #to: Duplex | null = null;
  #begun = false;
  #waits = false;

  /** @param onFirst told once, of the first bytes that pass */
  constructor(onFirst: () => void = () => {}) {
    this.#onFirst = onFirst;
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    this.onread = { buffer, callback: (bytes) => this.#pass(buffer.subarray(0, bytes)) };
  }

  /** Not before both ends are there. */
  lead(from: Duplex, to: Duplex): void {
    this.#from = from;
    this.#to = to;
    // Of an end that is not read into the buffer.
    from.on('data', (bytes: Buffer) => {
      if (!this.#pass(bytes)) from.pause();
    });
  }

  /** @returns false: no more may be read until they have left */
  #pass(bytes: Buffer): boolean {
    const to = this.#to;
    if (to === null || !to.writable) return true;
    if (!this.#begun) this.#onFirst();
    this.#begun = true;
    // Of what is no socket it is not known when it has let go of them.
    to.write(to instanceof Socket ? bytes : Buffer.from(bytes), this.#left);
    this.#waits = to.writableLength > 0;
    return !this.#waits;
  }

  readonly #left = (error?: Error | null): void => {
    if (error || !this.#waits || (this.#to?.writableLength ?? 0) > 0) return;
    this.#waits = false;
    this.#from?.resume();
  };
}

export class MediaJoin {
  readonly #carrier: Duplex;
  readonly #thread: Socket;
  readonly #onParted: (join: MediaJoin) => void;
  readonly #answered: () => void;
  #at: 'connecting' | 'joined' | 'parted' = 'connecting';
  #lingering: NodeJS.Timeout | undefined;

  /** The upgrade is the thread's to answer. */
  constructor(upgrade: Upgrade, { port, answerMs, onParted }: MediaJoinOptions) {
    this.#onParted = onParted;
    // This thread may stand still for longer than that, with the answer there to be read.
    this.#answered = afterTurning(answerMs, () => this.#end());
    const up = new Way();
    const down = new Way(this.#answered);
    this.#carrier = readInto(upgrade.socket, up.onread);
    this.#thread = connect({
      host: '127.0.0.1',
      port,
      noDelay: true,
      allowHalfOpen: true,
      onread: down.onread,
    });
    up.lead(this.#carrier, this.#thread);
    down.lead(this.#thread, this.#carrier);
    this.#follow(this.#carrier, this.#thread);
    this.#follow(this.#thread, this.#carrier);
    if (this.#carrier instanceof Socket) this.#carrier.setNoDelay(true);
    this.#carrier.pause();
    this.#thread.write(bytesOf(upgrade));
    this.#thread.once('connect', () => {
      if (this.#at === 'connecting') this.#at = 'joined';
      this.#carrier.resume();
    });
  }

  /** It is on its way to its thread. */
  get connecting(): boolean {
    return this.#at === 'connecting';
  }

  /** Ends both at once. */
  destroy(): void {
    this.#thread.destroy();
    this.#carrier.destroy();
  }

  /** What becomes of one end becomes of the other. */
  #follow(one: Duplex, other: Duplex): void {
    one.on('error', () => one.destroy());
    one.once('end', () => {
      other.end();
      this.#part();
    });
    one.once('close', () => {
      other.end();
      // What it still sends is nobody's.
      other.resume();
      this.#part();
      if (other.closed) clearTimeout(this.#lingering);
    });
  }

  #end(): void {
    this.#thread.end();
    this.#carrier.end();
    this.#part();
  }

  /** It is ending: what is on its way still goes through, for a moment. */
  #part(): void {
    if (this.#at === 'parted') return;
    this.#at = 'parted';
    this.#answered();
    this.#lingering = setTimeout(() => this.destroy(), LINGER_MS);
    this.#onParted(this);
  }
}
