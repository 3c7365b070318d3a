// The folder a database lies in: who holds it, and whether a database has been there. The database itself is database.ts's.
import { chmodSync, closeSync, existsSync, openSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { StorageError } from '../storage-error.ts';

/** How long a daemon that is just going away may still hold the lock. */
const LOCK_WAIT_MS = 500;

export interface FolderLock {
  /** Names the lock's file for as long as somebody has it open: a new file of the same name has another. */
  id: string;
  release(): void;
}

const isBusy = (error: unknown) =>
  error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY');

/** Makes an empty file only its owner can read; an existing one is narrowed without being opened. */
export function createPrivate(path: string): void {
  if (existsSync(path)) {
    chmodSync(path, 0o600);
    return;
  }
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

/**
 * Holds an exclusive SQLite lock on a file of its own for as long as the process lives: the operating system gives it back
 * however the process ends, and never while it is only stopped. Null when somebody else holds it.
 * @throws SqliteError when there is no such file
 */
export function lockFile(path: string, waitMs: number): FolderLock | null {
  const lock = new Database(path, { timeout: waitMs, fileMustExist: true });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { id: fileId(path) ?? 'gone', release: () => void lock.close() };
}

/** What tells a file from another of the same name for as long as somebody has it open; null where there is none. */
export function fileId(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : String(found.ino);
}

/**
 * Takes the lock under which a database is opened and its schema changed; beside it the database stays readable to a shell.
 * @throws StorageError locked
 */
export function takeLock(databasePath: string): FolderLock {
  const lock = tryLock(databasePath, LOCK_WAIT_MS);
  if (lock !== null) return lock;
  throw new StorageError('locked', `another daemon is using this data folder (${databasePath}.lock is held)`);
}

/** The same; null where somebody else has it. */
export function tryLock(databasePath: string, waitMs = 0): FolderLock | null {
  const path = `${databasePath}.lock`;
  createPrivate(path);
  return lockFile(path, waitMs);
}

/**
 * Makes sure that a lock is worth something. The file of a lock can be deleted and made anew under a daemon that runs;
 * the database it has open cannot. So where the database was last opened under another lock, or under none that is known,
 * nobody else may have it open now.
 * @throws StorageError locked
 */
export function checkLock(databasePath: string, lock: FolderLock, known: string | null): void {
  if (known === lock.id || isOurs(databasePath)) return;
  throw new StorageError(
    'locked',
    `another process has ${databasePath} open, and ${databasePath}.lock is not the one it was opened under (deleted or replaced): stop the daemon that runs on this folder, or close what else reads the file, then start again`,
  );
}

/** Whether nobody else has the database open: in WAL mode whoever has holds a shared lock on it. */
export function isOurs(databasePath: string): boolean {
  const probe = new Database(databasePath, { timeout: LOCK_WAIT_MS });
  try {
    probe.pragma('locking_mode = EXCLUSIVE');
    probe.exec('BEGIN EXCLUSIVE; COMMIT');
    return true;
  } catch (error) {
    if (!isBusy(error)) throw error;
    return false;
  } finally {
    probe.close();
  }
}

/** Leaves beside a database that there is one, for the day on which it is gone. */
export function markFolder(databasePath: string, now: Date): void {
  const path = `${databasePath}.made`;
  if (existsSync(path)) return;
  const text = `${basename(databasePath)} was made here, or first seen, on ${now.toISOString()}.
If it is missing or empty, put a backup in its place. To begin anew, move this file away with all the others.
`;
  writeFileSync(path, text, { mode: 0o600 });
}

/** What an installation leaves beside its database; empty in a folder that never held one. */
export function signsOfInstallation(databasePath: string): string[] {
  const folder = dirname(databasePath);
  const name = basename(databasePath);
  const size = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const signs: string[] = [];
  if (size(`${databasePath}-wal`) > 0) signs.push(`${name}-wal`);
  for (const entry of existsSync(folder) ? readdirSync(folder) : []) {
    if (entry === `${name}.made` || entry === 'secret.key' || entry === 'password-link.json') {
      signs.push(entry);
    }
    if (entry === 'recordings' || entry === 'redis') {
      if (readdirSync(join(folder, entry)).length > 0) signs.push(`${entry}/`);
    } else if (entry.startsWith(`${name}.schema-`) || entry.startsWith(`${name}.replaced-`)) {
      signs.push(entry);
    }
  }
  return signs;
}

/** A folder that has held an installation, with no database or one without content. */
export function missingDatabase(databasePath: string, signs: readonly string[]): StorageError {
  const [first, ...others] = signs;
  const what = existsSync(databasePath) ? 'is empty' : 'is missing';
  return new StorageError(
    'missing_database',
    `${databasePath} ${what}, but its folder has held an installation (${first}${others.length > 0 ? ', …' : ''}): put a backup in its place (offhook restore FILE), set DATA_DIR to the right folder, or, to begin anew, move what is there away`,
  );
}
