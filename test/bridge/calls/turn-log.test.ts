// Turns and interruptions are numbered and stored in batches.
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
};

function open(fails: boolean | ((batch: Parameters<Store['saveTurns']>[0]) => boolean) = false) {
  const batches: Parameters<Store['saveTurns']>[0][] = [];
  const errors: unknown[] = [];
  const log = { error: (...line: unknown[]) => errors.push(line) } as unknown as Log;
  const turns = openTurnLog(
    {
      async saveTurns(batch) {
        if (fails === true || (fails !== false && fails(batch))) throw new Error('the disk is full');
        batches.push(batch);
        return [];
      },
    },
    log,
    () => {},
  );
  return { turns, batches, errors };
}

t.test('turns of several calls are one batch, each call with its own count', async (t) => {
  const { turns, batches } = open();
  t.match(turns.turn('a', TIMES), { call_id: 'a', turn_index: 1, speech_end_ms: 1_000, decided_ms: 1_500.1 });
  t.match(turns.turn('b', TIMES), { turn_index: 1 });
  t.match(turns.turn('a', TIMES), { turn_index: 2, first_heard_ms: null });
  const one = turns.interruption('a', { atMs: 7, heldMs: 3.33 }, true);
  t.match(one, { at_ms: 7, onset_ms: null, held_ms: 3.3, silenced_ms: null, taken_back: true });
  t.equal(batches.length, 0, 'nothing is written by itself at once');
  turns.flush();
  turns.flush();
  t.equal(batches.length, 1);
  t.same(
    batches[0]?.turns.map((turn) => [turn.call_id, turn.turn_index]),
    [
      ['a', 1],
      ['b', 1],
      ['a', 2],
    ],
  );
  t.same(batches[0]?.interruptions, [one]);
  turns.forget('a');
  t.match(turns.turn('a', TIMES), { turn_index: 1 });
  turns.flush();
});

t.test('what waits is written without being asked for', async (t) => {
  const { turns, batches } = open();
  turns.turn('a', TIMES);
  // The log's own timer does not keep a program alive.
  for (let waited = 0; batches.length === 0 && waited < 5_000; waited += 50) {
    await new Promise((later) => setTimeout(later, 50));
  }
  t.equal(batches.length, 1);
});

t.test('a batch that cannot be stored is told, and the next one goes on', async (t) => {
  const { turns, errors } = open(true);
  turns.turn('a', TIMES);
  turns.flush();
  await new Promise(setImmediate);
  t.match(errors, [[{ turns: 1 }, 'turns.not_stored']]);
});

t.test('one row that is refused takes no other one with it, and is told once', async (t) => {
  const { turns, batches, errors } = open(
    (batch) =>
      batch.turns.some((turn) => turn.call_id === 'gone') ||
      batch.interruptions.some((one) => one.at_ms === 9),
  );
  turns.turn('a', TIMES);
  turns.turn('gone', TIMES);
  turns.turn('b', TIMES);
  const kept = turns.interruption('a', { atMs: 7 }, true);
  turns.interruption('b', { atMs: 9 }, true);
  turns.flush();
  await new Promise(setImmediate);
  t.same(
    batches.flatMap((batch) => batch.turns.map((turn) => turn.call_id)),
    ['a', 'b'],
  );
  t.same(
    batches.flatMap((batch) => batch.interruptions),
    [kept],
  );
  t.equal(errors.length, 1);
  t.match(errors, [[{ turns: 1, interruptions: 1, of: 5 }, 'turns.not_stored']]);
});

t.test('an interruption is of the last turn, also when that is stored already', async (t) => {
  const { turns, batches } = open();
  turns.turn('a', TIMES);
  turns.turn('a', TIMES);
  turns.flush();
  turns.interruption('a', { atMs: 5 }, true);
  turns.interruption('b', { atMs: 6 }, false);
  turns.interruption('a', { atMs: 7 }, false);
  turns.interruption('a', { atMs: 8 }, false);
  turns.flush();
  t.match(batches[1]?.turns, [{ call_id: 'a', turn_index: 2, barged_in: true }]);
  t.equal(batches[1]?.turns.length, 1, 'told once');
  t.equal(batches[1]?.interruptions.length, 4);
});

t.test('a flush resolves when everything is stored, also what was being written already', async (t) => {
  const stored: (() => void)[] = [];
  const log = { error: (line: unknown) => t.fail(String(line)) } as unknown as Log;
  const store = { saveTurns: () => new Promise<never[]>((done) => stored.push(() => done([]))) };
  const turns = openTurnLog(store, log, () => {});
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
  stored[0]?.();
  await Promise.all([first, all]);
  t.ok(over);
});

t.test('turns of a call that another daemon has taken over: the log is told, and the call', async (t) => {
  const lines: unknown[][] = [];
  const log = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Log;
  const replaced: (readonly string[])[] = [];
  const turns = openTurnLog({ saveTurns: async () => ['theirs'] }, log, (callIds) => replaced.push(callIds));
  turns.turn('own', TIMES);
  turns.turn('theirs', TIMES);
  await turns.flush();
  t.same(lines, [[{ call_ids: ['theirs'] }, 'turns.not_owned']]);
  t.same(replaced, [['theirs']]);
});
