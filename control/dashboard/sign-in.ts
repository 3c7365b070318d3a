// What every way to sign in shares: attempts counted by who makes them and on whose account, the session with its cookies, and
// passwords set.
import { setTimeout } from 'node:timers/promises';
import type { Request, Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { SessionRecord, UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import { settled } from '../http/conflicts.ts';
import { arrivalOf } from '../http/request-arrival.ts';
import { clientAddress, clientOf } from '../http/request-origin.ts';
import { openAttempts, type Trier } from './attempts.ts';
import { deviceCookie, deviceOf } from './devices.ts';
import { hashPassword, MAX_CHARACTERS, MIN_CHARACTERS } from './passwords.ts';
import type { Sessions, SignedIn } from './sessions.ts';

export const newPassword = z
  .string()
  .min(MIN_CHARACTERS, `needs at least ${MIN_CHARACTERS} characters; a few words are easy to remember`)
  .max(MAX_CHARACTERS, `may have ${MAX_CHARACTERS} characters at most`);
/** One that is in force, whatever it is. */
export const givenPassword = z.string().max(MAX_CHARACTERS);

export interface SignInOptions {
  store: Pick<Store, 'firstOwner' | 'createUser' | 'saveUser'>;
  sessions: Sessions;
  /** Whether X-Forwarded-For of a request from this address is believed. */
  trustsProxy: (address: string) => boolean;
  /** Decides with the request whether cookies are Secure. */
  publicUrl: string;
  log: Pick<Log, 'info' | 'warn'>;
  strangers: Pick<StrangerLog, 'saw'>;
  now: () => Date;
  monotonicMs: () => number;
}

export interface SignIn {
  addressOf(req: Request): string;
  /** A line about somebody who is not signed in; there are never many. */
  tellOf(req: Request, event: string, why: string, fields: Record<string, unknown>): void;
  /** Who tries to be `user`: a browser of his that was signed in before, else whoever comes by that address. */
  triersOf(req: Request, user: UserRecord | null, account: string | null): Trier[];
  /**
   * Counts an attempt, and holds it back while strangers take their turns.
   * @throws AppError rate_limited
   */
  count(req: Request, triers: readonly Trier[]): Promise<void>;
  succeeded(triers: readonly Trier[]): void;
  /** A new session, in place of the one there is. */
  begin(req: Request, res: Response, user: UserRecord, how: SessionRecord['how']): Promise<SignedIn>;
  /** The first owner of an organization with this password: made, or changed, without a second factor, and not disabled. */
  setFirstPassword(orgId: string, password: string): Promise<UserRecord>;
  /** A new password; every session of the user ends. @throws AppError changed_meanwhile, not_found */
  setPassword(
    user: UserRecord,
    password: string,
    o?: { invitation?: string; ifPassword?: string | null },
  ): Promise<UserRecord>;
}

export function openSignIn(o: SignInOptions): SignIn {
  const { store, sessions } = o;
  const attempts = openAttempts();
  const addressOf = (req: Request) => clientAddress(arrivalOf(req), o.trustsProxy);
  const tellOf: SignIn['tellOf'] = (req, event, why, fields) =>
    o.strangers.saw({ event, why, level: 'warn', fields, by: clientOf(arrivalOf(req), o.trustsProxy) });

  async function changed(
    user: UserRecord,
    change: Partial<UserRecord>,
    more: { invitation?: string; ifPassword?: string | null },
  ): Promise<UserRecord> {
    const saved = await store.saveUser(user.org_id, user.id, change, { endSessions: true, ...more });
    if (saved === null) throw new AppError('not_found', 'There is no such person.');
    sessions.endedAll(user.id);
    return settled(saved);
  }

  return {
    addressOf,
    tellOf,

    triersOf(req, user, account) {
      const arrival = arrivalOf(req);
      const device = user?.password_hash == null ? null : deviceOf(arrival, o.publicUrl, user.password_hash);
      if (device !== null) return [{ name: `device ${device}`, kind: 'known' }];
      const { address, shared } = clientOf(arrival, o.trustsProxy);
      const all: Trier[] = [{ name: address, kind: shared ? 'shared' : 'address' }];
      // On one account as well: who has an account of his own must not clear his mistakes on another's by signing in.
      if (account !== null) all.push({ name: `${address} ${account}`, kind: shared ? 'account' : 'known' });
      return all;
    },

    async count(req, triers) {
      let delay = 0;
      for (const trier of triers) {
        const { refusedSeconds, delayMs } = attempts.take(trier, o.monotonicMs());
        if (refusedSeconds > 0) {
          tellOf(req, 'dashboard.too_many_attempts', 'too soon', { wait_seconds: Math.ceil(refusedSeconds) });
          throw new AppError(
            'rate_limited',
            `Too many wrong attempts; try again in ${Math.ceil(refusedSeconds)} seconds. Who runs the daemon can print a new link: npm run reset-password.`,
            { retryAfterSeconds: refusedSeconds },
          );
        }
        delay = Math.max(delay, delayMs);
      }
      if (delay > 0) await setTimeout(delay, undefined, { ref: false });
    },

    succeeded(triers) {
      for (const { name } of triers) attempts.succeeded(name);
    },

    async begin(req, res, user, how) {
      const arrival = arrivalOf(req);
      const before = await sessions.find(arrival);
      if (before !== null) await sessions.end(before, arrival);
      const { session, cookie } = await sessions.start(user, arrival, { how, address: addressOf(req) });
      res.append('Set-Cookie', cookie);
      if (user.password_hash !== null)
        res.append('Set-Cookie', deviceCookie(arrival, o.publicUrl, user.password_hash));
      return session;
    },

    async setFirstPassword(orgId, password) {
      const password_hash = await hashPassword(password);
      const at = o.now().toISOString();
      for (;;) {
        const owner = await store.firstOwner(orgId);
        if (owner !== null) {
          const factor = { totp_secret: null, totp_confirmed_at: null, recovery_codes: [] };
          const change = { password_hash, role: 'owner' as const, disabled_at: null, updated_at: at };
          return changed(owner, { ...change, ...factor }, {});
        }
        const made = await store.createUser(
          {
            id: uuidv7(),
            org_id: orgId,
            email: null,
            name: 'Owner',
            role: 'owner',
            may_listen: true,
            password_hash,
            totp_secret: null,
            totp_confirmed_at: null,
            totp_last_step: null,
            recovery_codes: [],
            oidc_issuer: null,
            oidc_subject: null,
            disabled_at: null,
            signed_in_at: null,
            created_at: at,
            updated_at: at,
          },
          { first: true },
        );
        // Somebody else has made one at the same moment: it is there now.
        if (!('conflict' in made)) return made;
      }
    },

    async setPassword(user, password, more = {}) {
      const password_hash = await hashPassword(password);
      return changed(user, { password_hash, updated_at: o.now().toISOString() }, more);
    },
  };
}
