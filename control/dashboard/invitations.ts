// Links that make somebody a user, or set the password of one: made, looked at, and used once.
import { createHash, randomBytes } from 'node:crypto';
import { type Request, type RequestHandler, Router } from 'express';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { InvitationRecord, UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { noteAction } from '../http/audit.ts';
import { settled } from '../http/conflicts.ts';
import { jsonBody } from '../http/json-body.ts';
import { contextOf } from '../http/request-context.ts';
import { parse } from '../http/schemas.ts';
import { hashPassword } from './passwords.ts';
import { answerState, type StateParts } from './session-state.ts';
import { newPassword, type SignIn } from './sign-in.ts';

const INVITATION_DAYS = 7;
/** For somebody who has an account and no password any more. */
const PASSWORD_LINK_HOURS = 24;

export const personName = z
  .string()
  .trim()
  .min(1, 'needs a name')
  .max(100, 'may have 100 characters at most')
  .refine((name) => !/\p{Cc}|\p{Cf}/u.test(name), 'may have no control characters');
const token = z.string().max(200);
const lookBody = z.strictObject({ token });
const acceptBody = z.strictObject({ token, name: personName.optional(), password: newPassword });

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** The address to open; the token stands behind the #, which no browser sends and no log sees. */
const urlOf = (publicUrl: string, text: string) => `${publicUrl}/invitation#${text}`;

/** @throws AppError conflict when a user has the address already */
export async function invite(
  store: Pick<Store, 'createInvitation'>,
  o: Pick<InvitationRecord, 'org_id' | 'email' | 'role' | 'may_listen' | 'user_id' | 'created_by'> & {
    now: Date;
    publicUrl: string;
  },
): Promise<{ invitation: InvitationRecord; url: string }> {
  const { now, publicUrl, ...fields } = o;
  const text = randomBytes(32).toString('base64url');
  const hours = fields.user_id === null ? INVITATION_DAYS * 24 : PASSWORD_LINK_HOURS;
  const invitation = settled(
    await store.createInvitation({
      ...fields,
      id: uuidv7(),
      hash: hashOf(text),
      created_at: now.toISOString(),
      expires_at: new Date(now.getTime() + hours * 3_600_000).toISOString(),
      used_at: null,
    }),
    'email',
  );
  return { invitation, url: urlOf(publicUrl, text) };
}

/** A user as an invitation makes one. */
export function invitedUser(
  invitation: Pick<InvitationRecord, 'org_id' | 'email' | 'role' | 'may_listen'>,
  fields: Pick<UserRecord, 'name'> & Partial<UserRecord>,
  now: Date,
): UserRecord {
  return {
    id: uuidv7(),
    org_id: invitation.org_id,
    email: invitation.email,
    role: invitation.role,
    may_listen: invitation.may_listen,
    password_hash: null,
    totp_secret: null,
    totp_confirmed_at: null,
    totp_last_step: null,
    recovery_codes: [],
    oidc_issuer: null,
    oidc_subject: null,
    disabled_at: null,
    signed_in_at: null,
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
    ...fields,
  };
}

export interface InvitationOptions extends StateParts {
  store: StateParts['store'] & Pick<Store, 'findInvitation' | 'getUser' | 'createUser' | 'noteAction'>;
  signIn: SignIn;
  log: Pick<Log, 'info' | 'warn'>;
  now: () => Date;
}

/** What needs no session: looking at a link that one was given, and using it. */
export function invitationApi(o: InvitationOptions): Router {
  const { store, signIn } = o;

  /** @throws AppError forbidden for one that has served, has ended, was taken back or never was */
  async function open(req: Request, text: string) {
    const invitation = await store.findInvitation(hashOf(text));
    const isGood =
      invitation !== null && invitation.used_at === null && invitation.expires_at > o.now().toISOString();
    const user =
      isGood && invitation.user_id !== null
        ? await store.getUser(invitation.org_id, invitation.user_id)
        : null;
    const isOpen = isGood && (invitation.user_id === null || (user !== null && user.disabled_at === null));
    // Whoever has a link is not kept waiting by somebody who tries; nobody guesses 256 bits.
    if (!isOpen) {
      await signIn.count(req, signIn.triersOf(req, null, null));
      throw new AppError(
        'forbidden',
        'This link has been used, is too old, or was taken back. Ask for another one.',
      );
    }
    return { invitation, user };
  }

  const look: RequestHandler = async (req, res) => {
    const { invitation, user } = await open(req, parse(lookBody, req.body).token);
    const organization = await store.getOrganization(invitation.org_id);
    res.json({
      kind: user === null ? 'invitation' : 'password',
      organization: organization?.name ?? '',
      email: invitation.email ?? user?.email ?? null,
      name: user?.name ?? null,
      role: user?.role ?? invitation.role,
      invited_by: invitation.created_by,
      expires_at: invitation.expires_at,
    });
  };

  const accept: RequestHandler = async (req, res) => {
    const { token: text, name, password } = parse(acceptBody, req.body);
    const { invitation, user: known } = await open(req, text);
    const fields = { org_id: invitation.org_id, address: signIn.addressOf(req) };
    if (known === null && name === undefined)
      throw new AppError('missing_parameter', 'name is required.', { param: 'name' });
    let user: UserRecord;
    if (known === null) {
      const password_hash = await hashPassword(password);
      const made = invitedUser(invitation, { name: name ?? '', password_hash }, o.now());
      user = settled(await store.createUser(made, { invitation: invitation.id }));
    } else {
      user = await signIn.setPassword(known, password, { invitation: invitation.id });
    }
    o.log.info({ ...fields, user_id: user.id }, 'dashboard.invitation_used');
    await noteAction(o, {
      orgId: user.org_id,
      actor: { kind: 'user', id: user.id, name: user.name },
      action: known === null ? 'acceptInvitation' : 'setPasswordByLink',
      target: { kind: 'user', id: user.id },
      detail: { role: user.role, created_by: invitation.created_by },
      address: fields.address,
      requestId: contextOf(res).requestId,
    });
    // Who has a second factor gives it, link or not.
    const session = user.totp_confirmed_at === null ? await signIn.begin(req, res, user, 'link') : null;
    await answerState(o, res, session);
  };

  const router = Router({ caseSensitive: true });
  router.post('/invitation', jsonBody(), accept);
  router.post('/invitation/look', jsonBody(), look);
  return router;
}
