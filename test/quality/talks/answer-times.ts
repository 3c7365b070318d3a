// PURE. How long a caller waits: from the last word to the first sound of the answer, with a model that takes 500 ms.
import { noiseOf } from '../set.ts';
import { atRms } from '../sounds.ts';
import {
  answersOf,
  atSampleMs,
  callOf,
  countRow,
  drawsOf,
  FRAME_MS,
  type Held,
  some,
  type Theme,
  timesRow,
} from './theme.ts';

const MODEL_MS = 500;
const FROM_MS = 2_500;

/** From the end of what was said to the first frame of an answer. */
function waitedMs({ talk, outcome }: Held): number | null {
  const { toMs } = talk.spoken[0]!;
  const heard = outcome.audible.find((atMs) => atMs >= toMs);
  return heard === undefined ? null : heard - toMs;
}

export const answerTimes: Theme = {
  title: 'The wait for an answer',
  talks(recordings, size) {
    const { sentences, words } = recordings;
    return [...some(sentences, 48, size), ...some(words, 16, size)].map((clip, i) => {
      const noise = (['pink', 'street', 'hum 50 Hz'] as const)[i % 9];
      const name = `answer time ${i}`;
      const random = drawsOf(recordings, name);
      return callOf(recordings, random, {
        name,
        shade: noise === undefined ? 'quiet line' : 'noise 15 dB down',
        lengthMs: FROM_MS + clip.sound.length / 8 + 3_500,
        greetingMs: 600,
        firstMs: [MODEL_MS, MODEL_MS],
        said: [{ clip, levelDb: -25, atMs: atSampleMs(FROM_MS) }],
        ...(noise !== undefined && {
          line: (ms: number) => atRms(noiseOf(noise, ms, sentences, random), -40),
        }),
      });
    });
  },
  rows(held) {
    const waits = held.flatMap((one) => waitedMs(one) ?? []);
    const rows = [
      timesRow(`last word to first heard sound of the answer, model of ${MODEL_MS} ms`, waits, [800, 1_100]),
    ];
    const inside = held.filter(({ talk, outcome }) => {
      const { fromMs, toMs } = talk.spoken[0]!;
      // What he begins over, a greeting that is said once more, is none of his answers.
      const askedMs = outcome.asked.find((atMs) => atMs > fromMs) ?? toMs;
      return outcome.audible.some((atMs) => atMs > askedMs && atMs + FRAME_MS < toMs);
    });
    rows.push({
      measure: '  answer heard before the caller had finished',
      values: [`${inside.length} of ${held.length}`],
      target: '',
      met: null,
    });
    const early = held.map(({ outcome }) => outcome.early);
    const begun = early.reduce((sum, one) => sum + one.begun, 0);
    const thrownAway = early.reduce((sum, one) => sum + one.thrownAway, 0);
    rows.push(countRow('  begun early and thrown away unheard, of those begun early', thrownAway, begun));
    const tokens = held.map(({ outcome }) => outcome.tokens);
    const used = tokens.reduce((sum, one) => sum + one.all, 0);
    const wasted = tokens.reduce((sum, one) => sum + one.thrownAway, 0);
    rows.push({
      measure: '  tokens of sound that thrown-away answers used, of all',
      values: [used === 0 ? '–' : `${((100 * wasted) / used).toFixed(1)} %`],
      target: '',
      met: null,
    });
    const asked = held.reduce((sum, one) => sum + answersOf(one).length, 0);
    rows.push({
      measure: '  answers asked for, of one needed each',
      values: [`${asked} of ${held.length}`],
      target: '',
      met: null,
    });
    return rows;
  },
};
