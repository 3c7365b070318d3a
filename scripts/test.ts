// `npm test`: the import check, the type check, the linter, then the tests (`-- --all`: the long ones too), with one closing line
// `N passed, N failed, N skipped` that counts tests (not assertions) and exit code 1 on any failure.
import { spawn } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { styleText } from 'node:util';
import { checkImports } from './check-imports.ts';
import { endFiles, runFile } from './test-file.ts';

const color = process.stdout.isTTY === true;
const paint = (style: Parameters<typeof styleText>[0], text: string) =>
  color ? styleText(style, text) : text;

let passed = 0;
let failed = 0;
let skipped = 0;

function report(ok: boolean, name: string, seconds: number): void {
  if (ok) passed++;
  else failed++;
  console.log(
    `${ok ? paint('green', 'ok  ') : paint('red', 'FAIL')} ${name} ${paint('dim', `${seconds.toFixed(1)} s`)}`,
  );
}

function run(command: string, args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.stderr.on('data', (data) => {
      output += data;
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, output }));
  });
}

async function check(name: string, work: () => Promise<string | null>): Promise<void> {
  const from = performance.now();
  const complaint = await work();
  report(complaint === null, name, (performance.now() - from) / 1000);
  if (complaint !== null) console.log(complaint);
}

const tool = async (command: string, args: string[]) => {
  const { code, output } = await run(command, args);
  return code === 0 ? null : output;
};

function endAll(signal: NodeJS.Signals): void {
  endFiles();
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
process.on('SIGHUP', endAll);
process.on('SIGINT', endAll);
process.on('SIGTERM', endAll);

async function tell(file: string): Promise<void> {
  const ran = await runFile(file);
  passed += ran.passed;
  failed += ran.failed;
  skipped += ran.skipped.length;
  const mark = ran.failed > 0 ? paint('red', 'FAIL') : paint('green', 'ok  ');
  const counts = `${ran.passed} passed${ran.failed ? `, ${ran.failed} failed` : ''}${ran.skipped.length ? `, ${ran.skipped.length} skipped` : ''}`;
  console.log(`${mark} ${file} ${paint('dim', `${counts}, ${ran.seconds.toFixed(1)} s`)}`);
  for (const reason of ran.skipped) console.log(paint('yellow', `     skipped: ${reason}`));
  for (const note of ran.notes) console.log(paint('dim', `     ${note}`));
  if (ran.failed > 0) console.log(ran.output);
}

/** tap builds its test class for the plugins of .taprc, once an install: before two runs would both begin to. */
async function buildTap(): Promise<string | null> {
  const built = 'node_modules/@tapjs/test/test-built/dist/esm/index.js';
  try {
    if (!readFileSync(built, 'utf8').includes('@tapjs/typescript')) return null;
  } catch {
    // Not built at all.
  }
  return tool('tap', ['build']);
}

/** Files that wait for minutes of real time; only `npm test -- --all` runs them. */
const LONG =
  /\/e2e\/(bench|day|frozen|lost-stream|peers|dashboard-sizes|storage-low|thread-loss|leaks|call-rules|line-faults|model-cases|model-connect|browser-client|dashboard-live|browser-calls|tools|renewal|proxy|deployment|admission|hostile-connections|slow-disk|soak|dashboard-tabs|replay|storage-full|redis-gone|vad-node)\.test/;

/** Files that take longest begin first, so that none of them is left alone at the end. */
const FIRST =
  /\/(e2e\/(chaos|dashboard-everywhere|two-versions|handovers?|lost-streams|simulate|model-faults|examples|daemons|dashboard-walk|drain|package|dashboard-try|turn-taking)|scripts\/demo|failpoints|sqlite\/upgrade|dashboard\/sessions|turn-state-explored|call-step-explored|call-stream-explored)\.test/;

const all = process.argv.includes('--all');
const wanted = process.argv.slice(2).filter((argument) => argument !== '--all');
const found = wanted.length > 0 ? wanted : globSync('test/**/*.test.ts');
const files = found.filter((file) => all || wanted.length > 0 || !LONG.test(file)).sort();

await check('test runner is built', buildTap);
if (wanted.length === 0)
  await Promise.all([
    check('imports point one way, PURE files are pure', async () => checkImports().join('\n') || null),
    check('types (tsc)', () => tool('tsc', [])),
    check('types of the browser code (tsc)', () => tool('tsc', ['-p', 'control/dashboard/app'])),
    check('format and lint (biome)', () => tool('biome', ['check', '--colors=off', '.'])),
  ]);

// End-to-end files drive calls in real time and mostly wait: a lane for each core takes them, half as many take the others,
// which mostly compute, and a lane that has run dry helps. The one that measures the daemon under load waits for its turn alone.
const isLoad = (file: string) => /\/e2e\/(fifty|bench)/.test(file);
const isFirst = (file: string) => FIRST.test(file);
const calls = files.filter((file) => file.includes('/e2e/') && !isLoad(file));
calls.sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
const others = files.filter((file) => !file.includes('/e2e/'));
others.sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
const cores = availableParallelism();
const lanes = [
  ...Array.from({ length: Math.max(2, cores) }, () => [calls, others]),
  ...Array.from({ length: Math.ceil(cores / 2) }, () => [others, calls]),
];
await Promise.all(
  lanes.map(async (from) => {
    for (;;) {
      const file = from.find((lane) => lane.length > 0)?.shift();
      if (file === undefined) return;
      await tell(file);
    }
  }),
);
for (const file of files.filter(isLoad)) await tell(file);

console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
