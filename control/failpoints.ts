// Named places at which chaos tests kill the process, as a crash would. Without configuration they do nothing.
import { ConfigError } from '../config.ts';

const armed = new Map<string, number>();

/**
 * Arms points given as `name:probability` (0 to 1), and disarms all others.
 * @throws ConfigError for an entry of another form.
 */
export function setFailpoints(list: readonly string[]): void {
  armed.clear();
  for (const entry of list) {
    const match = /^([a-z][a-z0-9_]*):(0|1|0?\.\d+|1\.0+)$/.exec(entry);
    if (match === null) throw new ConfigError(`FAILPOINTS: "${entry}" is not name:probability`);
    armed.set(match[1] ?? '', Number(match[2]));
  }
}

/** Kills the process here, with the probability the point is armed with: SIGKILL, so that nothing gets to clean up. */
export function failpoint(name: string): void {
  if (armed.size === 0) return;
  const probability = armed.get(name);
  if (probability !== undefined && Math.random() < probability) process.kill(process.pid, 'SIGKILL');
}
