// Has every call look at itself, every few seconds: whether anything in it takes longer than it may is the call's to say.
import type { Log } from '../../log.ts';
import { every } from '../loop-timer.ts';
import { AtOnce } from './at-once.ts';
import type { Call } from './call.ts';
import type { OwnedCalls } from './owned-calls.ts';

const EVERY_MS = 5_000;
/** Between two rounds; longer, and the process stood still. */
const STOOD_STILL_MS = 2 * EVERY_MS;
/** Looks at once: one that waits for its carrier, or for a write, holds up no other, until so many wait; and a carrier limits requests. */
const AT_ONCE = 8;

export class CallWatch {
  readonly #owned: OwnedCalls;
  readonly #log: Log;
  #stop: (() => void) | null = null;
  readonly #monotonicMs: () => number;
  readonly #atOnce = new AtOnce(AT_ONCE);
  /** Calls that are being looked at, or are to be. */
  readonly #looking = new Set<Call>();
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
    this.#stop ??= every(EVERY_MS, () => void this.round());
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
    this.#stop?.();
    this.#stop = null;
  }

  /** Looks at every call whose last look is over, a few at a time; resolves when what came of these is done. */
  async look(): Promise<void> {
    const calls = this.#owned.all().filter((call) => !this.#looking.has(call));
    await Promise.all(calls.map((call) => this.#lookAt(call)));
  }

  async #lookAt(call: Call): Promise<void> {
    this.#looking.add(call);
    try {
      await this.#atOnce.run(() => call.follow({ type: 'look' }));
    } catch (error) {
      this.#log.error({ call_id: call.id, err: error }, 'call.watch_failed');
    } finally {
      this.#looking.delete(call);
    }
  }
}
