// Who somebody is here, by what an issuer says of him: known by its subject, else by an e-mail address that it has verified,
// as a user, somebody invited, or where that is allowed, somebody new.
import { v7 as uuidv7 } from 'uuid';
import type { Config } from '../../config.ts';
import { emailKey } from '../../storage/people.ts';
import type { UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { invitedUser } from './invitations.ts';

export interface Claims {
  issuer: string;
  subject: string;
  email: string | null;
  emailVerified: boolean;
  name: string | null;
}

export type OidcUser =
  | { user: UserRecord; how: 'known' | 'linked' | 'invited' | 'new' }
  | { user: null; why: string };

/** Nothing that somebody may know of an account opens it any more. */
const NO_PASSWORD = { password_hash: null, totp_secret: null, totp_confirmed_at: null, recovery_codes: [] };

const no = (why: string): OidcUser => ({ user: null, why });

/** A name as people are called here, out of what somebody else says. */
const nameOf = (claims: Claims, email: string) =>
  (claims.name ?? '')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim()
    .slice(0, 100) || email;

export async function findOidcUser(
  o: {
    config: Pick<Config, 'OIDC_ALLOWED_DOMAINS' | 'OIDC_NEW_USERS'>;
    store: Pick<
      Store,
      | 'findUsersBySubject'
      | 'findUsersByEmail'
      | 'findInvitationsByEmail'
      | 'createUser'
      | 'saveUser'
      | 'firstOrganization'
    >;
    now: () => Date;
  },
  claims: Claims,
): Promise<OidcUser> {
  const { store, config } = o;
  const domains = config.OIDC_ALLOWED_DOMAINS.map((domain) => domain.toLowerCase());
  const email = claims.email !== null && claims.emailVerified ? emailKey(claims.email) : null;
  const domain = email?.slice(email.lastIndexOf('@') + 1) ?? '';
  if (domains.length > 0 && !domains.includes(domain)) return no('domain is not allowed');

  const known = await store.findUsersBySubject(claims.issuer, claims.subject);
  const user = known.find(({ disabled_at }) => disabled_at === null);
  if (user !== undefined) return { user, how: 'known' };
  if (known.length > 0) return no('kept out');
  // An address that nobody has verified is whatever its owner has typed there.
  if (email === null) return no('no verified e-mail address');

  const link = { oidc_issuer: claims.issuer, oidc_subject: claims.subject };
  const byEmail = await store.findUsersByEmail(email);
  const mine = byEmail.find((one) => one.disabled_at === null && one.oidc_subject === null);
  if (mine !== undefined) {
    // Nobody here has verified the address: whoever typed it into his account may be somebody else, and is out with this. An
    // owner gives away no more than is his.
    const own = mine.role === 'owner' ? {} : NO_PASSWORD;
    const saved = await store.saveUser(mine.org_id, mine.id, { ...link, ...own }, { endSessions: true });
    return saved === null || 'conflict' in saved ? no('changed meanwhile') : { user: saved, how: 'linked' };
  }
  // Somebody else at the issuer has the address now, or the person is kept out.
  if (byEmail.length > 0) return no('the address is another account’s');

  const name = nameOf(claims, email);
  const now = o.now();
  const invitations = await store.findInvitationsByEmail(email);
  const invitation = invitations.find((one) => one.user_id === null && one.expires_at > now.toISOString());
  if (invitation !== undefined) {
    const fields = invitedUser(invitation, { name, ...link }, now);
    const made = await store.createUser(fields, { invitation: invitation.id });
    return 'conflict' in made ? no('invitation used meanwhile') : { user: made, how: 'invited' };
  }
  // Without domains that would be anybody who has an account at the issuer.
  if (config.OIDC_NEW_USERS !== 'viewer' || domains.length === 0) return no('not invited');
  const organization = await store.firstOrganization();
  if (organization === null) return no('there is no organization');
  const made = await store.createUser(
    invitedUser(
      { org_id: organization.id, email, role: 'viewer', may_listen: false },
      { id: uuidv7(), name, ...link },
      now,
    ),
  );
  return 'conflict' in made ? no('made meanwhile') : { user: made, how: 'new' };
}
