// Saying that one lives: while there are calls, one time after the other, whatever the disk says.
import t from 'tap';
import { Alive } from '../../../bridge/calls/alive.ts';
import type { SelfTold } from '../../../storage/store.ts';

t.test('it is said while there are calls, never twice at once, and no more after the end', async (t) => {
  const told: SelfTold[] = [];
  const writes: PromiseWithResolvers<void>[] = [];
  let hasCalls = false;
  let at = 0;
  let tick = () => {};
  const alive = new Alive({
    store: {
      tellSelf(change) {
        told.push(change);
        const write = Promise.withResolvers<void>();
        writes.push(write);
        return write.promise;
      },
    },
    now: () => new Date(at),
    hasCalls: () => hasCalls,
    every(ms, run) {
      t.ok(ms <= 250, 'several times a second');
      tick = run;
      return () => {
        tick = () => {};
      };
    },
  });
  tick();
  t.strictSame(told, [], 'not before it is started');
  alive.start();
  tick();
  t.strictSame(told, [], 'nor without calls');

  hasCalls = true;
  tick();
  at = 250;
  tick();
  t.strictSame(told, [{ alive_at: new Date(0).toISOString() }], 'one write at a time');
  writes[0]?.reject(new Error('the disk is full'));
  await new Promise((next) => setImmediate(next));
  tick();
  t.strictSame(told.at(-1), { alive_at: new Date(250).toISOString() }, 'and again after one that failed');
  writes[1]?.resolve();
  await new Promise((next) => setImmediate(next));

  hasCalls = false;
  tick();
  t.strictSame(told.at(-1), { alive_at: null }, 'and once that there are none any more');
  writes[2]?.resolve();
  await new Promise((next) => setImmediate(next));
  tick();
  t.equal(told.length, 3);

  hasCalls = true;
  alive.close();
  alive.close();
  tick();
  t.equal(told.length, 3);
});
