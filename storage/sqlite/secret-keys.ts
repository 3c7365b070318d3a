// The keys that open the stored secrets: from the setting, else from a file beside the database. Which one the database is
// sealed under is noted in it, so that another one is refused at the start, and a newer one takes over.
import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type Database from 'better-sqlite3';
import type { Log } from '../../log.ts';
import type { AgentRecord, Tool } from '../records.ts';
import {
  answerPlace,
  convertTools,
  KEY_BYTES,
  openSealer,
  placeOf,
  SEALED_COLUMNS,
  type Sealer,
  type SecretKey,
  secretKey,
} from '../sealing.ts';
import { StorageError } from '../storage-error.ts';
import { keepNote, readNote } from './notes.ts';

const KEY_FILE = 'secret.key';
/** The id of the key under which everything is sealed; none: nothing is. */
const KEY_NOTE = 'secret_key';
/** Kept until pages that may still hold what was there before sealing have been written anew. */
const LEFTOVERS_NOTE = 'unsealed_leftovers';

const KEY_FILE_HEAD = `# Opens the secrets in offhook.db. Keep a copy of it, apart from the backups: without it they cannot be read again.
# One key a line; the first one seals, the others still open what was sealed before.
`;

/**
 * Keys as they are written: 32 bytes each, as hex or base64, separated by commas or lines; # begins a comment.
 * @throws StorageError secret_key naming `source`
 */
function parseKeys(text: string, source: string): SecretKey[] {
  return text
    .split(/\n/)
    .map((line) => line.replace(/#.*/, ''))
    .join(',')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const bytes = /^[0-9a-f]{64}$/i.test(part) ? Buffer.from(part, 'hex') : Buffer.from(part, 'base64');
      if (bytes.length !== KEY_BYTES || !/^[\w+/-]+=*$/.test(part)) {
        throw new StorageError(
          'secret_key',
          `${source} holds no key: 32 bytes as hex or base64, such as "openssl rand -base64 32" prints`,
        );
      }
      return secretKey(bytes);
    });
}

/** The text of a key file whose first key is new; the others, if any, still open. */
export function keyFileText(before: string): string {
  const lines = before.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return `${KEY_FILE_HEAD}${[randomBytes(KEY_BYTES).toString('base64'), ...lines].join('\n')}\n`;
}

const isUsed = (db: Database.Database) =>
  db.prepare('SELECT 1 FROM organizations LIMIT 1').get() !== undefined;

function megabytesOf(db: Database.Database): number {
  const pages = Number(db.pragma('page_count', { simple: true }));
  return Math.ceil((pages * Number(db.pragma('page_size', { simple: true }))) / 1e6);
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}

/** The file is there whole or not at all, whenever the process ends. Only under the database's lock: it replaces what is there. */
function makeKeyFile(path: string): string {
  const text = keyFileText('');
  const draft = `${path}.new`;
  writeFileSync(draft, text, { mode: 0o600 });
  sync(draft);
  renameSync(draft, path);
  sync(dirname(path));
  return text;
}

/** The keys there are, the newest first, and the one the database is sealed under. @throws StorageError secret_key */
function findKeys(db: Database.Database, o: { path: string; setting: string | null }) {
  const file = join(dirname(o.path), KEY_FILE);
  const sealedUnder = readNote(db, KEY_NOTE);
  const fromSetting = parseKeys(o.setting ?? '', 'SECRET_KEY');
  const hasFile = o.path !== ':memory:' && existsSync(file);
  const keys = [...fromSetting, ...(hasFile ? parseKeys(readFileSync(file, 'utf8'), file) : [])];
  if (sealedUnder !== null && !keys.some((key) => key.id === sealedUnder)) {
    const found = keys.length === 0 ? 'there is none' : `found ${keys.map((key) => key.id).join(', ')}`;
    throw new StorageError(
      'secret_key',
      `the secrets in ${o.path} are sealed under key ${sealedUnder}; ${found}: set SECRET_KEY to it or put it back in ${file} (docs/operations.md says what to do when it is lost)`,
    );
  }
  return { keys, sealedUnder, file };
}

