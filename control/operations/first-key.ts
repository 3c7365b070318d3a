// The organization and the API key of the first start.
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../config.ts';
import { UNNAMED } from '../../storage/disclosure.ts';
import type { Store } from '../../storage/store.ts';
import { hashKey, keyRecord, newApiKey } from '../http/keys.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';

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
        name: UNNAMED,
        webhook_secret: newWebhookSecret(),
        previous_webhook_secret: null,
        previous_webhook_secret_expires_at: null,
        balance_milli_cents: null,
        spoken_name: null,
        recording_notice: null,
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
