// Whether a daemon lives. Each holds a lock of the operating system's on a file of its own, and loses it only with its
// process: no clock is asked, so that one that is stopped, or sleeps with its machine, lives.
import { rmSync } from 'node:fs';
import { StorageError } from '../storage-error.ts';
import { createPrivate, type FolderLock, fileId, lockFile } from './data-folder.ts';

/**
 * `unknown`: its file is not the one it held, as in a folder that was copied, or it runs on another host. Only what is
 * proven dead is anybody else's.
 */
export type Life = 'lives' | 'dead' | 'unknown';

/** As it was written down: `life` names its lock's file. */
export interface Registered {
  epoch: number;
  life: string | null;
}

const fileOf = (databasePath: string, epoch: number) => `${databasePath}.daemon-${epoch}`;

/** Takes the lock of a daemon that is being registered. @throws StorageError locked */
export function beginLife(databasePath: string, epoch: number): FolderLock {
  const path = fileOf(databasePath, epoch);
  createPrivate(path);
  const lock = lockFile(path, 0);
  if (lock === null) throw new StorageError('locked', `another process holds ${path}`);
  return lock;
}

/** What can be proven of another daemon, never of oneself. */
export function lifeOf(databasePath: string, { epoch, life }: Registered): Life {
  const path = fileOf(databasePath, epoch);
  if (life === null || fileId(path) !== life) return 'unknown';
  try {
    const lock = lockFile(path, 0);
    lock?.release();
    return lock === null ? 'lives' : 'dead';
  } catch {
    // Taken away in between, or not to be read: that proves nothing.
    return 'unknown';
  }
}

/** Takes away what a daemon that is dead has held. */
export function buryLife(databasePath: string, epoch: number): void {
  rmSync(fileOf(databasePath, epoch), { force: true });
}
