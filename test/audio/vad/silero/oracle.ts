// Our own engine against onnxruntime, which runs the same file: the same windows of the quality set through both, in batches as
// they fall. An hour of it: `node test/audio/vad/silero/oracle.ts 60`.
import { VadBatch } from '../../../../audio/vad/batch.ts';
import type { VadEngine } from '../../../../audio/vad/engine.ts';
import { VAD_MODELS } from '../../../../audio/vad/models.ts';
import { openOnnxEngine } from '../../../../audio/vad/onnx-engine.ts';
import { openSileroEngine } from '../../../../audio/vad/silero/engine.ts';
import { readRecordings } from '../../../quality/recordings.ts';
import { streamsOf } from '../../../quality/set.ts';
import { toMulaw } from '../../fixtures.ts';

export interface Compared {
  minutes: number;
  windows: number;
  /** Those that the model takes for speech: sound that is all one thing compares nothing. */
  speech: number;
  /** Largest difference of two probabilities. */
  worst: number;
}

const FRAME_SAMPLES = 160;

/** What the model says of each window of each sound. */
async function probabilities(engine: VadEngine, model: 'v5' | 'v6', sounds: readonly Uint8Array[]) {
  const vad = new VadBatch(engine, VAD_MODELS[model], { gate: false, maxBatch: 32 });
  const found = sounds.map((): number[] => []);
  const lanes = found.map((into) => vad.openLane((probability) => void into.push(probability)));
  const longest = Math.max(...sounds.map(({ length }) => length));
  for (let from = 0; from < longest; from += FRAME_SAMPLES) {
    for (const [i, sound] of sounds.entries()) {
      // Each call's windows fill at times of their own, so that a batch is of any size.
      const at = from - ((i * 40) % 256);
      if (at < sound.length) lanes[i]!.push(sound.subarray(Math.max(0, at), Math.max(0, at + FRAME_SAMPLES)));
    }
    await vad.run();
  }
  await vad.close();
  return found;
}

/** Streams of the quality set until they last so long, those of one level and noise again and again from other seeds. */
function soundsOf(minutes: number): Uint8Array[] {
  const recordings = readRecordings('own');
  const sounds: Uint8Array[] = [];
  let left = minutes * 60 * 8_000;
  // Drawn anew for each size: no two rounds are the same streams.
  for (let round = 0; left > 0; round++) {
    for (const { pcm } of streamsOf(recordings, { size: 0.2 + round / 20 })) {
      if (left <= 0) break;
      sounds.push(toMulaw(pcm));
      left -= pcm.length;
    }
  }
  return sounds;
}

/** Runs so many minutes through both. `relaxed`: which build of ours. */
export async function compare(o: {
  model: 'v5' | 'v6';
  minutes: number;
  relaxed: boolean;
}): Promise<Compared> {
  const model = VAD_MODELS[o.model];
  const sounds = soundsOf(o.minutes);
  const ours = await probabilities(await openSileroEngine(model, { relaxed: o.relaxed }), o.model, sounds);
  const theirs = await probabilities(
    await openOnnxEngine(model, { maxRows: 32, sliceMs: 1e9 }),
    o.model,
    sounds,
  );
  let [windows, speech, worst] = [0, 0, 0];
  for (const [i, found] of theirs.entries()) {
    if (found.length !== ours[i]!.length) throw new Error(`${ours[i]!.length} windows, not ${found.length}`);
    for (const [n, probability] of found.entries()) {
      windows++;
      if (probability >= model.speech.startProbability) speech++;
      // What is no number differs from everything.
      const difference = Math.abs(probability - ours[i]![n]!);
      worst = difference <= worst ? worst : difference;
    }
  }
  return { minutes: sounds.reduce((sum, { length }) => sum + length, 0) / 480_000, windows, speech, worst };
}

if (process.argv[1] === import.meta.filename) {
  for (const model of ['v5', 'v6'] as const) {
    for (const relaxed of [true, false]) {
      const found = await compare({ model, relaxed, minutes: Number(process.argv[2] ?? 60) });
      console.log(
        `${model} ${relaxed ? 'relaxed' : 'plain'}: ${found.minutes.toFixed(0)} minutes, ${found.windows} windows, ${found.speech} of speech, worst difference ${found.worst.toExponential(1)}`,
      );
    }
  }
}
