// The settings of a daemon on this host, as it would read them: the environment, and a file of settings under it.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { UsageError } from './exit.ts';

/** The environment over what the file says. @throws UsageError when the file cannot be read */
export function readEnvironment(
  env: Record<string, string | undefined>,
  file: string | undefined,
): Record<string, string | undefined> {
  if (file === undefined) return env;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`);
  }
  return { ...parseEnv(text), ...env };
}
