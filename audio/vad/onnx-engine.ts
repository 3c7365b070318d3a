// A voice model run by onnxruntime, for those that our own engine does not have: any ONNX file, at several times the cost.
// Whoever wants it loads this file when he does: the library is 46 MB.
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { RATE_HZ } from '../format.ts';
import { MODEL_SAMPLES, type VadEngine } from './engine.ts';
import { VAD_WINDOW_SAMPLES } from './lane.ts';
import { notTheModel, readModelFile } from './model-file.ts';
import type { VadModel } from './models.ts';

// Below this a run saves little.
const LEAST_ROWS = 8;

export interface OnnxEngineOptions {
  /** Windows in one run at most. */
  maxRows: number;
  /** Runs are kept so small that one holds the thread about this long at most. */
  sliceMs: number;
}

/**
 * Opens the model for this thread: one session without threads of its own, which does not spin and takes many rows.
 * @throws Error when the file is missing or not the model
 */
export async function openOnnxEngine(model: VadModel, o: OnnxEngineOptions): Promise<VadEngine> {
  const file = await readModelFile(model);
  let session: InferenceSession;
  try {
    session = await InferenceSession.create(file, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      extra: { session: { intra_op: { allow_spinning: '0' }, inter_op: { allow_spinning: '0' } } },
    });
  } catch (cause) {
    throw notTheModel(model, cause);
  }
  const [takes, gives] = [session.inputNames.join(), session.outputNames.join()];
  if (takes !== model.inputs || gives !== model.outputs) {
    await session.release();
    throw notTheModel(model, new Error(`it takes ${takes} and gives ${gives}`));
  }
  const engine = new OnnxEngine(session, model, o);
  await engine.warmUp();
  return engine;
}

/** A run of so many rows: what goes in and what comes out, laid out once and written anew each time. */
interface Run {
  readonly samples: Float32Array;
  /** One array for each part of the model's memory, [2, rows, size]. */
  readonly before: readonly Float32Array[];
  readonly after: readonly Float32Array[];
  readonly probabilities: Float32Array;
  readonly feeds: Record<string, Tensor>;
  readonly fetches: Record<string, Tensor>;
}

/** The parts of one call's memory, [2, size] each. */
type Memory = readonly Float32Array[];

class OnnxEngine implements VadEngine {
  readonly #session: InferenceSession;
  readonly #model: VadModel;
  readonly #options: OnnxEngineOptions;
  readonly #runs = new Map<number, Run>();
  readonly #sr = new Tensor('int64', BigInt64Array.of(BigInt(RATE_HZ)), []);
  readonly #memories: Memory[] = [];
  readonly #free: number[] = [];
  readonly #windows: Uint8Array[] = [];
  readonly #memoryOfRow: number[] = [];
  #probabilities: Float32Array = new Float32Array();
  #limit: number;

  constructor(session: InferenceSession, model: VadModel, options: OnnxEngineOptions) {
    this.#session = session;
    this.#model = model;
    this.#options = options;
    this.#limit = options.maxRows;
  }

  get maxRows(): number {
    return this.#limit;
  }

  openMemory(): number {
    const known = this.#free.pop();
    if (known !== undefined) return known;
    return this.#memories.push(this.#model.memory.map(({ size }) => new Float32Array(2 * size))) - 1;
  }

  closeMemory(memory: number): void {
    this.#free.push(memory);
  }

  load(row: number, memory: number, window: Uint8Array, fresh: boolean): void {
    this.#windows[row] = window;
    this.#memoryOfRow[row] = memory;
    if (fresh) for (const part of this.#memories[memory]!) part.fill(0);
  }

  async run(rows: number): Promise<void> {
    const run = this.#runOf(rows);
    const { contextSamples } = this.#model;
    const length = contextSamples + VAD_WINDOW_SAMPLES;
    for (let row = 0; row < rows; row++) {
      const window = this.#windows[row]!;
      for (let i = 0, to = row * length; i < length; i++) run.samples[to + i] = MODEL_SAMPLES[window[i]!]!;
    }
    this.#eachMemory(rows, (own, from, part, to) => {
      run.before[part]!.set(own.subarray(from, from + own.length / 2), to);
    });
    await this.#infer(run, rows);
    this.#eachMemory(rows, (own, to, part, from) => {
      own.set(run.after[part]!.subarray(from, from + own.length / 2), to);
    });
    this.#probabilities = run.probabilities;
  }

  probability(row: number): number {
    return this.#probabilities[row]!;
  }

  close(): Promise<void> {
    return this.#session.release();
  }

  /** First runs are slow (memory is laid out): not on a call's time. */
  async warmUp(): Promise<void> {
    const { maxRows } = this.#options;
    for (const rows of [1, maxRows]) await this.#infer(this.#runOf(rows), rows);
    this.#limit = maxRows;
  }

  /** Each layer of each part of each row's memory: where it begins in the call's own array, and in that of the run. */
  #eachMemory(
    rows: number,
    copy: (own: Float32Array, ownAt: number, part: number, runAt: number) => void,
  ): void {
    for (let row = 0; row < rows; row++) {
      for (const [part, own] of this.#memories[this.#memoryOfRow[row]!]!.entries()) {
        const width = own.length / 2;
        for (let layer = 0; layer < 2; layer++) copy(own, layer * width, part, (layer * rows + row) * width);
      }
    }
  }

  async #infer(run: Run, rows: number): Promise<void> {
    const { maxRows, sliceMs } = this.#options;
    // `run` promises, but computes on this thread from an immediate of its own: the one queued here runs just before it.
    let startedMs = Number.NaN;
    setImmediate(() => {
      startedMs = performance.now();
    });
    await this.#session.run(run.feeds, run.fetches);
    const tookMs = performance.now() - startedMs;
    if (tookMs > sliceMs) this.#limit = Math.max(Math.min(LEAST_ROWS, maxRows), Math.floor(rows * 0.75));
    else if (tookMs < sliceMs * 0.7 && rows >= this.#limit) this.#limit = Math.min(maxRows, this.#limit + 2);
  }

  #runOf(rows: number): Run {
    const known = this.#runs.get(rows);
    if (known !== undefined) return known;
    const { memory, contextSamples } = this.#model;
    const rowSamples = contextSamples + VAD_WINDOW_SAMPLES;
    const before = memory.map((part) => new Float32Array(2 * rows * part.size));
    const after = memory.map((part) => new Float32Array(2 * rows * part.size));
    const samples = new Float32Array(rows * rowSamples);
    const probabilities = new Float32Array(rows);
    const floats = (data: Float32Array, dims: number[]) => new Tensor('float32', data, dims);
    const run: Run = {
      samples,
      before,
      after,
      probabilities,
      feeds: { input: floats(samples, [rows, rowSamples]), sr: this.#sr },
      // The runtime writes its answers into these, wherever they are given to it.
      fetches: { output: floats(probabilities, [rows, 1]) },
    };
    for (const [i, part] of memory.entries()) {
      run.feeds[part.input] = floats(before[i]!, [2, rows, part.size]);
      run.fetches[part.output] = floats(after[i]!, [2, rows, part.size]);
    }
    this.#runs.set(rows, run);
    return run;
  }
}
