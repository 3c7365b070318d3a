// The organization's default secret, which signs inline deliveries (those to a call's webhook_url): what is shown of it,
// and its rotation. Endpoints have secrets of their own: webhook-endpoints.ts.
import { z } from 'zod';
import type { OrganizationRecord } from '../../storage/records.ts';
import { found } from '../http/answer.ts';
import { type Route, route } from '../http/route.ts';
import { time } from '../http/schemas.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';

/** How long the secret before still signs beside the new one. */
export const OVERLAP_MS = 24 * 3_600_000;

const inlineSecret = z
  .strictObject({
    last4: z.string().describe('The last characters, to recognize the secret by.'),
    previous_expires_at: time
      .nullable()
      .describe('Until when the secret before signs too. Null: there is none.'),
  })
  .meta({
    id: 'WebhookSecret',
    description: 'Which secret signs inline deliveries: those to a `webhook_url`.',
    examples: [{ last4: 'LaSw', previous_expires_at: null }],
  });
const inlineSecretShown = inlineSecret
  .extend({
    secret: z.string().describe('`whsec_…`, shown this once.'),
  })
  .meta({
    id: 'WebhookSecretShown',
    description: 'The secret of inline deliveries that was just made.',
    examples: [
      {
        last4: 'LaSw',
        previous_expires_at: '2026-03-02T12:00:00.000Z',
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      },
    ],
  });

const NO_ORGANIZATION = 'The organization is gone.';

function shown(organization: OrganizationRecord, now: Date) {
  const expires = organization.previous_webhook_secret_expires_at;
  return {
    last4: organization.webhook_secret.slice(-4),
    previous_expires_at: expires !== null && expires > now.toISOString() ? expires : null,
  };
}

export const webhookSecretRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/webhook_secret',
    operation: 'getWebhookSecret',
    summary: 'Tell which secret signs inline deliveries (those to a webhook_url), without showing it',
    status: 200,
    answer: inlineSecret,
    async run({ store, orgId, now }) {
      return { body: shown(found(await store.getOrganization(orgId), NO_ORGANIZATION), now()) };
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_secret/rotate',
    operation: 'rotateWebhookSecret',
    summary:
      'Make a new secret for inline deliveries, shown this once; the one before signs beside it for 24 hours',
    status: 200,
    answer: inlineSecretShown,
    once: { failures: 'dropped' },
    async run({ store, orgId, now }) {
      const organization = found(await store.getOrganization(orgId), NO_ORGANIZATION);
      const at = now();
      const rotated = found(
        await store.updateOrganization(orgId, {
          webhook_secret: newWebhookSecret(),
          previous_webhook_secret: organization.webhook_secret,
          previous_webhook_secret_expires_at: new Date(at.getTime() + OVERLAP_MS).toISOString(),
        }),
        NO_ORGANIZATION,
      );
      return { body: { ...shown(rotated, at), secret: rotated.webhook_secret } };
    },
  }),
];
