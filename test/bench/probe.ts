// What a process has used, read from /proc: CPU, sleeps and reads by thread, and memory. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every Linux that Node supports. */
const TICK_MS = 10;

export interface ThreadUsage {
  name: string;
  cpuMs: number;
  /** How often it gave its core up by itself, to wait: each is a wake-up to come. */
  sleeps: number;
  /** Reads of sockets and files, and bytes that they gave; NaN where the kernel does not tell. */
  reads: number;
  readBytes: number;
}

export interface Usage {
  /** All threads that ever lived. */
  cpuMs: number;
  /** By thread id. */
  threads: Map<number, ThreadUsage>;
  rssBytes: number;
}

function cpuOf(stat: string): { name: string; cpuMs: number } {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  return { name: stat.slice(open + 1, close), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

/** To the nanosecond, where the kernel was built to tell. */
function exactCpuMs(task: string): number | null {
  try {
    return Number(readFileSync(`${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return null;
  }
}

function readsOf(task: string): { reads: number; readBytes: number } {
  try {
    const text = readFileSync(`${task}/io`, 'utf8');
    return { reads: numberIn(text, /^syscr: (\d+)/m), readBytes: numberIn(text, /^rchar: (\d+)/m) };
  } catch {
    return { reads: Number.NaN, readBytes: Number.NaN };
  }
}

const numberIn = (text: string, pattern: RegExp) => Number(pattern.exec(text)?.[1] ?? 0);

export function readUsage(pid: number): Usage {
  const threads = new Map<number, ThreadUsage>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    const task = `/proc/${pid}/task/${tid}`;
    try {
      const { name, cpuMs } = cpuOf(readFileSync(`${task}/stat`, 'utf8'));
      const sleeps = numberIn(readFileSync(`${task}/status`, 'utf8'), /^voluntary_ctxt_switches:\s+(\d+)/m);
      threads.set(Number(tid), { name, cpuMs: exactCpuMs(task) ?? cpuMs, sleeps, ...readsOf(task) });
    } catch {
      // It ended meanwhile.
    }
  }
  return {
    cpuMs: cpuOf(readFileSync(`/proc/${pid}/stat`, 'utf8')).cpuMs,
    threads,
    rssBytes: numberIn(readFileSync(`/proc/${pid}/status`, 'utf8'), /VmRSS:\s+(\d+) kB/) * 1024,
  };
}

/** What each thread used between two readings, the busiest first. */
export function usedBetween(before: Usage, after: Usage): ThreadUsage[] {
  return [...after.threads]
    .map(([tid, now]) => {
      const then = before.threads.get(tid);
      const used = (pick: (usage: ThreadUsage) => number) =>
        pick(now) - (then === undefined ? 0 : pick(then));
      return {
        name: now.name,
        cpuMs: used(({ cpuMs }) => cpuMs),
        sleeps: used(({ sleeps }) => sleeps),
        reads: used(({ reads }) => reads),
        readBytes: used(({ readBytes }) => readBytes),
      };
    })
    .filter(({ cpuMs }) => cpuMs > 0)
    .sort((a, b) => b.cpuMs - a.cpuMs);
}

/** Share of the whole machine that was busy between two readings of /proc/stat. */
export function readMachine(): { busy: number; total: number } {
  const fields = (readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const total = fields.slice(0, 8).reduce((a, b) => a + b, 0);
  return { busy: total - (fields[3] ?? 0) - (fields[4] ?? 0), total };
}
