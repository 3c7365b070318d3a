// offhook backup, offhook restore: the data of a daemon on this host, whole and checked. Works while the daemon runs
// (backup) and only while it does not (restore). Redis holds nothing that the database does not, and is not copied.
import {
  appendFileSync,
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Command } from 'commander';
import type { Run } from '../context.ts';
import { Ending, EXIT, UsageError } from '../exit.ts';
import { readEnvironment } from '../settings.ts';

const DATABASE = 'offhook.db';
const RECORDINGS = 'recordings';
const KEY_FILE = 'secret.key';
/** Below the data folder: which copies there are, for whoever erases something later. */
const BACKUP_LIST = 'backups.jsonl';

const stamp = (now: Date) => now.toISOString().replaceAll(/[-:.]/g, '');

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** What SQLite says of a database's pages. @throws Error when it is no database, or a damaged one */
function checkDatabase(path: string): void {
  const database = new DatabaseSync(path);
  try {
    const found = database.prepare('PRAGMA integrity_check').get() as { integrity_check?: unknown };
    if (found.integrity_check !== 'ok') throw new Error(`it is damaged: ${String(found.integrity_check)}`);
    const ours = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'organizations'").get();
    if (ours === undefined) throw new Error('it is a database, but none of this program');
    // One file that can be moved anywhere; the daemon switches back by itself.
    database.exec('PRAGMA journal_mode = DELETE');
  } finally {
    database.close();
  }
}

/**
 * Copies the database of a data folder, whole, while it is written to or not.
 * @returns the path of the copy
 * @throws Error when there is nothing to copy, or the copy is not whole
 */
