// What holds the agent's voice back, and what the hold comes to.
import t from 'tap';
import { burstOf, confirms, firstOnset, HOLD_RULES as R } from '../../../bridge/turns/hold.ts';

const burst = { onsetMs: 1_000, endMs: 1_300, spokenMs: 300 };

t.test('what confirms a hold', async (t) => {
  const table: [string, Parameters<typeof confirms>, boolean][] = [
    ['speech that has lasted', [{ onsetMs: 5_000, pausedMs: 0 }, null, R, 5_000 + R.confirmMs], true],
    ['not a moment less', [{ onsetMs: 5_000, pausedMs: 0 }, null, R, 5_000 + R.confirmMs - 1], false],
    [
      'bursts with nothing between them do not',
      [{ onsetMs: 5_000, pausedMs: R.confirmMs - R.soundingMs + 1 }, null, R, 5_000 + R.confirmMs],
      false,
    ],
    [
      'until enough of them is heard',
      [{ onsetMs: 5_000, pausedMs: 200 }, null, R, 5_000 + R.soundingMs + 200],
      true,
    ],
    [
      'several pieces together',
      [{ onsetMs: 1_800, pausedMs: 0 }, burst, R, 1_800 + R.confirmTogetherMs - 300],
      true,
    ],
    [
      'not pieces far apart',
      [{ onsetMs: 2_400, pausedMs: 0 }, burst, R, 2_400 + R.confirmTogetherMs - 300],
      false,
    ],
  ];
  for (const [name, given, expected] of table) t.equal(confirms(...given), expected, name);
});

t.test('where the words begin', async (t) => {
  t.equal(firstOnset({ onsetMs: 1_800 }, burst, R), 1_000, 'with the piece just before');
  t.equal(firstOnset({ onsetMs: 2_400 }, burst, R), 2_400);
  t.equal(firstOnset({ onsetMs: 2_400 }, null, R), 2_400);
  const long = { onsetMs: 1_000, endMs: 4_000, spokenMs: 600 };
  t.equal(firstOnset({ onsetMs: 4_500 }, long, R), 4_500, 'words too old are left');
});

t.test('pieces that belong together are one burst', async (t) => {
  t.same(burstOf({ onsetMs: 1_800 }, 2_000, burst, R), {
    onsetMs: 1_000,
    endMs: 2_000,
    spokenMs: 500,
  });
  t.same(burstOf({ onsetMs: 4_000 }, 4_200, burst, R), {
    onsetMs: 4_000,
    endMs: 4_200,
    spokenMs: 200,
  });
});
