// PURE. The beep of an answering machine after its greeting: five kinds, on a clean line and through a room; and what is none.
// No calls: the product's listener for beeps hears the streams.
import { BeepDetector } from '../../../audio/beep.ts';
import type { Random } from '../../random.ts';
import { atLevel, type Clip } from '../labels.ts';
import type { Tap } from '../line.ts';
import type { Recordings } from '../recorded.ts';
import type { Row } from '../report.ts';
import {
  addTo,
  atRms,
  between,
  dtmf,
  joined,
  music,
  pick,
  RATE_HZ,
  type Sound,
  samplesOf,
  silent,
  throughMulaw,
  tone,
  toPcm,
} from '../sounds.ts';
import { roomOf } from './rooms.ts';
import { countRow, drawsOf, idleLine, type Theme } from './theme.ts';

const EACH = 14;
/** A beep is found when it is told of so soon after its end. */
const SOON_MS = 700;

/** A sum of sines whose frequencies may move: Hz at a share of the length, gain. */
function sounded(ms: number, parts: readonly { hz: (share: number) => number; gain: number }[]): Sound {
  const length = samplesOf(ms);
  const sound = new Float64Array(length);
  for (const { hz, gain } of parts) {
    let phase = 0;
    for (let n = 0; n < length; n++) {
      phase += (2 * Math.PI * hz(n / length)) / RATE_HZ;
      sound[n]! += gain * Math.sin(phase);
    }
  }
  // Ends of 4 ms: no click.
  return sound.map((sample, n) => sample * Math.min(1, n / 32, (length - n) / 32));
}

const steady = (hz: number, gain = 1) => ({ hz: () => hz, gain });

const KINDS: Readonly<Record<string, (ms: number, random: Random) => Sound>> = {
  'a pure tone': (ms, random) => sounded(ms, [steady(between(400, 1_900, random))]),
  'with 40 % of harmonics': (ms, random) => {
    const hz = between(400, 1_300, random);
    return sounded(ms, [steady(hz), steady(2 * hz, 0.4), steady(3 * hz, random() < 0.5 ? 0.2 : 0)]);
  },
  'a square': (ms, random) => {
    const hz = between(400, 1_200, random);
    const odd = [1, 3, 5, 7, 9].filter((n) => n * hz < 3_700);
    return sounded(
      ms,
      odd.map((n) => steady(n * hz, 1 / n)),
    );
  },
  'two tones': (ms, random) => {
    // A third to a sixth apart, of no exchange and no key.
    const hz = between(750, 1_050, random);
    return sounded(ms, [steady(hz), steady(hz * between(1.55, 1.75, random), between(0.6, 1, random))]);
  },
  'a chirp': (ms, random) => {
    const hz = between(500, 1_400, random);
    const rise = between(0.1, 0.35, random) * (random() < 0.3 ? -1 : 1);
    return sounded(ms, [{ hz: (share) => hz * (1 + rise * share), gain: 1 }]);
  },
};

/** Sound as a room returns it. */
function inRoom(sound: Sound, taps: readonly Tap[]): Sound {
  const out = new Float64Array(sound.length + samplesOf(500));
  for (const { samples, gain } of taps)
    for (let n = 0; n < sound.length && n + samples < out.length; n++) out[n + samples]! += sound[n]! * gain;
  return out;
}

/** When the product's listener tells of beeps, ms. */
function toldOf(sound: Sound): number[] {
  const pcm = throughMulaw(toPcm(sound));
  const detector = new BeepDetector();
  const told: number[] = [];
  for (let from = 0; from < pcm.length; from += 160)
    if (detector.push(pcm.subarray(from, from + 160)) !== null) told.push((from + 160) / 8);
  return told;
}