function backUp(dataDir: string, folder: string, now: Date): string {
  const from = join(dataDir, DATABASE);
  if (!existsSync(from)) {
    throw new UsageError(
      `There is no database ${from}: is DATA_DIR set as for the daemon? (--data-dir, --env-file)`,
    );
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const to = join(folder, `offhook-${stamp(now)}.db`);
  closeSync(openSync(to, 'wx', 0o600));
  try {
    // VACUUM INTO reads one snapshot, whatever is written meanwhile; `cp` would take half a transaction.
    const source = new DatabaseSync(from, { timeout: 10_000 });
    try {
      source.prepare('VACUUM INTO ?').run(to);
    } finally {
      source.close();
    }
    checkDatabase(to);
    chmodSync(to, 0o600);
    sync(to);
    return to;
  } catch (error) {
    rmSync(to, { force: true });
    throw new Error(`The copy is not whole, and was removed: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes down that there is a copy: an erasure later on names it. A folder that takes no notes has no less of a backup. */
function noteBackup(dataDir: string, path: string, now: Date): void {
  try {
    const line = `${JSON.stringify({ path, made_at: now.toISOString() })}\n`;
    appendFileSync(join(dataDir, BACKUP_LIST), line, { mode: 0o600 });
  } catch {}
}

/** Under which key the secrets of a database are sealed; null in one of before there were keys. */
function sealedUnder(path: string): string | null {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    if (database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'notes'").get() === undefined) return null;
    const note = database.prepare("SELECT value FROM notes WHERE name = 'secret_key'").get();
    return typeof note?.value === 'string' ? note.value : null;
  } finally {
    database.close();
  }
}

/** Whether a process has the file open: in WAL mode each one holds a lock for as long as it lives; a daemon's lock is one. */
function inUse(path: string): boolean {
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return false;
  } catch (error) {
    if ((error as { errcode?: number }).errcode === 5) return true;
    // A file that SQLite cannot read is no obstacle: a restore is what it needs.
    return false;
  } finally {
    database.close();
  }
}

/** Who was signed in at the backup may have been signed out since: a cookie of then is worth nothing now. */
function endSessions(path: string): void {
  const database = new DatabaseSync(path);
  try {
    for (const name of ['user_sessions', 'dashboard_sessions']) {
      // A backup of an older version may have no such table yet.
      const table = database.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(name);
      if (table !== undefined) database.exec(`DELETE FROM ${name}`);
    }
  } finally {
    database.close();
  }
}

/**
 * Puts a backup in the place of a data folder's database, without its dashboard sessions; what was there is kept beside it.
 * @returns where the old database is now, or null when there was none
 */
function restore(backup: string, dataDir: string, now: Date): string | null {
  if (!existsSync(backup) || !statSync(backup).isFile()) throw new UsageError(`There is no file ${backup}.`);
  const target = join(dataDir, DATABASE);
  // The lock too: a daemon that runs holds it, also when its database was deleted under it.
  if (inUse(target) || inUse(`${target}.lock`)) {
    throw new UsageError(`A daemon runs on ${dataDir}. Stop it first: what it writes would be lost.`);
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  // Checked where it is going to be: a copy that broke on the way is not put in place.
  const arriving = join(dataDir, `${DATABASE}.restoring`);
  copyFileSync(backup, arriving);
  try {
    chmodSync(arriving, 0o600);
    checkDatabase(arriving);
    endSessions(arriving);
    // The daemon does not run as root, and has to write it.
    if (process.getuid?.() === 0) {
      const { uid, gid } = statSync(dataDir);
      chownSync(arriving, uid, gid);
    }
    sync(arriving);
  } catch (error) {
    rmSync(arriving, { force: true });
    throw new UsageError(`${backup} cannot be restored: ${(error as Error).message}.`);
  }
  const kept = existsSync(target) ? `${target}.replaced-${stamp(now)}` : null;
  if (kept !== null) {
    // With its log: it may hold what the file itself does not yet.
    for (const end of ['', '-wal', '-shm']) {
      if (existsSync(target + end)) renameSync(target + end, kept + end);
    }
  }
  renameSync(arriving, target);
  // The names are the folder's: without it a power cut may bring the old ones back.
  sync(dataDir);
  return kept;
}

/** @returns where the copy is @throws UsageError when there is no such file, as with SECRET_KEY */
function copyKey(dataDir: string, to: string): string {
  const from = join(dataDir, KEY_FILE);
  if (!existsSync(from)) {
    throw new UsageError(
      `There is no ${from}: the key is in SECRET_KEY of the daemon's settings. Keep that.`,
    );
  }
  closeSync(openSync(to, 'wx', 0o600));
  copyFileSync(from, to);
  sync(to);
  return to;
}

/** What a backup holds, in the words of whoever has to keep it. */
function holds(sealed: string | null, key: string | null): string {
  if (sealed === null) {
    return 'It holds phone numbers, transcripts, webhook secrets and tool headers in clear text: keep it accordingly.';
  }
  const secrets = `webhook secrets and tool headers are sealed under key ${sealed}`;
  return key === null
    ? `It holds phone numbers and transcripts in clear text; ${secrets}, which is not in it (SECRET_KEY, or ${KEY_FILE} of the data folder): keep a copy of that elsewhere.`
    : `It holds phone numbers and transcripts in clear text; ${secrets}, which lies beside it: keep the two apart.`;
}

interface Where {
  dataDir?: string;
  envFile?: string;
  recordings?: boolean;
  withKey?: boolean;
}

const dataDirOf = (o: Where, env: Record<string, string | undefined>) =>
  resolve(o.dataDir ?? readEnvironment(env, o.envFile).DATA_DIR ?? './data');

export function addBackupCommands(program: Command, run: Run): void {
  program
    .command('backup <folder>')
    .description('copy the database of the daemon on this host, whole and checked, while calls run')
    .option('--data-dir <folder>', "the daemon's DATA_DIR (default: of the environment, else ./data)")
    .option('--env-file <file>', "the daemon's settings")
    .option('--recordings', 'the recordings too, those that are not there yet')
    .option('--with-key', `the ${KEY_FILE} too, which opens the secrets in it`)
    .action(
      run(async ({ output, env, now }, o: Where, folder) => {
        const dataDir = dataDirOf(o, env);
        const to = backUp(dataDir, resolve(folder), now());
        const megabytes = (statSync(to).size / 1e6).toFixed(1);
        let copied = 0;
        if (o.recordings && existsSync(join(dataDir, RECORDINGS))) {
          const target = join(resolve(folder), RECORDINGS);
          mkdirSync(target, { recursive: true, mode: 0o700 });
          for (const name of readdirSync(join(dataDir, RECORDINGS))) {
            const source = join(dataDir, RECORDINGS, name);
            // One that is still being written is shorter than it will be: the next backup takes it again.
            if (existsSync(join(target, name)) && statSync(join(target, name)).size === statSync(source).size)
              continue;
            cpSync(source, join(target, name));
            copied++;
          }
        }
        noteBackup(dataDir, to, now());
        const key = o.withKey ? copyKey(dataDir, `${to}.key`) : null;
        const sealed = sealedUnder(to);
        if (output.json)
          return output.data({ file: to, recordings: copied, secret_key: sealed, key_file: key });
        output.line(
          `${to} (${megabytes} MB${o.recordings ? `, ${copied} ${copied === 1 ? 'recording' : 'recordings'}` : ''})`,
        );
        if (key !== null) output.line(key);
        output.note(holds(sealed, key));
      }),
    );

  program
    .command('restore <file>')
    .description('put a backup in the place of the database; the daemon must be stopped')
    .option('--data-dir <folder>', "the daemon's DATA_DIR (default: of the environment, else ./data)")
    .option('--env-file <file>', "the daemon's settings")
    .option('-y, --yes', 'without asking')
    .action(
      run(async ({ output, env, now }, o: Where & { yes?: boolean }, file) => {
        const dataDir = dataDirOf(o, env);
        if (!o.yes) {
          throw new Ending(
            EXIT.usage,
            `This puts ${file} in the place of ${join(dataDir, DATABASE)}, which is kept beside it. Say so with --yes.`,
          );
        }
        const kept = restore(resolve(file), dataDir, now());
        if (output.json) return output.data({ data_dir: dataDir, replaced: kept });
        output.line(`Restored to ${dataDir}.${kept === null ? '' : ` What was there is ${kept}.`}`);
        output.line(
          'Start the daemon: it ends the calls that were live at the backup, after asking the carrier, and sends the webhooks that were still due.',
        );
        const sealed = sealedUnder(join(dataDir, DATABASE));
        if (sealed !== null) {
          output.line(
            `Its secrets are sealed under key ${sealed}: the daemon starts with that one, in SECRET_KEY or ${join(dataDir, KEY_FILE)}.`,
          );
        }
        output.line(
          'API keys and the password are as they were at the backup: a key that was revoked since works again, so revoke it again. Everybody is signed out of the dashboard.',
        );
      }),
    );
}
