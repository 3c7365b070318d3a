// What commands on the host do to a database. Beside a daemon that runs they read it, or add to it in a transaction of their
// own, and take no lock of the folder: schema and keys are the daemon's affair. Where none may run, they open it as one does.
import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { findNamed } from '../organization-name.ts';
import type { DaemonRecord } from '../records.ts';
import { sealStore } from '../sealed-store.ts';
import { StorageError } from '../storage-error.ts';
import type { Store } from '../store.ts';
import { openConnection } from './connection.ts';
import { lifeOf } from './daemon-life.ts';
import { openDatabase } from './database.ts';
import { notEnded } from './enrolment.ts';
import { MIGRATIONS } from './migrations.ts';
import { readNote } from './notes.ts';
import { organizations } from './organizations.ts';
import { mayUse, READER_NOTE } from './schema-reach.ts';
import { type Forgotten, forgetSecrets, openSecretsBeside } from './secret-keys.ts';

const BUSY_WAIT_MS = 5000;
/** No daemon: what is written here has no owner. */
const NOBODY = 0;

/** An organization by its id or name. @throws Error when the file is no database of ours */
export function findOrganizationIn(path: string, idOrName: string): { id: string; isFirst: boolean } | null {
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_WAIT_MS });
  try {
    const rows = db
      .prepare<[], { id: string; name: string }>(
        'SELECT id, name FROM organizations ORDER BY created_at, seq',
      )
      .all();
    const found = findNamed(rows, idOrName);
    return found === undefined ? null : { id: found.id, isFirst: found.id === rows[0]?.id };
  } finally {
    db.close();
  }
}

/** The daemons that live on a database. @throws StorageError missing_database */
export function livingDaemons(path: string): DaemonRecord[] {
  if (!existsSync(path))
    throw new StorageError('missing_database', `there is no ${path}: set DATA_DIR as the daemon has it`);
  const db = new Database(path, { readonly: true, fileMustExist: true, timeout: BUSY_WAIT_MS });
  try {
    return notEnded(db)
      .filter((one) => lifeOf(path, one) === 'lives')
      .map(({ daemon }) => daemon);
  } finally {
    db.close();
  }
}

/**
 * The verbs of organizations on a database that a daemon may have open.
 * @throws StorageError missing_database, newer_schema, secret_key
 */
export function openBeside(o: { path: string; secretKeys: string | null; now: () => Date }): {
  store: Pick<Store, 'createOrganization'>;
  close(): void;
} {
  if (!existsSync(o.path)) {
    throw new StorageError('missing_database', `there is no ${o.path}: set DATA_DIR as the daemon has it`);
  }
  const db = new Database(o.path, { fileMustExist: true, timeout: BUSY_WAIT_MS });
  try {
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    const version = Number(db.pragma('user_version', { simple: true }));
    if (version < MIGRATIONS.length || !mayUse(MIGRATIONS, version, readNote(db, READER_NOTE))) {
      throw new StorageError(
        'newer_schema',
        `${o.path} is of another version: start the daemon of this one once, then try again`,
      );
    }
    const sealer = openSecretsBeside(db, { path: o.path, setting: o.secretKeys });
    const connection = openConnection({
      db,
      owner: NOBODY,
      clock: o.now,
      log: undefined,
      onWrite: undefined,
    });
    const sealed = sealStore(organizations(connection) as Store, sealer);
    return {
      store: sealed,
      close() {
        connection.close();
        db.close();
      },
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Drops every sealed value of a database that no daemon has open, and seals what takes its place under the keys there are.
 * @param newSecret a webhook secret
 * @param onBegin nothing is in the way: from here on it may take minutes
 * @throws StorageError locked while a daemon runs; secret_key when SECRET_KEY holds no key
 */
export function forgetSecretsIn(o: {
  path: string;
  secretKeys: string | null;
  newSecret: () => string;
  onBegin: () => void;
}): Forgotten {
  const { db, close } = openDatabase({ path: o.path });
  try {
    o.onBegin();
    return forgetSecrets(db, { path: o.path, setting: o.secretKeys, newSecret: o.newSecret });
  } finally {
    close();
  }
}
