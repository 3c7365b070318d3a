// PURE. The labelled streams for the detectors: recordings at levels, over noises, through codecs and losses, and streams in
// which nobody speaks. Deterministic: every stream draws from a seed of its set and its own name.

import { type Random, seeded } from '../random.ts';
import { atLevel, type Clip, type Span } from './labels.ts';
import type { Recordings } from './recorded.ts';
import {
  addTo,
  atRms,
  between,
  cough,
  dtmf,
  hum,
  looped,
  lossy,
  music,
  pick,
  pink,
  type Sound,
  samplesOf,
  scaled,
  seedFor,
  seedOf,
  silent,
  slam,
  throughMulaw,
  tone,
  toPcm,
  white,
} from './sounds.ts';

export interface Utterance extends Span {
  clip: string;
  /** Speech runs within the utterance, in samples of the stream. */
  spans: Span[];
}

export interface Stream {
  name: string;
  group: 'level' | 'noise' | 'codec' | 'loss' | 'nobody';
  /** Level of the speech, dB; of the sound where nobody speaks. */
  levelDb: number;
  /** Speech over noise, dB; null on a quiet line. */
  snrDb: number | null;
  pcm: Int16Array;
  utterances: Utterance[];
}

export const LEVELS_DB = [-20, -25, -30, -35, -40];
const SNRS_DB = [20, 10, 5];
/** A line with nothing on it: the noise of its codecs. */
const IDLE_LINE_DB = -68;
const NOBODY_MS = 20_000;

export type Codec = (pcm: Int16Array) => Int16Array;

const STREET_MS = 40_000;
const streets = new WeakMap<readonly Clip[], Sound>();

/** People talking, none of them to us, over the rumble of a street: from a place of chance in one long scene. */
export function street(ms: number, clips: readonly Clip[], random: Random): Sound {
  let scene = streets.get(clips);
  if (scene === undefined) {
    scene = streetScene(clips, seeded(seedOf('street')));
    streets.set(clips, scene);
  }
  return looped(scene, ms, random);
}

function streetScene(clips: readonly Clip[], random: Random): Sound {
  const out = atRms(pink(STREET_MS, random), -30);
  for (let voice = 0; voice < 6; voice++) {
    for (let at = 0; at < out.length; at += samplesOf(between(50, 400, random))) {
      const clip = pick(clips, random);
      addTo(out, atLevel(clip, -28), at);
      at += clip.sound.length;
    }
  }
  return out;
}

export type Noise = 'white' | 'pink' | 'hum 50 Hz' | 'hum 60 Hz' | 'street';
export const NOISES: readonly Noise[] = ['white', 'pink', 'hum 50 Hz', 'hum 60 Hz', 'street'];

export function noiseOf(kind: Noise, ms: number, clips: readonly Clip[], random: Random): Sound {
  switch (kind) {
    case 'white':
      return white(ms, random);
    case 'pink':
      return pink(ms, random);
    case 'hum 50 Hz':
      return hum(50, ms, random);
    case 'hum 60 Hz':
      return hum(60, ms, random);
    case 'street':
      return street(ms, clips, random);
  }
}

/** Utterances one after the other, 1 to 2 s of the line between them; 1.2 s of it before the first. */
function talk(
  clips: readonly Clip[],
  levelDb: number,
  random: Random,
  line: (ms: number) => Sound,
): { sound: Sound; utterances: Utterance[] } {
  const utterances: Utterance[] = [];
  let at = samplesOf(1200);
  for (const clip of clips) {
    utterances.push({
      clip: clip.name,
      from: at,
      to: at + clip.sound.length,
      spans: clip.spans.map(({ from, to }) => ({ from: from + at, to: to + at })),
    });
    at += clip.sound.length + samplesOf(Math.round(between(1000, 2000, random)));
  }
  const sound = line(at / 8).slice(0, at);
  for (const [i, clip] of clips.entries()) addTo(sound, atLevel(clip, levelDb), utterances[i]!.from);
  return { sound, utterances };
}

const drawn = <T>(from: readonly T[], count: number, random: Random): T[] =>
  Array.from({ length: Math.min(count, from.length) }, () => pick(from, random));

