// PURE. Beeps of answering machines, on a line and through a room, after a greeting or out of silence; and what must not be taken
// for one: tones of the network, keys, faxes, tunes, hummed and sung vowels. All made from seeds; how a listener did is counted.
import { BeepDetector } from '../../audio/beep.ts';
import { type Random, seeded } from '../random.ts';
import { atLevel, type Clip } from './labels.ts';
import {
  addTo,
  atRms,
  between,
  gainOf,
  hum,
  joined,
  music,
  pick,
  pink,
  RATE_HZ,
  resonant,
  type Sound,
  seedOf,
  silent,
  throughMulaw,
  tone,
  toPcm,
  white,
} from './sounds.ts';

export const BEEP_KINDS = ['pure', 'harmonics', 'square', 'two tones', 'chirp'] as const;
export type BeepKind = (typeof BEEP_KINDS)[number];
export type Place = 'clean' | 'room';

export interface BeepCase {
  kind: BeepKind;
  place: Place;
  /** What it is, for whoever looks for why it was not found. */
  told: string;
  pcm: Int16Array;
  fromMs: number;
  toMs: number;
}

/** A sound with no beep in it. */
export interface NoBeep {
  source: string;
  pcm: Int16Array;
}

/** A line with nothing on it: the noise of its codecs. */
const IDLE_LINE_DB = -68;
const EDGE_MS = 3;
const LOWEST_HZ = 350;
const HIGHEST_HZ = 2_000;
/** Beyond this a telephone line carries nothing. */
const BAND_HZ = 3_600;

/** Sines by their frequency at each moment, each with its gain, with edges that do not click. */
function sines(ms: number, parts: readonly { hz(atMs: number): number; gain: number }[]): Sound {
  const out = silent(ms);
  for (const { hz, gain } of parts) {
    let phase = 0;
    for (let n = 0; n < out.length; n++) {
      const atMs = n / 8;
      const now = hz(atMs);
      phase += (2 * Math.PI * now) / RATE_HZ;
      if (now < BAND_HZ)
        out[n]! += gain * Math.sin(phase) * Math.min(1, atMs / EDGE_MS, (ms - atMs) / EDGE_MS);
    }
  }
  return out;
}

/** Pairs that mean a key or a tone of the network are no beeps, whoever plays them. */
const TAKEN = [
  [350, 440],
  [400, 450],
  [440, 480],
  [480, 620],
  ...[697, 770, 852, 941].flatMap((low) => [1209, 1336, 1477, 1633].map((high) => [low, high])),
];

function beepOf(kind: BeepKind, ms: number, random: Random): { sound: Sound; hz: string } {
  const hz = LOWEST_HZ * (HIGHEST_HZ / LOWEST_HZ) ** random();
  const steady = (one: number, gain = 1) => ({ hz: () => one, gain });
  switch (kind) {
    case 'pure':
      // Half a second of 1100 Hz is a fax.
      return { sound: sines(ms, [steady(Math.abs(hz - 1100) < 60 ? hz + 150 : hz)]), hz: hz.toFixed() };
    case 'harmonics': {
      const parts = [2, 3, 4, 5].map((k) => steady(hz * k, between(0.2, 0.5, random) / (k > 3 ? 2 : 1)));
      return { sound: sines(ms, [steady(hz), ...parts]), hz: hz.toFixed() };
    }
    case 'square': {
      const parts = [1, 3, 5, 7, 9].map((k) => steady(hz * k, 1 / k));
      return { sound: sines(ms, parts), hz: hz.toFixed() };
    }
    case 'two tones': {
      const other = Math.min(HIGHEST_HZ * 1.5, Math.max(hz + 70, hz * between(1.12, 2.4, random)));
      const taken = TAKEN.some(
        ([low, high]) => Math.abs(hz / low! - 1) < 0.025 && Math.abs(other / high! - 1) < 0.025,
      );
      const above = taken ? other * 1.06 : other;
      const parts = [steady(hz), steady(above, gainOf(between(-7, 0, random)))];
      return { sound: sines(ms, parts), hz: `${hz.toFixed()} and ${above.toFixed()}` };
    }
    case 'chirp': {
      const to = random() < 0.5 ? hz * between(1.2, 2, random) : hz * between(0.55, 0.85, random);
      const end = Math.max(LOWEST_HZ, Math.min(HIGHEST_HZ, to));
      const from = Math.abs(end - hz) < 80 ? hz + 120 : hz;
      return {
        sound: sines(ms, [{ hz: (atMs) => from + ((end - from) * atMs) / ms, gain: 1 }]),
        hz: `${from.toFixed()} to ${end.toFixed()}`,
      };
    }
  }
}

