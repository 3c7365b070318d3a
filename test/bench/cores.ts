// Which cores the subject has and which the load, so that neither takes from the other. Linux only; elsewhere nothing is held.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Cores as taskset takes them. */
export interface Placement {
  subject: string;
  carrier: string;
  model: string;
}

/** The cores that this process may use; none where programs cannot be held to them. */
export function usableCores(): number[] {
  try {
    execFileSync('taskset', ['-p', String(process.pid)], { stdio: 'ignore' });
    const list = /^Cpus_allowed_list:\s*(\S+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '';
    return list.split(',').flatMap((range) => {
      const [from = Number.NaN, to = from] = range.split('-').map(Number);
      return Array.from({ length: to - from + 1 }, (_, index) => from + index);
    });
  } catch {
    return [];
  }
}

/**
 * The first cores are the subject's, one for each of its media threads; the last two are the carrier's and the model's, the last
 * one both theirs where there are only two. Null where there are too few for that.
 */
export function placeOn(cores: readonly number[], threads: number): Placement | null {
  const ofLoad = cores.length > 2 ? 2 : 1;
  if (threads > cores.length - ofLoad) return null;
  return {
    subject: cores.slice(0, threads).join(','),
    carrier: String(cores.at(-ofLoad)),
    model: String(cores.at(-1)),
  };
}

/** Holds all threads of a running program to `cores`. */
export function holdTo(pid: number, cores: string): void {
  execFileSync('taskset', ['-apc', cores, String(pid)], { stdio: 'ignore' });
}