/** The streams; `size` scales how many utterances a condition has (1: the full set). */
export function streamsOf(
  { set, sentences, words }: Pick<Recordings, 'set' | 'sentences' | 'words'>,
  o: { size?: number; codecs?: Record<string, Codec> } = {},
): Stream[] {
  const size = o.size ?? 1;
  const streams: Stream[] = [];
  const idle = (random: Random) => (ms: number) => atRms(white(ms, random), IDLE_LINE_DB);
  const mixed = (count: number, random: Random) => [
    ...drawn(sentences, Math.ceil(count * 0.6), random),
    ...drawn(words, Math.ceil(count * 0.4), random),
  ];

  for (const levelDb of LEVELS_DB) {
    const name = `level ${levelDb} dB`;
    const random = seeded(seedFor(set, name));
    const clips = size >= 1 ? [...sentences, ...words] : mixed(40 * size, random);
    const { sound, utterances } = talk(clips, levelDb, random, idle(random));
    streams.push({ name, group: 'level', levelDb, snrDb: null, pcm: throughMulaw(toPcm(sound)), utterances });
  }

  for (const kind of NOISES) {
    for (const [levelDb, snrs] of [
      [-25, SNRS_DB],
      [-35, [15]],
    ] as const) {
      for (const snrDb of snrs) {
        const name = `${kind} ${snrDb} dB under ${levelDb} dB`;
        const random = seeded(seedFor(set, name));
        const line = (ms: number) => atRms(noiseOf(kind, ms, sentences, random), levelDb - snrDb);
        const { sound, utterances } = talk(mixed(20 * size, random), levelDb, random, line);
        const pcm = throughMulaw(toPcm(sound));
        streams.push({ name, group: 'noise', levelDb, snrDb, pcm, utterances });
      }
    }
  }

  const codecs: Record<string, Codec> = {
    'mu-law twice more': (pcm) => throughMulaw(throughMulaw(pcm)),
    ...o.codecs,
  };
  for (const [codec, pass] of Object.entries(codecs)) {
    const name = `codec: ${codec}`;
    const random = seeded(seedFor(set, name));
    const { sound, utterances } = talk(mixed(40 * size, random), -25, random, idle(random));
    const pcm = throughMulaw(pass(throughMulaw(toPcm(sound))));
    streams.push({ name, group: 'codec', levelDb: -25, snrDb: null, pcm, utterances });
  }

  for (const [share, run] of [
    [0.02, 1],
    [0.05, 3],
  ] as const) {
    const name = `${share * 100} % of frames lost, ${run} at a time at most`;
    const random = seeded(seedFor(set, name));
    const { sound, utterances } = talk(mixed(40 * size, random), -25, random, idle(random));
    const pcm = lossy(throughMulaw(toPcm(sound)), share, run, random);
    streams.push({ name, group: 'loss', levelDb: -25, snrDb: null, pcm, utterances });
  }

  for (const [kind, levels, make] of nobody(sentences)) {
    for (const levelDb of levels) {
      const name = `${kind} at ${levelDb} dB`;
      const random = seeded(seedFor(set, name));
      const sound = make(NOBODY_MS, random);
      const line = idle(random)(NOBODY_MS);
      addTo(line, atRms(sound, levelDb), 0);
      const pcm = throughMulaw(toPcm(line));
      streams.push({ name, group: 'nobody', levelDb, snrDb: null, pcm, utterances: [] });
    }
  }
  return streams;
}

type Maker = (ms: number, random: Random) => Sound;

/** Sounds with a pause of chance between them. */
export const scattered =
  (make: (random: Random) => Sound): Maker =>
  (ms, random) => {
    const out = silent(ms);
    for (let at = 800; at < ms - 1000; at += between(1500, 2500, random)) {
      const one = make(random);
      addTo(out, scaled(one, between(0.7, 1, random)), samplesOf(at));
    }
    return out;
  };

const peaked = (sound: Sound): Sound => {
  let peak = 0;
  for (const sample of sound) peak = Math.max(peak, Math.abs(sample));
  return scaled(sound, 1 / peak);
};

/** What is on a line while nobody speaks to it. */
function nobody(clips: readonly Clip[]): [string, readonly number[], Maker][] {
  return [
    ['white noise', [-55, -45, -35], white],
    ['pink noise', [-55, -45, -35], pink],
    ['hum of 50 Hz', [-50, -40, -30], (ms, random) => hum(50, ms, random)],
    ['hum of 60 Hz', [-50, -40, -30], (ms, random) => hum(60, ms, random)],
    ['street', [-50, -45, -40], (ms, random) => street(ms, clips, random)],
    ['music', [-40, -30, -20], music],
    ['ringback', [-20], (ms) => tone([440, 480], 2000, 4000, ms)],
    ['busy tone', [-20], (ms) => tone([480, 620], 500, 500, ms)],
    ['key tones', [-15], dtmf],
    // Scattered sounds are mostly silence: as loud as speech while they last.
    ['coughs', [-35, -30], scattered((random) => peaked(cough(random)))],
    ['slammed doors', [-40, -35], scattered((random) => peaked(slam(random)))],
  ];
}
