// Opening the SQLite file: one daemon at a time, checks, settings, migrations, checkpoints. The verbs are elsewhere.
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { dirname } from 'node:path';
import Database from 'better-sqlite3';
import type { Log } from '../log.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

/** Marks the file as ours ("Offh" in ASCII), so that another program's database is never migrated. */
const APPLICATION_ID = 0x4f666668;
const CHECKPOINT_MS = 60_000;
const LARGE_WAL_BYTES = 64 * 1024 * 1024;
/** How long a daemon that is just going away may still hold the lock. */
const LOCK_WAIT_MS = 500;
const BUSY_WAIT_MS = 5000;
/** NFS, SMB, CIFS, SMB2 (statfs(2)): their locks and shared memory do not hold what WAL needs. */
const NETWORK_FILESYSTEMS: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

/** The database cannot be used; `message` is the one line to show the operator. */
export class StorageError extends Error {
  readonly code:
    | 'locked'
    | 'network_filesystem'
    | 'corrupt'
    | 'foreign_database'
    | 'newer_schema'
    | 'migration_failed';

  constructor(code: StorageError['code'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'StorageError';
    this.code = code;
  }
}

export interface OpenOptions {
  /** The database file; `:memory:` for one that ends with the process and takes no lock. */
  path: string;
  log?: Log | undefined;
  now?: (() => Date) | undefined;
  migrations?: readonly Migration[];
}

export interface OpenDatabase {
  db: Database.Database;
  /** Bytes of the write-ahead log now. */
  walBytes(): number;
  /** Empties the write-ahead log, closes the file, and lets the next daemon in. Safe to call twice. */
  close(): void;
}

/**
 * Opens the database, creating or migrating it.
 *
 *   lock -> settings -> quick_check -> (copy beside it) -> migrations -> checkpoint each minute ... TRUNCATE -> unlock
 *
 * Beware: closing any descriptor of these files in this process drops SQLite's POSIX locks
 * (sqlite.org/howtocorrupt.html, 2.2), so nothing else in the daemon may open them by hand.
 * @throws StorageError
 */
export function openDatabase(options: OpenOptions): OpenDatabase {
  const { path, log } = options;
  const onDisk = path !== ':memory:';
  let unlock = () => {};
  if (onDisk) {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (NETWORK_FILESYSTEMS.has(statfsSync(folder).type)) {
      throw new StorageError('network_filesystem', `${folder} is on a network file system: use a local disk`);
    }
    unlock = takeLock(`${path}.lock`);
  }
  let db: Database.Database | undefined;
  try {
    if (onDisk) createPrivate(path);
    db = new Database(path, { timeout: BUSY_WAIT_MS });
    configure(db, path);
    migrate(db, { ...options, migrations: options.migrations ?? MIGRATIONS });
  } catch (error) {
    db?.close();
    unlock();
    if (error instanceof Database.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code)) {
      throw corrupt(path, error.message, error);
    }
    throw error;
  }

  const opened = db;
  const walBytes = () => (onDisk ? (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) : 0);
  const timer = setInterval(() => {
    try {
      opened.pragma('wal_checkpoint(PASSIVE)');
      const bytes = walBytes();
      // A reader that never ends (a shell left open) keeps the log from being reused.
      if (bytes > LARGE_WAL_BYTES) log?.warn({ bytes }, 'storage.wal_large');
    } catch (error) {
      log?.error({ err: error }, 'storage.checkpoint_failed');
    }
  }, CHECKPOINT_MS);
  timer.unref();

  return {
    db: opened,
    walBytes,
    close() {
      clearInterval(timer);
      if (!opened.open) return;
      try {
        opened.pragma('wal_checkpoint(TRUNCATE)');
      } finally {
        opened.close();
        unlock();
      }
    },
  };
}

/**
 * Holds an exclusive SQLite lock on a file of its own for as long as the process lives. The operating system
 * gives it back however the process ends, and the database itself stays readable to a shell.
 */
function takeLock(path: string): () => void {
  createPrivate(path);
  const lock = new Database(path, { timeout: LOCK_WAIT_MS });
  try {
    lock.pragma('locking_mode = EXCLUSIVE');
    lock.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    lock.close();
    if (error instanceof Database.SqliteError && error.code.startsWith('SQLITE_BUSY')) {
      throw new StorageError('locked', `another daemon is using this data folder (${path} is held)`, error);
    }
    throw error;
  }
  return () => lock.close();
}

/** Makes an empty file only its owner can read; an existing one is narrowed without being opened. */
function createPrivate(path: string): void {
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

function configure(db: Database.Database, path: string): void {
  db.pragma('journal_mode = WAL');
  // better-sqlite3 is built with NORMAL as WAL's default, which may lose the last commits on a power cut.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`journal_size_limit = ${LARGE_WAL_BYTES}`);
  db.pragma('trusted_schema = OFF');
  const found = db.pragma('quick_check(1)', { simple: true });
  if (found !== 'ok') throw corrupt(path, String(found).replaceAll(/\s+/g, ' '));
}

function corrupt(path: string, found: string, cause?: unknown): StorageError {
  return new StorageError(
    'corrupt',
    `${path} is damaged (${found}); nothing was changed: put a backup in its place`,
    cause,
  );
}

/**
 * Brings the schema up to date, all steps in one transaction, after a copy of a database that holds something.
 * @throws StorageError newer_schema, foreign_database, migration_failed
 */
function migrate(
  db: Database.Database,
  { path, log, now, migrations }: OpenOptions & { migrations: readonly Migration[] },
): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  const target = migrations.length;
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (tables > 0 && Number(db.pragma('application_id', { simple: true })) !== APPLICATION_ID) {
    throw new StorageError('foreign_database', `${path} is a database of another program`);
  }
  if (version > target) {
    throw new StorageError(
      'newer_schema',
      `${path} has schema ${version}, this version knows ${target}: start the newer version, or put back a backup`,
    );
  }
  if (version === target) return;

  if (tables > 0 && path !== ':memory:') {
    const stamp = (now?.() ?? new Date()).toISOString().replaceAll(/[-:.]/g, '');
    copyDatabase(db, `${path}.schema-${version}.${stamp}.bak`);
  }
  // Off, because a step may rebuild a table that others refer to (sqlite.org/lang_altertable.html, 7);
  // the check below stands in, and the pragma does nothing inside a transaction.
  db.pragma('foreign_keys = OFF');
  try {
    db.transaction(() => {
      for (const migration of migrations.slice(version)) {
        try {
          db.exec(migration.sql);
        } catch (error) {
          throw new StorageError('migration_failed', `migration "${migration.name}" failed: ${error}`, error);
        }
      }
      const broken = db.pragma('foreign_key_check') as unknown[];
      if (broken.length > 0) {
        throw new StorageError('migration_failed', `migrations left ${broken.length} broken references`);
      }
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${target}`);
    }).exclusive();
  } finally {
    db.pragma('foreign_keys = ON');
  }
  log?.info({ from: version, to: target }, 'storage.migrated');
}

/**
 * Writes a consistent copy of the database to a new file and forces it to disk.
 * @throws when the file exists already
 */
export function copyDatabase(db: Database.Database, to: string): void {
  closeSync(openSync(to, 'wx', 0o600));
  try {
    db.prepare('VACUUM INTO ?').run(to);
    const descriptor = openSync(to, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}
