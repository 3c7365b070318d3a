// A daemon's own row, from the opening of the database to its close.
import { hostname } from 'node:os';
import type Database from 'better-sqlite3';
import type { DaemonRecord } from '../records.ts';
import { StorageError } from '../storage-error.ts';
import { beginLife, buryLife, type Registered } from './daemon-life.ts';
import type { FolderLock } from './data-folder.ts';
import { DAEMONS, type Row } from './rows.ts';

export interface Enrolment {
  daemon: DaemonRecord;
  /** Says that it is over, and gives its lock back. What it leaves is its heir's. Safe to call twice. */
  end(): void;
}

const hasDaemons = (db: Database.Database) =>
  db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'daemons'").get() !== undefined;

/** The daemons that have not said that they are over, the oldest first. Rows of it are read by `enrolledOf`. */
export const NOT_ENDED = `SELECT daemons.* FROM daemons INDEXED BY daemons_without_heir
  WHERE heir IS NULL AND ended_at IS NULL ORDER BY epoch`;

export type Enrolled = Registered & { daemon: DaemonRecord };

export function enrolledOf(row: Row): Enrolled {
  const daemon = DAEMONS.fromRow(row);
  return { epoch: daemon.epoch, life: row.life === null ? null : String(row.life), daemon };
}

/** Those of a database that may be of before daemons were written down: then there are none. */
export function notEnded(db: Database.Database): Enrolled[] {
  return hasDaemons(db) ? db.prepare<[], Row>(NOT_ENDED).all().map(enrolledOf) : [];
}

/** What `refuseReplaced` reads: its own row, by its epoch. */
export const OWN_HEIR = 'SELECT heir FROM daemons WHERE epoch = ?';

/** @throws StorageError replaced when another daemon has taken over what this one had */
export function refuseReplaced(own: Row | undefined): void {
  if (own === undefined || own.heir === null) return;
  throw new StorageError('replaced', 'another daemon has taken over what this one had');
}

/**
 * Writes down that this process runs on the database, under an epoch of its own, and who does so no more. Its row is seen
 * by others only with its lock held: from then on it lives until that is free.
 * @throws StorageError locked
 */
export function enrol(
  db: Database.Database,
  o: { path: string; now: () => Date; dead: readonly number[] },
): Enrolment {
  const started_at = o.now().toISOString();
  const unsaid = { version: '', state: 'running', private_port: null, alive_at: null } as const;
  const fields = { host: hostname(), pid: process.pid, started_at, ended_at: null, ...unsaid };
  // A schema of before: whoever opens that writes no calls.
  if (!hasDaemons(db)) return { daemon: { epoch: 0, ...fields }, end() {} };
  let lock: FolderLock | null = null;
  const insert = db.prepare('INSERT INTO daemons (host, pid, started_at) VALUES (@host, @pid, @started_at)');
  const setLife = db.prepare('UPDATE daemons SET life = ? WHERE epoch = ?');
  const setEnded = db.prepare('UPDATE daemons SET ended_at = ? WHERE epoch = ? AND ended_at IS NULL');
  try {
    const epoch = db
      .transaction(() => {
        for (const dead of o.dead) setEnded.run(started_at, dead);
        const made = Number(insert.run(fields).lastInsertRowid);
        if (o.path !== ':memory:') {
          lock = beginLife(o.path, made);
          setLife.run(lock.id, made);
        }
        return made;
      })
      .immediate();
    return { daemon: { epoch, ...fields }, end: () => end(epoch) };
  } catch (error) {
    (lock as FolderLock | null)?.release();
    throw error;
  }

  function end(epoch: number): void {
    if (!db.open) return;
    try {
      setEnded.run(o.now().toISOString(), epoch);
    } catch {
      // A disk that takes no writes: that the lock is free says as much.
    }
    if (lock === null) return;
    buryLife(o.path, epoch);
    lock.release();
  }
}
