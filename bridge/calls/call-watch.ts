// Has every call look at itself, every few seconds: whether anything in it takes longer than it may is the call's to say.
import type { Log } from '../../log.ts';
import type { OwnedCalls } from './owned-calls.ts';

const EVERY_MS = 5_000;
/** Between two rounds; longer, and the process stood still. */
const STOOD_STILL_MS = 2 * EVERY_MS;

export class CallWatch {
  readonly #owned: OwnedCalls;
  readonly #log: Log;
  #timer: NodeJS.Timeout | null = null;
  readonly #monotonicMs: () => number;
  #looking = false;
  #roundAt: number;

  /** Looks at nothing until it is started. */
  constructor(owned: OwnedCalls, log: Log, monotonicMs: () => number) {
    this.#owned = owned;
    this.#log = log;
    this.#monotonicMs = monotonicMs;
    this.#roundAt = monotonicMs();
  }

  start(): void {
    this.#roundAt = this.#monotonicMs();
    this.#timer ??= setInterval(() => void this.round(), EVERY_MS);
    this.#timer.unref();
  }

  /** Looks, but not where the process itself stood still: first what was told meanwhile is read, and the next round judges. */
  async round(): Promise<void> {
    const now = this.#monotonicMs();
    const pausedMs = now - this.#roundAt;
    this.#roundAt = now;
    if (pausedMs > STOOD_STILL_MS) this.#log.warn({ paused_ms: Math.round(pausedMs) }, 'calls.stood_still');
    else await this.look();
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