/** As `findKeys`; where there is none yet, one is made. */
function findOrMakeKeys(db: Database.Database, o: { path: string; setting: string | null }) {
  const { keys, sealedUnder, file } = findKeys(db, o);
  if (keys.length === 0 && o.path === ':memory:') keys.push(secretKey(randomBytes(KEY_BYTES)));
  else if (keys.length === 0) keys.push(...parseKeys(makeKeyFile(file), file));
  return { keys, sealedUnder };
}

/**
 * Finds the keys of an open database, seals what is not sealed under the first of them, and notes it.
 * @param setting the keys of SECRET_KEY, the newest first; null: those of the file, which is made where it is needed
 * @throws StorageError secret_key
 */
export function openSecrets(
  db: Database.Database,
  o: { path: string; setting: string | null; log?: Log | undefined },
): Sealer {
  // Two processes that begin a folder at the same moment find one key.
  const { keys, sealedUnder } = db.transaction(() => findOrMakeKeys(db, o)).immediate();
  const [current, ...others] = keys;
  if (current === undefined) throw new Error('no key');
  const sealer = openSealer([current, ...others]);
  if (current.id !== sealedUnder) {
    // Whoever waits for the start is told what it does: each call is looked through.
    if (isUsed(db)) o.log?.info({ megabytes: megabytesOf(db) }, 'storage.sealing');
    const values = sealAll(db, sealer, current.id, sealedUnder !== null);
    o.log?.info({ key: current.id, before: sealedUnder, values }, 'storage.sealed');
  }
  if (readNote(db, LEFTOVERS_NOTE) !== null) cleanUp(db, o.log);
  return sealer;
}

/**
 * The sealer of a database that a daemon may have open: under the key it is sealed under, also where a newer one waits for
 * the next start.
 * @throws StorageError secret_key
 */
export function openSecretsBeside(
  db: Database.Database,
  o: { path: string; setting: string | null },
): Sealer {
  const { keys, sealedUnder } = findKeys(db, o);
  const current = keys.find((key) => key.id === sealedUnder);
  if (current === undefined) {
    throw new StorageError(
      'secret_key',
      `nothing in ${o.path} is sealed yet: start the daemon once, then try again`,
    );
  }
  return openSealer([current]);
}

/** What is lost with the key: how many got a new secret, and which agents' tools lost their headers. */
export interface Forgotten {
  key: string;
  organizations: number;
  endpoints: number;
  agents: { id: string; name: string; headers: string[] }[];
  /** People whose second factor is gone. */
  users: number;
}

/**
 * Drops every sealed value: organizations and endpoints get new secrets, tools lose their headers, kept answers go. Then all
 * is sealed under the keys there are now.
 * @throws StorageError secret_key when SECRET_KEY holds no key
 */
export function forgetSecrets(
  db: Database.Database,
  o: { path: string; setting: string | null; newSecret: () => string },
): Forgotten {
  const forgotten: Forgotten = { key: '', organizations: 0, endpoints: 0, agents: [], users: 0 };
  db.transaction(() => {
    const renew = (table: 'organizations' | 'endpoints') => {
      const [current, previous] = SEALED_COLUMNS[table];
      const ids = db.prepare(`SELECT id FROM ${table} WHERE ${current} <> ''`).pluck().all();
      const update = db.prepare(
        `UPDATE ${table} SET ${current} = ?, ${previous} = NULL, ${previous}_expires_at = NULL WHERE id = ?`,
      );
      for (const id of ids) update.run(o.newSecret(), id);
      return ids.length;
    };
    forgotten.organizations = renew('organizations');
    forgotten.endpoints = renew('endpoints');
    forgotten.users = db
      .prepare(
        `UPDATE users SET totp_secret = NULL, totp_confirmed_at = NULL, recovery_codes = '[]' WHERE totp_secret <> ''`,
      )
      .run().changes;
    for (const table of ['agents', 'calls'] as const) {
      const ids = db.prepare(`SELECT id FROM ${table} WHERE instr(tools, '"headers"') > 0`).pluck().all();
      const select = db.prepare<[unknown], { tools: string; name?: string }>(
        `SELECT tools${table === 'agents' ? ', name' : ''} FROM ${table} WHERE id = ?`,
      );
      const update = db.prepare(`UPDATE ${table} SET tools = ? WHERE id = ?`);
      for (const id of ids as string[]) {
        const row = select.get(id);
        const headers: string[] = [];
        const tools = (JSON.parse(row?.tools ?? '[]') as Tool[]).map((tool): Tool => {
          if (tool.type !== 'http') return tool;
          const { headers: lost, ...rest } = tool;
          headers.push(...Object.keys(lost ?? {}));
          return rest;
        });
        update.run(JSON.stringify(tools), id);
        if (table === 'agents') forgotten.agents.push({ id, name: row?.name ?? '', headers });
      }
    }
    db.prepare('DELETE FROM idempotency_keys WHERE body IS NOT NULL').run();
    db.prepare('DELETE FROM notes WHERE name = ?').run(KEY_NOTE);
  }).exclusive();
  openSecrets(db, o);
  forgotten.key = readNote(db, KEY_NOTE) ?? '';
  return forgotten;
}

