// The records of people and of what they and programs did: who signs in, from where, who is invited, the audit log. PURE.
// Times are ISO 8601 UTC with milliseconds.

export type Role = 'owner' | 'operator' | 'viewer';

/** Somebody of an organization who signs in to its dashboard. */
export interface UserRecord {
  id: string;
  org_id: string;
  /** In lower case; each once in an organization. Null: the first owner, until one is set. */
  email: string | null;
  name: string;
  role: Role;
  /** Of a viewer: recordings may be heard. Others may in any case. */
  may_listen: boolean;
  /** Method, parameters, salt and digest in one text; never the password. Null: signs in elsewhere. */
  password_hash: string | null;
  /** Of the second factor, base32. Null: none was begun. */
  totp_secret: string | null;
  /** When its first code was given; null: it does not count yet. */
  totp_confirmed_at: string | null;
  /** The time step of the last code that was taken: it and those before are worth nothing any more. */
  totp_last_step: number | null;
  /** SHA-256 (hex) of those recovery codes that are left. */
  recovery_codes: string[];
  /** Who signs in for the person, and by which name there. */
  oidc_issuer: string | null;
  oidc_subject: string | null;
  disabled_at: string | null;
  signed_in_at: string | null;
  created_at: string;
  updated_at: string;
}

/** A browser that is signed in. */
export interface SessionRecord {
  id: string;
  /** SHA-256 of what the cookie holds, hex. */
  hash: string;
  user_id: string;
  org_id: string;
  /** By what: a password, a link, another service. */
  how: 'password' | 'link' | 'oidc';
  /** Where it was begun, as far as that is known; the browser's own words for itself. */
  address: string | null;
  agent: string | null;
  created_at: string;
  last_seen_at: string;
  /** The latest end, however busy it is. */
  expires_at: string;
}

/** A link that makes somebody a user, or sets the password of one; good once. */
export interface InvitationRecord {
  id: string;
  org_id: string;
  /** SHA-256 of the link's token, hex. */
  hash: string;
  /** In lower case; null where it is for the password of a user who has none. */
  email: string | null;
  role: Role;
  may_listen: boolean;
  /** Whose password it sets; null: it makes a new user. */
  user_id: string | null;
  /** Who made it, for people. */
  created_by: string;
  created_at: string;
  expires_at: string;
  used_at: string | null;
}

/** One row of the audit log: who did what, to what. Never what was said or sent. */
export interface ActionRecord {
  id: string;
  org_id: string;
  created_at: string;
  /** `nobody`: an attempt to sign in; `host`: a command or a link of the machine itself. */
  actor_kind: 'key' | 'user' | 'nobody' | 'host';
  actor_id: string | null;
  actor_name: string;
  /** The operation's name, as the reference has it, or what a person did to sign in. */
  action: string;
  target_kind: string | null;
  target_id: string | null;
  detail: Record<string, unknown> | null;
  /** Where it was asked from. */
  address: string | null;
  request_id: string | null;
}
