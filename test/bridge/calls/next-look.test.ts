// When a call looks at itself: at the last moment that was named, and soon at one that had passed when it was named, but once.
import { setTimeout as pause } from 'node:timers/promises';
import t from 'tap';
import { NextLook } from '../../../bridge/calls/next-look.ts';

/** Longer than one that is late is waited for. */
const A_WHILE_MS = 1_500;

t.test('a moment that had passed when it was named: soon, and once', async (t) => {
  let looks = 0;
  let due = 8_000;
  const next = new NextLook(
    () => 10_000,
    () => {
      looks++;
      // It has made nothing of it, and names it again.
      next.at(due);
    },
  );
  next.at(due);
  t.equal(looks, 0, 'what comes at this very moment is heard first');
  await pause(A_WHILE_MS);
  t.equal(looks, 1);
  due = 9_000;
  next.at(due);
  await pause(A_WHILE_MS);
  t.equal(looks, 2, 'another moment is another look');
});

t.test('one that had passed and is not named any more: no look', async (t) => {
  let looks = 0;
  const next = new NextLook(
    () => 10_000,
    () => looks++,
  );
  next.at(8_000);
  next.at(null);
  await pause(A_WHILE_MS);
  t.equal(looks, 0);
});
