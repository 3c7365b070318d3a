// Media upgrades that come to a thread which carries no calls: each is refused, or joined to the media thread that its path
// names. What strangers send reaches no media thread.
import { readStreamPath, type StreamCarrier } from '../carriers/media.ts';
import type { Upgrade } from '../upgrade.ts';
import { MediaJoin } from './media-join.ts';

export interface MediaUpgradesOptions {
  /** Of this daemon. */
  epoch: number;
  carriers: ReadonlyMap<string, StreamCarrier>;
  /** The port of this thread, where it listens and the call lives there; else null. */
  portOf(callId: string, thread: number): number | null;
  /** Has one answered that is not taken. */
  refuse(upgrade: Upgrade, status: string, why: string): void;
  /** So many streams are joined from now on, or about to be. */
  carries?(streams: number): void;
  /** What a thread has to answer one, in milliseconds. */
  answerMs?: number | undefined;
}

/** On their way to their thread at once; more are refused. */
const MOST_CONNECTING = 200;
const ANSWER_MS = 10_000;

export class MediaUpgrades {
  readonly #o: MediaUpgradesOptions;
  readonly #joins = new Set<MediaJoin>();

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
    const port = path.epoch === this.#o.epoch ? this.#o.portOf(path.callId, path.thread) : null;
    if (port === null) return refuse('404 Not Found', 'unknown call');
    if (this.#connecting() >= MOST_CONNECTING) return refuse('503 Service Unavailable', 'too many at once');
    const onParted = (join: MediaJoin) => {
      this.#joins.delete(join);
      this.#o.carries?.(this.#joins.size);
    };
    this.#joins.add(new MediaJoin(upgrade, { port, answerMs: this.#o.answerMs ?? ANSWER_MS, onParted }));
    this.#o.carries?.(this.#joins.size);
    return true;
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
    let connecting = 0;
    for (const join of this.#joins) if (join.connecting) connecting++;
    return connecting;
  }
}
