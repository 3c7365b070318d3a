// How late a thread comes to what waits for it. One that knows when its rounds or ticks are due says by how much each began after
// its time: that costs no timer, and a sleep that is meant is no delay. For one that only events wake, Node watches a timer.
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

  /** A round or a tick, of those that are due every `everyMs`, has begun `lateMs` after its time. */
  round(lateMs: number, everyMs: number): void {
    this.#rounds.record(Math.max(1, Math.round(lateMs * NS)));
    // A hundredth is one of time, however many rounds that has: in a long one there was more time to be late in, and none was.
    for (let ms = RESOLUTION_MS; ms < everyMs; ms += RESOLUTION_MS) this.#rounds.record(1);
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
