// Media upgrades that come to a thread which carries no calls: each is refused, or joined to the media thread that its path
// names; of another daemon's call, to that daemon. What strangers send reaches neither.
import type { IncomingMessage } from 'node:http';
import { readStreamPath, type StreamCarrier } from '../carriers/media.ts';
import type { Upgrade } from '../upgrade.ts';
import { MediaJoin } from './media-join.ts';

export interface MediaUpgradesOptions {
  /** Of this daemon. */
  epoch: number;
  carriers: ReadonlyMap<string, StreamCarrier>;
  /** The port of this thread, where it listens and the call lives there; else null. */
  portOf(callId: string, thread: number): number | null;
  /**
   * Where a stream for a call of that daemon goes on to, and with which headers besides; null: it does not answer. Without
   * it there is no other daemon.
   */
  wayTo?: ((epoch: number, request: IncomingMessage) => Promise<Way | null>) | undefined;
  /** Has one answered that is not taken. */
  refuse(upgrade: Upgrade, status: string, why: string): void;
  /** So many streams are joined from now on, or about to be. */
  carries?(streams: number): void;
  /** What a thread has to answer one, in milliseconds. */
  answerMs?: number | undefined;
}

/** A port on loopback, and what its listener wants to see. */
export interface Way {
  port: number;
  headers: readonly [string, string][];
}

/** On their way to their thread or daemon at once; more are refused. */
const MOST_CONNECTING = 200;
const ANSWER_MS = 10_000;

export class MediaUpgrades {
  readonly #o: MediaUpgradesOptions;
  readonly #joins = new Set<MediaJoin>();
  /** Streams whose daemon is being asked for. */
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
    const { wayTo } = this.#o;
    const isOwn = path.epoch === this.#o.epoch;
    const port = isOwn ? this.#o.portOf(path.callId, path.thread) : null;
    if (isOwn ? port === null : wayTo === undefined) return refuse('404 Not Found', 'unknown call');
    if (this.#connecting() >= MOST_CONNECTING) return refuse('503 Service Unavailable', 'too many at once');
    if (port !== null) this.#join(upgrade, { port, headers: [] });
    else if (wayTo !== undefined) void this.#passOn(upgrade, wayTo(path.epoch, request));
    return true;
  }

  /** To its daemon. Nothing of it is read meanwhile. */
  async #passOn(upgrade: Upgrade, asked: Promise<Way | null>): Promise<void> {
    upgrade.socket.on('error', () => upgrade.socket.destroy());
    this.#asking++;
    const way = await asked.catch(() => null);
    this.#asking--;
    if (upgrade.socket.destroyed) return;
    if (way !== null) this.#join(upgrade, way);
    else this.#o.refuse(upgrade, '503 Service Unavailable', 'its daemon does not answer');
  }

  #join(upgrade: Upgrade, { port, headers }: Way): void {
    const onParted = (join: MediaJoin) => {
      this.#joins.delete(join);
      this.#o.carries?.(this.#joins.size);
    };
    const answerMs = this.#o.answerMs ?? ANSWER_MS;
    this.#joins.add(new MediaJoin(upgrade, { port, headers, answerMs, onParted }));
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
