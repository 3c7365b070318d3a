// Signing in and out: the first password by the one-time link, later ones by e-mail address and password, and the second factor.
import { type Request, type RequestHandler, type Response, Router } from 'express';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { emailKey } from '../../storage/people.ts';
import type { UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { type Noted, noteAction } from '../http/audit.ts';
import { jsonBody } from '../http/json-body.ts';
import { closePasswordLink, findPasswordLink } from '../http/password-link.ts';
import { arrivalOf } from '../http/request-arrival.ts';
import { contextOf } from '../http/request-context.ts';
import { parse } from '../http/schemas.ts';
import { openFailures } from './failures.ts';
import { sessionOf } from './guard.ts';
import { hashPassword, verifyPassword } from './passwords.ts';
import { takeCode } from './second-factor.ts';
import { answerState, type StateParts } from './session-state.ts';
import type { Sessions } from './sessions.ts';
import { givenPassword, newPassword, type SignIn, type SignInOptions } from './sign-in.ts';

const setupBody = z.strictObject({ token: z.string().max(200), password: newPassword });
const loginBody = z.strictObject({
  /** Without it, whoever of the organization has none: its first owner. */
  email: z.string().max(320).optional(),
  /** Id or name; without it, the first one that was made. */
  organization: z.string().max(200).optional(),
  password: givenPassword,
  /** Of the second factor, or a recovery code. */
  code: z.string().max(100).optional(),
});
const changeBody = z.strictObject({ current: givenPassword, password: newPassword });

const NOT_THE_PASSWORD = 'This is not the password of an organization of this name.';
const NOT_THESE = 'The e-mail address or the password is not right.';

export interface SessionApiOptions extends SignInOptions, StateParts {
  store: SignInOptions['store'] &
    StateParts['store'] &
    Pick<
      Store,
      | 'firstOrganization'
      | 'findOrganization'
      | 'getUser'
      | 'listUsers'
      | 'findUsersByEmail'
      | 'takeTotpStep'
      | 'takeRecoveryCode'
      | 'noteAction'
    >;
  sessions: Sessions;
  signIn: SignIn;
  /** Where the one-time link is kept. */
  dataDir: string;
}

/** `open`: what needs no session; `own`: what does, to be mounted behind it and behind the body's reader. */
export function sessionApi(o: SessionApiOptions): { open: Router; own: Router } {
  const { store, sessions, log, signIn } = o;

  const failures = openFailures();

  /** Somebody who is known, or somebody on his account; a failure once a minute, with how many there were. */
  async function note(
    req: Request,
    res: Response,
    user: UserRecord,
    action: string,
    detail?: Noted['detail'],
  ) {
    const failed = action === 'signInFailed';
    const count = failed ? failures.count(user.id, o.monotonicMs()) : 0;
    if (failed && count === 0) return;
    await noteAction(o, {
      orgId: user.org_id,
      actor: failed
        ? { kind: 'nobody', id: null, name: 'Somebody' }
        : action === 'setFirstPassword'
          ? { kind: 'host', id: null, name: 'A link of the host' }
          : { kind: 'user', id: user.id, name: user.name },
      action,
      target: { kind: 'user', id: user.id },
      detail: failed ? { ...detail, attempts: count } : detail,
      address: signIn.addressOf(req),
      requestId: contextOf(res).requestId,
    });
  }

  async function theOrganization() {
    const organization = await store.firstOrganization();
    if (organization === null) throw new Error('there is no organization');
    return organization;
  }

  const readState: RequestHandler = async (req, res) => {
    await answerState(o, res, await sessions.find(arrivalOf(req)));
  };

  const setUp: RequestHandler = async (req, res) => {
    const { token, password } = parse(setupBody, req.body);
    // Whoever has the link is not kept waiting by somebody who tries passwords; nobody guesses 256 bits.
    const link = findPasswordLink(o.dataDir, token, o.now());
    if (link === undefined) {
      await signIn.count(req, signIn.triersOf(req, null, null));
      throw new AppError(
        'forbidden',
        'This link has been used, is too old, or another one was made after it. A new one is printed by: npm run reset-password.',
      );
    }
    // Used up before it has its effect, and at once: of two that come together, the second finds nothing.
    closePasswordLink(o.dataDir, link);
    const id = link ?? (await theOrganization()).id;
    const user = await signIn.setFirstPassword(id, password);
    signIn.succeeded(signIn.triersOf(req, null, null));
    log.info({ org_id: id, user_id: user.id, address: signIn.addressOf(req) }, 'dashboard.password_set');
    await note(req, res, user, 'setFirstPassword');
    await answerState(o, res, await signIn.begin(req, res, user, 'link'));
  };

  /** Who is meant: one at most, so that a guess costs the same whoever there is. */
  async function named(o: { email?: string | undefined; organization?: string | undefined }) {
    const organization =
      o.organization === undefined || o.organization.trim() === ''
        ? null
        : await store.findOrganization(o.organization);
    const isNamed = o.organization !== undefined && o.organization.trim() !== '';
    if (o.email !== undefined && o.email.trim() !== '') {
      const users = await store.findUsersByEmail(emailKey(o.email));
      return users.find((user) => !isNamed || user.org_id === organization?.id) ?? null;
    }
    const orgId = isNamed ? organization?.id : (await theOrganization()).id;
    if (orgId === undefined) return null;
    return (await store.listUsers(orgId)).find(({ email }) => email === null) ?? null;
  }

  const logIn: RequestHandler = async (req, res) => {
    const given = parse(loginBody, req.body);
    const { email, organization, password } = given;
    const byEmail = email !== undefined && email.trim() !== '';
    const user = await named(given);
    const account = byEmail ? emailKey(email) : `organization ${organization ?? ''}`;
    const triers = signIn.triersOf(req, user, account);
    await signIn.count(req, triers);
    if (!byEmail && organization === undefined && !(await store.hasUsers())) {
      throw new AppError(
        'conflict',
        'No password is set yet: open the link that the daemon printed at its start, or print another: npm run reset-password.',
      );
    }
    const refuse = async (why: string): Promise<never> => {
      signIn.tellOf(req, 'dashboard.sign_in_failed', why, { org_id: user?.org_id ?? null });
      if (user !== null) await note(req, res, user, 'signInFailed', { why });
      const message = byEmail
        ? NOT_THESE
        : organization === undefined
          ? 'This is not the password.'
          : NOT_THE_PASSWORD;
      throw new AppError('unauthorized', message, { param: 'password' });
    };
    if (user === null || user.password_hash === null || user.disabled_at !== null) {
      // As long as for one that there is, and in the same words.
      await hashPassword(password);
      return refuse(user === null ? 'unknown account' : 'no account to sign in to');
    }
    const right = await verifyPassword(password, user.password_hash);
    // Comparing takes its time: a password that was changed meanwhile, which ended every session, begins none.
    const now = await store.getUser(user.org_id, user.id);
    if (!right || now === null || now.password_hash !== user.password_hash || now.disabled_at !== null)
      return refuse('wrong password');
    const second = now.totp_confirmed_at === null ? null : await takeSecond(req, res, now, given.code);
    signIn.succeeded(triers);
    await note(req, res, now, 'signIn', { by: 'password', second_factor: second });
    log.info(
      { org_id: user.org_id, user_id: user.id, address: signIn.addressOf(req) },
      'dashboard.signed_in',
    );
    await answerState(o, res, await signIn.begin(req, res, now, 'password'));
  };

  /** @throws AppError unauthorized for `code`, where it is wanted or wrong */
  async function takeSecond(req: Request, res: Response, user: UserRecord, code: string | undefined) {
    if (code === undefined || code.trim() === '') {
      throw new AppError('unauthorized', 'Enter the code that your authenticator app shows now.', {
        param: 'code',
      });
    }
    // By account, from wherever it is tried: six digits are few, and who has come so far knows the password.
    const triers = [{ name: `code ${user.id}`, kind: 'known' }] as const;
    await signIn.count(req, triers);
    const taken = await takeCode(store, user, code, o.now());
    if (taken === null) {
      signIn.tellOf(req, 'dashboard.sign_in_failed', 'wrong code', { org_id: user.org_id });
      await note(req, res, user, 'signInFailed', { why: 'wrong code' });
      throw new AppError('unauthorized', 'This code is not right, or has been used. Wait for the next one.', {
        param: 'code',
      });
    }
    signIn.succeeded(triers);
    return taken;
  }

  const logOut: RequestHandler = async (req, res) => {
    await note(req, res, sessionOf(res).user, 'signOut');
    res.append('Set-Cookie', await sessions.end(sessionOf(res), arrivalOf(req)));
    await answerState(o, res, null);
  };

  const changePassword: RequestHandler = async (req: Request, res) => {
    const { current, password } = parse(changeBody, req.body);
    const { user, hash } = sessionOf(res);
    const triers = [{ name: `session ${hash}`, kind: 'known' }] as const;
    await signIn.count(req, triers);
    const fields = { org_id: user.org_id, user_id: user.id, address: signIn.addressOf(req) };
    if (user.password_hash === null || !(await verifyPassword(current, user.password_hash))) {
      log.warn(fields, 'dashboard.sign_in_failed');
      throw new AppError('forbidden', 'This is not the password that is in force.', { param: 'current' });
    }
    const changed = await signIn.setPassword(user, password, { ifPassword: user.password_hash });
    signIn.succeeded(triers);
    log.info(fields, 'dashboard.password_changed');
    await note(req, res, user, 'changePassword');
    await answerState(o, res, await signIn.begin(req, res, changed, 'password'));
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
