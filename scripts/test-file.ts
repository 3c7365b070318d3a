// One test file, run by itself as a program of its own; its TAP is counted by test-tap.ts, what it leaves behind is found by
// test-leftovers.ts. Says what became of it; who asked prints that.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { clearLeftovers, killRun, type Leftover } from './test-leftovers.ts';
import { TapReader } from './test-tap.ts';

/** A test waits for what it needs, however slow the machine: this ends only one that hangs. `t.setTimeout` of a file changes it. */
const LIMIT_MS = 600_000;
/** At its limit tap says where a file hangs, if that still hears its timers; then it is ended. */
const TELLS_MS = 3_000;
/** Programs of a file that has passed end by themselves; a busy machine takes its time. */
const END_MS = Number(process.env.LEFT_ENDS_MS ?? 15_000);
/** Compiled code of the programs that are started again and again. */
const COMPILED = resolve(import.meta.dirname, '../node_modules/.cache/tests');

/** Process groups and temporary folders of the files that run now. */
const live = new Map<number, string>();

/** Ends all files that run, with whatever they started, at once. */
export function endFiles(): void {
  for (const [group, folder] of live) {
    killRun(group, folder);
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface FileReport {
  passed: number;
  failed: number;
  skipped: readonly string[];
  notes: readonly string[];
  /** Everything the file said, errors among it. */
  output: string;
  seconds: number;
}

const leftBehind = (left: readonly Leftover[]) =>
  `left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join('; ')}`;

/**
 * Runs a test file. It has a process group and a temporary folder of its own, by which whatever it leaves behind is found:
 * ended where it failed, its failure where it passed.
 * @param limitMs after which it hangs, where it sets no limit itself
 * @throws Error where no program can be started
 */
export function runFile(file: string, limitMs = LIMIT_MS): Promise<FileReport> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const folder = mkdtempSync(join(tmpdir(), 'oh-'));
    // Node says once a process that taking types out of a text is experimental; some tests do.
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file], {
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      detached: true,
      env: {
        ...process.env,
        TMPDIR: folder,
        TAP_TIMEOUT: String(limitMs / 1000),
        NODE_COMPILE_CACHE: COMPILED,
      },
    });
    child.on('error', reject);
    const group = child.pid;
    // No group of its own would be everybody's.
    if (group === undefined) return rmSync(folder, { recursive: true, force: true });
    live.set(group, folder);
    const tap = new TapReader();
    const lines: string[] = [];
    const faults: string[] = [];

    let alarm: NodeJS.Timeout | undefined;
    const limit = (ms: number) => {
      clearTimeout(alarm);
      if (ms <= 0) return;
      alarm = setTimeout(() => {
        faults.push(`not over after ${ms / 1000} s`);
        killRun(group, folder);
      }, ms + TELLS_MS);
    };
    limit(limitMs);
    // tap tells of a limit that the file sets.
    child.on('message', (message: { setTimeout?: unknown }) => {
      if (typeof message?.setTimeout === 'number') limit(message.setTimeout);
    });
    const read = (input: Readable | null, each: (line: string) => void) => {
      if (input !== null) createInterface({ input }).on('line', each);
    };
    read(child.stdout, (line) => {
      lines.push(line);
      tap.read(line);
    });
    read(child.stderr, (line) => lines.push(line));
    child.on('exit', (code) => {
      // What it said before its end may still come.
      child.removeAllListeners('message');
      clearTimeout(alarm);
      // What hangs on its output would keep that open for ever.
      if (tap.failed > 0 || code !== 0) killRun(group, folder);
      else alarm = setTimeout(() => faults.push(leftBehind(killRun(group, folder))), END_MS + TELLS_MS);
    });
    child.on('close', async (code, signal) => {
      clearTimeout(alarm);
      if (tap.failed === 0 && faults.length === 0) {
        if (code !== 0) faults.push(`ended by ${signal ?? `exit code ${code}`}`);
        else if (!tap.isWhole) faults.push('ended before all its tests were told');
      }
      const isOver = tap.failed === 0 && faults.length === 0;
      const left = await clearLeftovers(group, folder, isOver ? END_MS : 0);
      live.delete(group);
      rmSync(folder, { recursive: true, force: true });
      if (isOver && left.length > 0) faults.push(leftBehind(left));
      resolve({
        passed: tap.passed,
        failed: Math.max(tap.failed, faults.length > 0 ? 1 : 0),
        skipped: tap.skipped,
        notes: tap.notes,
        output: [...lines, ...faults].join('\n'),
        seconds: (performance.now() - from) / 1000,
      });
    });
  });
}
