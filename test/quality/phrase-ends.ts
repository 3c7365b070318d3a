// Whether the sound of the last words tells a finished turn from a pause inside one: pitch and loudness before the ends of
// sentences, before the pauses their readers made inside them, and before cuts at the faintest place inside.
// No part of the product: it says why the end of a turn does not look at this. `node test/quality/phrase-ends.ts`.
import { atLevel, type Clip } from './labels.ts';
import { debianClips, hasPrompts, readRecordings } from './recordings.ts';
import { RATE_HZ, rmsDb, samplesOf, throughMulaw, toPcm } from './sounds.ts';

const WINDOW = 256;
/** At 4 kHz, over 64 ms: periods of 62 to 360 Hz. */
const PITCH_SAMPLES = 256;
const [LEAST_LAG, MOST_LAG] = [11, 64];
const VOICED = 0.6;
/** A shorter period nearly as alike is the period: the longer one is two of it. */
const OCTAVE = 0.88;

interface Moment {
  atMs: number;
  /** Semitones over 100 Hz; null where nothing is voiced. */
  pitch: number | null;
  levelDb: number;
}

/** Semitones over 100 Hz of the 64 ms before `end`, by autocorrelation; null: not voiced. */
function pitchAt(pcm: Int16Array, end: number): number | null {
  const half = new Float32Array(PITCH_SAMPLES);
  let mean = 0;
  for (let i = 0; i < PITCH_SAMPLES; i++) {
    const at = end - 2 * PITCH_SAMPLES + 2 * i;
    half[i] = ((pcm[at] ?? 0) + (pcm[at + 1] ?? 0)) / 2;
    mean += half[i]! / PITCH_SAMPLES;
  }
  for (let i = 0; i < PITCH_SAMPLES; i++) half[i]! -= mean;
  const span = PITCH_SAMPLES - MOST_LAG;
  const energy = (from: number) => {
    let sum = 0;
    for (let i = from; i < from + span; i++) sum += half[i]! ** 2;
    return sum;
  };
  const own = energy(0);
  const scores = Array.from({ length: MOST_LAG + 1 }, (_, lag) => {
    if (lag < LEAST_LAG - 1) return 0;
    let product = 0;
    for (let i = 0; i < span; i++) product += half[i]! * half[i + lag]!;
    const both = own * energy(lag);
    return both > 0 ? product / Math.sqrt(both) : 0;
  });
  const peaks = scores.flatMap((score, lag) =>
    lag >= LEAST_LAG && score >= scores[lag - 1]! && score >= (scores[lag + 1] ?? 1) ? [{ lag, score }] : [],
  );
  const best = Math.max(0, ...peaks.map(({ score }) => score));
  if (best < VOICED) return null;
  const { lag } = peaks.find(({ score }) => score >= OCTAVE * best)!;
  return 12 * Math.log2(RATE_HZ / 2 / lag / 100);
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[values.length >> 1]!;

/** What a rule could go by, of the words up to `end`: higher where more is to come, if the idea holds. */
function featuresOf(pcm: Int16Array): Record<string, number> | null {
  const moments: Moment[] = [];
  for (let end = WINDOW; end <= pcm.length; end += WINDOW) {
    const levelDb = rmsDb(Float64Array.from(pcm.subarray(end - WINDOW, end), (sample) => sample / 32768));
    moments.push({ atMs: end / 8, pitch: pitchAt(pcm, end), levelDb });
  }
  const loudest = Math.max(...moments.map(({ levelDb }) => levelDb));
  const voiced = moments.flatMap(({ pitch, levelDb, atMs }) =>
    pitch !== null && levelDb > loudest - 25 ? [{ pitch, levelDb, atMs }] : [],
  );
  const lastMs = voiced.at(-1)?.atMs ?? 0;
  const tail = voiced.filter(({ atMs }) => atMs > lastMs - 200);
  const before = voiced.filter(({ atMs }) => atMs > lastMs - 700 && atMs <= lastMs - 250);
  if (tail.length < 2 || before.length < 2) return null;
  const pitches = (list: typeof voiced) => list.map(({ pitch }) => pitch);
  const levels = (list: typeof voiced) => list.map(({ levelDb }) => levelDb);
  return {
    'pitch of the last 200 ms, to this voice’s middle': middle(pitches(tail)) - middle(pitches(voiced)),
    'pitch of the last 200 ms, to the half second before': middle(pitches(tail)) - middle(pitches(before)),
    'loudness of the last 200 ms, to the half second before': mean(levels(tail)) - mean(levels(before)),
    'loudness of the last 200 ms, to the loudest': mean(levels(tail)) - loudest,
  };
}

/** Where speech stops inside a recording: the reader's own pauses, and the faintest 10 ms of its middle. */
function insideOf(clip: Clip): { pauses: number[]; faintest: number } {
  const pauses = clip.spans
    .slice(0, -1)
    .map(({ to }) => to)
    .filter((to) => to >= samplesOf(600));
  const [from, to] = [clip.sound.length * 0.4, clip.sound.length * 0.75];
  let faintest = 0;
  let leastDb = 0;
  for (let at = Math.ceil(from / 80) * 80; at < to; at += 80) {
    const levelDb = rmsDb(clip.sound.subarray(at, at + 80));
    if (levelDb >= leastDb) continue;
    leastDb = levelDb;
    faintest = at;
  }
  return { pauses, faintest: faintest >= samplesOf(600) ? faintest : 0 };
}

/** How often a place inside shows more of it than an end does: 0.5 is chance, 1 is always. */
function ranked(ends: readonly number[], inside: readonly number[]): number {
  let more = 0;
  for (const end of ends) for (const one of inside) more += one > end ? 1 : one === end ? 0.5 : 0;
  return more / (ends.length * inside.length);
}

if (process.argv[1] === import.meta.filename) {
  const sentences = readRecordings('first').sentences;
  const prompts = hasPrompts() ? debianClips('') : [];
  const names = new Set(sentences.map(({ name }) => name));
  const clips = [...sentences, ...prompts.filter(({ name }) => !names.has(name))].filter(
    ({ sound }) => sound.length >= samplesOf(1_200) && sound.length <= samplesOf(6_000),
  );
  const found = { ends: [], pauses: [], cuts: [] } as Record<string, Record<string, number>[]>;
  for (const clip of clips) {
    const pcm = throughMulaw(toPcm(atLevel(clip, -25)));
    const take = (kind: string, to: number) => {
      const features = featuresOf(pcm.subarray(0, to));
      if (features !== null) found[kind]!.push(features);
    };
    const { pauses, faintest } = insideOf(clip);
    take('ends', pcm.length);
    for (const to of pauses) take('pauses', to);
    if (faintest > 0) take('cuts', faintest);
  }
  const say = (text: string) => process.stdout.write(`${text}\n`);
  const { ends, pauses, cuts } = found as Record<'ends' | 'pauses' | 'cuts', Record<string, number>[]>;
  say(`${ends.length} ends, ${pauses.length} pauses inside, ${cuts.length} cuts inside; 0.50 is chance`);
  for (const name of Object.keys(ends[0] ?? {})) {
    const of = (list: Record<string, number>[]) => list.map((features) => features[name]!);
    say(
      `${name.padEnd(56)} pauses ${ranked(of(ends), of(pauses)).toFixed(2)}  cuts ${ranked(of(ends), of(cuts)).toFixed(2)}`,
    );
  }
}
