// What a test file leaves running is found and named.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import { until } from '../e2e/rig.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const LINUX = existsSync('/proc/self/stat') ? false : 'told apart by /proc';

const lives = (pid: number) => {
  try {
    process.kill(pid, 0);
    // One that was killed and that nobody has asked after yet is gone.
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
};

/** Runs the test runner on a file that leaves programs behind, and answers what became of them. */
function run(
  how: string,
  told: string,
  signal?: NodeJS.Signals,
): Promise<{ code: number | null; output: string }> {
  return new Promise((done) => {
    const child = spawn(
      process.execPath,
      [join(ROOT, 'scripts/test.ts'), 'test/fixtures/runner/leaves-a-program.ts'],
      {
        cwd: ROOT,
        env: { ...process.env, LEAVES: `${how}:${told}`, LEFT_ENDS_MS: '0' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    child.on('close', (code) => done({ code, output }));
    if (signal !== undefined)
      void until('the programs of the test', () => existsSync(told)).then(() => child.kill(signal));
  });
}

for (const [how, what, signal] of [
  ['passes', 'a test that passes'],
  ['holds', 'a test that passes and whose output is held open'],
  ['fails', 'a test that fails'],
  ['hangs', 'a test that runs into its timeout'],
  ['hangs', 'tests that are interrupted', 'SIGINT'],
] as const) {
  t.test(`nothing survives ${what}`, { skip: LINUX }, async (t) => {
    const told = join(t.testdir(), 'told.json');
    const { code, output } = await run(how, told, signal);
    t.not(code, 0, 'leaving programs behind is a failure');
    const { pids, folder } = JSON.parse(readFileSync(told, 'utf8')) as { pids: number[]; folder: string };
    // What was killed is gone when the system has come to it; what was not, sleeps for ten minutes.
    await until('the end of what was killed', () => !pids.some(lives), 30_000).catch(() => {});
    t.same(pids.filter(lives), [], output);
    t.notOk(existsSync(folder), 'nor its folder');
    if (how === 'passes' || how === 'holds') t.match(output, /left behind: \d+ sleep 600/);
  });
}
