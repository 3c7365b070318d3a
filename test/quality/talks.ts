// PURE. The labelled calls: barge-ins, echoes, words of assent and other sounds over the agent's voice, ends of turns, pauses.
// Each draws from a seed of its set and its own name, and says what is true of it; what the product made of it is judged in talk-scores.ts.

import { type Random, seeded } from '../random.ts';
import type { Talk } from './conversations.ts';
import { atLevel, type Clip, clipOf } from './labels.ts';
import type { Recordings } from './recorded.ts';
import { NOISES, type Noise, noiseOf } from './set.ts';
import {
  addTo,
  atRms,
  between,
  cough,
  joined,
  looped,
  mhm,
  pick,
  rmsDb,
  type Sound,
  samplesOf,
  seedFor,
  slam,
  throughMulaw,
  toPcm,
  white,
} from './sounds.ts';

export type Kind = 'barge-in' | 'echo' | 'assent' | 'line noise' | 'end of turn' | 'pause';

/** What is true of a call: when the caller speaks, at the carrier. */
export interface LabelledTalk extends Talk {
  kind: Kind;
  /** A shade of the kind, for the table. */
  shade: string;
  levelDb: number;
  snrDb: number | null;
  /** Speech that means to be heard. */
  spoken: { fromMs: number; toMs: number }[];
  /** Sounds over the agent's voice that mean nothing, by their beginnings. */
  sounds: number[];
}

const AGENT_DB = -18;
const IDLE_LINE_DB = -68;
const ANSWER_MS = 1_200;
const ECHO_GAINS_DB = [-20, -25, -30, -35];
const ECHO_DELAYS_MS = { first: [60, 120, 180, 250], second: [45, 95, 150, 215] };

/** The agent's voice without its pauses: whoever speaks, speaks over it. */
function unbroken(recording: Sound): Sound {
  const clip = clipOf('agent', recording);
  if (clip === null) throw new Error('the agent’s recording holds no speech');
  return atLevel(
    { ...clip, sound: joined(...clip.spans.map(({ from, to }) => clip.sound.slice(from, to))) },
    AGENT_DB,
  );
}

const voices = new WeakMap<Recordings, Sound>();

/** The agent's voice of a set. */
export function voiceOf(recordings: Recordings): Sound {
  const known = voices.get(recordings) ?? unbroken(recordings.agent);
  voices.set(recordings, known);
  return known;
}

/** A sound that is no speech: its level is that of its loudest 40 ms. */
function struck(name: string, sound: Sound): Clip {
  let activeDb = -96;
  for (let from = 0; from < sound.length; from += samplesOf(40))
    activeDb = Math.max(activeDb, rmsDb(sound.subarray(from, from + samplesOf(40))));
  return { name, sound, spans: [], activeDb };
}

interface Draft {
  kind: Kind;
  shade: string;
  levelDb?: number;
  snrDb?: number | null;
  echo?: { gainDb: number; delayMs: number } | null;
  greetingMs: number;
  /** Adds what the caller says to the line; answers how long the call is. */
  say(
    line: (ms: number) => Sound,
    random: Random,
  ): Pick<LabelledTalk, 'spoken' | 'sounds'> & { sound: Sound };
}

