// Media upgrades that come to a thread which carries no calls: each is refused, or joined to the media thread that its path
// names; of another daemon's call, to that daemon. What strangers send reaches neither.
import { readStreamPath, type StreamCarrier, type StreamPath } from '../carriers/media.ts';
import type { Upgrade } from '../upgrade.ts';
import { MediaJoin } from './media-join.ts';

export interface MediaUpgradesOptions {
  /** Of this daemon. */
  epoch: number;
  carriers: ReadonlyMap<string, StreamCarrier>;
  /** The port of this thread, where it listens and the call lives there; else null. */
  portOf(callId: string, thread: number): number | null;
  /**
   * The port of a thread of another daemon, where the call lives there; null: it does not, or the daemon does not answer.
   * Without it there is no other daemon.
   */
  portElsewhere?: ((path: StreamPath) => Promise<number | null>) | undefined;
  /** Has one answered that is not taken. */
  refuse(upgrade: Upgrade, status: string, why: string): void;
  /** So many streams are joined from now on, or about to be. */
  carries?(streams: number): void;
  /** What a thread has to answer one, in milliseconds. */
  answerMs?: number | undefined;
}

/** On their way to their thread or daemon at once; more are refused. */
const MOST_CONNECTING = 200;
const ANSWER_MS = 10_000;

export class MediaUpgrades {
  readonly #o: MediaUpgradesOptions;
  readonly #joins = new Set<MediaJoin>();
  /** Streams whose daemon is being asked. */
  #asking = 0;

  constructor(o: MediaUpgradesOptions) {
    this.#o = o;
  }

  /** @returns whether it was joined; otherwise it was refused */
  take(upgrade: Upgrade): boolean {
    const { request } = upgrade;
    const refuse = (status: string, why: string) => {
      this.#o.refuse(upgrade, status, why);
      return false;
    };
    const path = readStreamPath(request.url);
    const carrier = this.#o.carriers.get(path?.carrier ?? '');
    if (path === null || carrier === undefined) return refuse('404 Not Found', 'unknown path');
    // The signature first: a stranger learns nothing of which calls there are.
    if (!carrier.verify(request)) return refuse('403 Forbidden', 'signature');
    const { portElsewhere } = this.#o;
    const isOwn = path.epoch === this.#o.epoch;
    const port = isOwn ? this.#o.portOf(path.callId, path.thread) : null;
    if (isOwn ? port === null : portElsewhere === undefined) return refuse('404 Not Found', 'unknown call');
    if (this.#connecting() >= MOST_CONNECTING) return refuse('503 Service Unavailable', 'too many at once');
    if (port !== null) this.#join(upgrade, port);
    else if (portElsewhere !== undefined) void this.#passOn(upgrade, portElsewhere(path));
    return true;
  }

  /** To its thread of another daemon. Nothing of it is read meanwhile. */
  async #passOn(upgrade: Upgrade, asked: Promise<number | null>): Promise<void> {
    upgrade.socket.on('error', () => upgrade.socket.destroy());
    this.#asking++;
    const port = await asked.catch(() => null);
    this.#asking--;
    if (upgrade.socket.destroyed) return;
    if (port !== null) this.#join(upgrade, port);
    else this.#o.refuse(upgrade, '404 Not Found', 'unknown call elsewhere');
  }

  #join(upgrade: Upgrade, port: number): void {
    const onParted = (join: MediaJoin) => {
      this.#joins.delete(join);
      this.#o.carries?.(this.#joins.size);
    };
    const answerMs = this.#o.answerMs ?? ANSWER_MS;
    this.#joins.add(new MediaJoin(upgrade, { port, answerMs, onParted }));
    this.#o.carries?.(this.#joins.size);
  }

  /** Streams that are joined, or about to be. */
  get size(): number {
    return this.#joins.size;
  }

  /** Ends those that are joined. */
  close(): void {
    for (const join of this.#joins) join.destroy();
  }

  #connecting(): number {
    let connecting = this.#asking;
    for (const join of this.#joins) if (join.connecting) connecting++;
    return connecting;
  }
}
