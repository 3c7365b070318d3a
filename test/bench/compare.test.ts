// Two runs held against each other: what changed, what the rounds' own noise covers, and what is kept of a run in between.
import t from 'tap';
import { changes, comparisonOf, differences } from './compare.ts';
import { climb, figures, results, roundsAt } from './made-up.ts';
import { fromText, toText } from './results.ts';

const run = (costs: readonly number[], tls: readonly number[] = [2_000, 2_020]) =>
  results([
    ...roundsAt('daemon', 100, costs),
    ...roundsAt('json', 100, [1_000, 1_000, 1_000]),
    ...roundsAt('daemon-tls', 100, tls),
    ...roundsAt('json-tls', 100, [1_500, 1_500]),
  ]);
const cpuOf = (found: ReturnType<typeof changes>, title: string) =>
  found.find((one) => one.measure === 'CPU to the bare bridge' && one.title.startsWith(title));

t.test('a change larger than the rounds differ by is one, a smaller one is not', async (t) => {
  const before = run([2_000, 2_040, 1_960]);
  const less = cpuOf(changes(before, run([1_500, 1_530, 1_470])), 'Offhook, 100');
  t.equal(less?.outsideNoise, true);
  t.ok(Math.abs((less?.ratio ?? 0) - 0.75) < 0.001, `${less?.ratio}`);
  t.ok(Math.abs((less?.before.most ?? 0) - 2.04) < 0.001);
  const same = changes(before, run([2_020, 2_050, 1_990]));
  t.equal(cpuOf(same, 'Offhook, 100')?.outsideNoise, false);
  t.equal(cpuOf(same, 'Offhook, model over TLS')?.outsideNoise, false);
});

t.test(
  'the noise is that of all columns: one that happens to be calm does not make a change of nothing',
  async (t) => {
    const before = run([2_000, 2_400, 1_700], [2_000, 2_000]);
    const found = changes(before, run([2_100, 2_500, 1_800], [2_060, 2_060]));
    t.equal(cpuOf(found, 'Offhook, model over TLS')?.outsideNoise, false);
  },
);

t.test('one round each says nothing of the noise', async (t) => {
  const one = (cpuUs: number) => results([figures({ cpuUs }), figures({ column: 'json', cpuUs: 1_000 })]);
  const found = changes(one(2_000), one(4_000));
  t.equal(cpuOf(found, 'Offhook')?.outsideNoise, null);
  t.equal(cpuOf(found, 'Offhook')?.ratio, 2);
});

t.test('a column that only one run has is not compared', async (t) => {
  const found = changes(results(roundsAt('json', 100, [1_000])), run([2_000]));
  t.notOk(found.some(({ title }) => title.startsWith('Offhook')));
});

t.test('what is measured once a run stands there without a verdict', async (t) => {
  const before = {
    ...run([2_000]),
    climbs: { daemon: climb('daemon', 3, () => 0), json: climb('json', 8, () => 0) },
  };
  const after = {
    ...run([2_000]),
    climbs: { daemon: climb('daemon', 6, () => 0), json: climb('json', 8, () => 0) },
  };
  const row = comparisonOf(before, after).rows.find(([name]) => name?.includes('largest'));
  t.same(row?.slice(1), ['0.38', '0.75', '×2.00', 'one measure']);
});

t.test('another machine or another load is told of', async (t) => {
  const before = run([2_000]);
  const after = run([2_000]);
  t.same(differences(before, after), []);
  after.environment.cpu = 'another';
  after.options.seconds = 5;
  t.same(
    differences(before, after).map((line) => line.split(':')[0]),
    ['CPU', 'seconds'],
  );
});

t.test('a run that was kept is the same run', async (t) => {
  const first = results([figures({ loopDelayP99Ms: Number.NaN })], {
    packages: { agents: { missing: 'no network' } },
  });
  t.same(fromText(toText(first)), first);
  t.throws(() => fromText('{"format":1}'), /another version/);
  t.throws(() => fromText('null'), /another version/);
});
