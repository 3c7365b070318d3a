// PURE. When a response's pieces leave: latencies and burst speed of a hosted model, drawn from a seed, and the cut of
// audio into deltas of uneven size.
import type { SpokenWord } from './voice.ts';

/** A generator of numbers from 0 to below 1 that a seed fixes (mulberry32). */
export type Random = () => number;

export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** From and to, of which one is drawn each time. */
export type Range = readonly [number, number];

export interface Pacing {
  /** response.create to response.created, ms. */
  createdMs: Range;
  /** response.created to the first audio, ms. */
  firstAudioMs: Range;
  /** Audio sent for each millisecond of time, as a multiple of real time. */
  speed: Range;
  /** Audio in one delta, ms. UNVERIFIED for the hosted model, hence the wide default. */
  deltaMs: Range;
  /** How long deltas still leave after a cancel, ms. */
  cancelMs: Range;
  /** Commit to the caller's transcript, ms. */
  transcriptionMs: Range;
  /** `burst` as measured; `full-burst` all at once; `slow` below real time; `stall` stops in the middle. */
  profile: 'burst' | 'full-burst' | 'slow' | 'stall';
  /** For `stall`: how much audio comes before the pause, and how long the pause is, ms. */
  stallAfterMs: number;
  stallMs: number;
}

/** As measured on a hosted model. */
export const HOSTED: Pacing = {
  createdMs: [50, 150],
  firstAudioMs: [300, 1000],
  speed: [3, 5],
  deltaMs: [40, 500],
  cancelMs: [0, 200],
  transcriptionMs: [200, 1500],
  profile: 'burst',
  stallAfterMs: 1000,
  stallMs: 4000,
};

/** Next to no latency, for tests: everything else stays as it is. */
export const FAST: Pacing = {
  ...HOSTED,
  createdMs: [1, 5],
  firstAudioMs: [2, 10],
  speed: [20, 40],
  cancelMs: [0, 10],
  transcriptionMs: [2, 20],
};

export const draw = (random: Random, [from, to]: Range): number => from + (to - from) * random();

/** One thing to send, `atMs` after the first audio: a piece of the transcript, or bytes `from` to `to` of the audio. */
export type SpeechStep =
  | { atMs: number; kind: 'transcript'; delta: string }
  | { atMs: number; kind: 'audio'; from: number; to: number };

export interface SpeechPlan {
  audioBytes: number;
  bytesPerMs: number;
  /** 2 for 16-bit PCM: a delta never splits a sample. */
  sampleBytes: number;
  words: readonly SpokenWord[];
  /** An extra pause in this response: after so much audio, for so long. */
  stall?: { afterMs: number; forMs: number };
}

/** How far the transcript runs ahead of the audio, ms of audio. */
const TRANSCRIPT_LEAD_MS = 1200;

/** The order and times of a spoken item's deltas. The transcript's pieces joined are the text, words by single blanks. */
export function planSpeech(plan: SpeechPlan, pacing: Pacing, random: Random): SpeechStep[] {
  const steps: SpeechStep[] = [];
  const speed = pacing.profile === 'slow' ? 0.7 : draw(random, pacing.speed);
  const stall =
    plan.stall ??
    (pacing.profile === 'stall' ? { afterMs: pacing.stallAfterMs, forMs: pacing.stallMs } : undefined);
  let word = 0;
  let bytes = 0;
  let atMs = 0;
  let stalled = false;
  const tell = (untilMs: number) => {
    // One to three words to a delta.
    while (word < plan.words.length && plan.words[word]!.startMs <= untilMs) {
      const count = 1 + Math.floor(random() * 3);
      const pieces = plan.words.slice(word, word + count).map(({ text }) => text);
      steps.push({ atMs, kind: 'transcript', delta: (word === 0 ? '' : ' ') + pieces.join(' ') });
      word += pieces.length;
    }
  };
  while (bytes < plan.audioBytes) {
    tell(bytes / plan.bytesPerMs + TRANSCRIPT_LEAD_MS);
    let length =
      Math.floor((draw(random, pacing.deltaMs) * plan.bytesPerMs) / plan.sampleBytes) * plan.sampleBytes;
    // Never a multiple of 20 ms: a client that trusts in whole frames shows at once.
    if (length % (20 * plan.bytesPerMs) === 0) length += 3 * plan.sampleBytes;
    const to = Math.min(plan.audioBytes, bytes + length);
    if (stall !== undefined && !stalled && bytes / plan.bytesPerMs >= stall.afterMs) {
      atMs += stall.forMs;
      stalled = true;
    }
    steps.push({ atMs, kind: 'audio', from: bytes, to });
    if (pacing.profile !== 'full-burst') atMs += (to - bytes) / plan.bytesPerMs / speed;
    bytes = to;
  }
  tell(Number.POSITIVE_INFINITY);
  return steps;
}
