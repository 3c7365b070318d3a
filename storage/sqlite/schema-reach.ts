// Which programs may use a database, by its schema and theirs: a newer one adds to it while an older one goes on, and the older
// one may be started again on it. PURE.
import type { Migration } from './migrations.ts';

/** The number of steps that a program has to know to use the database as it is. */
export const READER_NOTE = 'min_reader';

/** Of the programs before this one, which may use what these steps lead to: those that know so many of them. */
export function oldestReader(migrations: readonly Migration[]): number {
  return migrations.findLastIndex(({ kind }) => kind === undefined) + 1;
}

/**
 * Whether a program that knows `migrations` may use a database of schema `version`.
 * @param noted as READER_NOTE has it; null in a database of before it was kept
 */
export function mayUse(migrations: readonly Migration[], version: number, noted: string | null): boolean {
  if (version <= migrations.length) return true;
  return noted !== null && /^\d+$/.test(noted) && migrations.length >= Number(noted);
}

/** Whether the steps that a database of schema `version` lacks may be taken while others have it open. */
export function isAddedBeside(migrations: readonly Migration[], version: number): boolean {
  return migrations.slice(version).every(({ kind }) => kind === 'adds');
}
