// Who asks: the Bearer key of a request, and nothing else. Cookies belong to the dashboard, keys in a query to nobody.
import { timingSafeEqual } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { KeyRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { permissionsOfKey } from './actor.ts';
import { hashKey } from './keys.ts';
import type { RateLimit } from './rate-limit.ts';
import { contextOf } from './request-context.ts';

/** Milliseconds between two writes of a key's last use: each waits for the disk. */
const TOUCH_MS = 60_000;

/**
 * The key a request carries, or null: missing, malformed, unknown, revoked and expired ones look the same.
 */
export async function findRequestKey(
  store: Pick<Store, 'findKey'>,
  req: Pick<Request, 'headers'>,
  now: Date,
): Promise<KeyRecord | null> {
  const key = /^Bearer +(sk_[A-Za-z0-9_-]{16,200})$/i.exec(req.headers.authorization ?? '')?.[1];
  if (key === undefined) return null;
  const hash = hashKey(key);
  const record = await store.findKey(hash);
  if (record === null || record.revoked_at !== null) return null;
  if (record.expires_at !== null && record.expires_at <= now.toISOString()) return null;
  const same =
    record.hash.length === hash.length && timingSafeEqual(Buffer.from(record.hash), Buffer.from(hash));
  return same ? record : null;
}

/** Lets requests with a good key through and names their organization; the others count against their address. */
export function authenticate(o: {
  store: Pick<Store, 'findKey' | 'touchKey'>;
  limit: RateLimit;
  /** Whom a request without a good key is counted against. */
  addressOf: (req: Request) => string;
  log: Pick<Log, 'warn'>;
  now: () => Date;
}): RequestHandler {
  const touchedAt = new Map<string, number>();

  async function touch(key: KeyRecord): Promise<void> {
    const now = o.now();
    const last = Math.max(
      touchedAt.get(key.id) ?? 0,
      key.last_used_at === null ? 0 : Date.parse(key.last_used_at),
    );
    // Of either sign: the clock may have been set back.
    if (Math.abs(now.getTime() - last) < TOUCH_MS) return;
    touchedAt.set(key.id, now.getTime());
    // Not worth a refused request: when the disk is full, reading goes on.
    await o.store.touchKey(key.id, now.toISOString()).catch((error: unknown) => {
      o.log.warn({ err: error, key_id: key.id }, 'key.not_touched');
    });
  }

  return async (req, res, next) => {
    const key = await findRequestKey(o.store, req, o.now());
    if (key === null) {
      o.limit.byAddress(o.addressOf(req), res);
      res.set('WWW-Authenticate', 'Bearer realm="offhook"');
      throw new AppError(
        'unauthorized',
        req.headers.authorization === undefined
          ? 'Send an API key in the header Authorization: Bearer sk_…; keys in a query or a cookie are not read.'
          : 'This API key is not valid: it is mistyped, unknown, revoked or expired. Send Authorization: Bearer sk_….',
      );
    }
    const context = contextOf(res);
    context.orgId = key.org_id;
    context.keyId = key.id;
    context.actor = { kind: 'key', id: key.id, name: key.name, may: permissionsOfKey(key.scopes) };
    context.isStillGood = async () => (await findRequestKey(o.store, req, o.now())) !== null;
    await touch(key);
    next();
  };
}
