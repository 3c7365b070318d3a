// PURE. What runs a voice model for the batch (batch.ts): rows of windows in, a probability each out, and a memory per call.
// Silero's fifth and sixth generation run in silero/engine.ts, others in onnx-engine.ts.
import { MULAW_TO_PCM } from '../g711.ts';

/** What a voice model is given for a mu-law code. */
export const MODEL_SAMPLES: Float32Array = Float32Array.from(MULAW_TO_PCM, (sample) => sample / 32768);

export interface VadEngine {
  /** Windows in one run at most; may change from run to run. */
  readonly maxRows: number;
  /** A place for what the model remembers of one call, empty only once a window has been loaded as fresh. */
  openMemory(): number;
  /** It may be another call's from now on; a window of it that is loaded is still run. */
  closeMemory(memory: number): void;
  /** Row `row` of the next run: a mu-law window behind its context, unchanged until it has run. `fresh`: nothing is remembered. */
  load(row: number, memory: number, window: Uint8Array, fresh: boolean): void;
  /** Runs the first `rows` rows: at once (null), or until the promise is kept. @throws Error when the model fails */
  run(rows: number): Promise<void> | null;
  /** What the last run said of a row. */
  probability(row: number): number;
  /** Nothing is run afterwards. */
  close(): Promise<void>;
}
