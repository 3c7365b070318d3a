// The two sets: other speakers, other seeds, the same each time they are made; and their tables side by side.
import t from 'tap';
import type { Recordings } from './recorded.ts';
import { readRecordings } from './recordings.ts';
import { type Row, sideBySide } from './report.ts';
import { streamsOf } from './set.ts';
import { seedFor, seedOf } from './sounds.ts';
import { talksOf } from './talks.ts';

t.test('the first set draws as it always did, the second from seeds of its own', async (t) => {
  t.equal(seedFor('first', 'pause 300 1'), seedOf('pause 300 1'));
  t.not(seedFor('second', 'pause 300 1'), seedOf('pause 300 1'));
});

t.test(
  'the same recordings in the other set: other streams and calls, and those again the same',
  async (t) => {
    const own = readRecordings('own');
    const sum = (pcm: Int16Array) => pcm.reduce((total, sample, i) => (total + sample * (i % 97)) | 0, 0);
    const sums = (set: 'first' | 'second') => [
      ...streamsOf({ ...own, set }, { size: 0.05 }).map(({ pcm }) => sum(pcm)),
      ...talksOf({ ...own, set }, 0.05).map(({ caller }) => sum(caller)),
    ];
    const second = sums('second');
    t.same(sums('second'), second);
    const first = sums('first');
    t.equal(first.length, second.length);
    const alike = first.filter((one, i) => one === second[i]).length;
    t.ok(alike <= first.length / 10, `${alike} of ${first.length} are the same in both`);
  },
);

t.test('no speaker of the second set is in the first', async (t) => {
  const second = readRecordings('second');
  t.ok(second.missing.length > 0 || second.sources.length > 0, 'what is missing is said');
  const voices = new Set(second.sentences.map(({ voice }) => voice));
  if (voices.size === 0) {
    t.comment(`left out: ${second.missing.join('; ')}`);
    return;
  }
  const own = readRecordings('own').sentences.map(({ voice }) => voice);
  for (const voice of voices)
    t.ok(!own.includes(voice) && !/^(Allison|flite .*|undefined)$/.test(`${voice}`), `${voice}`);
  const listeners = ({ noises }: Recordings) =>
    Object.values(noises)
      .flat()
      .map(({ voice }) => voice);
  const others = new Set(listeners(readRecordings('first')));
  t.same(
    [...new Set(listeners(second))].filter((voice) => others.has(voice)),
    [],
    'nor who listens',
  );
});

t.test(
  'tables side by side: a column each, what one lacks a dash, a target missed in one named',
  async (t) => {
    const row = (measure: string, value: string, met: boolean | null = null): Row => ({
      measure,
      values: [value],
      target: met === null ? '' : 'none',
      met,
    });
    t.same(
      sideBySide([
        { name: 'first', rows: [row('a', '1', true), row('b', '2'), row('d', '4', false)] },
        { name: 'second', rows: [row('a', '5', false), row('c', '6'), row('d', '7', false)] },
      ]),
      [
        { measure: 'a', values: ['1', '5'], target: 'none', met: false, notIn: 'second' },
        { measure: 'c', values: ['–', '6'], target: '', met: null },
        { measure: 'b', values: ['2', '–'], target: '', met: null },
        { measure: 'd', values: ['4', '7'], target: 'none', met: false },
      ],
    );
  },
);
