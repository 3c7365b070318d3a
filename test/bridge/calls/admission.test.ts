// Which media thread takes a call, and which takes none for a while.
import t from 'tap';
import {
  admits,
  afterDeath,
  afterReport,
  afterSilence,
  choose,
  HEALTHY_MS,
  ON_TIME,
  type Pace,
  type Reading,
} from '../../../bridge/calls/admission.ts';

const RULES = { lateMs: 40 };
const good: Reading = { loopDelayP99Ms: 2, frameAgeP50Ms: 8, skippedTicks: 0 };
const slow: Reading = { ...good, loopDelayP99Ms: 41 };
const middling: Reading = { ...good, loopDelayP99Ms: 30 };
const stale: Reading = { ...good, frameAgeP50Ms: 104 };
const skips: Reading = { ...good, skippedTicks: 3 };
const slips: Reading = { ...good, skippedTicks: 2 };
const idle: Reading = { ...good, frameAgeP50Ms: null };

for (const [name, readings, expected] of [
  ['on time + good -> on time', [good, idle], 'on_time'],
  ['one late second is a pause', [slow, good, slow, good], 'on_time'],
  ['two late seconds in a row -> late', [slow, slow], 'loop_delay'],
  ['of whatever kind', [slow, stale], 'frame_age'],
  ['ticks left out', [skips, skips], 'skipped_ticks'],
  ['ticks left out within the limit', [slips, slips], 'on_time'],
  [
    'exactly the limit is not late',
    Array(9).fill({ ...good, loopDelayP99Ms: 40, frameAgeP50Ms: 100 }),
    'on_time',
  ],
  ['late + four good -> late', [slow, slow, ...Array(4).fill(good)], 'loop_delay'],
  ['late + five good -> on time', [slow, slow, ...Array(5).fill(good)], 'on_time'],
  [
    'a middling second is not good enough to come back',
    [slow, slow, ...Array(30).fill(middling)],
    'loop_delay',
  ],
  [
    'and starts the count anew',
    [slow, slow, good, good, good, good, middling, good, good, good, good],
    'loop_delay',
  ],
  ['a middling second is not late enough to go', Array(30).fill(middling), 'on_time'],
  ['no frames are no evidence of age', [slow, slow, ...Array(5).fill(idle)], 'on_time'],
] as [string, Reading[], string][]) {
  t.test(name, async (t) => {
    const pace = readings.reduce<Pace>((one, reading) => afterReport(one, reading, RULES), ON_TIME);
    t.equal(pace.at === 'late' ? pace.why : pace.at, expected);
  });
}

t.test('without a limit nothing is late', async (t) => {
  const late: Pace = { at: 'late', why: 'loop_delay', goodSeconds: 0 };
  t.same(afterReport(late, slow, { lateMs: 0 }), ON_TIME);
  t.same(afterSilence(ON_TIME, 100, { lateMs: 0 }), ON_TIME);
});

t.test('a thread that says nothing is late, and comes back like any other', async (t) => {
  t.same(afterSilence(ON_TIME, 4, RULES), ON_TIME);
  let pace = afterSilence(ON_TIME, 5, RULES);
  t.match(pace, { at: 'late', why: 'silent' });
  t.equal(afterSilence(pace, 6, RULES), pace, 'told once');
  for (let i = 0; i < 5; i++) pace = afterReport(pace, good, RULES);
  t.same(pace, ON_TIME);
});

const lane = (thread: number, calls: number, late = false) => ({
  thread,
  calls,
  pace: late ? ({ at: 'late', why: 'loop_delay', goodSeconds: 0 } as const) : ON_TIME,
});

for (const [name, lanes, takes, thread] of [
  ['none runs', [], false, null],
  ['the one with the fewest calls', [lane(1, 5), lane(2, 3), lane(3, 4)], true, 2],
  ['not the late one, however empty', [lane(1, 50), lane(2, 0, true)], true, 1],
  [
    'all late: none is admitted; who was admitted before goes where there are fewest',
    [lane(1, 5, true), lane(2, 3, true)],
    false,
    2,
  ],
] as const) {
  t.test(name, async (t) => {
    t.equal(admits(lanes), takes);
    t.equal(choose(lanes), thread);
  });
}

t.test('a thread that keeps dying waits longer; one that lived well does not', async (t) => {
  let deaths = 0;
  const waits: number[] = [];
  for (const livedMs of [10, 10, 10, 10, 10, HEALTHY_MS, 10]) {
    const next = afterDeath(deaths, livedMs);
    waits.push(next.restartMs);
    deaths = next.deaths;
  }
  t.same(waits, [0, 250, 1_000, 5_000, 5_000, 0, 250]);
});
