// Opening the SQLite file: the folder's lock, who else is there, checks, settings, migrations, checkpoints. The verbs are
// elsewhere.
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import Database from 'better-sqlite3';
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { DaemonRecord } from '../records.ts';
import { StorageError } from '../storage-error.ts';
import { lifeOf } from './daemon-life.ts';
import {
  checkLock,
  createPrivate,
  type FolderLock,
  isOurs,
  markFolder,
  missingDatabase,
  signsOfInstallation,
  takeLock,
  tryLock,
} from './data-folder.ts';
import { type Enrolment, enrol, notEnded } from './enrolment.ts';
import { checkedAtOpen } from './integrity.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';
import { keepNote, readNote } from './notes.ts';
import { isAddedBeside, mayUse, oldestReader, READER_NOTE } from './schema-reach.ts';

/** Marks the file as ours ("Offh" in ASCII), so that another program's database is never migrated. */
const APPLICATION_ID = 0x4f666668;
const CHECKPOINT_MS = 60_000;
const LARGE_WAL_BYTES = 64 * 1024 * 1024;
const BUSY_WAIT_MS = 5000;
/** The lock under which the database is open, or was last. */
const LOCK_NOTE = 'lock_file';
/** NFS, SMB, CIFS, SMB2 (statfs(2)): their locks and shared memory do not hold what WAL needs. */
const NETWORK_FILESYSTEMS: ReadonlySet<number> = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42]);

export { StorageError };

export interface OpenOptions {
  /** The database file; `:memory:` for one that ends with the process and takes no lock. */
  path: string;
  /** Other daemons of this host may have it open too, each for itself; while one has, the schema is only added to. */
  shared?: boolean | undefined;
  log?: Log | undefined;
  now?: (() => Date) | undefined;
  migrations?: readonly Migration[];
}

export interface OpenDatabase {
  db: Database.Database;
  /** As whom it was opened. */
  daemon: DaemonRecord;
  /** Bytes of the write-ahead log now. */
  walBytes(): number;
  /** Gives the folder's lock back, or takes it again. @returns false: somebody else has it */
  letOthersIn(may: boolean): boolean;
  /** Says that this daemon is over, empties the write-ahead log, closes the file, lets the next in. Safe to call twice. */
  close(): void;
}

/**
 * Opens the database, creating or migrating it.
 *
 *   lock -> who else is there? -> settings -> quick_check -> (copy beside it) -> migrations -> enrolment -> (unlock, if shared)
 *   checkpoint each minute ... ended -> TRUNCATE -> unlock
 *
 * Whoever opens holds the folder's lock meanwhile: of those that start at once, one opens after the other.
 * The check is of a small file: reading a large one would keep the lines closed for minutes; see integrity.ts.
 *
 * Beware: closing any descriptor of these files in this process drops SQLite's POSIX locks
 * (sqlite.org/howtocorrupt.html, 2.2), so nothing else in the daemon may open them by hand.
 * @throws StorageError
 */
export function openDatabase(options: OpenOptions): OpenDatabase {
  const { path, log } = options;
  const onDisk = path !== ':memory:';
  let lock: FolderLock | null = null;
  if (onDisk) {
    const folder = dirname(path);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (NETWORK_FILESYSTEMS.has(statfsSync(folder).type)) {
      throw new StorageError('network_filesystem', `${folder} is on a network file system: use a local disk`);
    }
    lock = takeLock(path);
  }
  let db: Database.Database | undefined;
  let enrolment: Enrolment | undefined;
  try {
    const others = lock === null ? NOBODY : examine(path, lock, options);
    db = new Database(path, { timeout: BUSY_WAIT_MS });
    configure(db, path);
    migrate(db, { ...options, others, migrations: options.migrations ?? MIGRATIONS });
    const now = options.now ?? systemClock.now;
    if (lock !== null) {
      markFolder(path, now());
      keepNote(db, LOCK_NOTE, lock.id);
    }
    enrolment = enrol(db, { path, now, dead: others.dead });
    if (options.shared) {
      lock?.release();
      lock = null;
    }
  } catch (error) {
    enrolment?.end();
    db?.close();
    lock?.release();
    if (error instanceof Database.SqliteError && /^SQLITE_(NOTADB|CORRUPT)/.test(error.code)) {
      throw corrupt(path, error.message, error);
    }
    throw error;
  }

  const opened = db;
  const enrolled = enrolment;
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
    daemon: enrolled.daemon,
    walBytes,
    letOthersIn(may) {
      if (!onDisk || !opened.open) return true;
      if (may) {
        lock?.release();
        lock = null;
        return true;
      }
      try {
        lock ??= tryLock(path);
      } catch (error) {
        // A folder that takes no files now: who comes finds out that somebody is there all the same.
        log?.warn({ err: error }, 'storage.folder_not_held');
      }
      return lock !== null;
    },
    close() {
      clearInterval(timer);
      if (!opened.open) return;
      try {
        enrolled.end();
        // A log that others use is not emptied: that would wait for them.
        opened.pragma(notEnded(opened).length > 0 ? 'wal_checkpoint(PASSIVE)' : 'wal_checkpoint(TRUNCATE)');
      } finally {
        opened.close();
        lock?.release();
      }
    },
  };
}

