// Has every call look at itself, every few seconds: whether anything in it takes longer than it may is the call's to say.
import type { Log } from '../../log.ts';
import type { OwnedCalls } from './owned-calls.ts';

const EVERY_MS = 5_000;

export class CallWatch {
  readonly #owned: OwnedCalls;
  readonly #log: Log;
  #timer: NodeJS.Timeout | null = null;
  #looking = false;

  /** Looks at nothing until it is started. */
  constructor(owned: OwnedCalls, log: Log) {
    this.#owned = owned;
    this.#log = log;
  }

  start(): void {
    this.#timer ??= setInterval(() => void this.look(), EVERY_MS);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Looks at every call now, one after the other; resolves when what came of it is done. */
  async look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      for (const call of this.#owned.all()) {
        await call.follow({ type: 'look' }).catch((error: unknown) => {
          this.#log.error({ call_id: call.id, err: error }, 'call.watch_failed');
        });
      }
    } finally {
      this.#looking = false;
    }
  }
}
