// PURE. The agent's voice comes back through a room: a loudspeaker, a few walls, and an exponential tail. How much of the time
// the agent is silent for it; and how soon it is, when the caller speaks over it there.
import { type Random, seeded } from '../../random.ts';
import type { Tap } from '../line.ts';
import type { Recordings } from '../recorded.ts';
import { between, type SetName, samplesOf, seedFor } from '../sounds.ts';
import {
  atSampleMs,
  byShade,
  callOf,
  countRow,
  drawsOf,
  FRAME_MS,
  type Held,
  heardForMs,
  silentFrames,
  some,
  type Theme,
  type ThemeTalk,
  timesRow,
} from './theme.ts';

interface Room {
  name: string;
  /** The time in which its sound fades by 60 dB. */
  rt60Ms: number;
  /** From the carrier to the loudspeaker, and from the microphone back. */
  delayMs: number;
  /** What comes straight, beside all that the walls return. */
  directDb: number;
}

const ROOMS: Record<SetName, readonly Room[]> = {
  first: [
    { name: 'small office', rt60Ms: 250, delayMs: 90, directDb: 3 },
    { name: 'living room', rt60Ms: 450, delayMs: 140, directDb: 0 },
    { name: 'meeting room', rt60Ms: 600, delayMs: 180, directDb: 0 },
    { name: 'bathroom', rt60Ms: 800, delayMs: 110, directDb: -3 },
  ],
  second: [
    { name: 'car', rt60Ms: 150, delayMs: 160, directDb: 2 },
    { name: 'kitchen', rt60Ms: 350, delayMs: 75, directDb: 1 },
    { name: 'bare office', rt60Ms: 550, delayMs: 125, directDb: -2 },
    { name: 'stairwell', rt60Ms: 900, delayMs: 210, directDb: -1 },
  ],
};
const RETURNS_DB = [-20, -26, -32];
const CALL_MS = 12_000;
const DOUBLE_TALK = 'double talk';
const DOUBLE_TALKS = 24;
const CALLER_DB = [-20, -25, -30];
const SILENCED_DB = 60;

/** Early walls, one by one; a tap in each half millisecond of the tail is as dense as an ear asks for at 8 kHz. */
const WALLS = 7;
const TAIL_STEP_MS = 0.5;
const TAIL_FROM_MS = 8;
/** Beside a wall at once. */
const TAIL_GAIN = 0.35;
/** The tail is followed to here. */
const TAIL_DB = 35;

/** The ways through a room, of power 1 together. */
export function tapsOf(room: Pick<Room, 'rt60Ms' | 'directDb'>, random: Random): Tap[] {
  const fade = (ms: number) => 10 ** ((-3 * ms) / room.rt60Ms);
  const sign = () => (random() < 0.5 ? -1 : 1);
  const walls: Tap[] = [];
  const wall = (ms: number, gain: number) => walls.push({ samples: Math.round(ms * 8), gain });
  for (let i = 0; i < WALLS; i++) {
    const ms = between(1.5, 30, random);
    wall(ms, sign() * between(0.5, 1, random) * fade(ms));
  }
  for (let ms = TAIL_FROM_MS; ms < (room.rt60Ms * TAIL_DB) / 60; ms += TAIL_STEP_MS)
    wall(ms + between(0, TAIL_STEP_MS, random), sign() * TAIL_GAIN * fade(ms));
  const power = walls.reduce((sum, { gain }) => sum + gain * gain, 0);
  const direct = Math.sqrt(power * 10 ** (room.directDb / 10));
  const all = Math.sqrt(power + direct * direct);
  return [{ samples: 0, gain: direct }, ...walls].map(({ samples, gain }) => ({ samples, gain: gain / all }));
}

/** A room of the set, by number: for sounds that are heard in one. */
export const roomOf = (set: SetName, n: number): Tap[] => {
  const room = ROOMS[set][n % ROOMS[set].length]!;
  return tapsOf(room, seeded(seedFor(set, `room ${room.name}`)));
};

