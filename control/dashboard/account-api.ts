// What everybody who is signed in does for himself: name and e-mail address, the second factor, other browsers.
import type { Response } from 'express';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import { emailKey } from '../../storage/people.ts';
import type { SessionRecord, UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { permissionsOf } from '../http/actor.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { type Route, route } from '../http/route.ts';
import { sessionOf } from './guard.ts';
import { personName } from './invitations.ts';
import { verifyPassword } from './passwords.ts';
import { enrolment, newRecoveryCodes, newSecret, stepOf, takeCode } from './second-factor.ts';
import type { Sessions } from './sessions.ts';
import { givenPassword, type SignIn } from './sign-in.ts';

/** RFC 5321, 4.5.3.1.3, with the brackets off. */
const MAX_EMAIL = 254;
export const emailAddress = z
  .string()
  .max(MAX_EMAIL, `may have ${MAX_EMAIL} characters at most`)
  .refine(
    (text) => /^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+\.[^\s@.]{2,}$/.test(text.trim()),
    'must be an e-mail address',
  )
  .transform(emailKey);

const code = z.string().max(100);
const current = givenPassword.describe('The password that is in force.');
const GONE = 'There is no such person any more.';

function sessionView(session: SessionRecord, ownHash: string) {
  const { id, how, address, agent, created_at, last_seen_at } = session;
  return { id, how, address, agent, created_at, last_seen_at, current: session.hash === ownHash };
}

const accountAnswer = z.looseObject({});

export function accountRoutes(o: {
  store: Pick<
    Store,
    'getUser' | 'saveUser' | 'listSessions' | 'getOrganization' | 'takeTotpStep' | 'takeRecoveryCode'
  >;
  sessions: Sessions;
  signIn: SignIn;
}): readonly Route[] {
  /** The one who asks, as he is stored now. */
  const me = async (res: Response) => {
    const { orgId, user } = sessionOf(res);
    return found(await o.store.getUser(orgId, user.id), GONE);
  };

  /** @throws AppError forbidden, for `current` */
  async function mustKnowPassword(res: Response, user: UserRecord, given: string): Promise<void> {
    const triers = [{ name: `session ${sessionOf(res).hash}`, kind: 'known' }] as const;
    await o.signIn.count(res.req, triers);
    if (user.password_hash === null || !(await verifyPassword(given, user.password_hash)))
      throw new AppError('forbidden', 'This is not the password that is in force.', { param: 'current' });
    o.signIn.succeeded(triers);
  }

  /** Saves, ends every session of the user, and goes on in a new one. */
  async function saveAndRenew(res: Response, user: UserRecord, change: Partial<UserRecord>) {
    const saved = await o.store.saveUser(user.org_id, user.id, change, {
      endSessions: true,
      ifPassword: user.password_hash,
    });
    const changed = settled(found(saved, GONE));
    o.sessions.endedAll(user.id);
    await o.signIn.begin(res.req, res, changed, 'password');
    return changed;
  }

  async function view(res: Response, user: UserRecord) {
    const { hash } = sessionOf(res);
    return {
      id: user.id,
      name: user.name,
      email: user.email,
      role: user.role,
      may: [...permissionsOf(user)],
      has_password: user.password_hash !== null,
      second_factor_since: user.totp_confirmed_at,
      recovery_codes_left: user.recovery_codes.length,
      signs_in_elsewhere: user.oidc_issuer,
      created_at: user.created_at,
      sessions: (await o.store.listSessions(user.id)).map((one) => sessionView(one, hash)),
    };
  }

  return [
    route({
      method: 'get',
      path: '/dashboard/api/account',
      operation: 'getAccount',
      summary: 'Who one is, and where one is signed in',
      status: 200,
      answer: accountAnswer,
      run: async (_request, res) => ({ body: await view(res, await me(res)) }),
    }),

    route({
      method: 'patch',
      path: '/dashboard/api/account',
      operation: 'changeAccount',
      summary: 'Change one’s name, or with the password one’s e-mail address',
      needs: 'read',
      status: 200,
      body: z.strictObject({
        name: personName.optional(),
        email: emailAddress.optional(),
        current: current.optional(),
      }),
      answer: accountAnswer,
      async run({ body: { name, email, current: given } }, res) {
        const user = await me(res);
        if (email !== undefined && email !== user.email) await mustKnowPassword(res, user, given ?? '');
        const change = { ...(name === undefined ? {} : { name }), ...(email === undefined ? {} : { email }) };
        const saved = settled(found(await o.store.saveUser(user.org_id, user.id, change), GONE), 'email');
        return {
          body: await view(res, saved),
          noted: { targetId: user.id, detail: { changed: Object.keys(change) } },
        };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/account/second_factor',
      operation: 'beginSecondFactor',
      summary: 'Begin a second factor: what an authenticator app is given; it counts from its first code on',
      needs: 'read',
      status: 200,
      body: z.strictObject({ current }),
      answer: accountAnswer,
      async run({ orgId, body }, res) {
        const user = await me(res);
        if (user.totp_confirmed_at !== null)
          throw new AppError('conflict', 'There is a second factor already; remove it first.');
        await mustKnowPassword(res, user, body.current);
        const secret = newSecret();
        await o.store.saveUser(orgId, user.id, { totp_secret: secret });
        const organization = (await o.store.getOrganization(orgId))?.name ?? '';
        return {
          body: enrolment(secret, { organization, account: user.email ?? user.name }),
          noted: { targetId: user.id },
        };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/account/second_factor/confirm',
      operation: 'confirmSecondFactor',
      summary: 'Give the first code: from now on one is asked for; answers recovery codes, shown this once',
      needs: 'read',
      status: 200,
      body: z.strictObject({ code }),
      answer: accountAnswer,
      async run({ body, now }, res) {
        const user = await me(res);
        if (user.totp_secret === null || user.totp_confirmed_at !== null)
          throw new AppError('conflict', 'No second factor has been begun.');
        const triers = [{ name: `code ${user.id}`, kind: 'known' }] as const;
        await o.signIn.count(res.req, triers);
        const step = stepOf(user.totp_secret, body.code, now());
        if (step === null) {
          throw new AppError('invalid_request', 'This is not the code that the app shows now.', {
            param: 'code',
          });
        }
        o.signIn.succeeded(triers);
        const { shown, hashes } = newRecoveryCodes();
        await saveAndRenew(res, user, {
          totp_confirmed_at: now().toISOString(),
          totp_last_step: step,
          recovery_codes: hashes,
        });
        return { body: { recovery_codes: shown }, noted: { targetId: user.id } };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/account/recovery_codes',
      operation: 'renewRecoveryCodes',
      summary: 'Make new recovery codes, shown this once; those before are worth nothing',
      needs: 'read',
      status: 200,
      body: z.strictObject({ current, code }),
      answer: accountAnswer,
      async run({ body, now }, res) {
        const user = await withBoth(res, body, now());
        const { shown, hashes } = newRecoveryCodes();
        await o.store.saveUser(user.org_id, user.id, { recovery_codes: hashes });
        return { body: { recovery_codes: shown }, noted: { targetId: user.id } };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/account/second_factor/remove',
      operation: 'removeSecondFactor',
      summary: 'Sign in by password alone again',
      needs: 'read',
      status: 200,
      body: z.strictObject({ current, code }),
      answer: accountAnswer,
      async run({ body, now }, res) {
        const user = await withBoth(res, body, now());
        const factor = { totp_secret: null, totp_confirmed_at: null, recovery_codes: [] };
        await saveAndRenew(res, user, factor);
        return { body: {}, noted: { targetId: user.id } };
      },
    }),

    route({
      method: 'delete',
      path: '/dashboard/api/account/sessions/:id',
      operation: 'endSession',
      summary: 'Sign another browser out',
      needs: 'read',
      status: 204,
      answer: null,
      async run({ params }, res) {
        const { user, hash } = sessionOf(res);
        const one = (await o.store.listSessions(user.id)).find(({ id }) => id === params.id);
        if (one === undefined || one.hash === hash)
          throw new AppError('not_found', 'There is no such session, or it has ended, or it is this one.');
        await o.sessions.end(one, { headers: {}, remoteAddress: undefined });
        return {};
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/account/sessions/end_others',
      operation: 'endOtherSessions',
      summary: 'Sign every other browser out',
      needs: 'read',
      status: 204,
      answer: null,
      async run(_request, res) {
        const { user, hash } = sessionOf(res);
        const others = (await o.store.listSessions(user.id)).filter((one) => one.hash !== hash);
        for (const one of others) await o.sessions.end(one, { headers: {}, remoteAddress: undefined });
        return { noted: { targetId: user.id, detail: { ended: others.length } } };
      },
    }),
  ];

  /** The password and a code. @throws AppError forbidden, conflict */
  async function withBoth(res: Response, given: { current: string; code: string }, now: Date) {
    const user = await me(res);
    if (user.totp_confirmed_at === null) throw new AppError('conflict', 'There is no second factor.');
    await mustKnowPassword(res, user, given.current);
    const triers = [{ name: `code ${user.id}`, kind: 'known' }] as const;
    await o.signIn.count(res.req, triers);
    if ((await takeCode(o.store, user, given.code, now)) === null) {
      throw new AppError('forbidden', 'This code is not right, or has been used. Wait for the next one.', {
        param: 'code',
      });
    }
    o.signIn.succeeded(triers);
    return found(await o.store.getUser(user.org_id, user.id), GONE);
  }
}
