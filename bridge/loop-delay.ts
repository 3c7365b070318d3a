// How late a media thread comes to what waits for it. While events wake it, Node watches a timer of its own; in rounds that timer
// would count the sleep, which is meant, so each round says by how much it began after its time.
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 5;
const NS = 1e6;

export class LoopDelay {
  readonly #events = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #rounds = createHistogram();

  /** The thread is woken by events from now on, or works in rounds. */
  watch(how: 'events' | 'rounds'): void {
    if (how === 'events') this.#events.enable();
    else this.#events.disable();
  }

  /** A round has begun `lateMs` after its time. */
  round(lateMs: number): void {
    this.#rounds.record(Math.max(1, Math.round(lateMs * NS)));
  }

  /** Since the last reading, in milliseconds. */
  read(): { p99Ms: number; maxMs: number } {
    // Node's histogram counts the sampling interval itself as delay.
    const ofEvents = (ns: number) => Math.max(0, ns / NS - RESOLUTION_MS);
    const answer = {
      p99Ms: Math.max(ofEvents(this.#events.percentile(99)), this.#rounds.percentile(99) / NS),
      maxMs: Math.max(ofEvents(this.#events.max), this.#rounds.max / NS),
    };
    this.#events.reset();
    this.#rounds.reset();
    return answer;
  }

  close(): void {
    this.#events.disable();
  }
}
