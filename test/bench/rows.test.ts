// What a run's rounds come to: ratios of rounds that lie near each other, disturbed ones left out, climbs, and the targets.
import t from 'tap';
import { climb, figures, results, roundsAt } from './made-up.ts';
import { memoryOfOneMoreKb, rowOf, shareOfFloor, toOneThread } from './rows.ts';
import { mostOf } from './tables.ts';
import { targetsOf } from './targets.ts';

t.test('a ratio is of two rounds of the same number and as many calls', async (t) => {
  const run = results([
    ...roundsAt('daemon', 100, [1_000, 2_200, 3_000]),
    ...roundsAt('json', 100, [1_000, 2_000, 2_000]),
    ...roundsAt('json', 10, [9_999, 9_999]),
  ]);
  t.same(rowOf(run, 'daemon', 100)?.toFloor, { middle: 1.1, least: 1, most: 1.5 });
  t.same(rowOf(run, 'daemon', 100)?.toAgents.middle, Number.NaN, 'the other was not measured');
});

t.test('a column over TLS stands beside the bare bridge over TLS', async (t) => {
  const run = results([
    ...roundsAt('daemon-tls', 100, [3_000]),
    ...roundsAt('json', 100, [1_000]),
    ...roundsAt('json-tls', 100, [2_000]),
  ]);
  t.equal(rowOf(run, 'daemon-tls', 100)?.toFloor.middle, 1.5);
});

t.test('a disturbed round is left out where there are others, and counted', async (t) => {
  const quiet = results([
    figures({ cpuUs: 1_000 }),
    figures({ cpuUs: 9_000, round: 2, disturbed: true }),
    ...roundsAt('json', 100, [1_000, 1_000]),
  ]);
  const row = rowOf(quiet, 'daemon', 100);
  t.equal(row?.cpuUs, 1_000);
  t.same(row?.toFloor, { middle: 1, least: 1, most: 1 });
  t.equal(row?.disturbed, 1);
  const never = results([figures({ cpuUs: 9_000, disturbed: true })]);
  t.equal(rowOf(never, 'daemon', 100)?.cpuUs, 9_000);
});

t.test('threads are told apart by what they are for', async (t) => {
  const daemon = rowOf(results([figures()]), 'daemon', 100)?.parts;
  t.same(daemon?.media, { cpuUs: 1_500, wakeUps: 2, bytesARead: 340 });
  t.same(daemon?.control, { cpuUs: 400, wakeUps: 1, bytesARead: 1_000 });
  t.equal(daemon?.v8.cpuUs, 100);
  const floor = rowOf(results([figures({ column: 'json' })]), 'json', 100)?.parts;
  t.equal(floor?.control.cpuUs, 0, 'a bridge has no control thread');
  t.equal(floor?.media.cpuUs, 1_900);
});

t.test('rounds that were not carried say so when they are most', async (t) => {
  const late = { notCarried: 'newest frame p99 25 ms' };
  const one = results([figures(), figures({ round: 2 }), figures({ round: 3, ...late })]);
  t.equal(rowOf(one, 'daemon', 100)?.notCarried, null);
  const two = results([figures(late), figures({ round: 2 }), figures({ round: 3, ...late })]);
  t.equal(rowOf(two, 'daemon', 100)?.notCarried, 'newest frame p99 25 ms');
});

t.test('a further call is the slope of the memory along a climb', async (t) => {
  const climbs = { daemon: climb('daemon', 6, (calls) => 50_000_000 + calls * 300 * 1024) };
  t.equal(Math.round(memoryOfOneMoreKb(results([], { climbs }), 'daemon')), 300);
  t.same(memoryOfOneMoreKb(results([]), 'daemon'), Number.NaN);
});

t.test('two threads do as much more as a call costs less than twice of their cores', async (t) => {
  const run = results(
    [...roundsAt('daemon', 100, [2_000, 2_000]), ...roundsAt('daemon-2-threads', 200, [2_000, 2_500])],
    { climbs: { daemon: climb('daemon', 4, () => 0), 'daemon-2-threads': climb('daemon', 8, () => 0) } },
  );
  t.same(toOneThread(run, 'daemon-2-threads'), {
    byCpu: { middle: 1.8, least: 1.6, most: 2 },
    byCalls: 2,
  });
});

t.test('targets: met, not met, not measured', async (t) => {
  const climbs = {
    daemon: climb('daemon', 6, (calls) => calls * 400 * 1024),
    json: climb('json', 8, () => 0),
  };
  const met = (run: ReturnType<typeof results>) =>
    Object.fromEntries(targetsOf(run).map((target) => [target.text.split(':')[0], target.met]));
  const good = results(
    [
      ...roundsAt('daemon', 100, [990]),
      ...roundsAt('json', 100, [1_000]),
      ...roundsAt('agents', 100, [1_600]),
      ...roundsAt('daemon', 10, [1_300]),
      ...roundsAt('json', 10, [1_000]),
      ...roundsAt('daemon', 300, [1_100]),
      ...roundsAt('json', 300, [1_000]),
      ...roundsAt('daemon-2-threads', 200, [1_000]),
    ],
    { climbs },
  );
  t.equal(shareOfFloor(good, 'daemon'), 0.75);
  t.ok(
    targetsOf(good).every((target) => target.met === true),
    JSON.stringify(met(good)),
  );
  const bad = results(
    [
      ...roundsAt('daemon', 100, [1_010]),
      ...roundsAt('json', 100, [1_000]),
      figures({ calls: 300, cpuUs: 900, notCarried: '3 calls were lost: ' }),
      ...roundsAt('json', 300, [1_000]),
    ],
    {
      climbs: { daemon: climb('daemon', 5, (calls) => calls * 600 * 1024), json: climb('json', 8, () => 0) },
    },
  );
  t.match(met(bad), {
    'CPU at 100 calls to the bare bridge at 100': false,
    "CPU at 100 calls to the Agents SDK's transport at 100": null,
    'CPU at 300 calls to the bare bridge at 300': false,
    'CPU at 10 calls to the bare bridge at 10': null,
    "largest number of calls at least 0.75 of the bare bridge's": false,
    'memory of a further call': false,
  });
});

t.test('a climb says who ended it', async (t) => {
  const carried = climb('daemon', 3, () => 0);
  t.equal(mostOf(carried), '150');
  t.equal(mostOf({ ...carried, ended: { why: 'ladder' } }), '150 or more');
  t.equal(mostOf({ calls: 0, steps: [], ended: { why: 'not carried', text: 'late' } }), '0');
  t.equal(mostOf({ calls: 0, steps: [], ended: { why: 'load' } }), 'not measured');
});
