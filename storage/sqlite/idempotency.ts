// Idempotency keys: one request a key and organization, its answer kept for a day.
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';

type Verbs = 'beginIdempotent' | 'intendIdempotent' | 'finishIdempotent' | 'dropIdempotent';

const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** More than a request adds, so that old keys become fewer. */
const FORGOTTEN_AT_ONCE = 20;
/** A request in progress for longer has died with its process; the same request may begin again. */
const ABANDONED_MS = 2 * 60 * 1000;

export function idempotency(connection: Connection): Pick<Store, Verbs> {
  const { statement, write, writeFact } = connection;
  const setAnswer = `UPDATE idempotency_keys SET state = 'done', status = ?, body = ? WHERE org_id = ? AND key = ?`;

  return {
    async beginIdempotent(orgId, key, requestHash, now) {
      const before = (ms: number) => new Date(Date.parse(now) - ms).toISOString();
      return write(() => {
        // The own one in any case; of others a few at a time, so that a day's keys do not hold up one request.
        statement('DELETE FROM idempotency_keys WHERE org_id = ? AND key = ? AND created_at <= ?').run(
          orgId,
          key,
          before(LIFETIME_MS),
        );
        statement(
          `DELETE FROM idempotency_keys INDEXED BY idempotency_keys_by_age
           WHERE created_at <= ? ORDER BY created_at LIMIT ${FORGOTTEN_AT_ONCE}`,
        ).run(before(LIFETIME_MS));
        const row = statement(
          `SELECT request_hash, state, begun_at, status, body FROM idempotency_keys WHERE org_id = ? AND key = ?`,
        ).get(orgId, key);
        if (!row) {
          statement(
            `INSERT INTO idempotency_keys (org_id, key, request_hash, state, begun_at, created_at)
             VALUES (?, ?, ?, 'in_progress', ?, ?)`,
          ).run(orgId, key, requestHash, now, now);
          return { state: 'new' as const };
        }
        if (row.request_hash !== requestHash) return { state: 'reused' as const };
        if (row.state === 'done') {
          return { state: 'done' as const, status: Number(row.status), body: String(row.body) };
        }
        if (String(row.begun_at) > before(ABANDONED_MS)) return { state: 'in_progress' as const };
        statement('UPDATE idempotency_keys SET begun_at = ? WHERE org_id = ? AND key = ?').run(
          now,
          orgId,
          key,
        );
        return { state: 'new' as const };
      });
    },

    async intendIdempotent(orgId, key, status, body) {
      write(() => statement(setAnswer).run(status, body, orgId, key));
    },

    async finishIdempotent(orgId, key, status, body) {
      writeFact({
        callId: null,
        length: body.length,
        work: () => void statement(setAnswer).run(status, body, orgId, key),
        meanwhile: () => {},
      });
    },

    async dropIdempotent(orgId, key) {
      const sql = `DELETE FROM idempotency_keys WHERE org_id = ? AND key = ? AND state = 'in_progress'`;
      writeFact({
        callId: null,
        length: 0,
        work: () => void statement(sql).run(orgId, key),
        meanwhile: () => {},
      });
    },
  };
}
