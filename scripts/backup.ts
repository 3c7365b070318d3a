// `npm run backup -- FOLDER`: a copy of the database of DATA_DIR, whole and checked, while the daemon runs or not.
// Recordings are plain files, and Redis holds nothing that the database does not: neither is copied here.
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { readConfig } from '../config.ts';

/** Copies; answers the copy's path. @throws Error when there is nothing to copy, or the copy is not whole */
function backup(from: string, folder: string): string {
  if (!existsSync(from)) throw new Error(`there is no database ${from}: is DATA_DIR set as for the daemon?`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const to = join(folder, `offhook-${new Date().toISOString().replaceAll(/[-:.]/g, '')}.db`);
  closeSync(openSync(to, 'wx', 0o600));
  try {
    // VACUUM INTO reads one snapshot, whatever is written meanwhile; `cp` would take half a transaction.
    const source = new Database(from, { timeout: 10_000 });
    try {
      source.prepare('VACUUM INTO ?').run(to);
    } finally {
      source.close();
    }
    const copy = new Database(to);
    try {
      const found = copy.pragma('integrity_check', { simple: true });
      if (found !== 'ok') throw new Error(`the copy is damaged: ${String(found)}`);
      // One file that can be moved anywhere; the daemon switches back by itself.
      copy.pragma('journal_mode = DELETE');
    } finally {
      copy.close();
    }
    chmodSync(to, 0o600);
    const descriptor = openSync(to, 'r');
    fsyncSync(descriptor);
    closeSync(descriptor);
    return to;
  } catch (error) {
    rmSync(to, { force: true });
    throw error;
  }
}

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined || folder.startsWith('-') || more.length > 0) {
  console.error('npm run backup -- FOLDER: writes a copy of the database of DATA_DIR into FOLDER.');
  process.exitCode = 2;
} else {
  try {
    const { DATA_DIR } = readConfig(process.env);
    const to = backup(join(resolve(DATA_DIR), 'offhook.db'), resolve(folder));
    console.log(`${to} (${Math.ceil(statSync(to).size / 1024)} KB)`);
  } catch (error) {
    console.error(`backup: ${error instanceof Error ? error.message : error}`);
    process.exitCode = 1;
  }
}
