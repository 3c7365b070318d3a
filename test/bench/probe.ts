// What a process has used, read from /proc: CPU by thread, and memory. Linux only.
import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths of a second on every Linux that Node supports. */
const TICK_MS = 10;

export interface Usage {
  /** All threads that ever lived. */
  cpuMs: number;
  /** By thread id: its name and its CPU. */
  threads: Map<number, { name: string; cpuMs: number }>;
  rssBytes: number;
}

function cpuOf(stat: string): { name: string; cpuMs: number } {
  const open = stat.indexOf('(');
  const close = stat.lastIndexOf(')');
  const fields = stat.slice(close + 2).split(' ');
  return { name: stat.slice(open + 1, close), cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

export function readUsage(pid: number): Usage {
  const threads = new Map<number, { name: string; cpuMs: number }>();
  for (const tid of readdirSync(`/proc/${pid}/task`)) {
    try {
      threads.set(Number(tid), cpuOf(readFileSync(`/proc/${pid}/task/${tid}/stat`, 'utf8')));
    } catch {
      // It ended meanwhile.
    }
  }
  const rss = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0';
  return {
    cpuMs: cpuOf(readFileSync(`/proc/${pid}/stat`, 'utf8')).cpuMs,
    threads,
    rssBytes: Number(rss) * 1024,
  };
}

/** CPU of each thread between two readings, the busiest first. */
export function threadCpu(before: Usage, after: Usage): { name: string; cpuMs: number }[] {
  return [...after.threads]
    .map(([tid, { name, cpuMs }]) => ({ name, cpuMs: cpuMs - (before.threads.get(tid)?.cpuMs ?? 0) }))
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
