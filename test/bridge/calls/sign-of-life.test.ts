// A daemon says that it lives while it has calls, one word at a time, whatever becomes of the words.
import t from 'tap';
import { SignOfLife } from '../../../bridge/calls/sign-of-life.ts';
import type { Log } from '../../../log.ts';

function openSigns(answer: () => Promise<void>) {
  const told: unknown[] = [];
  const warned: unknown[] = [];
  const clock = { ms: 0, calls: 0 };
  let run = () => {};
  let stopped = false;
  const signs = new SignOfLife({
    store: {
      tellSelf(change) {
        told.push(change);
        return answer();
      },
    },
    now: () => new Date(clock.ms),
    calls: () => clock.calls,
    log: { warn: (...line: unknown[]) => warned.push(line) } as unknown as Log,
    every(ms, tick) {
      t.equal(ms, 250);
      run = tick;
      return () => {
        stopped = true;
      };
    },
  });
  const tick = async () => {
    clock.ms += 250;
    run();
    await new Promise((next) => setImmediate(next));
  };
  return { signs, told, warned, clock, tick, isStopped: () => stopped };
}

t.test('it says so while it has calls', async (t) => {
  const { signs, told, clock, tick, isStopped } = openSigns(async () => {});
  await tick();
  t.strictSame(told, [], 'without a call nobody asks');
  clock.calls = 1;
  await tick();
  await tick();
  clock.calls = 0;
  await tick();
  t.strictSame(told, [{ alive_at: '1970-01-01T00:00:00.500Z' }, { alive_at: '1970-01-01T00:00:00.750Z' }]);
  await signs.close();
  t.ok(isStopped());
});

t.test('one word at a time, and a disk that takes none is told of once', async (t) => {
  const answers: PromiseWithResolvers<void>[] = [];
  const { signs, told, warned, clock, tick } = openSigns(() => {
    const answer = Promise.withResolvers<void>();
    answers.push(answer);
    return answer.promise;
  });
  clock.calls = 1;
  await tick();
  await tick();
  t.equal(told.length, 1, 'the second waits for the first');
  answers[0]?.reject(new Error('full'));
  await tick();
  await tick();
  answers[1]?.reject(new Error('full'));
  await tick();
  t.match(warned, [[{ err: Error }, 'daemon.life_not_told']]);
  await tick();
  t.equal(told.length, 3, 'and it goes on');
  const closed = signs.close();
  answers[2]?.resolve();
  await closed;
});
