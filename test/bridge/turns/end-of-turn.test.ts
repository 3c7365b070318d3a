// How much silence ends a turn, by the pauses that this caller makes.
import t from 'tap';
import { beginPieces, endPiece } from '../../../bridge/turns/dictation.ts';
import {
  endSilenceMs,
  learnPause,
  listenedMs,
  PAUSE_RULES as R,
  TOLD_BY_MODEL,
} from '../../../bridge/turns/end-of-turn.ts';

t.test('how much silence ends a turn', async (t) => {
  const table: [string, number, number][] = [
    ['a caller of whom nothing is known', 0, R.endOfTurnMs],
    ['short pauses change nothing', 200, R.endOfTurnMs],
    ['a caller with long ones is given them', 700, 700 + R.pauseMarginMs],
    ['and never more than the bound', 1_500, R.mostSilenceMs],
  ];
  const pieces = beginPieces(0, 0);
  for (const [name, pauseMs, ms] of table) t.equal(endSilenceMs({ pauseMs, pieces }, false, R), ms, name);
  const drawnOut = endPiece(pieces, 900, true);
  t.equal(endSilenceMs({ pauseMs: 0, pieces: drawnOut }, false, R), R.hesitationMs, 'a drawn-out end');
  t.equal(endSilenceMs({ pauseMs: 0, pieces }, true, R), R.dictationMs, 'what is dictated was asked for');
  t.equal(
    endSilenceMs({ pauseMs: 900, pieces: drawnOut }, true, TOLD_BY_MODEL),
    0,
    'the model`s server has told it',
  );
});

t.test('a longer pause is learned at once, shorter ones slowly, odd ones never', async (t) => {
  t.equal(learnPause(0, 400), 400);
  t.equal(learnPause(400, 700), 700);
  t.equal(learnPause(700, 300), 620);
  t.equal(learnPause(300, 60), 300, 'part of a word');
  t.equal(learnPause(300, 5_000), 300, 'he was looking for something');
});

t.test('up to when the caller counts as listened to', async (t) => {
  const table: [string, number, number, number][] = [
    ['all of it: the clock', 9_000, 9_000, 9_000],
    ['as far behind as listening always is: the clock', 9_000 - R.behindMs, 9_000, 9_000],
    ['further behind: the sound, as if it were so far behind', 8_000, 9_000, 8_000 + R.behindMs],
    ['his clock is ahead of ours: the sound', 9_700, 9_000, 9_700],
    ['nothing is listened to any more: the clock, in time', 0, 9_000, 9_000 - R.unheardMs],
  ];
  for (const [name, heardMs, now, ms] of table) t.equal(listenedMs(heardMs, now, R), ms, name);
  t.equal(listenedMs(0, 9_000, TOLD_BY_MODEL), 9_000, 'where the model`s server has told the end');
});
