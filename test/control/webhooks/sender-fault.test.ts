// Whose fault an unreachable receiver is.
import t from 'tap';
import { isOurFault, type Reach } from '../../../control/webhooks/sender-fault.ts';

const down = (receiver: string, atMs = 100_000, ours = false): Reach => ({
  atMs,
  receiver,
  reached: false,
  ours,
});
const up = (receiver: string, atMs: number): Reach => ({ atMs, receiver, reached: true, ours: false });

t.test('whose fault it is', async (t) => {
  const cases: [string, Reach, Reach[], boolean][] = [
    ['a lone receiver refuses -> theirs', down('a'), [], false],
    ['two receivers are down -> theirs', down('a'), [down('b')], false],
    ['one receiver fails three times -> theirs', down('a'), [down('a', 99_000), down('a', 98_000)], false],
    ['three receivers are down, none up -> ours', down('a'), [down('b'), down('c')], true],
    [
      'three down, another reached lately -> theirs',
      down('a'),
      [down('b'), down('c'), up('d', 50_000)],
      false,
    ],
    [
      'three down, another reached long ago -> ours',
      down('a'),
      [down('b'), down('c'), up('d', 39_000)],
      true,
    ],
    ['three down, two of them long ago -> theirs', down('a'), [down('b', 30_000), down('c', 30_000)], false],
    ['the resolver is silent -> ours', down('a', 100_000, true), [], true],
    [
      'the resolver is silent for one name only -> theirs',
      down('a', 100_000, true),
      [up('b', 99_000)],
      false,
    ],
    ['reached, then reset -> theirs', up('a', 100_000), [down('b'), down('c'), down('d')], false],
  ];
  for (const [name, last, lately, ours] of cases) t.equal(isOurFault(last, lately), ours, name);
});