/** So many beeps of each kind in each place. @param speech greetings that come before some of them */
export function beepsOf(set: string, count: number, speech: readonly Clip[]): BeepCase[] {
  return BEEP_KINDS.flatMap((kind) =>
    (['clean', 'room'] as const).flatMap((place) =>
      Array.from({ length: count }, (_, i) =>
        caseOf(kind, place, seeded(seedOf(`${set} ${kind} ${place} ${i}`)), speech),
      ),
    ),
  );
}

function caseOf(kind: BeepKind, place: Place, random: Random, speech: readonly Clip[]): BeepCase {
  const ms = Math.round(random() < 0.15 ? between(1_000, 3_000, random) : 100 * 10 ** random());
  const { sound, hz } = beepOf(kind, ms, random);
  const levelDb = between(-45, -8, random);
  const snrDb = between(15, 30, random);
  const greeting = speech.length > 0 && random() < 0.6 ? pick(speech, random) : null;
  const gapMs =
    greeting === null ? between(300, 1_800, random) : random() < 0.2 ? 0 : between(0, 1_000, random);
  const spoken =
    greeting === null ? silent(0) : atLevel(greeting, Math.max(-40, levelDb + between(-10, 10, random)));
  const dry = joined(spoken, silent(gapMs), atRms(sound, levelDb), silent(900));
  const rt60Ms = between(200, 700, random);
  const directDb = between(-3, 9, random);
  const heard = place === 'clean' ? dry : inRoom(dry, { rt60Ms, directDb }, random);
  const fromMs = spoken.length / 8 + gapMs;
  const lengthMs = heard.length / 8;
  const make = pick([white, pink, (all: number, by: Random) => hum(50, all, by)], random);
  addTo(heard, atRms(make(lengthMs, random), levelDb - snrDb), 0);
  const room = place === 'clean' ? '' : `, room of ${rt60Ms.toFixed()} ms, direct ${directDb.toFixed()} dB`;
  return {
    kind,
    place,
    told: `${kind} ${hz} Hz, ${ms} ms at ${levelDb.toFixed()} dB over ${snrDb.toFixed()}, ${gapMs.toFixed()} ms after ${greeting === null ? 'silence' : 'speech'}${room}`,
    pcm: throughMulaw(toPcm(heard)),
    fromMs,
    toMs: fromMs + ms,
  };
}

/** A sound in a room whose reflections fall by 60 dB in `rt60Ms`; the direct sound is `directDb` over all of them. */
function inRoom(sound: Sound, o: { rt60Ms: number; directDb: number }, random: Random): Sound {
  const taps: { after: number; gain: number }[] = [];
  let reflected = 0;
  for (let after = 16; after < o.rt60Ms * 5.3; after += Math.round(between(3, 9, random))) {
    const gain = gainOf((-60 * after) / 8 / o.rt60Ms) * (random() < 0.5 ? -1 : 1);
    taps.push({ after, gain });
    reflected += gain * gain;
  }
  const direct = gainOf(o.directDb) * Math.sqrt(reflected);
  const whole = Math.sqrt(direct ** 2 + reflected);
  const out = sound.map((sample) => (sample * direct) / whole);
  for (const { after, gain } of taps)
    for (let n = after; n < out.length; n++) out[n]! += (sound[n - after]! * gain) / whole;
  return out;
}

