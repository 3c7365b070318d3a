// The caller's turns: what is sent, kept and committed.
import t from 'tap';
import { CallerTurns } from '../../../bridge/models/caller-turns.ts';

const ms = (n: number, fill = 0) => Buffer.alloc(n * 8, fill);

t.test('audio is sent in stretches, and kept until the turn is over', async (t) => {
  const turns = new CallerTurns(8);
  turns.append(ms(20, 1));
  t.equal(turns.unsent(40), null, 'not enough yet');
  turns.append(ms(20, 2));
  t.same(turns.unsent(40), Buffer.concat([ms(20, 1), ms(20, 2)]));
  t.equal(turns.unsent(0), null, 'nothing more');
  turns.append(ms(60, 3));
  t.equal(turns.openMs(), 100);
  t.same(turns.unsent(0), ms(60, 3));
  const committed = turns.commit();
  t.equal(committed?.turn, 0);
  t.same(committed?.audio.bytes(), Buffer.concat([ms(20, 1), ms(20, 2), ms(60, 3)]));
  t.equal(turns.openMs(), 0);
  t.equal(turns.commit(), null);
});

t.test('clear says whether the server has some of it', async (t) => {
  const turns = new CallerTurns(8);
  turns.append(ms(20));
  t.equal(turns.clear(), false);
  turns.append(ms(20));
  turns.unsent(0);
  t.equal(turns.clear(), true);
  t.equal(turns.openMs(), 0);
});

t.test('of an endless turn the newest part is kept, and nothing is sent twice', async (t) => {
  const turns = new CallerTurns(8);
  let sent = 0;
  for (let n = 0; n < 1500; n++) {
    turns.append(ms(100, n & 0xff));
    const stretch = turns.unsent(0);
    if (stretch?.length === 800 && stretch[0] === (n & 0xff)) sent++;
  }
  t.equal(sent, 1500);
  t.equal(turns.openMs(), 150_000);
  const committed = turns.commit();
  t.ok(committed && committed.audio.length <= 120_000 * 8 && committed.audio.length >= 60_000 * 8);
  t.equal(committed?.audio.bytes().at(-1), 1499 & 0xff);
});

t.test('acknowledgements go to the turns in order', async (t) => {
  const turns = new CallerTurns(8);
  for (let turn = 0; turn < 3; turn++) {
    turns.append(ms(100));
    turns.commit();
    turns.sent(turn);
  }
  t.equal(turns.refused(1), 1);
  t.equal(turns.refused(1), null, 'once');
  t.equal(turns.acknowledged('x'), 0);
  t.equal(turns.acknowledged('y'), 2);
  t.equal(turns.acknowledged('z'), null);
  t.equal(turns.turnOf('y'), 2);
  t.equal(turns.turnOf('w'), null);
  t.ok(turns.unsettled());
  t.ok(turns.unsettled(2));
  t.equal(turns.settle(2), true);
  t.equal(turns.settle(2), false);
  t.notOk(turns.unsettled(2));
});

t.test('a new session is sent the open turn again', async (t) => {
  const turns = new CallerTurns(8);
  turns.append(ms(100));
  turns.commit();
  turns.sent(0);
  turns.append(ms(40, 5));
  turns.unsent(0);
  turns.restart();
  t.same(turns.unsent(0), ms(40, 5));
  t.equal(turns.acknowledged('x'), null);
  t.equal(turns.refused(null), null);
});
