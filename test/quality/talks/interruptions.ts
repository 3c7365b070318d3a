// PURE. Speech of a second or more over the agent's voice: how soon it is fainter, and silent.
import { NOISES, noiseOf } from '../set.ts';
import { atRms, between, samplesOf } from '../sounds.ts';
import {
  atSampleMs,
  callOf,
  countRow,
  drawsOf,
  heardForMs,
  itemBefore,
  some,
  type Theme,
  timesRow,
} from './theme.ts';

const LEVELS_DB = [-20, -25, -30, -35];
/** Lower than what a duck to 12 dB leaves, for what coding adds. */
const DUCKED_DB = 11.5;
const SILENCED_DB = 60;

export const interruptions: Theme = {
  title: 'Interruptions',
  talks(recordings, size) {
    const { sentences } = recordings;
    const long = sentences.filter((clip) => clip.sound.length >= samplesOf(1_000));
    return some(long, 64, size).map((clip, i) => {
      const name = `interruption ${i}`;
      const random = drawsOf(recordings, name);
      const levelDb = LEVELS_DB[i % LEVELS_DB.length]!;
      const noise = i % 3 === 1 ? NOISES[i % NOISES.length] : undefined;
      const atMs = atSampleMs(between(2_500, 5_000, random));
      const shade = noise !== undefined ? 'noise' : i % 3 === 2 ? 'echo' : 'quiet line';
      return callOf(recordings, random, {
        name: `${name} ${shade}`,
        shade,
        lengthMs: atMs + clip.sound.length / 8 + 3_500,
        greetingMs: 20_000,
        said: [{ clip, levelDb, atMs }],
        ...(noise !== undefined && {
          line: (ms: number) =>
            atRms(noiseOf(noise, ms, sentences, random), levelDb - between(12, 20, random)),
        }),
        ...(shade === 'echo' && {
          echo: { gainDb: between(-34, -24, random), delayMs: between(50, 230, random) },
        }),
      });
    });
  },
  rows(held) {
    const stopped = held.filter(({ outcome }) => outcome.bargeIns.length > 0);
    const after = (withinDb: number) =>
      stopped.map(({ talk, outcome }) => {
        const { fromMs } = talk.spoken[0]!;
        return heardForMs(outcome, fromMs, itemBefore(outcome, fromMs), withinDb);
      });
    return [
      timesRow(
        'agent 12 dB down after the onset of an interruption, p50 / p95',
        after(DUCKED_DB),
        [250, 400],
      ),
      timesRow('agent silent after it, p50 / p95', after(SILENCED_DB), [450, 800]),
      countRow('  interruptions that did not stop it', held.length - stopped.length, held.length),
    ];
  },
};