/** All calls; `size` scales how many of each kind (1: the full set). */
export function talksOf(recordings: Recordings, size = 1): LabelledTalk[] {
  const { set, sentences, words } = recordings;
  const voice = voiceOf(recordings);
  const talks: LabelledTalk[] = [];
  const some = <T>(list: readonly T[], count: number): readonly T[] =>
    Array.from(
      { length: Math.max(1, Math.round(count * size)) },
      (_, i) => list[Math.floor((i * list.length) / Math.max(1, Math.round(count * size))) % list.length]!,
    );

  function add(name: string, draft: Draft, noise?: Noise): void {
    const random = seeded(seedFor(set, name));
    const levelDb = draft.levelDb ?? -25;
    const snrDb = draft.snrDb ?? null;
    const line = (ms: number) =>
      noise === undefined || snrDb === null
        ? atRms(white(ms, random), IDLE_LINE_DB)
        : atRms(noiseOf(noise, ms, sentences, random), levelDb - snrDb);
    const greeting = draft.greetingMs === 0 ? null : looped(voice, draft.greetingMs, random);
    const { sound, spoken, sounds } = draft.say(line, random);
    talks.push({
      name,
      kind: draft.kind,
      shade: draft.shade,
      levelDb,
      snrDb,
      lengthMs: sound.length / 8,
      caller: throughMulaw(toPcm(sound)),
      echo: draft.echo ?? null,
      greeting,
      answer: looped(voice, ANSWER_MS, random),
      spoken,
      sounds,
    });
  }

  // Speech over the agent's voice, of more than a second.
  const conditions: { shade: string; noise?: Noise; snrDb?: number; echo?: Draft['echo'] }[] = [
    { shade: 'quiet line' },
    { shade: 'noise', noise: 'pink', snrDb: 15 },
    { shade: 'noise', noise: 'street', snrDb: 20 },
    { shade: 'double talk', echo: { gainDb: -25, delayMs: 120 } },
    { shade: 'double talk', echo: { gainDb: -30, delayMs: 250 } },
  ];
  const long = sentences.filter((clip) => clip.sound.length >= samplesOf(1_000));
  for (const [i, clip] of some(long, long.length).entries()) {
    for (const [j, levelDb] of [-20, -30, -35].entries()) {
      const condition = conditions[(i * 3 + j) % conditions.length]!;
      const { shade, noise, snrDb = null, echo = null } = condition;
      add(
        `barge-in ${i} ${levelDb} ${shade}`,
        {
          kind: 'barge-in',
          shade,
          levelDb,
          snrDb,
          echo,
          greetingMs: 30_000,
          say(line, random) {
            const fromMs = Math.round(between(2_500, 5_000, random) * 8) / 8;
            const toMs = fromMs + clip.sound.length / 8;
            const sound = line(toMs + 3_500);
            addTo(sound, atLevel(clip, levelDb), samplesOf(fromMs));
            return { sound, spoken: [{ fromMs, toMs }], sounds: [] };
          },
        },
        noise,
      );
    }
  }

  // The agent's own voice comes back.
  const echoes = ECHO_GAINS_DB.flatMap((gainDb) =>
    ECHO_DELAYS_MS[set].map((delayMs) => ({ gainDb, delayMs })),
  );
  for (const round of size >= 1 ? [1, 2, 3] : [1]) {
    for (const echo of some(echoes, echoes.length)) {
      add(`echo ${echo.gainDb} ${echo.delayMs} ${round}`, {
        kind: 'echo',
        shade: `${echo.gainDb} dB`,
        echo,
        greetingMs: 12_000,
        say: (line) => ({ sound: line(12_000), spoken: [], sounds: [] }),
      });
    }
  }

  // Words of assent, pieces of speech, coughs, doors: every three seconds or so.
  const pieces = words.filter((clip) => clip.sound.length <= samplesOf(350));
  const shades: [string, (random: Random) => Clip | null][] = [
    ['mhm', (random) => clipOf('mhm', mhm(random))],
    [
      'yeah, okay',
      (random) => (recordings.backchannels.length > 0 ? pick(recordings.backchannels, random) : null),
    ],
    [
      'a syllable',
      (random) => {
        const clip = pick(pieces.length > 0 ? pieces : words, random);
        return clipOf(clip.name, clip.sound.slice(0, samplesOf(between(150, 300, random))));
      },
    ],
    ['cough', (random) => struck('cough', cough(random))],
    ['door', (random) => struck('door', slam(random))],
  ];
  for (const [shade, make] of shades) {
    if (make(seeded(1)) === null) continue;
    for (const round of some([0, 1, 2, 3, 4, 5, 6, 7], 8)) {
      const levelDb = round % 2 === 0 ? -25 : -30;
      add(`${shade} ${round}`, {
        kind: 'assent',
        shade,
        levelDb,
        greetingMs: 16_000,
        say(line, random) {
          const sound = line(16_000);
          const sounds: number[] = [];
          for (let at = 2_000; at < 14_500; at += between(2_600, 3_400, random)) {
            const one = make(random);
            if (one === null) continue;
            addTo(sound, atLevel(one, levelDb), samplesOf(Math.round(at)));
            sounds.push(Math.round(at));
          }
          return { sound, spoken: [], sounds };
        },
      });
    }
  }

  // A line's noise from the first second on.
  for (const noise of some(NOISES, NOISES.length)) {
    for (const levelDb of [-55, -45, -35]) {
      // Voices as loud as a caller are callers.
      if (noise === 'street' && levelDb > -45) continue;
      add(
        `line ${noise} ${levelDb}`,
        {
          kind: 'line noise',
          shade: noise,
          levelDb,
          snrDb: 0,
          greetingMs: 8_000,
          say: (line) => ({ sound: line(8_000), spoken: [], sounds: [] }),
        },
        noise,
      );
    }
  }

  // The caller speaks after the greeting, then waits.
  for (const [i, clip] of [...some(sentences, sentences.length), ...some(words, words.length)].entries()) {
    const noise = (['pink', 'street', 'hum 50 Hz'] as const)[i % 9];
    add(
      `end of turn ${i}`,
      {
        kind: 'end of turn',
        shade: noise === undefined ? 'quiet line' : 'noise',
        snrDb: noise === undefined ? null : 15,
        greetingMs: 600,
        say(line) {
          const fromMs = 2_500;
          const toMs = fromMs + clip.sound.length / 8;
          const sound = line(toMs + 3_000);
          addTo(sound, atLevel(clip, -25), samplesOf(fromMs));
          return { sound, spoken: [{ fromMs, toMs }], sounds: [] };
        },
      },
      noise,
    );
  }

  // A pause of known length inside what the caller says.
  const parts = sentences.filter(
    ({ sound, spans }) => sound.length <= samplesOf(4_000) && spans.length === 1,
  );
  for (const pauseMs of [300, 400, 500]) {
    for (const [i, first] of some(parts, 40).entries()) {
      const second = parts[(i * 7 + 3) % parts.length]!;
      add(`pause ${pauseMs} ${i}`, {
        kind: 'pause',
        shade: `${pauseMs} ms`,
        greetingMs: 600,
        say(line) {
          const fromMs = 2_500;
          const pauseFromMs = fromMs + first.sound.length / 8;
          const goesOnMs = pauseFromMs + pauseMs;
          const toMs = goesOnMs + second.sound.length / 8;
          const sound = line(toMs + 2_500);
          addTo(sound, atLevel(first, -25), samplesOf(fromMs));
          addTo(sound, atLevel(second, -25), samplesOf(goesOnMs));
          return {
            sound,
            spoken: [
              { fromMs, toMs: pauseFromMs },
              { fromMs: goesOnMs, toMs },
            ],
            sounds: [],
          };
        },
      });
    }
  }
  return talks;
}
