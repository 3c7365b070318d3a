// The 20 ms clock: a loop that was blocked is made up for, and its lateness remembered longer than one reading.
import t from 'tap';
import { startFrameClock } from '../../../bridge/media/frame-clock.ts';

t.test('a blocked loop: its ticks come all the same, and what it was late by is known', async (t) => {
  const clock = startFrameClock((error) => t.fail(String(error)));
  t.teardown(() => clock.close());
  const ticks: number[] = [];
  const next = () =>
    new Promise<void>((done) => {
      const stop = clock.add(() => {
        stop();
        done();
      });
    });
  clock.add((nowMs) => ticks.push(nowMs));
  await next();
  const before = ticks.length;
  const from = performance.now();
  while (performance.now() - from < 120);
  await next();
  t.ok(ticks.length - before >= 4, `${ticks.length - before} ticks for 120 ms`);
  t.ok(
    ticks.slice(1).every((at, i) => {
      const grid = (at - (ticks[i] ?? 0)) / 20;
      return Math.abs(grid - Math.round(grid)) < 1e-6;
    }),
    'each at its place on the grid of 20 ms',
  );
  const lateMs = clock.recentLateMs();
  t.ok(lateMs >= 80, `${lateMs} ms late`);
  t.equal(clock.lateness().maxMs, lateMs);
  t.ok(clock.lateness().maxMs < lateMs, 'a reading begins anew');
  t.equal(clock.recentLateMs(), lateMs, 'what may come again is remembered');
});
