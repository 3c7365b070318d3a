// How loud a caller is, learned turn by turn; who is then loud enough to be heard over the agent, and who is after a while.
import t from 'tap';
import { CallerLevel } from '../../../audio/vad/caller-level.ts';

const windows = (seconds: number) => Math.round(seconds / 0.032);

/** A line: voices at a level, one after the other. Syllables are 4 dB louder than the gaps between them. */
function open() {
  const level = new CallerLevel();
  let goesOn = false;
  const one = (voiceDb: number | null, over: boolean) => {
    const heard = level.hear(voiceDb, over, goesOn);
    goesOn = voiceDb !== null && heard;
    return heard && voiceDb !== null;
  };
  /** Answers the share of the windows that may be the caller's, and after how many seconds the last of a second may. */
  const speaks = (db: number, seconds: number, over = false) => {
    let heard = 0;
    let sinceS: number | null = null;
    for (let i = 0; i < windows(seconds); i++) {
      const may = one(i % 6 < 3 ? db + 2 : db - 2, over);
      if (may) heard++;
      if (!may) sinceS = null;
      else sinceS ??= i * 0.032;
    }
    return { share: heard / windows(seconds), sinceS };
  };
  const quiet = (seconds = 1, over = false) => {
    for (let i = 0; i < windows(seconds); i++) one(null, over);
  };
  /** A turn of the caller between two of the agent. */
  const turn = (db: number, seconds = 2) => {
    quiet(1, true);
    quiet();
    speaks(db, seconds);
    quiet();
    quiet(1, true);
  };
  return { level, speaks, quiet, turn };
}

t.test('of a caller who has not spoken, whatever is as loud as a quiet one is heard', async (t) => {
  const { speaks, quiet } = open();
  quiet(1, true);
  t.equal(speaks(-38, 2, true).share, 1);
  quiet(1, true);
  t.equal(speaks(-56, 1, true).share, 0);
});

t.test(
  'a voice far below the caller’s own is not heard over the agent; his own is, and a fainter word of his',
  async (t) => {
    const { level, speaks, quiet, turn } = open();
    turn(-25);
    t.ok(Math.abs(level.db + 25) < 1, `${level.db}`);
    t.equal(speaks(-45, 2, true).share, 0);
    quiet(1, true);
    t.equal(speaks(-25, 2, true).share, 1);
    quiet(1, true);
    t.equal(speaks(-31, 2, true).share, 1);
  },
);

t.test('a voice with single loud syllables is not the caller’s: all of what it says is judged', async (t) => {
  const { speaks, quiet, turn } = open();
  turn(-25);
  speaks(-34, 0.1, true);
  t.ok(speaks(-42, 1, true).share < 0.3);
  quiet(2, true);
  t.equal(speaks(-35, 0.2, true).share, 1, 'a few windows do not tell yet');
  t.ok(speaks(-35, 0.6, true).share < 0.5);
});

t.test('a quiet caller is as loud as he is', async (t) => {
  const { speaks, quiet, turn } = open();
  turn(-42);
  t.equal(speaks(-42, 2, true).share, 1);
  quiet(1, true);
  t.equal(speaks(-48, 2, true).share, 1);
  quiet(1, true);
  t.equal(speaks(-60, 2, true).share, 0);
});

t.test('the television’s turn came first: the caller’s own is believed at once', async (t) => {
  const { level, speaks, turn } = open();
  turn(-42, 4);
  turn(-25);
  t.ok(Math.abs(level.db + 25) < 1);
  t.equal(speaks(-42, 2, true).share, 0);
});

t.test('a turn of the television’s between the caller’s does not make it the caller', async (t) => {
  const { speaks, turn } = open();
  turn(-25);
  turn(-44, 4);
  t.ok(speaks(-44, 2, true).share < 0.3);
});

t.test('who moves away from the handset is heard over the agent after he has spoken on', async (t) => {
  const { speaks, turn } = open();
  turn(-25);
  const { sinceS } = speaks(-35, 40, true);
  t.ok(sinceS !== null && sinceS > 5 && sinceS < 25, `${sinceS} s`);
});

t.test('… or again and again', async (t) => {
  const { speaks, quiet, turn } = open();
  turn(-25);
  let heard = 0;
  for (let time = 0; time < 30; time++) {
    heard = speaks(-35, 1, true).share;
    quiet(2, true);
  }
  t.ok(heard > 0.5);
});

t.test('… and after what he says in silence', async (t) => {
  const { speaks, turn } = open();
  turn(-25);
  for (let time = 0; time < 3; time++) turn(-40);
  t.equal(speaks(-40, 2, true).share, 1);
});

t.test('whoever it is, he is heard at last, however loud the one before him was', async (t) => {
  const { speaks, turn } = open();
  turn(-12, 5);
  const { sinceS } = speaks(-32, 120, true);
  t.ok(sinceS !== null && sinceS <= 75, `${sinceS} s`);
});

t.test('a voice of the room’s is not heard over a long answer', async (t) => {
  const { speaks, turn } = open();
  turn(-25);
  t.ok(speaks(-40, 12, true).share < 0.1);
});

t.test('what was taken back is not learned from', async (t) => {
  const { level, speaks, quiet } = open();
  speaks(-20, 1);
  level.takeBack();
  quiet(1);
  quiet(1, true);
  t.equal(level.db, new CallerLevel().db);
});