/** A greeting, a pause, a beep, silence. Whether the beep was found, and how many were that are none. */
function heardIn(
  greeting: Clip,
  kind: string,
  room: readonly Tap[] | null,
  random: Random,
): { found: boolean; others: number } {
  const ms = between(150, 1_000, random);
  const levelDb = between(-28, -12, random);
  const beep = atRms(KINDS[kind]!(ms, random), levelDb);
  const words = atLevel(greeting, -22);
  // A room has forgotten what was said so long ago.
  const near = room === null ? words : words.subarray(-samplesOf(1_500));
  const spoken = joined(near, silent(between(150, 800, random)));
  const beepFromMs = spoken.length / 8;
  const sound = room === null ? joined(spoken, beep) : inRoom(joined(spoken, beep), room);
  const line = idleLine(beepFromMs + ms + 1_500, random);
  addTo(line, sound, 0);
  const told = toldOf(line);
  const inTime = (atMs: number) => atMs >= beepFromMs && atMs <= beepFromMs + ms + SOON_MS;
  return { found: told.some(inTime), others: told.filter((atMs) => !inTime(atMs)).length };
}

/** Sounds of a line that are no beep. */
function noBeeps(random: Random): Record<string, Sound> {
  const ending = (sound: Sound) => joined(silent(300), atRms(sound, -18), silent(500));
  return {
    ringback: ending(tone([440, 480], 2_000, 4_000, 8_000)),
    'ringback, United Kingdom': ending(tone([400, 450], 400, 200, 3_000)),
    busy: ending(tone([480, 620], 500, 500, 6_000)),
    'dial tone': ending(tone([350, 440], 3_000, 1_000, 3_000)),
    keys: ending(dtmf(8_000, random)),
    'fax calling': ending(tone([1_100], 500, 3_000, 7_000)),
    'fax answering': ending(tone([2_100], 3_000, 500, 3_000)),
    information: ending(
      joined(tone([950], 330, 0, 330), tone([1_400], 330, 0, 330), tone([1_800], 330, 0, 330)),
    ),
    music: ending(music(10_000, random)),
  };
}

export const beeps: Theme = {
  title: 'Beeps',
  talks: () => [],
  rows(_held, recordings) {
    const rows: Row[] = [];
    let others = 0;
    const greetings = recordings.sentences;
    for (const [place, least] of [
      ['on a clean line', 95],
      ['in a room', 85],
    ] as const) {
      const shades = Object.keys(KINDS).map((kind) => {
        let hits = 0;
        for (let i = 0; i < EACH; i++) {
          const random = drawsOf(recordings, `beep ${kind} ${place} ${i}`);
          const greeting = pick(greetings, random);
          const room = least === 95 ? null : roomOf(recordings.set, i);
          const one = heardIn(greeting, kind, room, random);
          others += one.others;
          if (one.found) hits++;
        }
        return { kind, hits };
      });
      const all = shades.reduce((sum, { hits }) => sum + hits, 0);
      rows.push(countRow(`beeps found ${place}`, all, EACH * shades.length, { least }));
      rows.push(...shades.map(({ kind, hits }) => countRow(`  ${kind} ${place}`, hits, EACH)));
    }
    const { told, minutes } = monologue(recordings);
    const tones = Object.values(noBeeps(drawsOf(recordings, 'no beeps'))).map(
      (sound) => toldOf(sound).length,
    );
    rows.push(
      {
        measure: 'false beeps in monologues',
        values: [`${told} in ${minutes.toFixed(1)} minutes`],
        target: '',
        met: null,
      },
      {
        measure: 'false beeps in greetings before the beep',
        values: [`${others} of ${2 * EACH * Object.keys(KINDS).length}`],
        target: '',
        met: null,
      },
      {
        measure: 'tones that are no beeps, taken for one',
        values: [`${tones.filter((count) => count > 0).length} of ${tones.length}`],
        target: '',
        met: null,
      },
    );
    return rows;
  },
};

/** Everything that is said in the set, sentence after sentence, with pauses in which a beep could end. */
function monologue(recordings: Recordings): { told: number; minutes: number } {
  const random = drawsOf(recordings, 'monologue');
  let [told, samples] = [0, 0];
  for (const clip of [...recordings.sentences, ...recordings.words]) {
    const spoken = joined(atLevel(clip, -22), silent(between(150, 900, random)));
    const line = idleLine(spoken.length / 8, random);
    addTo(line, spoken, 0);
    told += toldOf(line).length;
    samples += line.length;
  }
  return { told, minutes: samples / RATE_HZ / 60 };
}