/** A voice that holds a vowel, or hums: pulses at a pitch that strays as a throat's does, through resonances. */
function vowel(random: Random, o: { lowHz: number; highHz: number; sung: boolean }): Sound {
  const ms = between(150, 1_600, random);
  const pitchHz = between(o.lowHz, o.highHz, random);
  const vibrato = o.sung ? between(0.004, 0.025, random) : 0;
  const vibratoHz = between(4.8, 6.6, random);
  const glide = between(-0.05, 0.05, random);
  const jitter = between(0.004, 0.012, random);
  const open = pick(
    [
      [850, 1_300, 2_800],
      [400, 850, 2_500],
      [330, 900, 2_300],
      [550, 1_900, 2_700],
      [300, 1_100, 2_200],
    ],
    random,
  );
  const [attackMs, releaseMs] = [between(15, 90, random), between(20, 150, random)];
  const out = silent(ms);
  let phase = random();
  let drift = 0;
  let strength = 1;
  for (let n = 0; n < out.length; n++) {
    const atMs = n / 8;
    // The pitch wanders by itself, within some hundredths of a second.
    if (n % 40 === 0) {
      drift = drift * 0.85 + (random() - 0.5) * jitter * 1.8;
      strength = strength * 0.9 + (0.9 + 0.2 * random()) * 0.1;
    }
    const sway = vibrato * Math.sin((2 * Math.PI * vibratoHz * atMs) / 1_000);
    phase += (pitchHz * (1 + drift + sway + (glide * atMs) / ms)) / RATE_HZ;
    const opened = phase % 1;
    const flow = opened < 0.6 ? Math.sin((Math.PI * opened) / 0.6) ** 2 - 0.45 : -0.45;
    out[n] = flow * strength * Math.min(1, atMs / attackMs, (ms - atMs) / releaseMs);
  }
  let voice = silent(ms);
  for (const [i, hz] of open.entries()) addTo(voice, resonant(out, hz, 70 + 40 * i), 0);
  voice = joined(voice, silent(between(300, 900, random)));
  return atRms(voice, between(-38, -14, random));
}

/** A melody on an organ: notes that are held, and rests. */
function organ(ms: number, random: Random): Sound {
  const parts: Sound[] = [];
  for (let length = 0; length < ms; ) {
    const noteMs = pick([240, 480, 480, 960], random);
    const hz = 440 * 2 ** (pick([-2, 0, 2, 3, 5, 7, 8, 10, 12], random) / 12);
    const steady = [1, 2, 3].map((k) => ({ hz: () => hz * k, gain: 1 / k ** 2 }));
    parts.push(random() < 0.15 ? silent(noteMs) : sines(noteMs, steady));
    length += noteMs;
  }
  return joined(...parts);
}

const NOT_MS = 24_000;

/** Cadences after a second of speech's silence: on, off, on, off in ms. */
const CADENCES: readonly [string, readonly number[], readonly number[]][] = [
  ['ringback US', [440, 480], [2_000, 4_000]],
  ['ringback UK', [400, 450], [400, 200, 400, 2_000]],
  ['ringback EU', [425], [1_000, 4_000]],
  ['ringback FR', [440], [1_500, 3_500]],
  ['dial US', [350, 440], [9_000, 1_000]],
  ['dial EU', [425], [9_000, 1_000]],
  ['busy US', [480, 620], [500, 500]],
  ['reorder US', [480, 620], [250, 250]],
  ['busy EU', [425], [500, 500]],
  ['congestion EU', [425], [250, 250]],
  ['fax calling', [1_100], [500, 3_000]],
  ['fax answering', [2_100], [3_300, 1_000]],
];
const KEYS = [697, 770, 852, 941].flatMap((low) => [1_209, 1_336, 1_477].map((high) => [low, high]));
const INFORMATION = [
  [913.8, 1_370.6, 1_776.7],
  [985.2, 1_428.5, 1_776.7],
  [913.8, 1_428.5, 1_776.7],
];

