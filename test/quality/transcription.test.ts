// What is written down of a stretch of the caller's sound.
import t from 'tap';
import { seeded } from '../random.ts';
import { misheard, wordsIn } from './transcription.ts';

t.test('the words of which the half lies in it', async (t) => {
  const said = [
    { fromMs: 1_000, toMs: 1_400, text: 'stop' },
    { fromMs: 2_000, toMs: 2_500, text: '' },
    { fromMs: 3_000, toMs: 4_000, text: 'one two three four' },
  ];
  for (const [fromMs, toMs, expected] of [
    [500, 2_000, 'stop'],
    [500, 1_200, 'stop'],
    [500, 1_190, null],
    [1_500, 2_900, null],
    [3_000, 3_300, 'one'],
    [3_300, 3_900, 'two three four'],
    [500, 5_000, 'stop one two three four'],
  ] as const)
    t.equal(wordsIn(said, fromMs, toMs), expected, `${fromMs} to ${toMs}`);
});

t.test('a short word is misheard as one of two others, a sentence is understood', async (t) => {
  const random = seeded(1);
  const heard = new Set(Array.from({ length: 40 }, () => misheard('arrête', 'fr', random)));
  t.same([...heard].sort(), ['Merci.', 'le']);
  t.ok(misheard('stop', undefined, random).length > 0);
  t.equal(misheard('could you say that again', 'en', random), 'could you say that again');
});
