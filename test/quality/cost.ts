// What a window costs: CPU time of the batched detector for each voice model and batch size, in both builds of our own engine
// and by onnxruntime. Run alone: `node test/quality/cost.ts`; part of `npm run quality`.
import { VadBatch } from '../../audio/vad/batch.ts';
import type { VadEngine } from '../../audio/vad/engine.ts';
import { VAD_WINDOW_SAMPLES } from '../../audio/vad/lane.ts';
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { openOnnxEngine } from '../../audio/vad/onnx-engine.ts';
import { openSileroEngine } from '../../audio/vad/silero/engine.ts';
import { readFixture, toMulaw } from '../audio/fixtures.ts';

const { v4, v5, v6 } = VAD_MODELS;
/** By onnxruntime, with no bound on how long a run takes: the batch stays as large as asked. */
const onnx = (model: typeof v4 | typeof v5, maxRows: number) =>
  openOnnxEngine(model, { maxRows, sliceMs: 1e9 });

const COSTED = {
  'v4, onnxruntime': ['v4', (rows) => onnx(v4, rows)],
  'v5, onnxruntime': ['v5', (rows) => onnx(v5, rows)],
  'v5, plain': ['v5', () => openSileroEngine(v5, { relaxed: false })],
  v5: ['v5', () => openSileroEngine(v5)],
  v6: ['v6', () => openSileroEngine(v6)],
} satisfies Record<string, [VadModelName, (maxRows: number) => Promise<VadEngine>]>;

/** What is measured: a model, and what runs it where that is not what a daemon would take. */
export type Costed = keyof typeof COSTED;
export const COSTS = Object.keys(COSTED) as Costed[];

export interface Cost {
  of: Costed;
  batch: number;
  /** CPU time of the process per window, lanes and copies included. */
  cpuMicrosAWindow: number;
  /** Calls whose uninterrupted speech one core can watch. */
  callsACore: number;
}

const WINDOW_MS = 32;
const ROUNDS = 3;

/** Each at every batch size, the best of three rounds in turn: what else the host does only ever adds. */
export async function measureCost(
  batches: readonly number[] = [1, 8, 32, 64],
  windows = 3000,
): Promise<Cost[]> {
  const speech = toMulaw(readFixture('jfk-8k'));
  const best = new Map<string, Cost>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const of of COSTS) {
      for (const batch of batches) {
        const cpuMicrosAWindow = await measure(of, batch, windows, speech);
        const key = `${of} ${batch}`;
        if ((best.get(key)?.cpuMicrosAWindow ?? Number.POSITIVE_INFINITY) <= cpuMicrosAWindow) continue;
        const callsACore = Math.floor((WINDOW_MS * 1000) / cpuMicrosAWindow);
        best.set(key, { of, batch, cpuMicrosAWindow, callsACore });
      }
    }
  }
  return [...best.values()];
}

async function measure(of: Costed, batch: number, windows: number, speech: Uint8Array) {
  const [model, openEngine] = COSTED[of];
  const vad = new VadBatch(await openEngine(batch), VAD_MODELS[model], {
    maxBatch: batch,
    gate: false,
    sliceMs: 1e9,
  });
  let answered = 0;
  const lanes = Array.from({ length: batch }, () => vad.openLane(() => void answered++));
  const runs = Math.ceil(windows / batch);
  const before = process.cpuUsage();
  for (let run = 0; run < runs; run++) {
    for (const [i, lane] of lanes.entries()) {
      const from = ((run * 256 + i * 1777) % (speech.length - VAD_WINDOW_SAMPLES)) & ~1;
      lane.push(speech.subarray(from, from + VAD_WINDOW_SAMPLES));
    }
    await vad.run();
  }
  const { user, system } = process.cpuUsage(before);
  await vad.close();
  if (answered !== runs * batch) throw new Error(`${answered} of ${runs * batch} windows were answered`);
  return (user + system) / answered;
}

function costLines(costs: readonly Cost[]): string[] {
  return costs.map(
    ({ of, batch, cpuMicrosAWindow, callsACore }) =>
      `${of.padEnd(15)}  batch ${String(batch).padStart(2)}  ${cpuMicrosAWindow.toFixed(1).padStart(5)} µs a window  ${String(callsACore).padStart(4)} calls a core`,
  );
}

if (process.argv[1] === import.meta.filename)
  for (const line of costLines(await measureCost())) process.stdout.write(`${line}\n`);
