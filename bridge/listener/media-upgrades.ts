// Media upgrades that come to the control thread: each is refused, or joined to the thread that its path names. What strangers send reaches
// no media thread.
import type { IncomingMessage } from 'node:http';
import type { StrangerLog } from '../../stranger-log.ts';
import { readStreamPath, type StreamCarrier } from '../carriers/media.ts';
import { type Client, refuseUpgrade } from '../connection-limits.ts';
import type { Upgrade } from '../upgrade.ts';
import { MediaJoin } from './media-join.ts';

export interface MediaUpgradesOptions {
  carriers: ReadonlyMap<string, StreamCarrier>;
  /** The port of this thread, where it listens and the call lives there; else null. */
  portOf(callId: string, thread: number): number | null;
  /** Told of upgrades that are refused. */
  strangers: Pick<StrangerLog, 'saw'>;
  /** Who sends a request, for that. */
  clientOf(request: IncomingMessage): Client;
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
    const { request, socket } = upgrade;
    const refuse = (status: string, why: string) => {
      const by = this.#o.clientOf(request);
      this.#o.strangers.saw({ event: 'media.refused', why, level: 'warn', by });
      refuseUpgrade(socket, status);
      return false;
    };
    const path = readStreamPath(request.url);
    const carrier = this.#o.carriers.get(path?.carrier ?? '');
    if (path === null || carrier === undefined) return refuse('404 Not Found', 'unknown path');
    // The signature first: a stranger learns nothing of which calls there are.
    if (!carrier.verify(request)) return refuse('403 Forbidden', 'signature');
    const port = this.#o.portOf(path.callId, path.thread);
    if (port === null) return refuse('404 Not Found', 'unknown call');
    if (this.#connecting() >= MOST_CONNECTING) return refuse('503 Service Unavailable', 'too many at once');
    const onParted = (join: MediaJoin) => void this.#joins.delete(join);
    this.#joins.add(new MediaJoin(upgrade, { port, answerMs: this.#o.answerMs ?? ANSWER_MS, onParted }));
    return true;
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
