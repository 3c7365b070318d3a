// A JSON file that a setting names: read once, at the start, and refused in one line that says what is wrong with it.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { ConfigError } from './config.ts';

/**
 * What a settings file holds, by its schema.
 * @param setting the name of the setting, for the message
 * @throws ConfigError when the file cannot be read or used, naming the place that is wrong
 */
export function readSettingsFile<T extends z.ZodType>(setting: string, path: string, schema: T): z.output<T> {
  const fail = (why: string) => new ConfigError(`${setting}: ${path}: ${why}`);
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw fail(error instanceof SyntaxError ? 'is no JSON' : 'cannot be read');
  }
  const read = schema.safeParse(json);
  if (!read.success) throw fail(z.prettifyError(read.error).replaceAll(/\s+/g, ' '));
  return read.data;
}
