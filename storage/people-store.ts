// The verbs of storage for people: users, their sessions, invitations, and the audit log. As in store.ts: a mutating verb is
// one transaction.

import type { Conflict, Page, Patience } from './answers.ts';
import type { ActionRecord, InvitationRecord, SessionRecord, UserRecord } from './people-records.ts';

export interface PeopleStore {
  // people
  getUser(orgId: string, id: string): Promise<UserRecord | null>;
  /** Oldest first. */
  listUsers(orgId: string): Promise<UserRecord[]>;
  /** Whose password the host's link sets: the oldest owner who is not disabled, else the oldest user. */
  firstOwner(orgId: string): Promise<UserRecord | null>;
  /** Of every organization, the oldest first; disabled ones too. */
  findUsersByEmail(email: string): Promise<UserRecord[]>;
  findUsersBySubject(issuer: string, subject: string): Promise<UserRecord[]>;
  /** Whether any organization has one. */
  hasUsers(): Promise<boolean>;
  /** Whether anybody has an e-mail address to sign in with. */
  hasEmails(): Promise<boolean>;
  /**
   * Conflicts: `email_taken`; `has_users` where it was to be the first one of its organization; `invitation_used` where the
   * invitation that makes it has served, or is gone.
   */
  createUser(user: UserRecord, o?: { first?: boolean; invitation?: string }): Promise<UserRecord | Conflict>;
  /**
   * Conflicts: `email_taken`; `last_owner` where the organization would be left without one; `invitation_used`;
   * `changed_meanwhile` where the password is not `ifPassword` any more. Null for an unknown one.
   * @param o.endSessions every session of the user ends with it
   */
  saveUser(
    orgId: string,
    id: string,
    change: Partial<UserRecord>,
    o?: { endSessions?: boolean; invitation?: string; ifPassword?: string | null },
  ): Promise<UserRecord | Conflict | null>;
  /** False where a code of this time step, or of a later one, has been taken. */
  takeTotpStep(id: string, step: number): Promise<boolean>;
  /** False where no such code (SHA-256, hex) is left. */
  takeRecoveryCode(id: string, hash: string): Promise<boolean>;

  // browsers that are signed in
  /** Also forgets sessions that had ended when this one was made. */
  createSession(session: SessionRecord): Promise<void>;
  /** By SHA-256 (hex), expired or not; null for unknown and ended ones. */
  findSession(hash: string): Promise<SessionRecord | null>;
  /** Of a user, the last seen first. */
  listSessions(userId: string): Promise<SessionRecord[]>;
  touchSession(hash: string, at: string): Promise<void>;
  endSession(hash: string): Promise<boolean>;

  // invitations
  /** Those before, of the same e-mail address or user, are void. Conflict `email_taken` where a user has the address already. */
  createInvitation(invitation: InvitationRecord): Promise<InvitationRecord | Conflict>;
  /** By SHA-256 (hex), expired or used or not. */
  findInvitation(hash: string): Promise<InvitationRecord | null>;
  /** Those that have not served, of this address in any organization, the newest first. */
  findInvitationsByEmail(email: string): Promise<InvitationRecord[]>;
  /** Those that have not served, newest first. */
  listInvitations(orgId: string): Promise<InvitationRecord[]>;
  dropInvitation(orgId: string, id: string): Promise<boolean>;

  // audit log
  /** What has happened: never refused, also by a disk that is full. */
  noteAction(action: ActionRecord, patience?: Patience): Promise<void>;
  getAction(orgId: string, id: string): Promise<ActionRecord | null>;
  /** Newest first. */
  listActions(
    orgId: string,
    filters: { actorId?: string | undefined; action?: string | undefined; targetId?: string | undefined },
    page: Page,
  ): Promise<ActionRecord[]>;
}
