// PURE. One short word over the agent's voice that wants it to stop: a command, a no, a name.
import { between } from '../sounds.ts';
import {
  atSampleMs,
  byShade,
  callOf,
  countRow,
  drawsOf,
  type Held,
  heardForMs,
  type Theme,
} from './theme.ts';

const SOON_MS = 1_500;
const LEVELS_DB = [-22, -25, -28];
const CALL_AFTER_MS = 4_500;

/** The words by what they mean; others are names. */
const MEANING: Readonly<Record<string, string>> = {
  stop: 'stop',
  para: 'stop',
  arrête: 'stop',
  basta: 'stop',
  no: 'no',
  non: 'no',
  wait: 'wait',
  espera: 'wait',
  attendez: 'wait',
  aspetta: 'wait',
  'hold on': 'hold on',
  'un momento': 'hold on',
  'un moment': 'hold on',
  'un attimo': 'hold on',
};

/** Stopped for good, and soon enough. */
function stops({ talk, outcome }: Held): boolean {
  const { fromMs } = talk.spoken[0]!;
  return outcome.bargeIns.length > 0 && heardForMs(outcome, fromMs, 0, 30) <= SOON_MS;
}

export const stopWords: Theme = {
  title: 'Words that stop',
  talks(recordings, size) {
    const { stops: words } = recordings;
    const rounds = size >= 1 ? 3 : 1;
    return Array.from({ length: rounds }, (_, round) => round).flatMap((round) =>
      words
        .filter((_, i) => size >= 0.5 || i % 3 === 0)
        .map((clip, i) => {
          const name = `stop word ${clip.name} ${round}`;
          const random = drawsOf(recordings, name);
          const atMs = atSampleMs(between(2_500, 4_500, random));
          return callOf(recordings, random, {
            name,
            shade: MEANING[clip.text ?? ''] ?? 'a name',
            lengthMs: atMs + CALL_AFTER_MS,
            greetingMs: 14_000,
            said: [{ clip, levelDb: LEVELS_DB[(i + round) % LEVELS_DB.length]!, atMs }],
          });
        }),
    );
  },
  rows(held) {
    const hits = (list: readonly Held[]) => list.filter(stops).length;
    return [
      countRow('stop words that stop it, within 1.5 s', hits(held), held.length, { least: 90 }),
      ...[...byShade(held)].map(([shade, list]) => countRow(`  ${shade}`, hits(list), list.length)),
    ];
  },
};
