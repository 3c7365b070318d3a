import t from 'tap';
import { endSilenceMs, learnPause, PAUSE_RULES as R } from '../../bridge/turn-end.ts';

const turn = { spokenMs: 2_000, pauseMs: 0, ending: null } as const;

t.test('how much silence ends a turn', async (t) => {
  const table: [string, Parameters<typeof endSilenceMs>[0], number][] = [
    ['in the ordinary case', turn, R.endOfTurnMs],
    [
      'after words that sounded complete: less',
      { ...turn, ending: 'complete' },
      R.endOfTurnMs - R.completeMs,
    ],
    ['after words that were held: more', { ...turn, ending: 'hanging' }, R.endOfTurnMs + R.hangingMs],
    ['after a word or two: less', { ...turn, spokenMs: 300 }, R.endOfTurnMs - R.completeMs],
    [
      'a held word is held, however short',
      { ...turn, spokenMs: 300, ending: 'hanging' },
      R.endOfTurnMs + R.hangingMs,
    ],
    ['a caller with long pauses is given them', { ...turn, pauseMs: 700 }, 700 + R.pauseMarginMs],
    ['short ones change nothing', { ...turn, pauseMs: 200 }, R.endOfTurnMs],
    ['and never more than the bound', { ...turn, pauseMs: 1_500, ending: 'hanging' }, R.mostSilenceMs],
  ];
  for (const [name, it, ms] of table) t.equal(endSilenceMs(it, R), ms, name);
  t.ok(endSilenceMs({ ...turn, ending: 'complete' }, R) >= R.leastSilenceMs);
});

t.test('a longer pause is learned at once, shorter ones slowly, odd ones never', async (t) => {
  t.equal(learnPause(0, 400), 400);
  t.equal(learnPause(400, 700), 700);
  t.equal(learnPause(700, 300), 620);
  t.equal(learnPause(300, 60), 300, 'part of a word');
  t.equal(learnPause(300, 5_000), 300, 'he was looking for something');
});
