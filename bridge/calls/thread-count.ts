// PURE. How many media threads a daemon starts where the operator does not say.
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';

/** A slow core carries so many in time; a fast one three times as many (docs/bench.md). */
const CALLS_A_THREAD = 100;

/**
 * As many as the calls that there may be ask for, and one for each core at most. One thread is the cheapest: it has the public
 * port itself, and nothing has to be brought from thread to thread. The detector of
 * v4, which is one per call, asks for every core.
 */
export function mediaThreadsFor(o: { mostCalls: number; cores: number; vadModel: VadModelName }): number {
  if (VAD_MODELS[o.vadModel].engine !== 'silero') return o.cores;
  return Math.min(o.cores, Math.ceil(o.mostCalls / CALLS_A_THREAD));
}
