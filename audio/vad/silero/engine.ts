// Silero's voice model run by our own WebAssembly (kernel.as), for this thread: the weights of the package's file, the memory
// of every call, windows in and probabilities out. At once, in bounded time, without an allocation.
import { readFile } from 'node:fs/promises';
import { MODEL_SAMPLES, type VadEngine } from '../engine.ts';
import { notTheModel, readModelFile } from '../model-file.ts';
import type { VadModel } from '../models.ts';
import { readWeights } from './weights.ts';

/** What the kernel exports: addresses and sizes, its memory, and what runs the rows that were written. */
interface Kernel {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  run(rows: number): void;
  readonly ROWS: Constant;
  readonly ROW_BYTES: Constant;
  readonly MEMORY_FLOATS: Constant;
  readonly WEIGHTS: Constant;
  readonly WEIGHT_FLOATS: Constant;
  readonly SAMPLES: Constant;
  readonly CODES: Constant;
  readonly MEMORY_OF_ROW: Constant;
  readonly PROBABILITIES: Constant;
  readonly MEMORIES: Constant;
}

interface Constant {
  readonly value: number;
}

// Node's, whose types TypeScript keeps among those of browsers.
declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean;
  instantiate(bytes: Uint8Array): Promise<{ instance: { exports: object } }>;
};

/** Enough for the engine's compiler to have made its best of each of the kernel's loops. */
const WARM_UP_ROWS = [1, 2, 3, ...Array.from({ length: 24 }, () => 4)];

/**
 * Opens the model for this thread.
 * @param o.relaxed with the instructions that may round once or twice; as the engine has them when not given
 * @throws Error when the file is missing or not the model, or WebAssembly has no SIMD here
 */
export async function openSileroEngine(model: VadModel, o: { relaxed?: boolean } = {}): Promise<VadEngine> {
  const weights = weightsOf(await readModelFile(model), model);
  const [relaxed, plain] = await Promise.all(['relaxed', 'plain'].map(readKernel));
  const code = (o.relaxed ?? WebAssembly.validate(relaxed!)) ? relaxed! : plain!;
  let exported: object;
  try {
    ({
      instance: { exports: exported },
    } = await WebAssembly.instantiate(code));
  } catch (cause) {
    throw new Error('the voice detector needs the SIMD instructions of WebAssembly, which are missing here', {
      cause,
    });
  }
  return new SileroEngine(exported as Kernel, weights);
}

const readKernel = (name: string) => readFile(new URL(`${name}.wasm`, import.meta.url));

function weightsOf(file: Uint8Array, model: VadModel): Float32Array {
  try {
    return readWeights(file, model);
  } catch (cause) {
    throw notTheModel(model, cause);
  }
}

class SileroEngine implements VadEngine {
  readonly maxRows: number;
  readonly #kernel: Kernel;
  readonly #rowBytes: number;
  readonly #memoryFloats: number;
  /** Given back, for those that come. */
  readonly #free: number[] = [];
  #memoryCount = 0;
  // Views of the kernel's memory, which is another buffer after it has grown.
  #codes = new Uint8Array();
  #memoryOfRow = new Uint32Array();
  #probabilities = new Float32Array();
  #memories = new Float32Array();

  constructor(kernel: Kernel, weights: Float32Array) {
    this.#kernel = kernel;
    this.maxRows = kernel.ROWS.value;
    this.#rowBytes = kernel.ROW_BYTES.value;
    this.#memoryFloats = kernel.MEMORY_FLOATS.value;
    if (weights.length !== kernel.WEIGHT_FLOATS.value)
      throw new Error(`the kernel takes ${kernel.WEIGHT_FLOATS.value} weights, not ${weights.length}`);
    const { buffer } = kernel.memory;
    new Float32Array(buffer, kernel.WEIGHTS.value, weights.length).set(weights);
    new Float32Array(buffer, kernel.SAMPLES.value, MODEL_SAMPLES.length).set(MODEL_SAMPLES);
    this.#view();
    // Not on a call's time.
    for (const rows of WARM_UP_ROWS) this.run(rows);
  }

  openMemory(): number {
    const known = this.#free.pop();
    if (known !== undefined) return known;
    if ((this.#memoryCount + 1) * this.#memoryFloats > this.#memories.length) {
      this.#kernel.memory.grow(1);
      this.#view();
    }
    return this.#memoryCount++;
  }

  closeMemory(memory: number): void {
    this.#free.push(memory);
  }

  load(row: number, memory: number, window: Uint8Array, fresh: boolean): void {
    this.#codes.set(window, row * this.#rowBytes);
    this.#memoryOfRow[row] = memory;
    const from = memory * this.#memoryFloats;
    if (fresh) this.#memories.fill(0, from, from + this.#memoryFloats);
  }

  run(rows: number): null {
    this.#kernel.run(rows);
    return null;
  }

  probability(row: number): number {
    return this.#probabilities[row]!;
  }

  async close(): Promise<void> {}

  #view(): void {
    const { memory, CODES, MEMORY_OF_ROW, PROBABILITIES, MEMORIES } = this.#kernel;
    const { buffer } = memory;
    this.#codes = new Uint8Array(buffer, CODES.value, this.maxRows * this.#rowBytes);
    this.#memoryOfRow = new Uint32Array(buffer, MEMORY_OF_ROW.value, this.maxRows);
    this.#probabilities = new Float32Array(buffer, PROBABILITIES.value, this.maxRows);
    const room = Math.floor((buffer.byteLength - MEMORIES.value) / Float32Array.BYTES_PER_ELEMENT);
    this.#memories = new Float32Array(buffer, MEMORIES.value, room);
  }
}
