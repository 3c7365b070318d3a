// Signing in and out: the first password by the one-time link, later ones by the password before.
import { setTimeout } from 'node:timers/promises';
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { OperatorRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import type { StrangerLog } from '../../stranger-log.ts';
import { jsonBody } from '../http/json-body.ts';
import { closePasswordLink, findPasswordLink } from '../http/password-link.ts';
import { arrivalOf } from '../http/request-arrival.ts';
import { clientAddress, clientOf } from '../http/request-origin.ts';
import { parse } from '../http/schemas.ts';
import { openAttempts, type Trier } from './attempts.ts';
import { deviceCookie, deviceOf } from './devices.ts';
import { sessionOf } from './guard.ts';
import { hashPassword, MAX_CHARACTERS, MIN_CHARACTERS, verifyPassword } from './passwords.ts';
import type { Sessions, SignedIn } from './sessions.ts';

const newPassword = z
  .string()
  .min(MIN_CHARACTERS, `needs at least ${MIN_CHARACTERS} characters; a few words are easy to remember`)
  .max(MAX_CHARACTERS, `may have ${MAX_CHARACTERS} characters at most`);
const setupBody = z.strictObject({ token: z.string().max(200), password: newPassword });
const loginBody = z.strictObject({
  /** Id or name; without it, the first one that was made. */
  organization: z.string().max(200).optional(),
  password: z.string().max(MAX_CHARACTERS),
});
const changeBody = z.strictObject({ current: z.string().max(MAX_CHARACTERS), password: newPassword });

const NOT_THE_PASSWORD = 'This is not the password of an organization of this name.';

export interface SessionApiOptions {
  store: Pick<
    Store,
    | 'firstOrganization'
    | 'getOrganization'
    | 'findOrganization'
    | 'listOrganizations'
    | 'getOperator'
    | 'hasOperators'
    | 'setPassword'
  >;
  sessions: Sessions;
  /** Whether X-Forwarded-For of a request from this address is believed. */
  trustsProxy: (address: string) => boolean;
  /** Decides with the request whether cookies are Secure. */
  publicUrl: string;
  /** Where the one-time link is kept. */
  dataDir: string;
  version: string;
  log: Pick<Log, 'info' | 'warn'>;
  strangers: Pick<StrangerLog, 'saw'>;
  now: () => Date;
  monotonicMs: () => number;
}

/** `open`: what needs no session; `own`: what does, to be mounted behind it and behind the body's reader. */
export function sessionApi(o: SessionApiOptions): { open: Router; own: Router } {
  const { store, sessions, log } = o;
  const attempts = openAttempts();

  const addressOf = (req: Request) => clientAddress(arrivalOf(req), o.trustsProxy);
  const tellOf = (req: Request, event: string, why: string, fields: Record<string, unknown>) =>
    o.strangers.saw({ event, why, level: 'warn', fields, by: clientOf(arrivalOf(req), o.trustsProxy) });

  /** Who tries: a browser that was signed in before, else whoever comes by that address. */
  function trierOf(req: Request, operator: OperatorRecord | null): Trier {
    const arrival = arrivalOf(req);
    const device = operator === null ? null : deviceOf(arrival, o.publicUrl, operator.password_hash);
    if (device !== null) return { name: `device ${device}`, kind: 'known' };
    const { address, shared } = clientOf(arrival, o.trustsProxy);
    return { name: address, kind: shared ? 'shared' : 'address' };
  }

  /**
   * Counts an attempt, and holds it back while strangers take their turns.
   * @throws AppError rate_limited
   */
  async function countAttempt(req: Request, trier: Trier): Promise<void> {
    const { refusedSeconds, delayMs } = attempts.take(trier, o.monotonicMs());
    if (refusedSeconds > 0) {
      tellOf(req, 'dashboard.too_many_attempts', 'too soon', { wait_seconds: Math.ceil(refusedSeconds) });
      throw new AppError(
        'rate_limited',
        `Too many wrong attempts; try again in ${Math.ceil(refusedSeconds)} seconds. Who runs the daemon can print a new link: npm run reset-password.`,
        { retryAfterSeconds: refusedSeconds },
      );
    }
    if (delayMs > 0) await setTimeout(delayMs, undefined, { ref: false });
  }

  async function theOrganization() {
    const organization = await store.firstOrganization();
    if (organization === null) throw new Error('there is no organization');
    return organization;
  }

  async function signIn(req: Request, res: Response, operator: OperatorRecord): Promise<void> {
    const before = await sessions.find(arrivalOf(req));
    if (before !== null) await sessions.end(before, arrivalOf(req));
    const { session, cookie } = await sessions.start(operator, arrivalOf(req));
    res.append('Set-Cookie', cookie);
    res.append('Set-Cookie', deviceCookie(arrivalOf(req), o.publicUrl, operator.password_hash));
    await answerState(res, session);
  }

  async function answerState(res: Response, session: SignedIn | null): Promise<void> {
    if (session === null) {
      // Whether a name is to be asked for; never the names.
      const several = (await store.listOrganizations({ limit: 2 })).length > 1;
      const state = (await store.hasOperators()) ? 'signed_out' : 'setup';
      res.json({ state, several, version: o.version });
      return;
    }
    const organization = await store.getOrganization(session.orgId);
    res.json({
      state: 'signed_in',
      csrf_token: session.csrfToken,
      organization: { id: session.orgId, name: organization?.name ?? '' },
      version: o.version,
    });
  }

  async function setPassword(orgId: string, password: string): Promise<OperatorRecord> {
    const password_hash = await hashPassword(password);
    const at = o.now().toISOString();
    const operator = await store.setPassword({
      id: uuidv7(),
      org_id: orgId,
      password_hash,
      created_at: at,
      updated_at: at,
    });
    sessions.endedAll(orgId);
    return operator;
  }

  const readState: RequestHandler = async (req, res) => {
    await answerState(res, await sessions.find(arrivalOf(req)));
  };

  const setUp: RequestHandler = async (req, res) => {
    const { token, password } = parse(setupBody, req.body);
    // Whoever has the link is not kept waiting by somebody who tries passwords; nobody guesses 256 bits.
    const address = addressOf(req);
    const link = findPasswordLink(o.dataDir, token, o.now());
    if (link === undefined) {
      await countAttempt(req, trierOf(req, null));
      throw new AppError(
        'forbidden',
        'This link has been used, is too old, or another one was made after it. A new one is printed by: npm run reset-password.',
      );
    }
    // Used up before it has its effect, and at once: of two that come together, the second finds nothing.
    closePasswordLink(o.dataDir, link);
    const id = link ?? (await theOrganization()).id;
    const operator = await setPassword(id, password);
    attempts.succeeded(address);
    log.info({ org_id: id, address }, 'dashboard.password_set');
    await signIn(req, res, operator);
  };

  const logIn: RequestHandler = async (req, res) => {
    const { organization, password } = parse(loginBody, req.body);
    const address = addressOf(req);
    const named =
      organization === undefined ? await theOrganization() : await store.findOrganization(organization);
    const operator = named === null ? null : await store.getOperator(named.id);
    const trier = trierOf(req, operator);
    await countAttempt(req, trier);
    if (operator === null && organization !== undefined) {
      // As long as for one that there is, and in the same words.
      await hashPassword(password);
      tellOf(req, 'dashboard.sign_in_failed', 'unknown organization', { org_id: named?.id ?? null });
      throw new AppError('unauthorized', NOT_THE_PASSWORD, { param: 'password' });
    }
    if (operator === null || named === null) {
      throw new AppError(
        'conflict',
        'No password is set yet: open the link that the daemon printed at its start, or print another: npm run reset-password.',
      );
    }
    const right = await verifyPassword(password, operator.password_hash);
    // Comparing takes its time: a password that was changed meanwhile, which ended every session, begins none.
    const { id } = named;
    if (!right || (await store.getOperator(id))?.password_hash !== operator.password_hash) {
      tellOf(req, 'dashboard.sign_in_failed', 'wrong password', { org_id: id });
      throw new AppError(
        'unauthorized',
        organization === undefined ? 'This is not the password.' : NOT_THE_PASSWORD,
        {
          param: 'password',
        },
      );
    }
    attempts.succeeded(trier.name);
    log.info({ org_id: id, address }, 'dashboard.signed_in');
    await signIn(req, res, operator);
  };

  const logOut: RequestHandler = async (req, res) => {
    res.append('Set-Cookie', await sessions.end(sessionOf(res), arrivalOf(req)));
    await answerState(res, null);
  };

  const changePassword: RequestHandler = async (req, res) => {
    const { current, password } = parse(changeBody, req.body);
    const address = addressOf(req);
    const { orgId, hash } = sessionOf(res);
    const trier: Trier = { name: `session ${hash}`, kind: 'known' };
    await countAttempt(req, trier);
    const operator = await store.getOperator(orgId);
    if (operator === null || !(await verifyPassword(current, operator.password_hash))) {
      log.warn({ org_id: orgId, address }, 'dashboard.sign_in_failed');
      throw new AppError('forbidden', 'This is not the password that is in force.', { param: 'current' });
    }
    const changed = await setPassword(orgId, password);
    attempts.succeeded(trier.name);
    log.info({ org_id: orgId, address }, 'dashboard.password_changed');
    await signIn(req, res, changed);
  };

  const open = Router({ caseSensitive: true });
  open.get('/session', readState);
  open.post('/setup', jsonBody(), setUp);
  open.post('/login', jsonBody(), logIn);
  const own = Router({ caseSensitive: true });
  own.post('/logout', logOut);
  own.post('/password', changePassword);
  return { open, own };
}