/** The other daemons that have not said that they are over. */
interface Others {
  /** Proven dead: what they left may be taken over. */
  dead: readonly number[];
  /** Those that live, or of which nothing can be proven. */
  present: readonly DaemonRecord[];
}

const NOBODY: Others = { dead: [], present: [] };

/**
 * Whether the file may be opened at all, before anything is written to it.
 * @throws StorageError missing_database, locked
 */
function examine(path: string, lock: FolderLock, { shared = false, log }: OpenOptions): Others {
  const signs = signsOfInstallation(path);
  // SQLite would take an empty file for a new database, and a log beside it for a leftover.
  const empty = (statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0;
  if (empty && signs.length > 0) throw missingDatabase(path, signs);
  createPrivate(path);
  // Only to read: the last writer to close a database works its log in, also that of a damaged one.
  const first = new Database(path, { readonly: true, timeout: BUSY_WAIT_MS });
  let known: string | null;
  let enrolled: ReturnType<typeof notEnded>;
  try {
    const tables = Number(first.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
    if (tables === 0 && signs.length > 0) throw missingDatabase(path, signs);
    known = readNote(first, LOCK_NOTE);
    enrolled = notEnded(first);
  } finally {
    first.close();
  }
  checkLock(path, lock, known);
  const lives = enrolled.map((one) => ({ one, life: lifeOf(path, one) }));
  const living = lives.filter(({ life }) => life === 'lives').map(({ one }) => one.daemon);
  // One that only waits for the end of its calls has left all else to whoever comes.
  const [rival] = living.filter(({ state }) => state !== 'leaving');
  if (!shared && rival !== undefined) {
    throw new StorageError(
      'locked',
      `another daemon is using this data folder (process ${rival.pid}); several of one host may, with DATA_DIR_SHARED=true for each of them`,
    );
  }
  const unknown = lives.filter(({ life }) => life === 'unknown').map(({ one }) => one.daemon);
  const dead = lives.filter(({ life }) => life === 'dead').map(({ one }) => one.daemon.epoch);
  if (unknown.length === 0) return { dead, present: living };
  // As in a folder that was copied or put back from a backup: if nobody has the database open, nobody lives.
  if (living.length === 0 && isOurs(path)) {
    return { dead: [...dead, ...unknown.map(({ epoch }) => epoch)], present: [] };
  }
  if (!shared) {
    throw new StorageError(
      'locked',
      `another process has ${path} open, and it cannot be told whether it is a daemon (${path}.daemon-${unknown[0]?.epoch} was deleted or replaced): stop the daemon that runs on this folder, or close what else reads the file, then start again`,
    );
  }
  log?.warn({ epochs: unknown.map(({ epoch }) => epoch) }, 'storage.daemons_unknown');
  return { dead, present: [...living, ...unknown] };
}

function configure(db: Database.Database, path: string): void {
  db.pragma('journal_mode = WAL');
  // better-sqlite3 is built with NORMAL as WAL's default, which may lose the last commits on a power cut.
  db.pragma('synchronous = FULL');
  db.pragma('foreign_keys = ON');
  db.pragma(`journal_size_limit = ${LARGE_WAL_BYTES}`);
  db.pragma('trusted_schema = OFF');
  // What is deleted or moved is made zeros where it stood: an erasure can reach no copy of before that it does not know of.
  db.pragma('secure_delete = ON');
  if (!checkedAtOpen(path)) return;
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
 * Brings the schema up to date, all steps in one transaction, after a copy of a database that holds something. Beside other
 * daemons only where each step just adds; they go on meanwhile. A database that a newer program has added to stays as it is.
 * @throws StorageError newer_schema, foreign_database, migration_failed, locked
 */
function migrate(
  db: Database.Database,
  { path, log, now, migrations, others }: OpenOptions & { migrations: readonly Migration[]; others: Others },
): void {
  const version = Number(db.pragma('user_version', { simple: true }));
  const target = migrations.length;
  const tables = Number(db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (tables > 0 && Number(db.pragma('application_id', { simple: true })) !== APPLICATION_ID) {
    throw new StorageError('foreign_database', `${path} is a database of another program`);
  }
  if (!mayUse(migrations, version, readNote(db, READER_NOTE))) {
    throw new StorageError(
      'newer_schema',
      `${path} has schema ${version}, this version knows ${target}: start the newer version, or put back a backup`,
    );
  }
  if (version > target) {
    log?.info({ schema: version, known: target }, 'storage.newer_schema');
    return;
  }
  const reader = String(oldestReader(migrations));
  if (version === target) {
    keepNote(db, READER_NOTE, reader);
    return;
  }
  const beside = others.present.length > 0;
  if (beside && !isAddedBeside(migrations, version)) {
    const pids = others.present.map(({ pid }) => pid).join(', ');
    throw new StorageError(
      'locked',
      `${path} has schema ${version}, this version needs ${target}, which is not only added to it, and other daemons are using it (process ${pids}): stop them first`,
    );
  }

  const seconds = (since: number) => Math.round((performance.now() - since) / 100) / 10;
  const begun = performance.now();
  // Lines of progress, because nothing is served until it is done, and of a large database that is minutes.
  if (tables > 0) {
    const megabytes = path === ':memory:' ? 0 : Math.ceil(statSync(path).size / 2 ** 20);
    log?.info({ from: version, to: target, megabytes }, 'storage.migrating');
  }
  if (tables > 0 && path !== ':memory:') {
    removePartialCopies(path);
    const stamp = (now ?? systemClock.now)().toISOString().replaceAll(/[-:.]/g, '');
    copyDatabase(db, `${path}.schema-${version}.${stamp}.bak`);
    log?.info({ seconds: seconds(begun) }, 'storage.copied');
  }
  // Off, because a step may rebuild a table that others refer to (sqlite.org/lang_altertable.html, 7);
  // the check below stands in, and the pragma does nothing inside a transaction.
  db.pragma('foreign_keys = OFF');
  try {
    db.transaction(() => {
      for (const migration of migrations.slice(version)) {
        const stepBegun = performance.now();
        try {
          db.exec(migration.sql);
          if (tables > 0)
            log?.info({ step: migration.name, seconds: seconds(stepBegun) }, 'storage.migration_step');
        } catch (error) {
          throw new StorageError('migration_failed', `migration "${migration.name}" failed: ${error}`, error);
        }
      }
      // A walk through all rows, for which others would have to wait: what only adds has broken none.
      if (!beside) {
        const checkBegun = performance.now();
        const broken = db.pragma('foreign_key_check') as unknown[];
        if (tables > 0) log?.info({ seconds: seconds(checkBegun) }, 'storage.references_checked');
        if (broken.length > 0) {
          throw new StorageError('migration_failed', `migrations left ${broken.length} broken references`);
        }
      }
      keepNote(db, READER_NOTE, reader);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${target}`);
    }).exclusive();
  } finally {
    db.pragma('foreign_keys = ON');
  }
  log?.info({ from: version, to: target, seconds: seconds(begun) }, 'storage.migrated');
}

/** What a copy is called until it is whole. */
const PARTIAL = '.partial';

/**
 * Writes a consistent copy of the database to a new file and forces it to disk: whole, or not there.
 * @throws when the file exists already
 */
function copyDatabase(db: Database.Database, to: string): void {
  if (existsSync(to)) throw new Error(`${to} is there already`);
  const arriving = to + PARTIAL;
  rmSync(arriving, { force: true });
  closeSync(openSync(arriving, 'wx', 0o600));
  try {
    db.prepare('VACUUM INTO ?').run(arriving);
    sync(arriving);
    renameSync(arriving, to);
    sync(dirname(to));
  } catch (error) {
    rmSync(arriving, { force: true });
    throw error;
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** Copies that a process did not live to finish, and the journals SQLite makes beside them. */
function removePartialCopies(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    if (name.startsWith(basename(path)) && name.includes(PARTIAL)) rmSync(join(dirname(path), name));
  }
}
