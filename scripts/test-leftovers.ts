// What a test file leaves behind: programs of its process group, and those started in a group of their own that still
// have its temporary folder in their command line, environment or working folder. Looks and kills; Linux tells more than others.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** For what was killed, on a machine that is busy. */
const GONE_MS = 10_000;

export interface Leftover {
  pid: number;
  command: string;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    // It has ended meanwhile, or is another user's.
    return '';
  }
}

function workingFolder(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** The fields behind the name in /proc/<pid>/stat: state, parent, process group. */
function stat(pid: number): { state: string; group: number } | null {
  const text = read(`/proc/${pid}/stat`);
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return text === '' ? null : { state: fields[0] ?? '', group: Number(fields[2]) };
}

/**
 * Programs that are still there of a test file's run.
 * @param group the process group the file was started in
 * @param folder its temporary folder, whose path nobody else has
 */
function findLeftovers(group: number, folder: string): Leftover[] {
  let pids: number[];
  try {
    pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
  const found: Leftover[] = [];
  for (const pid of pids) {
    if (pid === process.pid) continue;
    const now = stat(pid);
    if (now === null || now.state === 'Z' || now.state === 'X') continue;
    const command = read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim();
    const isOurs =
      now.group === group ||
      command.includes(folder) ||
      workingFolder(pid).startsWith(folder) ||
      read(`/proc/${pid}/environ`).includes(folder);
    if (isOurs) found.push({ pid, command });
  }
  return found;
}

/** @param pid negative: a whole process group */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Kills a run's programs at once, for whoever cannot wait. @returns those that were there */
export function killRun(group: number, folder: string): Leftover[] {
  const left = findLeftovers(group, folder);
  kill(-group);
  for (const { pid } of left) kill(pid);
  return left;
}

/**
 * Waits for a run's programs to end by themselves, then kills what is left.
 * @param patienceMs how long programs may take to end that were told to
 * @returns those that had to be killed
 */
export async function clearLeftovers(group: number, folder: string, patienceMs: number): Promise<Leftover[]> {
  const until = performance.now() + patienceMs;
  let left = findLeftovers(group, folder);
  while (left.length > 0 && performance.now() < until) {
    await new Promise((again) => setTimeout(again, 50));
    left = findLeftovers(group, folder);
  }
  if (left.length === 0) return left;
  killRun(group, folder);
  // A killed program is gone when the system has come to it.
  const gone = performance.now() + GONE_MS;
  while (findLeftovers(group, folder).length > 0 && performance.now() < gone)
    await new Promise((again) => setTimeout(again, 20));
  return left;
}
