// API keys: how they are made, and what is kept of them. Only a key's SHA-256 is stored.
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import type { KeyRecord } from '../../storage/records.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 43 characters of 62 hold 256 bits. */
const RANDOM_CHARACTERS = 43;
/** 6 characters of 62 hold the 32 bits of a CRC. */
const CHECKSUM_CHARACTERS = 6;

/** `sk_`, 43 random characters, 6 of checksum (CRC-32 of what stands before it, base 62): 52 characters. */
export function newApiKey(): string {
  let key = 'sk_';
  for (let i = 0; i < RANDOM_CHARACTERS; i++) key += BASE62[randomInt(62)];
  return key + checksum(key);
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let i = 0; i < CHECKSUM_CHARACTERS; i++) {
    digits = BASE62[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

/** SHA-256, hex. Enough for a key of 256 random bits: there is nothing to guess slowly. */
export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** What is stored of a key. */
export function keyRecord(
  key: string,
  o: {
    orgId: string;
    name: string;
    now: Date;
    /** Null: everything of its organization. */
    scopes?: readonly string[] | null;
    expiresAt?: string | null;
    createdBy?: string | null;
  },
): KeyRecord {
  return {
    id: uuidv7(),
    org_id: o.orgId,
    hash: hashKey(key),
    name: o.name,
    prefix: key.slice(0, 8),
    last4: key.slice(-4),
    created_at: o.now.toISOString(),
    last_used_at: null,
    revoked_at: null,
    scopes: o.scopes == null ? null : [...o.scopes],
    expires_at: o.expiresAt ?? null,
    created_by: o.createdBy ?? null,
  };
}