/** What is no beep, but may sound like one; `count` of each. */
export function noBeepsOf(set: string, count: number): NoBeep[] {
  const all: NoBeep[] = [];
  const add = (source: string, i: number, make: (random: Random) => Sound) => {
    const random = seeded(seedOf(`${set} ${source} ${i}`));
    const levelDb = between(-35, -12, random);
    const sound = joined(silent(between(1_500, 3_000, random)), make(random), silent(800));
    let loudest = 0;
    for (const sample of sound) loudest = Math.max(loudest, Math.abs(sample));
    const line = atRms(
      white(sound.length / 8, random),
      random() < 0.5 ? IDLE_LINE_DB : levelDb - between(18, 30, random),
    );
    addTo(
      line,
      sound.map((sample) => (sample * gainOf(levelDb + 6)) / loudest),
      0,
    );
    all.push({ source, pcm: throughMulaw(toPcm(line)) });
  };
  for (let i = 0; i < count; i++) {
    for (const [source, hz, pattern] of CADENCES)
      add(source, i, (random) => {
        const parts: Sound[] = [];
        const period = pattern.reduce((sum, ms) => sum + ms, 0);
        for (let ms = 0; ms < NOT_MS; ms += period)
          parts.push(...pattern.map((one, n) => (n % 2 === 0 ? tone(hz, one, 1, one) : silent(one))));
        return joined(silent(between(0, 500, random)), ...parts);
      });
    add('keys', i, (random) =>
      joined(
        ...Array.from({ length: 10 }, () => {
          const ms = pick([60, 100, 200, 400], random);
          return joined(tone(pick(KEYS, random), ms, 1, ms), silent(between(60, 1_500, random)));
        }),
      ),
    );
    add('information tones', i, (random) => {
      const ms = pick([274, 330, 380], random);
      const gap = pick([0, 30], random);
      const three = pick(INFORMATION, random).map((hz) => joined(tone([hz], ms, 1, ms), silent(gap)));
      return joined(...three, silent(1_000), ...three);
    });
    add('music', i, (random) => music(NOT_MS, random));
    add('organ', i, (random) => organ(NOT_MS, random));
    const voices = (lowHz: number, highHz: number, sung: boolean) => (random: Random) =>
      joined(...Array.from({ length: 12 }, () => vowel(random, { lowHz, highHz, sung })));
    add('sung vowels', i, voices(160, 560, true));
    add('a woman’s “aah”', i, voices(180, 420, false));
    add('a child’s “aah”', i, voices(280, 600, false));
  }
  return all;
}

export interface BeepScore {
  /** Found of all, by kind and place. */
  found: Record<BeepKind, Record<Place, { hits: number; of: number }>>;
  /** Beeps where there was none: in the sounds before those, and by source. */
  falseBefore: number;
  falseOnes: Record<string, { hits: number; seconds: number }>;
  notes: string[];
}

/** What the product's listener finds in a sound, as frames bring it: from, to, known at, in ms. */
function listen(pcm: Int16Array): { fromMs: number; toMs: number; knownMs: number; hz: number }[] {
  const detector = new BeepDetector();
  const found: ReturnType<typeof listen> = [];
  for (let at = 0; at + 160 <= pcm.length; at += 160) {
    const beep = detector.push(pcm.subarray(at, at + 160));
    if (beep === null) continue;
    const { startSample, endSample, frequencyHz } = beep;
    found.push({ fromMs: startSample / 8, toMs: endSample / 8, knownMs: at / 8 + 20, hz: frequencyHz });
  }
  return found;
}

export function scoreBeeps(cases: readonly BeepCase[], others: readonly NoBeep[]): BeepScore {
  const score: BeepScore = { found: {} as BeepScore['found'], falseBefore: 0, falseOnes: {}, notes: [] };
  for (const { kind, place, pcm, fromMs, toMs, told } of cases) {
    const heard = listen(pcm);
    score.found[kind] ??= { clean: { hits: 0, of: 0 }, room: { hits: 0, of: 0 } };
    const share = score.found[kind][place];
    share.of++;
    const hit = heard.some((beep) => beep.toMs > (fromMs + toMs) / 2 && beep.fromMs < (fromMs + toMs) / 2);
    if (hit) share.hits++;
    else score.notes.push(`not found: ${told}`);
    const early = heard.filter((beep) => beep.toMs <= fromMs).length;
    score.falseBefore += early;
    if (early > 0) score.notes.push(`found before it: ${told}`);
  }
  for (const { source, pcm } of others) {
    score.falseOnes[source] ??= { hits: 0, seconds: 0 };
    const one = score.falseOnes[source];
    const heard = listen(pcm);
    one.hits += heard.length;
    one.seconds += pcm.length / RATE_HZ;
    for (const beep of heard)
      score.notes.push(`${source}: ${beep.hz} Hz from ${beep.fromMs.toFixed()} to ${beep.toMs.toFixed()} ms`);
  }
  return score;
}
