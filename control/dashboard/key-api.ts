// API keys for people who are signed in: list, make (shown this once), revoke at once.
import { Router } from 'express';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { KeyRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { keyRecord, newApiKey } from '../http/keys.ts';
import { parse } from '../http/schemas.ts';
import { sessionOf } from './guard.ts';

const MAX_KEYS = 100;
const newKeyBody = z.strictObject({
  name: z
    .string()
    .trim()
    .min(1, 'needs a name to know the key by')
    .max(100, 'may have 100 characters at most'),
});

/** Never the hash. */
function keyView(key: KeyRecord) {
  const { id, name, prefix, last4, created_at, last_used_at, revoked_at } = key;
  return { id, name, prefix, last4, created_at, last_used_at, revoked_at };
}

export function keyApi(o: {
  store: Pick<Store, 'listKeys' | 'insertKey' | 'revokeKey'>;
  log: Pick<Log, 'info'>;
  now: () => Date;
}): Router {
  const router = Router({ caseSensitive: true });

  router.get('/keys', async (_req, res) => {
    const keys = await o.store.listKeys(sessionOf(res).orgId);
    res.json({ data: keys.map(keyView) });
  });

  router.post('/keys', async (req, res) => {
    const { name } = parse(newKeyBody, req.body);
    const { orgId } = sessionOf(res);
    const known = await o.store.listKeys(orgId);
    if (known.filter((key) => key.revoked_at === null).length >= MAX_KEYS) {
      throw new AppError('conflict', `There are ${MAX_KEYS} keys already; revoke one that is not used.`);
    }
    const key = newApiKey();
    const record = keyRecord(key, { orgId, name, now: o.now() });
    await o.store.insertKey(record);
    o.log.info({ org_id: orgId, key_id: record.id }, 'key.created');
    res.status(201).json({ ...keyView(record), key });
  });

  router.delete('/keys/:id', async (req, res) => {
    const { orgId } = sessionOf(res);
    const { id } = req.params;
    if (!(await o.store.revokeKey(orgId, id.toLowerCase(), o.now().toISOString()))) {
      throw new AppError('not_found', 'There is no such key, or it is revoked already.');
    }
    o.log.info({ org_id: orgId, key_id: id }, 'key.revoked');
    res.status(204).end();
  });
  return router;
}
