// Signs webhook deliveries by Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric scheme "v1".
import { createHmac, randomBytes } from 'node:crypto';

const SECRET_PREFIX = 'whsec_';
/** The specification asks for 24 to 64. */
const SECRET_BYTES = 32;

/** A new signing secret: `whsec_` and 32 random bytes in base64. */
export function newWebhookSecret(): string {
  return SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64');
}

export interface ToSign {
  /** The `webhook-id`; may contain no dot, which separates the signed parts. */
  id: string;
  /** Unix seconds of this attempt, sent as `webhook-timestamp`. */
  timestampSeconds: number;
  /** The very bytes that are sent. */
  body: string | Buffer;
  /** `whsec_…`, the current one first; during a rotation the one before signs too. */
  secrets: readonly string[];
}

/** The value of `webhook-signature`: one `v1,<base64>` a secret, separated by spaces. */
export function signWebhook({ id, timestampSeconds, body, secrets }: ToSign): string {
  if (id.includes('.')) throw new TypeError('a webhook id may contain no dot');
  return secrets
    .map((secret) => {
      const encoded = secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret;
      const hmac = createHmac('sha256', Buffer.from(encoded, 'base64'));
      return `v1,${hmac.update(`${id}.${timestampSeconds}.`).update(body).digest('base64')}`;
    })
    .join(' ');
}
