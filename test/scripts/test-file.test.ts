// Test files that go wrong in every way that one can, as the runner reports them.
import { spawnSync } from 'node:child_process';
import { join, relative, resolve } from 'node:path';
import t from 'tap';
import { type FileReport, runFile } from '../../scripts/test-file.ts';

const ROOT = resolve(import.meta.dirname, '../..');

const HEAD = "import t from 'tap';\n";
const FINE = "t.test('fine', async (t) => t.pass());\n";
const NEVER = 'new Promise((never) => setTimeout(never, 600_000))';

interface Case {
  what: string;
  text: string;
  /** Tests that passed, failed and were left out. */
  counts: [number, number, number];
  says: RegExp;
  limitMs?: number;
}

const CASES: readonly Case[] = [
  {
    what: 'passes, its types stripped',
    text: `${HEAD}${FINE}const n: number = 1;\nt.equal(n, 1);`,
    counts: [2, 0, 0],
    says: /ok 1 - fine/,
  },
  {
    what: 'leaves a test out',
    text: `${HEAD}${FINE}t.test('no', { skip: 'no need' });`,
    counts: [1, 0, 1],
    says: /no need/,
  },
  {
    what: 'fails a test',
    text: `${HEAD}${FINE}t.test('bad', async (t) => t.equal(1, 2));`,
    counts: [1, 1, 0],
    says: /not ok 2 - bad/,
  },
  {
    what: 'throws in a test',
    text: `${HEAD}t.test('bad', async () => { throw new Error('pop'); });`,
    counts: [0, 1, 0],
    says: /pop/,
  },
  { what: 'cannot be read', text: `${HEAD}${FINE}t.test(`, counts: [0, 1, 0], says: /SyntaxError/ },
  {
    what: 'crashes before any test',
    text: "throw new Error('pop');",
    counts: [0, 1, 0],
    says: /Error: pop[\s\S]*exit code 1/,
  },
  {
    what: 'is killed after its tests',
    text: `${HEAD}${FINE}t.teardown(() => process.kill(process.pid, 'SIGKILL'));`,
    counts: [1, 1, 0],
    says: /ended by SIGKILL/,
  },
  {
    what: 'has no test',
    text: 'export {};',
    counts: [0, 1, 0],
    says: /ended before all its tests were told/,
  },
  {
    what: 'ends in a test',
    text: `${HEAD}${FINE}t.test('ends', async () => process.exit(0));`,
    counts: [1, 1, 0],
    says: /ends/,
  },
  {
    what: 'waits for what nobody holds',
    text: `${HEAD}t.test('waits', () => new Promise(() => {}));`,
    counts: [0, 1, 0],
    says: /waits/,
  },
  {
    what: 'bails out',
    text: `${HEAD}${FINE}t.test('bad', async (t) => t.bailout('no more'));`,
    counts: [1, 1, 0],
    says: /Bail out! no more/,
  },
  {
    what: 'hangs',
    text: `${HEAD}t.test('hangs', () => ${NEVER});`,
    counts: [0, 1, 0],
    says: /not ok 1 - hangs/,
    limitMs: 700,
  },
  {
    what: 'hangs beyond the limit that it has set itself',
    text: `${HEAD}t.setTimeout(700);\nt.test('hangs', () => ${NEVER});`,
    counts: [0, 1, 0],
    says: /not ok 1 - hangs/,
  },
  {
    what: 'is deaf',
    text: `${HEAD}t.setTimeout(700);\nt.test('loops', () => { for (;;); });`,
    counts: [0, 1, 0],
    says: /not over after 0\.7 s/,
  },
];

// All at once: those that hang do so side by side.
const folder = t.testdir(Object.fromEntries(CASES.map(({ text }, n) => [`${n}.ts`, text])));
const running = CASES.map(({ limitMs }, n) => runFile(join(folder, `${n}.ts`), limitMs));

for (const [n, { what, counts, says }] of CASES.entries())
  t.test(`a file that ${what}`, async (t) => {
    const { passed, failed, skipped, output } = (await running[n]) as FileReport;
    t.same([passed, failed, skipped.length], counts, output);
    t.match(output, says);
  });

t.test('the runner names the files, counts tests, and its exit code is theirs', async (t) => {
  const folder = relative(
    ROOT,
    t.testdir({
      'good.ts': `${HEAD}${FINE}t.comment('note: worth knowing');\nt.test('no', { skip: 'no need' });`,
      'bad.ts': `${HEAD}t.test('bad', async (t) => t.equal(1, 2));`,
    }),
  );
  const run = (...files: string[]) =>
    spawnSync(process.execPath, ['scripts/test.ts', ...files.map((file) => join(folder, file))], {
      cwd: ROOT,
      encoding: 'utf8',
    });
  const good = run('good.ts');
  t.match(
    good.stdout,
    /\nok {3}\S+\/good\.ts 1 passed, 1 skipped, .*\n {5}skipped: no # SKIP no need\n {5}worth knowing\n/,
  );
  t.match(good.stdout, /\n2 passed, 0 failed, 1 skipped\n$/);
  t.equal(good.status, 0);
  const both = run('good.ts', 'bad.ts', 'missing.ts');
  t.match(both.stdout, /\nFAIL \S+\/bad\.ts 0 passed, 1 failed, [\s\S]*not ok 1 - bad/);
  t.match(both.stdout, /\nFAIL \S+\/missing\.ts 0 passed, 1 failed, [\s\S]*MODULE_NOT_FOUND/);
  t.match(both.stdout, /\n2 passed, 2 failed, 1 skipped\n$/);
  t.equal(both.status, 1);
});
