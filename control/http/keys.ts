// API keys: how they are made, what is kept of them, and the first one. Only a key's SHA-256 is stored.
import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../config.ts';
import type { KeyRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';

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
export function keyRecord(key: string, o: { orgId: string; name: string; now: Date }): KeyRecord {
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
  };
}

/**
 * Makes the organization and its key at the first start, and adds OFFHOOK_API_KEY where the organization has never had it.
 * A key that was revoked stays revoked.
 * @returns the key to print, this once, when it was made here; null when there is nothing new or the operator chose it.
 */
export async function ensureFirstKey(
  store: Pick<Store, 'firstOrganization' | 'createOrganization' | 'listKeys' | 'findKey' | 'insertKey'>,
  config: Pick<Config, 'OFFHOOK_API_KEY'>,
  now: Date,
): Promise<{ printed: string | null }> {
  const chosen = config.OFFHOOK_API_KEY;
  const organization = await store.firstOrganization();
  if (organization === null) {
    const key = chosen ?? newApiKey();
    const orgId = uuidv7();
    await store.createOrganization(
      {
        id: orgId,
        name: 'Default',
        webhook_secret: newWebhookSecret(),
        previous_webhook_secret: null,
        previous_webhook_secret_expires_at: null,
        balance_milli_cents: null,
        created_at: now.toISOString(),
      },
      keyRecord(key, { orgId, name: chosen === null ? 'First key' : 'OFFHOOK_API_KEY', now }),
    );
    return { printed: chosen === null ? key : null };
  }
  if (chosen !== null) {
    const hash = hashKey(chosen);
    const known = await store.listKeys(organization.id);
    if (!known.some((key) => key.hash === hash) && (await store.findKey(hash)) === null) {
      await store.insertKey(keyRecord(chosen, { orgId: organization.id, name: 'OFFHOOK_API_KEY', now }));
    }
  }
  return { printed: null };
}
