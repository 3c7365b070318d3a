// Named places at which chaos tests kill the process, as a crash would, or hold it up, as a slow disk would. Without
// configuration they do nothing.
import { ConfigError } from './config.ts';

type Fault = { probability: number } | { stallMs: number };

const armed = new Map<string, Fault>();
const still = new Int32Array(new SharedArrayBuffer(4));

/**
 * Arms points given as `name:probability` (0 to 1: of a kill) or `name:500ms` (a stall each time), and disarms all others.
 * @throws ConfigError for an entry of another form.
 */
export function setFailpoints(list: readonly string[]): void {
  armed.clear();
  for (const entry of list) {
    const match = /^([a-z][a-z0-9_]*):(?:(0|1|0?\.\d+|1\.0+)|(\d{1,5})ms)$/.exec(entry);
    if (match === null) throw new ConfigError(`FAILPOINTS: "${entry}" is not name:probability or name:500ms`);
    const [, name = '', probability, stallMs] = match;
    armed.set(
      name,
      stallMs === undefined ? { probability: Number(probability) } : { stallMs: Number(stallMs) },
    );
  }
}

/**
 * Kills the process here, with the probability the point is armed with: SIGKILL, so that nothing gets to clean up. Armed
 * with a time, the thread stands still for that long, as in a system call that does not return.
 */
export function failpoint(name: string): void {
  if (armed.size === 0) return;
  const fault = armed.get(name);
  if (fault === undefined) return;
  if ('stallMs' in fault) Atomics.wait(still, 0, 0, fault.stallMs);
  else if (Math.random() < fault.probability) process.kill(process.pid, 'SIGKILL');
}