/** Silent frames from the agent's first on, and all of them. */
function silentIn({ talk, outcome }: Held): { silent: number; of: number } {
  const fromMs = outcome.audible[0] ?? talk.lengthMs;
  return {
    silent: silentFrames(outcome, fromMs, talk.lengthMs),
    of: Math.max(0, Math.floor((talk.lengthMs - fromMs) / FRAME_MS)),
  };
}

/** Somebody speaks over the agent, whose voice comes back through the room meanwhile. */
function doubleTalks(recordings: Recordings, size: number): ThemeTalk[] {
  const all = ROOMS[recordings.set];
  const long = recordings.sentences.filter((clip) => clip.sound.length >= samplesOf(1_000));
  return some(long, DOUBLE_TALKS, size).map((clip, i) => {
    const room = all[i % all.length]!;
    const name = `room double talk ${i}`;
    const random = drawsOf(recordings, name);
    const atMs = atSampleMs(between(3_000, 6_000, random));
    const gainDb = RETURNS_DB[Math.floor(i / all.length) % RETURNS_DB.length]!;
    return callOf(recordings, random, {
      name,
      shade: DOUBLE_TALK,
      lengthMs: atMs + clip.sound.length / 8 + 3_500,
      greetingMs: 20_000,
      said: [{ clip, levelDb: CALLER_DB[i % CALLER_DB.length]!, atMs }],
      echo: { gainDb, delayMs: room.delayMs, taps: tapsOf(room, random) },
    });
  });
}

export const rooms: Theme = {
  title: 'The echo of a room',
  talks(recordings, size) {
    const { set } = recordings;
    const alone = ROOMS[set].flatMap((room) =>
      (size >= 0.5 ? RETURNS_DB : RETURNS_DB.slice(1, 2)).flatMap((gainDb) =>
        Array.from({ length: size >= 1 ? 2 : 1 }, (_, round) => {
          const name = `room ${room.name} ${gainDb} ${round}`;
          const random = drawsOf(recordings, name);
          return callOf(recordings, random, {
            name,
            shade: `${room.name}, fades in ${room.rt60Ms} ms`,
            lengthMs: CALL_MS,
            greetingMs: CALL_MS + 1_000,
            said: [],
            echo: { gainDb, delayMs: room.delayMs, taps: tapsOf(room, random) },
          });
        }),
      ),
    );
    return [...alone, ...doubleTalks(recordings, size)];
  },
  rows(all) {
    const [held, over] = [false, true].map((double) =>
      all.filter(({ talk }) => (talk.shade === DOUBLE_TALK) === double),
    ) as [Held[], Held[]];
    const heeded = over.filter(({ outcome }) => outcome.bargeIns.length > 0);
    const silentAfter = heeded.map(({ talk, outcome }) =>
      heardForMs(outcome, talk.spoken[0]!.fromMs, 0, SILENCED_DB),
    );
    const shares = [...byShade(held)].map(([shade, list]) => {
      const parts = list.map(silentIn);
      const silent = parts.reduce((sum, one) => sum + one.silent, 0);
      const of = parts.reduce((sum, one) => sum + one.of, 0);
      return { shade, share: of === 0 ? 0 : (100 * silent) / of };
    });
    const worst = Math.max(0, ...shares.map(({ share }) => share));
    const stopped = held.filter(({ outcome }) => outcome.bargeIns.length > 0).length;
    return [
      {
        measure: 'silent in the worst room',
        values: [`${worst.toFixed(1)} %`],
        target: 'under 3 %',
        met: held.length === 0 ? null : worst < 3,
      },
      ...shares.map(({ shade, share }) => ({
        measure: `  ${shade}`,
        values: [`${share.toFixed(1)} %`],
        target: '',
        met: null,
      })),
      countRow('  calls in which its echo stopped the agent', stopped, held.length),
      timesRow('a caller over it: agent silent after the onset, p50 / p95', silentAfter),
      countRow('  callers that did not stop it', over.length - heeded.length, over.length),
    ];
  },
};
