// API keys for people who are signed in: list, make (shown this once, with what it may and until when), revoke at once.
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { KeyRecord } from '../../storage/records.ts';
import { PERMISSIONS, type Permission } from '../http/actor.ts';
import { keyRecord, newApiKey } from '../http/keys.ts';
import { type Route, route } from '../http/route.ts';
import { id, time, timeQuery } from '../http/schemas.ts';

const MAX_KEYS = 100;
const newKeyBody = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1, 'needs a name to know the key by')
    .max(100, 'may have 100 characters at most'),
  scopes: z
    .array(z.enum(PERMISSIONS, `must be of ${PERMISSIONS.join(', ')}`))
    .min(1, 'must name one at least')
    .max(PERMISSIONS.length)
    .nullable()
    .optional()
    .describe('What it may; null, or left out: everything.'),
  expires_at: timeQuery.nullable().optional().describe('From then on it is refused; null: never by itself.'),
});

const key = z.strictObject({
  id,
  name: z.string(),
  prefix: z.string(),
  last4: z.string(),
  scopes: z.array(z.string()).nullable(),
  expires_at: time.nullable(),
  created_by: z.string().nullable(),
  created_at: time,
  last_used_at: time.nullable(),
  revoked_at: time.nullable(),
});

/** Never the hash. */
function keyView(record: KeyRecord) {
  const { hash: _hash, org_id: _org, ...shown } = record;
  return shown;
}

const isLive = (record: KeyRecord, now: string) =>
  record.revoked_at === null && (record.expires_at === null || record.expires_at > now);

export const keyRoutes: readonly Route[] = [
  route({
    method: 'get',
    path: '/dashboard/api/keys',
    operation: 'listKeys',
    summary: 'List API keys, the revoked and expired ones too',
    needs: 'admin',
    status: 200,
    answer: z.strictObject({ data: z.array(key) }),
    async run({ store, orgId }) {
      return { body: { data: (await store.listKeys(orgId)).map(keyView) } };
    },
  }),

  route({
    method: 'post',
    path: '/dashboard/api/keys',
    operation: 'createKey',
    summary: 'Make an API key',
    needs: 'admin',
    status: 201,
    body: newKeyBody,
    answer: key.extend({ key: z.string() }),
    async run({ store, orgId, actor, body, log, now }) {
      const at = now();
      const expiresAt = body.expires_at ?? null;
      if (expiresAt !== null && expiresAt <= at.toISOString()) {
        throw new AppError('invalid_request', 'expires_at must be in the future.', { param: 'expires_at' });
      }
      const lacking = (body.scopes ?? PERMISSIONS).find((scope: Permission) => !actor.may.has(scope));
      if (lacking !== undefined) {
        throw new AppError('forbidden', `You may not give what you do not have: ${lacking}.`, {
          param: 'scopes',
        });
      }
      const known = await store.listKeys(orgId);
      if (known.filter((one) => isLive(one, at.toISOString())).length >= MAX_KEYS) {
        throw new AppError('conflict', `There are ${MAX_KEYS} keys already; revoke one that is not used.`);
      }
      const made = newApiKey();
      const record = keyRecord(made, {
        orgId,
        name: body.name,
        now: at,
        scopes: body.scopes ?? null,
        expiresAt,
        createdBy: actor.name,
      });
      await store.insertKey(record);
      log.info({ org_id: orgId, key_id: record.id, user_id: actor.id }, 'key.created');
      return { body: { ...keyView(record), key: made } };
    },
  }),

  route({
    method: 'delete',
    path: '/dashboard/api/keys/:id',
    operation: 'revokeKey',
    summary: 'Revoke an API key',
    needs: 'admin',
    status: 204,
    answer: null,
    async run({ store, orgId, actor, params, log, now }) {
      if (!(await store.revokeKey(orgId, params.id, now().toISOString()))) {
        throw new AppError('not_found', 'There is no such key, or it is revoked already.');
      }
      log.info({ org_id: orgId, key_id: params.id, user_id: actor.id }, 'key.revoked');
      return {};
    },
  }),
];
