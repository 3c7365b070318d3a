// PURE. What a listener says while the agent talks, meaning: go on. Whether it pauses the agent, and whether words of it are lost
// or said twice.
import { lostAndRepeated } from '../followed-voice.ts';
import { type Clip, clipOf } from '../labels.ts';
import type { Recordings } from '../recorded.ts';
import { between, mhm, pick, samplesOf } from '../sounds.ts';
import {
  atSampleMs,
  byShade,
  callOf,
  countRow,
  drawsOf,
  FRAME_MS,
  framesIn,
  type Held,
  isSilent,
  type Placed,
  some,
  type Theme,
  timesRow,
} from './theme.ts';

const CALL_MS = 16_000;
/** How long backchannels of real talk are; of noises that are no words. */
const [LEAST_MS, MOST_MS] = [200, 650];
const NOISE_MOST_MS = 1_500;
/** Until so long after its beginning a pause is the backchannel's. */
const ITS_OWN_MS = 2_200;
const LEVELS_DB = [-22, -25, -28, -32];
const YES: Readonly<Record<string, string>> = { en: 'yes', es: 'sí', fr: 'oui', it: 'sì', ru: 'да' };

/** Shades that are no words and count by themselves. */
const NOISES: readonly string[] = ['coughs of real voices', 'laughs of real voices'];

const upTo =
  (mostMs: number) =>
  ({ sound }: Clip) =>
    sound.length >= samplesOf(LEAST_MS) && sound.length <= samplesOf(mostMs);
const short = upTo(MOST_MS);

/**
 * Sounds by their shade: words of a speech program, hums, words of real voices that stand in for an assent, and what real voices
 * said as one; coughs and laughs.
 */
function soundsOf({
  assents,
  digits,
  noises,
}: Recordings): Record<string, (random: () => number) => Clip | null> {
  const words = assents.filter(short);
  const voices = digits.flat().filter(short);
  const one = (list: readonly Clip[]) => (random: () => number) =>
    list.length === 0 ? null : pick(list, random);
  return {
    'words of assent': one(words),
    hums: (random) => {
      const clip = clipOf('mhm', mhm(random));
      return clip === null ? null : { ...clip, text: 'mhm' };
    },
    'short words of real voices': one(
      voices.map((clip) => ({ ...clip, text: YES[clip.language ?? 'en'] ?? YES.en! })),
    ),
    'hums and a yes of real voices': one(noises.assents.filter(short)),
    'coughs of real voices': one(noises.coughs.filter(upTo(NOISE_MOST_MS))),
    'laughs of real voices': one(noises.laughs.filter(upTo(NOISE_MOST_MS))),
  };
}

/** The longest time about a sound in which nothing of the agent was heard. */
function pauseMs({ outcome }: Held, fromMs: number): number {
  let [longest, run] = [0, 0];
  for (const frame of framesIn(fromMs, fromMs + ITS_OWN_MS)) {
    run = isSilent(outcome, frame) ? run + FRAME_MS : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

export const backchannels: Theme = {
  title: 'Backchannels',
  talks(recordings, size) {
    return Object.entries(soundsOf(recordings)).flatMap(([shade, make]) =>
      some([0, 1, 2, 3, 4, 5, 6, 7], 8, size).flatMap((round) => {
        const name = `backchannels ${shade} ${round}`;
        const random = drawsOf(recordings, name);
        const said: Placed[] = [];
        for (let at = 2_500; at < CALL_MS - 2_500; at += between(2_600, 3_300, random)) {
          const clip = make(random);
          if (clip === null) return [];
          said.push({ clip, levelDb: pick(LEVELS_DB, random), atMs: atSampleMs(at) });
        }
        return callOf(recordings, random, {
          name,
          shade,
          lengthMs: CALL_MS,
          greetingMs: CALL_MS + 2_000,
          // Whom one has stopped speaks on: the next is said over his voice too.
          answerMs: CALL_MS,
          said,
        });
      }),
    );
  },
  rows(held) {
    const counted = (list: readonly Held[]) => {
      const pauses = list.flatMap((one) => one.talk.spoken.map(({ fromMs }) => pauseMs(one, fromMs)));
      return { of: pauses.length, pauses: pauses.filter((ms) => ms > FRAME_MS) };
    };
    const isNoise = ({ talk }: Held) => NOISES.includes(talk.shade);
    const backchannels = held.filter((one) => !isNoise(one));
    const others = held.filter(isNoise);
    const all = counted(backchannels);
    const stops = (list: readonly Held[]) =>
      list.reduce((sum, { outcome }) => sum + outcome.bargeIns.length, 0);
    const words = held.map(({ outcome }) => lostAndRepeated(outcome.played, 0));
    const lostMs = words.reduce((sum, one) => sum + one.lostMs, 0);
    const repeatedMs = words.reduce((sum, one) => sum + one.repeatedMs, 0);
    return [
      countRow('backchannels that paused the agent', all.pauses.length, all.of, { under: 10 }),
      ...[...byShade(backchannels)].map(([shade, list]) => {
        const { pauses, of } = counted(list);
        return countRow(`  ${shade}`, pauses.length, of);
      }),
      timesRow('  the pause, p50 / p95', all.pauses),
      {
        measure: '  words of the agent lost / repeated',
        values: [`${lostMs.toFixed(0)} / ${repeatedMs.toFixed(0)} ms`],
        target: '0',
        met: held.length === 0 ? null : lostMs === 0 && repeatedMs === 0,
      },
      countRow('  backchannels that stopped it', stops(backchannels), all.of),
      ...[...byShade(others)].flatMap(([shade, list]) => {
        const { pauses, of } = counted(list);
        return [
          countRow(`${shade} that paused the agent`, pauses.length, of),
          countRow(`  ${shade.split(' ')[0]} that stopped it`, stops(list), of),
        ];
      }),
    ];
  },
};
