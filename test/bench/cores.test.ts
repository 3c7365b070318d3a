// Who has which core: the subject never shares one with its load.
import t from 'tap';
import { placeOn } from './cores.ts';

t.test('the load has the last two cores, the last one where there are but two', async (t) => {
  for (const [cores, threads, expected] of [
    [[], 1, null],
    [[0], 1, null],
    [[0, 1], 1, { subject: '0', carrier: '1', model: '1' }],
    [[0, 1], 2, null],
    [[4, 7, 9], 1, { subject: '4', carrier: '7', model: '9' }],
    [[0, 1, 2, 3], 1, { subject: '0', carrier: '2', model: '3' }],
    [[0, 1, 2, 3], 2, { subject: '0,1', carrier: '2', model: '3' }],
    [[0, 1, 2, 3], 4, null],
    [[0, 1, 2, 3, 4, 5], 4, { subject: '0,1,2,3', carrier: '4', model: '5' }],
  ] as const)
    t.same(placeOn(cores, threads), expected, `${threads} on ${cores.join(',')}`);
});
