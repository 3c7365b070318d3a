// Who signs in to the dashboard, the browsers that have, and who is invited.

import { leavesNoOwner } from '../people.ts';
import type { InvitationRecord, SessionRecord, UserRecord } from '../people-records.ts';
import type { PeopleStore } from '../people-store.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { INVITATIONS, type Row, SESSIONS, USERS } from './rows.ts';

type Verbs = Exclude<keyof PeopleStore, 'noteAction' | 'getAction' | 'listActions'>;

const userOf = (row: Row | undefined): UserRecord | null => (row ? USERS.fromRow(row) : null);
const USER = `SELECT ${USERS.selected} FROM users`;
const INVITATION = `SELECT ${INVITATIONS.selected} FROM invitations`;

const FIRST_OWNER = `${USER} WHERE org_id = ?
  ORDER BY (role = 'owner' AND disabled_at IS NULL) DESC, seq LIMIT 1`;

export function people(connection: Connection): Pick<PeopleStore, Verbs> {
  const { statement, write, tryWrite } = connection;

  const read = (orgId: string, id: string) =>
    userOf(statement(`${USER} WHERE id = ? AND org_id = ?`).get(id, orgId));
  const ofOrganization = (orgId: string) =>
    statement(`${USER} WHERE org_id = ? ORDER BY seq`).all(orgId).map(USERS.fromRow);

  function refuseTaken(orgId: string, email: string | null | undefined, id: string | null): void {
    if (email == null) return;
    const row = statement('SELECT id FROM users WHERE org_id = ? AND email = ?').get(orgId, email);
    if (row !== undefined && row.id !== id) throw new Refusal('email_taken');
  }

  function useInvitation(id: string | undefined): void {
    if (id === undefined) return;
    const used = statement('UPDATE invitations SET used_at = ? WHERE id = ? AND used_at IS NULL');
    if (used.run(connection.now(), id).changes !== 1) throw new Refusal('invitation_used');
  }

  /** A program of before on the same data knows the operator alone: it takes the password that is in force, or none. */
  function tellOperator(user: UserRecord): void {
    const hash = user.role === 'owner' && user.disabled_at === null ? user.password_hash : null;
    statement('UPDATE operators SET password_hash = ?, updated_at = ? WHERE id = ?').run(
      hash ?? '',
      user.updated_at,
      user.id,
    );
  }

  return {
    getUser: async (orgId, id) => read(orgId, id),
    listUsers: async (orgId) => ofOrganization(orgId),
    firstOwner: async (orgId) => userOf(statement(FIRST_OWNER).get(orgId)),

    async findUsersByEmail(email) {
      return statement(`${USER} INDEXED BY users_by_email WHERE email = ? ORDER BY seq`)
        .all(email)
        .map(USERS.fromRow);
    },

    async findUsersBySubject(issuer, subject) {
      return statement(
        `${USER} INDEXED BY users_by_subject WHERE oidc_subject = ? AND oidc_issuer = ? ORDER BY seq`,
      )
        .all(subject, issuer)
        .map(USERS.fromRow);
    },

    async hasUsers() {
      return statement('SELECT 1 FROM users LIMIT 1').get() !== undefined;
    },

    async hasEmails() {
      return statement("SELECT 1 FROM users WHERE email > '' LIMIT 1").get() !== undefined;
    },

    async createUser(user, o = {}) {
      return tryWrite(() => {
        useInvitation(o.invitation);
        if (o.first && ofOrganization(user.org_id).length > 0) throw new Refusal('has_users');
        refuseTaken(user.org_id, user.email, null);
        statement(USERS.insert).run(USERS.toRow(user));
        return user;
      });
    },

    async saveUser(orgId, id, change, o = {}) {
      return tryWrite(() => {
        useInvitation(o.invitation);
        const found = read(orgId, id);
        if (found === null) return null;
        if (o.ifPassword !== undefined && o.ifPassword !== found.password_hash)
          throw new Refusal('changed_meanwhile');
        refuseTaken(orgId, change.email, id);
        if (leavesNoOwner(ofOrganization(orgId), id, change)) throw new Refusal('last_owner');
        const at = change.updated_at ?? connection.now();
        updateById(connection, USERS, id, USERS.toRow({ ...change, updated_at: at }));
        if (o.endSessions) statement('DELETE FROM user_sessions WHERE user_id = ?').run(id);
        const saved = read(orgId, id);
        if (saved !== null) tellOperator(saved);
        return saved;
      }) as ReturnType<PeopleStore['saveUser']>;
    },

    async takeTotpStep(id, step) {
      const sql = `UPDATE users SET totp_last_step = @step
        WHERE id = @id AND (totp_last_step IS NULL OR totp_last_step < @step)`;
      return write(() => statement(sql).run({ id, step }).changes === 1);
    },

    async takeRecoveryCode(id, hash) {
      return write(() => {
        const found = userOf(statement(`${USER} WHERE id = ?`).get(id));
        if (!found?.recovery_codes.includes(hash)) return false;
        const left = found.recovery_codes.filter((one) => one !== hash);
        updateById(connection, USERS, id, USERS.toRow({ recovery_codes: left }));
        return true;
      });
    },

    async createSession(record) {
      await write(() => {
        statement('DELETE FROM user_sessions WHERE expires_at <= ?').run(record.created_at);
        statement(SESSIONS.insert).run(SESSIONS.toRow(record));
        statement('UPDATE users SET signed_in_at = ? WHERE id = ?').run(record.created_at, record.user_id);
      });
    },

    async findSession(hash): Promise<SessionRecord | null> {
      const row = statement(`SELECT ${SESSIONS.selected} FROM user_sessions WHERE hash = ?`).get(hash);
      return row ? SESSIONS.fromRow(row) : null;
    },

    async listSessions(userId) {
      return statement(
        `SELECT ${SESSIONS.selected} FROM user_sessions WHERE user_id = ? ORDER BY last_seen_at DESC`,
      )
        .all(userId)
        .map(SESSIONS.fromRow);
    },

    async touchSession(hash, at) {
      await write(() => statement('UPDATE user_sessions SET last_seen_at = ? WHERE hash = ?').run(at, hash));
    },

    async endSession(hash) {
      return write(() => statement('DELETE FROM user_sessions WHERE hash = ?').run(hash).changes === 1);
    },

    async createInvitation(invitation) {
      return tryWrite(() => {
        const { org_id, email, user_id } = invitation;
        if (user_id === null) refuseTaken(org_id, email, null);
        statement(
          `DELETE FROM invitations WHERE org_id = @org_id AND used_at IS NULL
           AND (user_id IS @user_id AND (@user_id IS NOT NULL OR email = @email))`,
        ).run({ org_id, email, user_id });
        statement(INVITATIONS.insert).run(INVITATIONS.toRow(invitation));
        return invitation;
      });
    },

    async findInvitation(hash): Promise<InvitationRecord | null> {
      const row = statement(`${INVITATION} WHERE hash = ?`).get(hash);
      return row ? INVITATIONS.fromRow(row) : null;
    },

    async findInvitationsByEmail(email) {
      return statement(
        `${INVITATION} INDEXED BY invitations_by_email WHERE email = ? AND used_at IS NULL ORDER BY seq DESC`,
      )
        .all(email)
        .map(INVITATIONS.fromRow);
    },

    async listInvitations(orgId) {
      return statement(`${INVITATION} WHERE org_id = ? AND used_at IS NULL ORDER BY seq DESC`)
        .all(orgId)
        .map(INVITATIONS.fromRow);
    },

    async dropInvitation(orgId, id) {
      const sql = 'DELETE FROM invitations WHERE id = ? AND org_id = ? AND used_at IS NULL';
      return write(() => statement(sql).run(id, orgId).changes === 1);
    },
  };
}
