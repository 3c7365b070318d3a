// What the bench's callers say: real speech in a loop of known places, so that both peers know when somebody talks without
// asking each other. A call begins anywhere in the loop. The agent answers each utterance for three seconds.
import { readFileSync } from 'node:fs';
import wavefile from 'wavefile';
import { encode } from '../../../scripts/carrier-simulator/mulaw.ts';

export const FRAME_BYTES = 160;
export const FRAME_MS = 20;
export const ANSWER_BYTES = 24_000;

export interface Utterance {
  /** Frames of the loop: its first one, and the first one after it. */
  from: number;
  to: number;
  /** Begins while the agent talks. */
  bargesIn: boolean;
}

export interface Track {
  /** mu-law, whole frames. */
  mulaw: Buffer;
  frames: number;
  utterances: readonly Utterance[];
  /** Share of the loop in which the caller speaks. */
  activity: number;
}

const ROOT = new URL('../../../', import.meta.url);
const FADE = 80;

/** Stretches without a pause that a detector would take for the end of a turn: file, from, seconds. */
const SPEECH: readonly [string, number, number][] = [
  ['test/fixtures/audio/caller-more-info.wav', 1.0, 2.1],
  ['test/fixtures/audio/caller-more-info.wav', 3.4, 2.2],
  ['test/fixtures/audio/caller-more-info.wav', 6.6, 2.2],
  ['test/fixtures/audio/caller-thanks.wav', 1.5, 2.2],
  ['scripts/simulate/audio/caller-question.wav', 0.4, 2.2],
  ['test/fixtures/audio/jfk-8k.wav', 8.1, 2.2],
];
const BARGE_IN: readonly [string, number, number] = ['test/fixtures/audio/jfk-8k.wav', 0.4, 1.4];
const CYCLE_FRAMES = 300;
/** In the last cycle the caller speaks again after so long, while the answer plays; then it is longer. */
const BARGE_IN_AT_FRAMES = 210;
const LAST_CYCLE_FRAMES = 480;

function samplesOf(path: string): Int16Array {
  return Int16Array.from(
    new wavefile.WaveFile(readFileSync(new URL(path, ROOT))).getSamples(false, Int16Array),
  );
}

/** The loop, the same in every process. */
export function createTrack(): Track {
  const frames = CYCLE_FRAMES * (SPEECH.length - 1) + LAST_CYCLE_FRAMES;
  const pcm = new Int16Array(frames * FRAME_BYTES);
  // The line's own noise, about -66 dBFS: digital silence would make it too easy for whoever listens.
  let seed = 7;
  for (let i = 0; i < pcm.length; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    pcm[i] = Math.round((seed / 1073741824 - 1) * 28);
  }
  const utterances: Utterance[] = [];
  const speak = (
    [path, fromSeconds, seconds]: readonly [string, number, number],
    at: number,
    bargesIn: boolean,
  ) => {
    const voice = samplesOf(path).subarray(fromSeconds * 8000, (fromSeconds + seconds) * 8000);
    for (let i = 0; i < voice.length; i++) {
      const fade = Math.min(1, i / FADE, (voice.length - i) / FADE);
      const to = at * FRAME_BYTES + i;
      pcm[to] = Math.max(-32768, Math.min(32767, pcm[to]! + Math.round(voice[i]! * fade)));
    }
    utterances.push({ from: at, to: at + Math.ceil(voice.length / FRAME_BYTES), bargesIn });
  };
  SPEECH.forEach((voice, index) => {
    speak(voice, index * CYCLE_FRAMES, false);
  });
  speak(BARGE_IN, (SPEECH.length - 1) * CYCLE_FRAMES + BARGE_IN_AT_FRAMES, true);
  const spoken = utterances.reduce((sum, { from, to }) => sum + to - from, 0);
  return { mulaw: encode(pcm), frames, utterances, activity: spoken / frames };
}

/** The agent's voice: three seconds of speech. */
export function createAnswer(): Buffer {
  return encode(samplesOf('test/fixtures/audio/caller-more-info.wav').subarray(3.4 * 8000, 6.4 * 8000));
}
