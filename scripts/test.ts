// `npm test`: the import check, the type check, the linter, then the tests (`-- --all`: the long ones too), with one closing line
// `N passed, N failed, N skipped` that counts tests (not assertions) and exit code 1 on any failure.
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { styleText } from 'node:util';
import { checkImports } from './check-imports.ts';
import { clearLeftovers, killRun } from './test-leftovers.ts';

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

/** Programs of a file that has passed end by themselves; a busy machine takes its time. */
const END_MS = Number(process.env.LEFT_ENDS_MS ?? 15_000);
/** Process groups and temporary folders of the files that run now: whoever interrupts the tests ends them too. */
const live = new Map<number, string>();

function endAll(signal: NodeJS.Signals): void {
  for (const [group, folder] of live) {
    killRun(group, folder);
    rmSync(folder, { recursive: true, force: true });
  }
  process.exit(signal === 'SIGINT' ? 130 : 143);
}
process.on('SIGHUP', endAll);
process.on('SIGINT', endAll);
process.on('SIGTERM', endAll);

/**
 * One test file by itself, its TAP read line by line: top-level subtests are what is counted. It has a process group and
 * a temporary folder of its own, by which whatever it leaves behind is found: ended where it failed, its failure where it passed.
 */
function runFile(file: string, again = false): Promise<void> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const folder = mkdtempSync(join(tmpdir(), 'oh-'));
    const child = spawn('tap', ['run', '--reporter=tap', '--disable-coverage', file], {
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
      env: { ...process.env, TMPDIR: folder },
    });
    const group = child.pid ?? 0;
    live.set(group, folder);
    const lines: string[] = [];
    let inFile = { passed: 0, failed: 0, skipped: 0 };
    const reasons: string[] = [];
    const notes: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      // What a test wants to be known though it passed: a measure, where pictures are.
      const note = /^\s*# note: (.*)$/.exec(line);
      if (note !== null) notes.push(note[1] ?? '');
      // tap indents the tests of a file by four; deeper ones are assertions or nested tests.
      const match = /^ {4}(not )?ok \d+ - (.*)$/.exec(line);
      if (match === null) return;
      const name = match[2] ?? '';
      if (/# SKIP/i.test(name)) {
        inFile.skipped++;
        reasons.push(name);
      } else if (match[1]) inFile.failed++;
      else inFile.passed++;
    });
    child.stderr.on('data', (data) => lines.push(String(data)));
    child.on('error', reject);
    child.on('exit', () => {
      // What hangs on its output would keep that open for ever.
      if (inFile.failed > 0 || child.exitCode !== 0) killRun(group, folder);
    });
    child.on('close', async (code) => {
      const isOver = code === 0 && inFile.failed === 0;
      const left = await clearLeftovers(group, folder, isOver ? END_MS : 0);
      live.delete(group);
      rmSync(folder, { recursive: true, force: true });
      // Runs that start in the same moment may tread on tap's one folder of its own before any test has begun.
      const ran = inFile.passed + inFile.failed + inFile.skipped > 0;
      if (code !== 0 && !ran && !again && lines.some((line) => line.includes('.tap/processinfo'))) {
        resolve(runFile(file, true));
        return;
      }
      if (code !== 0 && inFile.failed === 0) inFile = { ...inFile, failed: 1 };
      if (isOver && left.length > 0) {
        inFile.failed++;
        lines.push(`left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`);
      }
      passed += inFile.passed;
      failed += inFile.failed;
      skipped += inFile.skipped;
      const seconds = ((performance.now() - from) / 1000).toFixed(1);
      const mark = inFile.failed > 0 ? paint('red', 'FAIL') : paint('green', 'ok  ');
      const counts = `${inFile.passed} passed${inFile.failed ? `, ${inFile.failed} failed` : ''}${inFile.skipped ? `, ${inFile.skipped} skipped` : ''}`;
      console.log(`${mark} ${file} ${paint('dim', `${counts}, ${seconds} s`)}`);
      for (const reason of reasons) console.log(paint('yellow', `     skipped: ${reason}`));
      for (const note of notes) console.log(paint('dim', `     ${note}`));
      if (inFile.failed > 0) console.log(lines.join('\n'));
      resolve();
    });
  });
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
  /\/e2e\/(storage-low|thread-loss|leaks|call-rules|line-faults|model-cases|model-connect|browser-client|dashboard-live|browser-calls|tools|renewal|proxy|deployment|admission|hostile-connections|slow-disk|soak|dashboard-tabs|replay|storage-full|redis-gone|vad-node)\.test/;

const all = process.argv.includes('--all');
const wanted = process.argv.slice(2).filter((argument) => argument !== '--all');
const found = wanted.length > 0 ? wanted : globSync('test/**/*.test.ts');
const files = found.filter((file) => all || wanted.length > 0 || !LONG.test(file)).sort();

await check('test runner is built', buildTap);
if (wanted.length === 0) {
  await check('imports point one way, PURE files are pure', async () => checkImports().join('\n') || null);
  await check('types (tsc)', () => tool('tsc', []));
  await check('types of the browser code (tsc)', () => tool('tsc', ['-p', 'control/dashboard/app']));
  await check('format and lint (biome)', () => tool('biome', ['check', '--colors=off', '.']));
}

// End-to-end files drive calls in real time and mostly wait: three lanes take them first, one takes the others, and a lane
// that has run dry helps. The one that measures the daemon under load waits for its turn alone.
const isLoad = (file: string) => /\/e2e\/(fifty|bench)/.test(file);
const calls = files.filter((file) => file.includes('/e2e/') && !isLoad(file));
const others = files.filter((file) => !file.includes('/e2e/'));
await Promise.all(
  [[calls, others], [calls, others], [calls, others], [others]].map(async (lanes) => {
    for (;;) {
      const file = lanes.find((lane) => lane.length > 0)?.shift();
      if (file === undefined) return;
      await runFile(file);
    }
  }),
);
for (const file of files.filter(isLoad)) await runFile(file);

console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;
