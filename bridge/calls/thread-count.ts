// PURE. How many media threads a daemon starts where the operator does not say.

/** A slow core carries so many in time; a fast one three times as many (docs/bench.md). */
const CALLS_A_THREAD = 100;

/**
 * As many as the calls that there may be ask for, and one for each core at most. One thread is the cheapest: it has the public
 * port itself, and nothing has to be brought from thread to thread.
 * @param o.detectorPerCall a voice detector for each call, as with VAD_MODEL=v4: that asks for every core
 */
export function mediaThreadsFor(o: { mostCalls: number; cores: number; detectorPerCall: boolean }): number {
  return o.detectorPerCall ? o.cores : Math.min(o.cores, Math.ceil(o.mostCalls / CALLS_A_THREAD));
}
