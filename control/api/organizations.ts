// The organizations of a daemon: what the operator makes and sees of them. All the rest of /v1 is one organization's own, by
// its keys; here, beside a key, the operator's is wanted.
import { resolve } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { OrganizationRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { settled } from '../http/conflicts.ts';
import { keyRecord, newApiKey } from '../http/keys.ts';
import { page } from '../http/paging.ts';
import { closePasswordLink, makePasswordLink, passwordUrl } from '../http/password-link.ts';
import { type Route, route } from '../http/route.ts';
import { id, pageQuery, time } from '../http/schemas.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';
import { operatorKeyHeader, operatorOnly } from './operator-key.ts';

/** How long the link that sets the dashboard's password is good; `npm run reset-password` prints another. */
export const LINK_DAYS = 7;
const MAX_NAME = 100;
const EXAMPLE = {
  id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c60',
  name: 'Harbour Clinic',
  created_at: '2026-03-01T12:00:00.000Z',
};

export const organizationName = z
  .string()
  .trim()
  .min(1, 'needs a name')
  .max(MAX_NAME, `may have ${MAX_NAME} characters at most`)
  .refine((name) => !/\p{Cc}|\p{Cf}/u.test(name), 'may have no control characters')
  .describe('What it is called; each name once, whatever the case. The dashboard asks for it at sign-in.');

const newOrganization = z.strictObject({ name: organizationName }).meta({
  id: 'NewOrganization',
  description: 'An organization to be made.',
  examples: [{ name: EXAMPLE.name }],
});

const organization = z
  .strictObject({
    id: id.describe('Organization id: `org_id` of what belongs to it.'),
    name: z.string().describe('What it is called.'),
    created_at: time.describe('Creation.'),
  })
  .meta({
    id: 'Organization',
    description: 'Who has agents, numbers, calls, credit, keys and a dashboard of its own.',
    examples: [EXAMPLE],
  });

const organizationMade = organization
  .extend({
    api_key: z.string().describe('Its first API key, shown this once.'),
    password_url: z
      .string()
      .describe(
        `Where the password of its dashboard is set, once, within ${LINK_DAYS} days; shown this once.`,
      ),
  })
  .meta({
    id: 'OrganizationMade',
    description: 'An organization that was just made, with what opens it.',
    examples: [
      {
        ...EXAMPLE,
        api_key: 'sk_2bXc9Qm4VtR7yLhK0nWfZ8sDaGjPeU3iTo6BqMx1CvNrHk5u',
        password_url: 'https://calls.example.com/setup#Zk3nA0xSHw2cV7bJ5mQ9rT1yLpE4uGdO8iXfCqKsN6M',
      },
    ],
  });

const HEADER = operatorKeyHeader('organizations can be made on the host alone');

function view({ id, name, created_at }: OrganizationRecord) {
  return { id, name, created_at };
}

/**
 * Makes an organization with its first key and the link to its dashboard.
 * @param o.url where the dashboard is reached
 * @throws AppError conflict when another one has the name
 */
export async function makeOrganization(o: {
  store: Pick<Store, 'createOrganization'>;
  name: string;
  dataDir: string;
  url: string;
  now: Date;
}) {
  const key = newApiKey();
  const record: OrganizationRecord = {
    id: uuidv7(),
    name: o.name,
    webhook_secret: newWebhookSecret(),
    previous_webhook_secret: null,
    previous_webhook_secret_expires_at: null,
    balance_milli_cents: null,
    spoken_name: null,
    recording_notice: null,
    created_at: o.now.toISOString(),
  };
  const first = keyRecord(key, { orgId: record.id, name: 'First key', now: o.now });
  const expires = new Date(o.now.getTime() + LINK_DAYS * 24 * 3_600_000);
  // The link first: an organization that is stored has told its key.
  const link = makePasswordLink(o.dataDir, expires, record.id);
  try {
    settled(await o.store.createOrganization(record, first, { uniqueName: true }), 'name');
  } catch (error) {
    closePasswordLink(o.dataDir, record.id);
    throw error;
  }
  return { ...view(record), api_key: key, password_url: passwordUrl(o.url, link) };
}

export const organizationRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/organizations',
    operation: 'createOrganization',
    needs: 'admin',
    errors: ['forbidden', 'conflict'],
    header: HEADER,
    summary: 'Make another organization on this daemon (needs the Operator-Key header)',
    description:
      'It is apart from all others: nothing of it is seen with another’s key. Answers its first API key and the link that sets the password of its dashboard, both shown this once.',
    status: 201,
    body: newOrganization,
    answer: organizationMade,
    once: { failures: 'dropped' },
    async run({ store, keyId, config, log, body, now }, res) {
      operatorOnly(config.OPERATOR_KEY, res, 'Organizations are');
      const { localAddress, localPort } = res.req.socket;
      const host = localAddress?.includes(':') ? `[${localAddress}]` : localAddress;
      const made = await makeOrganization({
        store,
        name: body.name,
        dataDir: resolve(config.DATA_DIR),
        url: config.PUBLIC_URL ?? `http://${host}:${localPort}`,
        now: now(),
      });
      log.info({ org_id: made.id, key_id: keyId }, 'organization.made');
      return { body: made };
    },
  }),

  route({
    method: 'get',
    path: '/v1/organizations',
    operation: 'listOrganizations',
    needs: 'admin',
    errors: ['forbidden'],
    header: HEADER,
    summary: 'List the organizations of this daemon, newest first (needs the Operator-Key header)',
    status: 200,
    query: pageQuery,
    answer: z.strictObject({ data: z.array(organization).describe('Newest first.') }),
    async run({ store, config, query, url }, res) {
      operatorOnly(config.OPERATOR_KEY, res, 'Organizations are');
      return page({
        query,
        url,
        exists: (organizationId) => store.getOrganization(organizationId),
        list: (at) => store.listOrganizations(at),
        body: (organizations) => ({ data: organizations.map(view) }),
      });
    },
  }),
];
