// Who is let in, who waits, and who is refused.
import t from 'tap';
import { concurrencyQueue } from '../../../control/http/concurrency-queue.ts';

function open(o: { atOnce: number; ofOne: number; waiting: number }) {
  const timers = new Set<() => void>();
  const room = concurrencyQueue({
    ...o,
    waitMs: 1000,
    later(_ms, run) {
      timers.add(run);
      return () => timers.delete(run);
    },
  });
  const events: string[] = [];
  const leave = new Map<string, () => void>();
  return {
    events,
    timers,
    leave: (who: string) => leave.get(who)?.(),
    /** `who` is a name and a number: a1, a2, b1. */
    async enter(who: string, gone?: AbortSignal) {
      const entered = room.enter(who[0] ?? '', gone).then((left) => {
        events.push(`${who} ${left === null ? 'refused' : 'in'}`);
        if (left !== null) leave.set(who, left);
      });
      // Who need not wait is in by now.
      await Promise.race([entered, new Promise((turn) => setImmediate(turn))]);
    },
    turn: () => new Promise((turn) => setImmediate(turn)),
  };
}

t.test('so many at once; the next in their order as others leave', async (t) => {
  const { enter, leave, events, turn, timers } = open({ atOnce: 2, ofOne: 2, waiting: 10 });
  for (const who of ['a1', 'b1', 'a2', 'b2']) await enter(who);
  t.same(events, ['a1 in', 'b1 in']);
  leave('b1');
  leave('b1');
  await turn();
  t.same(events, ['a1 in', 'b1 in', 'a2 in'], 'leaving twice is leaving once');
  leave('a1');
  await turn();
  t.same(events.at(-1), 'b2 in');
  t.equal(timers.size, 0);
});

t.test('one of whom as many are inside as may be waits, and lets others pass', async (t) => {
  const { enter, leave, events, turn } = open({ atOnce: 3, ofOne: 2, waiting: 10 });
  for (const who of ['a1', 'a2', 'a3', 'b1', 'b2']) await enter(who);
  t.same(events, ['a1 in', 'a2 in', 'b1 in']);
  leave('b1');
  await turn();
  t.same(events.at(-1), 'b2 in', 'though a3 has waited longer');
  leave('a2');
  await turn();
  t.same(events.at(-1), 'a3 in');
});

t.test('whoever comes when enough wait, or has waited long enough, is refused', async (t) => {
  const { enter, leave, events, timers, turn } = open({ atOnce: 1, ofOne: 1, waiting: 1 });
  for (const who of ['a1', 'a2', 'a3']) await enter(who);
  t.same(events, ['a1 in', 'a3 refused']);
  for (const run of timers) run();
  await turn();
  t.same(events.at(-1), 'a2 refused');
  leave('a1');
  await enter('a4');
  t.same(events.at(-1), 'a4 in', 'who was refused takes no place');
});

t.test('whoever goes away waits no longer', async (t) => {
  const { enter, leave, events, timers, turn } = open({ atOnce: 1, ofOne: 1, waiting: 1 });
  await enter('a1');
  const gone = new AbortController();
  await enter('a2', gone.signal);
  gone.abort();
  await turn();
  t.same(events, ['a1 in', 'a2 refused']);
  t.equal(timers.size, 0);
  await enter('a3', gone.signal);
  t.same(events.at(-1), 'a3 refused', 'nor begins to');
  leave('a1');
  await enter('a4');
  t.same(events.at(-1), 'a4 in');
});
