// The 20 ms clock: its ticks stand on one grid whenever it is looked at, a stall is made up for, and its lateness remembered longer
// than one reading.
import t from 'tap';
import { ThreadClock } from '../../../bridge/media/frame-clock.ts';

const START_MS = 1_000.25;

function opened() {
  const failed: unknown[] = [];
  const clock = new ThreadClock(START_MS, (error) => failed.push(error));
  const ticks: number[] = [];
  clock.add((nowMs) => void ticks.push(nowMs - START_MS));
  return { clock, ticks, failed, at: (ms: number) => clock.run(START_MS + ms) };
}

t.test('looked at early, in time and late: each tick once, at its place on the grid', async (t) => {
  const { clock, ticks, at } = opened();
  at(19.9);
  t.same(ticks, []);
  t.equal(clock.dueMs, START_MS + 20);
  for (const ms of [20, 20.5, 41, 63, 79.9, 80]) at(ms);
  t.same(ticks, [20, 40, 60, 80]);
  t.equal(clock.dueMs, START_MS + 100);
});

t.test('a stall: its ticks come all the same, and what it was late by is known', async (t) => {
  const { clock, ticks, at } = opened();
  at(20);
  at(163);
  t.same(ticks, [20, 40, 60, 80, 100, 120, 140, 160]);
  t.equal(clock.recentLateMs(), 123);
  t.same(clock.lateness(), { maxMs: 123, skipped: 0 });
  t.same(clock.lateness(), { maxMs: 0, skipped: 0 }, 'a reading begins anew');
  t.equal(clock.recentLateMs(), 123, 'what may come again is remembered');
  for (let ms = 180; ms <= 10_020; ms += 20) at(ms);
  t.equal(clock.recentLateMs(), 123);
  for (let ms = 10_040; ms <= 20_060; ms += 20) at(ms);
  t.equal(clock.recentLateMs(), 0, 'not for ever');
});

t.test('a stall that is too long to be made up for: the last ticks of it, the others counted', async (t) => {
  const { clock, ticks, at } = opened();
  at(1_000);
  t.same(ticks, [820, 840, 860, 880, 900, 920, 940, 960, 980, 1_000]);
  t.same(clock.lateness(), { maxMs: 980, skipped: 40 });
  at(1_020);
  t.equal(ticks.at(-1), 1_020, 'the grid stays');
});

t.test(
  'a listener that throws is told of; the others have their ticks, and one that leaves has none',
  async (t) => {
    const { clock, ticks, failed, at } = opened();
    const stop = clock.add(() => {
      throw new Error('of mine');
    });
    const after: number[] = [];
    clock.add(() => void after.push(ticks.length));
    at(20);
    stop();
    at(40);
    t.equal(failed.length, 1);
    t.same(ticks, [20, 40]);
    t.same(after, [1, 2]);
  },
);
