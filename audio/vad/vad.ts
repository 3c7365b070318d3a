// PURE types. What a voice detector is to a media thread: a lane per call, run once per tick (batch.ts, vad-node.ts).
import type { VadModel } from './models.ts';

/**
 * `probability` of speech 0..1 (0 when gated) in the window that ends at `endSample` of the lane; its level in dB. Its
 * mu-law is the last of `samples`, unless it was gated; valid during the call only.
 */
export type OnWindow = (
  probability: number,
  endSample: number,
  levelDb: number,
  samples?: Uint8Array,
) => void;

export interface VadLane {
  /** Takes the next mu-law of the call; copies it. Never calls back by itself. */
  push(mulaw: Uint8Array): void;
  /** No callback comes after this. */
  close(): void;
}

/** Who tells voices from noise for the calls of a thread. */
export interface Vad {
  /** Windows answered, seen by a model, spared it; runs of it; windows given up for being too old. */
  readonly counters: Record<
    'windows' | 'modelWindows' | 'carriedWindows' | 'runs' | 'droppedWindows',
    number
  >;
  /** Which probabilities mean speech: for the speech detector behind a lane. */
  readonly speech: VadModel['speech'];
  /** A place for one call. */
  openLane(onWindow: OnWindow): VadLane;
  /** Called once per tick: answers every full window of every lane. Rejects when the model fails. */
  run(): Promise<void>;
  /** Safe to call twice. */
  close(): Promise<void>;
}
