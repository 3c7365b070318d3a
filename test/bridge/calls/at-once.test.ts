// So much at once, the rest in its order, whatever fails.
import t from 'tap';
import { AtOnce } from '../../../bridge/calls/at-once.ts';

t.test('two at once, in order; one that fails gives up its place', async (t) => {
  const atOnce = new AtOnce(2);
  const begun: number[] = [];
  const works = [0, 1, 2, 3].map(() => Promise.withResolvers<number>());
  const answers = works.map(({ promise }, at) =>
    atOnce.run(() => {
      begun.push(at);
      return promise;
    }),
  );
  t.strictSame(begun, [0, 1]);
  works[1]?.reject(new Error('broken'));
  await t.rejects(Promise.all([answers[1]]), { message: 'broken' });
  t.strictSame(begun, [0, 1, 2]);
  works[0]?.resolve(0);
  works[2]?.resolve(2);
  t.equal(await answers[2], 2);
  t.strictSame(begun, [0, 1, 2, 3]);
  works[3]?.resolve(3);
  t.strictSame(await Promise.all([answers[0], answers[3]]), [0, 3]);
  t.equal(await atOnce.run(async () => 4), 4, 'all places are free again');
});
