// Numbers as they are recognized by: an HMAC with a salt of the organization's own. It keeps a number from being read off,
// and from being the same text in two organizations; whoever has the file can still try all numbers there are.
import { createHmac, randomBytes } from 'node:crypto';
import type { Connection } from './connection.ts';

function saltOf(connection: Connection, orgId: string): string | null {
  const row = connection.statement('SELECT salt FROM number_salts WHERE org_id = ?').get(orgId);
  return row === undefined ? null : String(row.salt);
}

const hash = (salt: string, e164: string) => createHmac('sha256', salt).update(e164).digest('hex');

/** Null where the organization has kept no number yet. */
export function knownHash(connection: Connection, orgId: string, e164: string): string | null {
  const salt = saltOf(connection, orgId);
  return salt === null ? null : hash(salt, e164);
}

/** Within a write: makes the salt with the first number. */
export function numberHash(connection: Connection, orgId: string, e164: string): string {
  const salt = saltOf(connection, orgId);
  if (salt !== null) return hash(salt, e164);
  const made = randomBytes(32).toString('hex');
  connection.statement('INSERT INTO number_salts (org_id, salt) VALUES (?, ?)').run(orgId, made);
  return hash(made, e164);
}
