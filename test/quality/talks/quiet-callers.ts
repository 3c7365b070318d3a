// PURE. Who speaks faintly, hardly above the noise of the line: whether what was said reaches the model at all.
import { NOISES, noiseOf } from '../set.ts';
import { atRms, between } from '../sounds.ts';
import { atSampleMs, byShade, callOf, countRow, drawsOf, type Held, some, type Theme } from './theme.ts';

const CALLER_DB = -35;
const OVER_NOISE_DB = [2, 4] as const;
const FROM_MS = 2_500;

/** No turn with a part of it reached the model. */
function isMissed({ talk, outcome }: Held): boolean {
  const { fromMs, toMs } = talk.spoken[0]!;
  return !outcome.turns.some((turn) => turn.committedMs > fromMs && turn.fromMs < toMs);
}

export const quietCallers: Theme = {
  title: 'Quiet callers',
  talks(recordings, size) {
    const { sentences, words } = recordings;
    return [...some(sentences, 60, size), ...some(words, 20, size)].map((clip, i) => {
      // Voices as loud as the caller are another matter.
      const kinds = NOISES.filter((kind) => kind !== 'street');
      const noise = kinds[i % kinds.length]!;
      const name = `quiet caller ${i}`;
      const random = drawsOf(recordings, name);
      const overDb = between(...OVER_NOISE_DB, random);
      return callOf(recordings, random, {
        name,
        shade: noise,
        lengthMs: FROM_MS + clip.sound.length / 8 + 3_000,
        greetingMs: 600,
        said: [{ clip, levelDb: CALLER_DB, atMs: atSampleMs(FROM_MS) }],
        line: (ms) => atRms(noiseOf(noise, ms, sentences, random), CALLER_DB - overDb),
      });
    });
  },
  rows(held) {
    const missed = (list: readonly Held[]) => list.filter(isMissed).length;
    return [
      countRow('utterances of a quiet caller missed', missed(held), held.length, { under: 2 }),
      ...[...byShade(held)].map(([shade, list]) => countRow(`  ${shade}`, missed(list), list.length)),
    ];
  },
};
