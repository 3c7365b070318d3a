// What the bench's callers say: real speech in a loop of known places, so that both peers know when somebody talks without
// asking each other. A call begins anywhere in the loop. The agent answers each utterance for three seconds. And a loop of short
// questions, which makes a call as old by its turns as it would take many minutes to become.
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

/** Irrational, and not what spreads the lines over the 20 ms: one says nothing of the other. */
const LOOP_SPREAD = Math.SQRT2 - 1;

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

/** Every so often a question of so long: its silence after it and a short answer just fit. */
const SHORT_CYCLE_FRAMES = 100;
const SHORT_SECONDS = 0.6;

/** A voice and the frame at which it begins. */
interface Placed {
  voice: readonly [path: string, fromSeconds: number, seconds: number];
  at: number;
  bargesIn: boolean;
}

function lay(frames: number, voices: readonly Placed[]): Track {
  const pcm = new Int16Array(frames * FRAME_BYTES);
  // The line's own noise, about -66 dBFS: digital silence would make it too easy for whoever listens.
  let seed = 7;
  for (let i = 0; i < pcm.length; i++) {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    pcm[i] = Math.round((seed / 1073741824 - 1) * 28);
  }
  const utterances = voices.map(({ voice: [path, fromSeconds, seconds], at, bargesIn }): Utterance => {
    const voice = samplesOf(path).subarray(fromSeconds * 8000, (fromSeconds + seconds) * 8000);
    for (let i = 0; i < voice.length; i++) {
      const fade = Math.min(1, i / FADE, (voice.length - i) / FADE);
      const to = at * FRAME_BYTES + i;
      pcm[to] = Math.max(-32768, Math.min(32767, pcm[to]! + Math.round(voice[i]! * fade)));
    }
    return { from: at, to: at + Math.ceil(voice.length / FRAME_BYTES), bargesIn };
  });
  const spoken = utterances.reduce((sum, { from, to }) => sum + to - from, 0);
  return { mulaw: encode(pcm), frames, utterances, activity: spoken / frames };
}

/** The loop, the same in every process. */
export function createTrack(): Track {
  const last = SPEECH.length - 1;
  return lay(CYCLE_FRAMES * last + LAST_CYCLE_FRAMES, [
    ...SPEECH.map((voice, index) => ({ voice, at: index * CYCLE_FRAMES, bargesIn: false })),
    { voice: BARGE_IN, at: CYCLE_FRAMES * last + BARGE_IN_AT_FRAMES, bargesIn: true },
  ]);
}

/** Short questions, one after the other. */
export function createShortTurns(): Track {
  return lay(
    SHORT_CYCLE_FRAMES * SPEECH.length,
    SPEECH.map(([path, from], index) => ({
      voice: [path, from, SHORT_SECONDS],
      at: index * SHORT_CYCLE_FRAMES,
      bargesIn: false,
    })),
  );
}

/** Turns that a caller of the loop has in so long, on average. */
export function turnsIn(seconds: number, track: Track): number {
  return (seconds * 1000 * track.utterances.length) / (track.frames * FRAME_MS);
}

/** The frame of the loop at which a caller begins: however many there are, they are spread over all of it. */
export function beginsAt(index: number, track: Track): number {
  return Math.floor(((index * LOOP_SPREAD) % 1) * track.frames);
}

/** The agent's voice: three seconds of speech. */
export function createAnswer(): Buffer {
  return encode(samplesOf('test/fixtures/audio/caller-more-info.wav').subarray(3.4 * 8000, 6.4 * 8000));
}
