// The people of an organization, for its owners: who there is and what each may, who is invited, and who no longer signs in.
import { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { InvitationRecord, UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { type Route, route } from '../http/route.ts';
import { emailAddress } from './account-api.ts';
import { invite, personName } from './invitations.ts';
import type { Sessions } from './sessions.ts';

const MAX_PEOPLE = 500;
const role = z.enum(['owner', 'operator', 'viewer'], 'must be owner, operator or viewer');
const NO_PERSON = 'There is no such person.';
const anything = z.looseObject({});

/** Never the hash, never a secret. */
function userView(user: UserRecord) {
  const { id, name, email, role, may_listen, disabled_at, signed_in_at, created_at } = user;
  return {
    id,
    name,
    email,
    role,
    may_listen: role !== 'viewer' || may_listen,
    second_factor: user.totp_confirmed_at !== null,
    has_password: user.password_hash !== null,
    disabled_at,
    signed_in_at,
    created_at,
  };
}

function invitationView(invitation: InvitationRecord) {
  const { id, email, role, may_listen, user_id, created_by, created_at, expires_at } = invitation;
  return { id, email, role, may_listen, user_id, created_by, created_at, expires_at };
}

export function peopleRoutes(o: {
  store: Pick<
    Store,
    'listUsers' | 'getUser' | 'saveUser' | 'listInvitations' | 'createInvitation' | 'dropInvitation'
  >;
  sessions: Sessions;
  /** Where the dashboard is reached: in links. */
  publicUrl: string;
}): readonly Route[] {
  const { store } = o;

  /** Changes somebody, and ends his sessions: what he may is another thing now. */
  async function change(orgId: string, id: string, fields: Partial<UserRecord>): Promise<UserRecord> {
    const saved = settled(found(await store.saveUser(orgId, id, fields, { endSessions: true }), NO_PERSON));
    o.sessions.endedAll(id);
    return saved;
  }

  return [
    route({
      method: 'get',
      path: '/dashboard/api/people',
      operation: 'listPeople',
      summary: 'List who signs in here, and who is invited',
      needs: 'admin',
      status: 200,
      answer: anything,
      async run({ orgId }) {
        const [users, invitations] = await Promise.all([
          store.listUsers(orgId),
          store.listInvitations(orgId),
        ]);
        return { body: { users: users.map(userView), invitations: invitations.map(invitationView) } };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/invitations',
      operation: 'invitePerson',
      summary: 'Invite somebody by a link, good once; shown this once',
      needs: 'admin',
      status: 201,
      body: z.strictObject({ email: emailAddress, role, may_listen: z.boolean().default(false) }),
      answer: anything,
      async run({ orgId, actor, body, now }) {
        const there = (await store.listUsers(orgId)).length + (await store.listInvitations(orgId)).length;
        if (there >= MAX_PEOPLE) throw new AppError('conflict', `There are ${MAX_PEOPLE} people already.`);
        const { invitation, url } = await invite(store, {
          ...body,
          org_id: orgId,
          user_id: null,
          created_by: actor.name,
          now: now(),
          publicUrl: o.publicUrl,
        });
        return {
          body: { ...invitationView(invitation), url },
          noted: { detail: { email: invitation.email, role: invitation.role } },
        };
      },
    }),

    route({
      method: 'delete',
      path: '/dashboard/api/invitations/:id',
      operation: 'takeInvitationBack',
      summary: 'Take an invitation back',
      needs: 'admin',
      status: 204,
      answer: null,
      async run({ orgId, params }) {
        if (!(await store.dropInvitation(orgId, params.id)))
          throw new AppError('not_found', 'There is no such invitation, or it has been used.');
        return {};
      },
    }),

    route({
      method: 'patch',
      path: '/dashboard/api/people/:id',
      operation: 'changePerson',
      summary: 'Change what somebody may, or keep somebody out',
      needs: 'admin',
      status: 200,
      body: z.strictObject({
        name: personName.optional(),
        role: role.optional(),
        may_listen: z.boolean().optional(),
        disabled: z.boolean().optional(),
      }),
      answer: anything,
      async run({ orgId, params, body: { disabled, ...fields }, now }) {
        const saved = await change(orgId, params.id, {
          ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
          ...(disabled === undefined ? {} : { disabled_at: disabled ? now().toISOString() : null }),
        });
        const { name: _name, ...said } = { ...fields, disabled };
        return { body: userView(saved), noted: { detail: said } };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/people/:id/password_link',
      operation: 'makePasswordLink',
      summary: 'A link by which somebody sets a new password, good once; shown this once',
      needs: 'admin',
      status: 201,
      answer: anything,
      async run({ orgId, actor, params, now }) {
        const user = found(await store.getUser(orgId, params.id), NO_PERSON);
        if (user.disabled_at !== null)
          throw new AppError('conflict', 'This person is kept out; let the person in again first.');
        const { invitation, url } = await invite(store, {
          org_id: orgId,
          email: null,
          role: user.role,
          may_listen: user.may_listen,
          user_id: user.id,
          created_by: actor.name,
          now: now(),
          publicUrl: o.publicUrl,
        });
        return { body: { ...invitationView(invitation), url }, noted: { targetId: user.id } };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/people/:id/remove_second_factor',
      operation: 'removeSecondFactorOf',
      summary: 'For somebody whose phone is lost: sign in by password alone again',
      needs: 'admin',
      status: 200,
      answer: anything,
      async run({ orgId, params }) {
        const factor = { totp_secret: null, totp_confirmed_at: null, recovery_codes: [] };
        return { body: userView(await change(orgId, params.id, factor)) };
      },
    }),

    route({
      method: 'post',
      path: '/dashboard/api/people/:id/sign_out',
      operation: 'signOutPerson',
      summary: 'End every session of somebody',
      needs: 'admin',
      status: 200,
      answer: anything,
      run: async ({ orgId, params }) => ({ body: userView(await change(orgId, params.id, {})) }),
    }),
  ];
}
