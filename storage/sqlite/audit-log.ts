// The audit log: rows are added, and nothing else.
import type { PeopleStore } from '../people-store.ts';
import type { Connection } from './connection.ts';
import { readPage } from './pages.ts';
import { ACTIONS } from './rows.ts';

type Verbs = 'noteAction' | 'getAction' | 'listActions';

export function auditLog(connection: Connection): Pick<PeopleStore, Verbs> {
  const { statement, writeFact } = connection;
  return {
    async noteAction(action, patience) {
      const row = ACTIONS.toRow(action);
      await writeFact(
        { callId: null, work: () => void statement(ACTIONS.insert).run(row), meanwhile: () => {} },
        patience,
      );
    },

    async getAction(orgId, id) {
      const row = statement(`SELECT ${ACTIONS.selected} FROM audit_log WHERE id = ? AND org_id = ?`).get(
        id,
        orgId,
      );
      return row ? ACTIONS.fromRow(row) : null;
    },

    async listActions(orgId, { actorId, action, targetId }, page) {
      const where = [
        { sql: 'audit_log.actor_id = ?', value: actorId },
        { sql: 'audit_log.action = ?', value: action },
        { sql: 'audit_log.target_id = ?', value: targetId },
      ];
      const index =
        targetId !== undefined
          ? 'audit_log_by_target'
          : actorId !== undefined
            ? 'audit_log_by_actor'
            : action !== undefined
              ? 'audit_log_by_action'
              : 'audit_log_by_org';
      const o = { time: 'created_at', orgId, where, page, index };
      return (await readPage(connection, ACTIONS, o)).map(ACTIONS.fromRow);
    },
  };
}
