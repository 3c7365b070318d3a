// Looking for what others left: whatever fails at one look, calls that were taken are ended, and the next look follows, never
// beside another, and none after the end.
import t from 'tap';
import { Takeover } from '../../../bridge/calls/takeover.ts';
import type { Log } from '../../../log.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

/** A takeover whose time is the test's: each call of `tick` is an interval gone by. */
function openTakeover(o: {
  takeOver(): Promise<CallRecord[]>;
  end?(calls: readonly CallRecord[]): Promise<void>;
  settle?(): void;
}) {
  const errors: unknown[][] = [];
  const intervals: { ms: number; run: () => void }[] = [];
  const takeover = new Takeover({
    store: { takeOver: o.takeOver },
    log: { error: (...line: unknown[]) => errors.push(line) } as unknown as Log,
    end: o.end ?? (async () => {}),
    settle: o.settle ?? (() => {}),
    every(ms, run) {
      const interval = { ms, run };
      intervals.push(interval);
      return () => void intervals.splice(intervals.indexOf(interval), 1);
    },
  });
  const tick = async () => {
    for (const { run } of intervals) run();
    await new Promise((next) => setImmediate(next));
  };
  return { takeover, errors, intervals, tick };
}

t.test('calls that are taken are ended, though results cannot be settled, and looks go on', async (t) => {
  const call = makeCall('org');
  const looks: CallRecord[][] = [[], [call], []];
  const ended: string[] = [];
  const { takeover, errors, intervals, tick } = openTakeover({
    takeOver: async () => looks.shift() ?? [],
    async end(calls) {
      ended.push(...calls.map(({ id }) => id));
    },
    settle() {
      throw new Error('not today');
    },
  });
  t.strictSame(intervals, [], 'nothing before it is started');
  takeover.start();
  takeover.start();
  t.match(intervals, [{ ms: 2_000 }], 'started once');
  for (let at = 0; at < 3; at++) await tick();
  await takeover.close();
  t.strictSame(ended, [call.id]);
  t.equal(errors.length, 3);
  t.ok(errors.every(([, message]) => message === 'calls.not_taken_over'));
});

t.test('a look that lasts has no other beside it; the end waits for it, and none follows', async (t) => {
  let looks = 0;
  const taken = Promise.withResolvers<CallRecord[]>();
  const ended = Promise.withResolvers<void>();
  const order: string[] = [];
  const { takeover, tick } = openTakeover({
    takeOver() {
      looks++;
      return taken.promise;
    },
    async end() {
      order.push('ending');
      await ended.promise;
      order.push('ended');
    },
  });
  takeover.start();
  await tick();
  await tick();
  t.equal(looks, 1, 'while the store is asked');
  taken.resolve([makeCall('org')]);
  await tick();
  await tick();
  t.strictSame([looks, ...order], [1, 'ending'], 'and while what was taken is being ended');
  const closed = takeover.close().then(() => order.push('closed'));
  await tick();
  ended.resolve();
  await closed;
  await takeover.close();
  await tick();
  t.equal(looks, 1);
  t.strictSame(order, ['ending', 'ended', 'closed']);
});
