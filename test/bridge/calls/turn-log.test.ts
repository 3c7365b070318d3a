// Turns and interruptions are numbered, and stored with what else nobody waits for.
import t from 'tap';
import { openTurnLog } from '../../../bridge/calls/turn-log.ts';
import type { TurnTimes } from '../../../bridge/protocol/messages.ts';
import type { Log } from '../../../log.ts';
import type { Store } from '../../../storage/store.ts';

const TIMES: TurnTimes = {
  kind: 'answer',
  speechEndMs: 1_000.04,
  decidedMs: 1_500.06,
  requestedMs: 1_500.06,
  firstModelAudioMs: null,
  firstSentMs: null,
  firstHeardMs: null,
  bargedIn: false,
  thrownAway: 0,
};

type Batch = Parameters<Store['saveTurns']>[0];

function open(fails: boolean | ((batch: Batch) => boolean) = false) {
  const saved: Batch[] = [];
  const errors: unknown[] = [];
  const impatient: Batch[] = [];
  const log = { error: (...line: unknown[]) => errors.push(line) } as unknown as Log;
  const turns = openTurnLog(
    {
      async saveTurns(batch, { patient = false } = {}) {
        if (!patient) impatient.push(batch);
        if (fails === true || (fails !== false && fails(batch))) throw new Error('the disk is full');
        saved.push(batch);
        return [];
      },
      flush: async () => {},
    },
    log,
    () => {},
  );
  return { turns, saved, errors, impatient };
}

t.test('turns of several calls, each call with its own count: nobody waits for them', async (t) => {
  const { turns, saved, impatient } = open();
  t.match(turns.turn('a', TIMES), { call_id: 'a', turn_index: 1, speech_end_ms: 1_000, decided_ms: 1_500.1 });
  t.match(turns.turn('b', TIMES), { turn_index: 1 });
  t.match(turns.turn('a', TIMES), { turn_index: 2, first_heard_ms: null });
  const one = turns.interruption('a', { atMs: 7, heldMs: 3.33, pausedMs: 5.04 }, true);
  t.match(one, { at_ms: 7, onset_ms: null, held_ms: 3.3, paused_ms: 5, silenced_ms: null, taken_back: true });
  t.equal(turns.interruption('c', { atMs: 7, heldMs: 3, pausedMs: null }, true).paused_ms, null);
  await turns.flush();
  t.same(impatient, []);
  t.same(
    saved.flatMap((batch) => batch.turns.map((turn) => [turn.call_id, turn.turn_index])),
    [
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ],
  );
  t.same(
    saved.flatMap((batch) => batch.interruptions).filter(({ call_id }) => call_id === 'a'),
    [one],
  );
  turns.forget('a');
  t.match(turns.turn('a', TIMES), { turn_index: 1 });
});

t.test('one that cannot be stored is told, and the next one goes on', async (t) => {
  const { turns, errors } = open(true);
  turns.turn('a', TIMES);
  await turns.flush();
  await new Promise(setImmediate);
  t.match(errors, [
    [{ turns: 1, interruptions: 0, err: { message: 'the disk is full' } }, 'turns.not_stored'],
  ]);
  turns.turn('a', TIMES);
  await turns.flush();
  await new Promise(setImmediate);
  t.equal(errors.length, 2);
});

t.test(
  'one row that is refused takes no other one with it, and those of a moment are told once',
  async (t) => {
    const { turns, saved, errors } = open(
      (batch) =>
        batch.turns.some((turn) => turn.call_id === 'gone') ||
        batch.interruptions.some((one) => one.at_ms === 9),
    );
    turns.turn('a', TIMES);
    turns.turn('gone', TIMES);
    turns.turn('b', TIMES);
    const kept = turns.interruption('a', { atMs: 7 }, true);
    turns.interruption('b', { atMs: 9 }, true);
    await turns.flush();
    await new Promise(setImmediate);
    t.same(
      saved.flatMap((batch) => batch.turns.map((turn) => turn.call_id)),
      ['a', 'b'],
    );
    t.same(
      saved.flatMap((batch) => batch.interruptions),
      [kept],
    );
    t.match(errors, [[{ turns: 1, interruptions: 1 }, 'turns.not_stored']]);
    t.equal(errors.length, 1);
  },
);

t.test('an interruption is of the last turn, also when that is stored already', async (t) => {
  const { turns, saved } = open();
  turns.turn('a', TIMES);
  turns.turn('a', TIMES);
  await turns.flush();
  saved.length = 0;
  turns.interruption('a', { atMs: 5 }, true);
  turns.interruption('b', { atMs: 6 }, false);
  turns.interruption('a', { atMs: 7 }, false);
  turns.interruption('a', { atMs: 8 }, false);
  await turns.flush();
  const cut = saved.flatMap((batch) => batch.turns);
  t.match(cut, [{ call_id: 'a', turn_index: 2, barged_in: true }]);
  t.equal(cut.length, 1, 'told once');
  t.equal(saved.flatMap((batch) => batch.interruptions).length, 4);
});

t.test('a flush has what waits written, and resolves when everything is stored', async (t) => {
  const stored: (() => void)[] = [];
  const log = { error: (line: unknown) => t.fail(String(line)) } as unknown as Log;
  let flushed = 0;
  const store = {
    saveTurns: () => new Promise<never[]>((done) => stored.push(() => done([]))),
    flush: async () => void flushed++,
  };
  const turns = openTurnLog(store, log, () => {});
  await turns.flush();
  t.equal(flushed, 0, 'nothing waits');
  turns.turn('a', TIMES);
  const first = turns.flush();
  turns.turn('a', TIMES);
  let over = false;
  const all = turns.flush().then(() => {
    over = true;
  });
  stored[1]?.();
  await new Promise(setImmediate);
  t.equal(over, false);
  t.equal(flushed, 2);
  stored[0]?.();
  await Promise.all([first, all]);
  t.ok(over);
});

t.test('turns of a call that another daemon has taken over: the log is told, and the call', async (t) => {
  const lines: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Log;
  const replaced: (readonly string[])[] = [];
  const store = {
    saveTurns: async ({ turns }: Batch) => turns.map((turn) => turn.call_id).filter((id) => id === 'theirs'),
    flush: async () => {},
  };
  const turns = openTurnLog(store, log, (callIds) => replaced.push(callIds));
  turns.turn('own', TIMES);
  turns.turn('theirs', TIMES);
  await turns.flush();
  t.same(lines, [[{ call_ids: ['theirs'] }, 'turns.not_owned']]);
  t.same(replaced, [['theirs']]);
});
