// Who signs in to the dashboard, and the browsers that have.
import type { OperatorRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { OPERATORS, DASHBOARD_SESSIONS as SESSIONS } from './rows.ts';

type Verbs =
  | 'getOperator'
  | 'hasOperators'
  | 'setPassword'
  | 'createSession'
  | 'findSession'
  | 'touchSession'
  | 'endSession';

export function operators(connection: Connection): Pick<Store, Verbs> {
  const { statement, write } = connection;

  function read(orgId: string): OperatorRecord | null {
    const row = statement(`SELECT ${OPERATORS.selected} FROM operators WHERE org_id = ?`).get(orgId);
    return row ? OPERATORS.fromRow(row) : null;
  }

  return {
    async getOperator(orgId) {
      return read(orgId);
    },

    async hasOperators() {
      return statement('SELECT 1 FROM operators LIMIT 1').get() !== undefined;
    },

    async setPassword(operator) {
      return write(() => {
        statement(
          `${OPERATORS.insert} ON CONFLICT (org_id) DO UPDATE SET
           password_hash = excluded.password_hash, updated_at = excluded.updated_at`,
        ).run(OPERATORS.toRow(operator));
        const stored = read(operator.org_id) ?? operator;
        statement('DELETE FROM dashboard_sessions WHERE operator_id = ?').run(stored.id);
        return stored;
      });
    },

    async createSession(record) {
      await write(() => {
        statement('DELETE FROM dashboard_sessions WHERE expires_at <= ?').run(record.created_at);
        statement(SESSIONS.insert).run(SESSIONS.toRow(record));
      });
    },

    async findSession(hash) {
      const row = statement(`SELECT ${SESSIONS.selected} FROM dashboard_sessions WHERE hash = ?`).get(hash);
      return row ? SESSIONS.fromRow(row) : null;
    },

    async touchSession(hash, at) {
      await write(() =>
        statement('UPDATE dashboard_sessions SET last_seen_at = ? WHERE hash = ?').run(at, hash),
      );
    },

    async endSession(hash) {
      return write(() => statement('DELETE FROM dashboard_sessions WHERE hash = ?').run(hash).changes === 1);
    },
  };
}
