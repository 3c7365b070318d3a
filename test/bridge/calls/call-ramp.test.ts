// How many calls begin when many come at once, on a clock of the test's own.
import t from 'tap';
import {
  afterRampSecond,
  ON_TIME,
  RAMP_START,
  type RampSecond,
  wasLate,
} from '../../../bridge/calls/admission.ts';
import { openCallRamp } from '../../../bridge/calls/call-ramp.ts';

const RULES = { lateMs: 40 };
const good: RampSecond = { begun: 0, requestWaitMs: 100, late: false };

for (const [name, perSecond, second, expected] of [
  ['a good second that used its turns -> more', 10, { ...good, begun: 10 }, 15],
  ['half of them is use', 10, { ...good, begun: 5 }, 15],
  ['a good second without calls shows nothing', 10, good, 10],
  ['it comes back to where it began by itself', 4, good, 6],
  ['it does not grow without end', 90, { ...good, begun: 90 }, 100],
  ['a late thread -> half', 20, { ...good, begun: 20, late: true }, 10],
  ['requests that wait -> half', 20, { ...good, begun: 20, requestWaitMs: 501 }, 10],
  ['exactly the limit is not late', 20, { ...good, begun: 20, requestWaitMs: 500 }, 30],
  ['at the worst a call a second', 1, { ...good, late: true }, 1],
] as [string, number, RampSecond, number][]) {
  t.test(name, async (t) => t.equal(afterRampSecond(perSecond, second, RULES), expected));
}

t.test('a late second is the last one told of', async (t) => {
  t.notOk(wasLate(ON_TIME));
  t.ok(wasLate({ at: 'on_time', lateSeconds: 1 }));
  t.ok(wasLate({ at: 'late', why: 'loop_delay', goodSeconds: 0 }));
  t.notOk(wasLate({ at: 'late', why: 'loop_delay', goodSeconds: 1 }));
});

function openRig(lateMs = RULES.lateMs) {
  let nowMs = 0;
  const timers = new Set<{ everyMs: number; atMs: number; run: () => void }>();
  const told: boolean[] = [];
  let late = false;
  const ramp = openCallRamp({
    rules: { lateMs },
    late: () => late,
    now: () => nowMs,
    every(everyMs, run) {
      const timer = { everyMs, atMs: nowMs + everyMs, run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  return {
    told,
    timers,
    ramp,
    setLate(is: boolean) {
      late = is;
    },
    /** So many calls come at once; how many begin at once. */
    come(count: number) {
      let atOnce = 0;
      for (let i = 0; i < count; i++) {
        const turn = ramp.turn();
        if (turn === true) atOnce++;
        else void turn.then((mayBegin) => told.push(mayBegin));
      }
      return atOnce;
    },
    async pass(ms: number) {
      for (const end = nowMs + ms; nowMs < end; ) {
        nowMs += 50;
        for (const timer of timers) {
          if (timer.atMs > nowMs) continue;
          timer.atMs += timer.everyMs;
          timer.run();
        }
        await Promise.resolve();
      }
    },
    begun: () => told.filter((mayBegin) => mayBegin).length,
    refused: () => told.filter((mayBegin) => !mayBegin).length,
  };
}

t.test('a burst begins at the pace at which it is seen to be carried', async (t) => {
  const rig = openRig();
  t.equal(rig.come(40), RAMP_START);
  await rig.pass(950);
  t.ok(rig.begun() >= 9 && rig.begun() <= 10, 'ten more in the second after');
  await rig.pass(3_000);
  t.equal(rig.begun(), 30, 'and faster and faster the rest');
  t.equal(rig.refused(), 0);
});

t.test('who would wait too long is told so at once', async (t) => {
  const rig = openRig();
  rig.come(200);
  await Promise.resolve();
  t.equal(rig.refused(), 200 - RAMP_START - 60, 'six seconds at ten a second wait');
});

t.test('when threads run late, fewer begin, and who waits in vain is told', async (t) => {
  const rig = openRig();
  rig.setLate(true);
  t.equal(rig.come(50), 10);
  await rig.pass(6_100);
  t.equal(rig.told.length, 40, 'all of them know by then');
  t.ok(rig.begun() <= 20, `${rig.begun()} of 40 began`);
  rig.setLate(false);
  await rig.pass(10_000);
  t.ok(rig.come(20) >= RAMP_START, 'and it comes back');
});

t.test('requests that wait for the control thread count as late', async (t) => {
  const rig = openRig();
  rig.come(30);
  rig.ramp.requestWaited(900);
  await rig.pass(2_000);
  t.ok(rig.begun() < 18, `${rig.begun()} of 20 began`);
});

t.test('turns do not pile up while nobody calls', async (t) => {
  const rig = openRig();
  await rig.pass(60_000);
  t.equal(rig.come(100), RAMP_START);
});

t.test('the thread is woken often only while somebody waits', async (t) => {
  const rig = openRig();
  t.equal(rig.timers.size, 1);
  rig.come(RAMP_START);
  t.equal(rig.timers.size, 1, 'all of them begin at once');
  rig.come(3);
  t.equal(rig.timers.size, 2);
  await rig.pass(1_000);
  t.equal(rig.begun(), 3);
  t.same(
    [...rig.timers].map(({ everyMs }) => everyMs),
    [1_000],
  );
});

t.test('where nothing is late every call begins at once', async (t) => {
  t.equal(openRig(0).come(1_000), 1_000);
});

t.test('closed, nobody waits any more', async (t) => {
  const rig = openRig();
  rig.come(20);
  rig.ramp.close();
  await Promise.resolve();
  t.equal(rig.refused(), 10);
});