/** Everything that is a secret, sealed anew, in one transaction with the note of the key. @returns how many rows it was */
function sealAll(db: Database.Database, sealer: Sealer, keyId: string, sealed: boolean): number {
  const convert = (text: string, place: string) =>
    sealer.seal(sealed ? sealer.open(text, place) : text, place);
  let rows = 0;
  // What is overwritten is made zeros, also in the pages that come free.
  const secureDelete = db.pragma('secure_delete', { simple: true });
  db.pragma('secure_delete = ON');
  try {
    db.transaction(() => {
      for (const [table, columns] of Object.entries(SEALED_COLUMNS)) {
        for (const column of columns) {
          const all = db
            .prepare<[], { id: string; value: string }>(
              `SELECT id, ${column} AS value FROM ${table} WHERE ${column} <> ''`,
            )
            .all();
          const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE id = ?`);
          for (const { id, value } of all) update.run(convert(value, placeOf(table, column, id)), id);
          rows += all.length;
        }
      }
      for (const table of ['agents', 'calls'] as const) {
        // Their texts are read one by one: together they may be more than memory holds.
        const ids = db.prepare(`SELECT id FROM ${table} WHERE instr(tools, '"headers"') > 0`).pluck().all();
        const select = db.prepare(`SELECT tools FROM ${table} WHERE id = ?`).pluck();
        const update = db.prepare(`UPDATE ${table} SET tools = ? WHERE id = ?`);
        for (const id of ids as string[]) {
          const tools = JSON.parse(String(select.get(id))) as AgentRecord['tools'];
          update.run(JSON.stringify(convertTools(table, id, tools, convert)), id);
        }
        rows += ids.length;
      }
      const answers = db
        .prepare<[], { org_id: string; key: string; body: string }>(
          `SELECT org_id, key, body FROM idempotency_keys WHERE body <> ''`,
        )
        .all();
      const update = db.prepare('UPDATE idempotency_keys SET body = ? WHERE org_id = ? AND key = ?');
      for (const { org_id, key, body } of answers) {
        update.run(convert(body, answerPlace(org_id, key)), org_id, key);
      }
      rows += answers.length;
      keepNote(db, KEY_NOTE, keyId);
      if (!sealed && rows > 0) keepNote(db, LEFTOVERS_NOTE, keyId);
    }).exclusive();
  } finally {
    db.pragma(`secure_delete = ${secureDelete}`);
  }
  return rows;
}

/** Pages that came free earlier, and the log, may hold secrets of before: the file is written anew without them. */
function cleanUp(db: Database.Database, log: Log | undefined): void {
  const began = performance.now();
  // A minute a few gigabytes.
  log?.info({ megabytes: megabytesOf(db) }, 'storage.rewriting');
  try {
    db.exec('VACUUM');
    db.pragma('wal_checkpoint(TRUNCATE)');
    db.prepare('DELETE FROM notes WHERE name = ?').run(LEFTOVERS_NOTE);
    log?.info({ seconds: Math.round((performance.now() - began) / 1000) }, 'storage.rewritten');
  } catch (error) {
    // Most likely there is no room for a second copy: everything works, and the next start tries again.
    log?.warn({ err: error }, 'storage.leftovers_kept');
  }
}
