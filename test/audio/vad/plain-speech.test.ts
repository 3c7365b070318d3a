// Which windows in the middle of plain speech the voice model is spared.
import t from 'tap';
import { PlainSpeech } from '../../../audio/vad/plain-speech.ts';

/**
 * Walks through windows `[level, probability]`: what the model would say of each. Answers a letter per window: C carried,
 * M asked of the model, - passed over by the gate (a probability of null).
 */
function walk(windows: readonly (readonly [number, number | null])[]): string {
  const speech = new PlainSpeech();
  return windows
    .map(([levelDb, probability]) => {
      if (probability === null) {
        speech.interrupt();
        return '-';
      }
      if (speech.carry(levelDb) !== null) return 'C';
      speech.heard(probability, levelDb);
      return 'M';
    })
    .join('');
}

const sure = (...levels: number[]) => levels.map((levelDb) => [levelDb, 0.95] as const);
const steady = (count: number) => sure(...Array<number>(count).fill(-25));

for (const [name, windows, expected] of [
  ['plain speech -> after three sure answers, one window of three is asked', steady(12), 'MMMCCMCCMCCM'],
  ['levels within 5 dB of the last one asked are plain', sure(-25, -25, -25, -29, -21, -25), 'MMMCCM'],
  ['a fall of more than 5 dB is asked at once', sure(-25, -25, -25, -31, -31), 'MMMMC'],
  ['a slow fall is held against the window that was asked', sure(-25, -25, -25, -28, -31, -34), 'MMMCMC'],
  ['a jump of more than 5 dB is asked at once', sure(-25, -25, -25, -25, -19, -19), 'MMMCMC'],
  [
    'a doubtful answer -> three sure ones again',
    [...steady(5), [-25, 0.79], ...steady(5)] as const,
    'MMMCCMMMMCC',
  ],
  [
    'more than 12 dB below the loudest -> asked, however steady',
    [...steady(3), ...sure(-29, -33, -36, -38, -38, -38)] as const,
    'MMMCMCMMM',
  ],
  [
    'a gated window ends the speech: the next may be fainter',
    [...steady(3), [-70, null], ...sure(-40, -40, -40, -40)] as const,
    'MMM-MMMC',
  ],
  ['never sure -> always asked', Array.from({ length: 6 }, () => [-25, 0.75] as const), 'MMMMMM'],
  [
    'a gated window -> three sure ones again',
    [...steady(4), [-70, null], ...steady(4)] as const,
    'MMMC-MMMC',
  ],
] as const)
  t.test(name, async (t) => t.equal(walk(windows), expected));

t.test('what is carried is the last answer', async (t) => {
  const speech = new PlainSpeech();
  for (const probability of [0.9, 0.95, 0.85]) speech.heard(probability, -20);
  t.equal(speech.carry(-21), 0.85);
});
