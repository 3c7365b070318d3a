// Secrets as they are stored: AES-256-GCM, each value under a nonce of its own and bound to its place, so that it opens in
// no other row or column. Which keys there are is each engine's: sqlite/secret-keys.ts.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { AgentRecord, Tool } from './records.ts';

const PREFIX = 'sealed:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

export interface SecretKey {
  /** Tells keys apart and nothing about them. */
  id: string;
  cipherKey: Buffer;
}

export interface Sealer {
  /** `place` names table, column and row. */
  seal(text: string, place: string): string;
  /** @throws Error when it was sealed for another place, under a key that is not there, or has been changed */
  open(sealed: string, place: string): string;
}

/** A key from its 32 bytes. */
export function secretKey(bytes: Buffer): SecretKey {
  const derive = (purpose: string, length: number) =>
    Buffer.from(hkdfSync('sha256', bytes, '', `offhook ${purpose}`, length));
  return { id: derive('key id', 6).toString('hex'), cipherKey: derive('secrets', KEY_BYTES) };
}

/** Seals with the first key, opens with any. An empty text stays empty: there is nothing to hide. */
export function openSealer(keys: readonly [SecretKey, ...SecretKey[]]): Sealer {
  const [current] = keys;
  const known = new Map(keys.map((key) => [key.id, key]));
  return {
    seal(text, place) {
      if (text === '') return '';
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current.cipherKey, nonce);
      cipher.setAAD(Buffer.from(place));
      const parts = [nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${PREFIX}${current.id}:${Buffer.concat(parts).toString('base64url')}`;
    },
    open(sealed, place) {
      if (sealed === '') return '';
      const [, id = '', data = ''] = /^sealed:([0-9a-f]+):([\w-]+)$/.exec(sealed) ?? [];
      const key = known.get(id);
      if (key === undefined) throw new Error(`${place} is not sealed under a key that is known`);
      const bytes = Buffer.from(data, 'base64url');
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key.cipherKey, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(end));
      try {
        return decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8');
      } catch (error) {
        throw new Error(`${place} has been changed, or was moved there from another place`, { cause: error });
      }
    },
  };
}

/** The values of a record of that table that are secrets by themselves. */
export const SEALED_COLUMNS = {
  organizations: ['webhook_secret', 'previous_webhook_secret'],
  endpoints: ['secret', 'previous_secret'],
  users: ['totp_secret'],
} as const;

type SealedTable = keyof typeof SEALED_COLUMNS;

export const placeOf = (table: string, column: string, id: string) => `${table}.${column} of ${id}`;

/** An answer kept for a repeat may hold a secret that was shown once. */
export const answerPlace = (orgId: string, key: string) =>
  placeOf('idempotency_keys', 'body', `${orgId} ${key}`);

/** A record, or a change of one, with each of its secrets put through `convert`. */
export function convertRecord<R extends object>(
  table: SealedTable,
  id: string,
  record: R,
  convert: (text: string, place: string) => string,
): R {
  const converted = { ...record } as Record<string, unknown>;
  for (const column of SEALED_COLUMNS[table]) {
    const value = converted[column];
    if (typeof value === 'string') converted[column] = convert(value, placeOf(table, column, id));
  }
  return converted as R;
}

/** Tools with the values of their headers put through `convert`; the rest is no secret. */
export function convertTools(
  table: 'agents' | 'calls',
  id: string,
  tools: AgentRecord['tools'],
  convert: (text: string, place: string) => string,
): AgentRecord['tools'] {
  if (tools === null) return null;
  return tools.map((tool): Tool => {
    if (tool.type !== 'http' || tool.headers === undefined) return tool;
    const place = (header: string) => `${placeOf(table, 'tools', id)}, ${tool.name}, ${header}`;
    return {
      ...tool,
      headers: Object.fromEntries(
        Object.entries(tool.headers).map(([name, value]) => [name, convert(value, place(name))]),
      ),
    };
  });
}
