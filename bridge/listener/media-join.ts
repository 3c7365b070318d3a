// A media socket of the public port and its thread's listener: each is given what the other sends, until either ends.
import { connect, type Socket } from 'node:net';
import { closeSoon } from '../connection-limits.ts';
import { afterTurning } from '../loop-timer.ts';
import { bytesOf, type Upgrade } from '../upgrade.ts';

export interface MediaJoinOptions {
  /** Of the thread's listener. */
  port: number;
  /** What the thread has to answer, in milliseconds. */
  answerMs: number;
  onParted(join: MediaJoin): void;
}

export class MediaJoin {
  readonly #upgrade: Upgrade;
  readonly #thread: Socket;
  readonly #onParted: (join: MediaJoin) => void;
  readonly #answered: () => void;
  #at: 'connecting' | 'joined' | 'parted' = 'connecting';

  /** The upgrade is the thread's to answer. */
  constructor(upgrade: Upgrade, { port, answerMs, onParted }: MediaJoinOptions) {
    this.#upgrade = upgrade;
    this.#onParted = onParted;
    this.#thread = connect({ host: '127.0.0.1', port, noDelay: true });
    const part = () => this.#part();
    // This thread may stand still for longer than that, with the answer there to be read.
    this.#answered = afterTurning(answerMs, part);
    for (const end of [this.#thread, upgrade.socket]) {
      end.on('error', part);
      // A websocket has said all it has to say when its connection ends one way.
      end.once('end', part);
      end.once('close', part);
    }
    this.#thread.once('data', this.#answered);
    this.#thread.once('connect', () => this.#join());
  }

  /** It is on its way to its thread. */
  get connecting(): boolean {
    return this.#at === 'connecting';
  }

  /** Ends both at once. */
  destroy(): void {
    this.#thread.destroy();
    this.#upgrade.socket.destroy();
  }

  #join(): void {
    if (this.#at === 'parted') return;
    this.#at = 'joined';
    const { socket } = this.#upgrade;
    this.#thread.write(bytesOf(this.#upgrade));
    if ('setNoDelay' in socket) (socket as Socket).setNoDelay(true);
    socket.pipe(this.#thread);
    this.#thread.pipe(socket);
  }

  #part(): void {
    if (this.#at === 'parted') return;
    this.#at = 'parted';
    this.#answered();
    const { socket } = this.#upgrade;
    this.#thread.unpipe(socket);
    socket.unpipe(this.#thread);
    closeSoon(this.#thread);
    closeSoon(socket);
    this.#onParted(this);
  }
}
