// Idempotency keys: one request per key and organization, its answer kept for a day.
import type { Store } from '../store.ts';
import { type Connection, Refusal } from './connection.ts';

type Verbs = 'beginIdempotent' | 'intendIdempotent' | 'finishIdempotent' | 'dropIdempotent';

const LIFETIME_MS = 24 * 60 * 60 * 1000;
/** More than a request adds, so that old keys become fewer. */
const FORGOTTEN_AT_ONCE = 20;
/** A request in progress for longer has got lost in this process; another daemon's is left to that one while it lives. */
const ABANDONED_MS = 2 * 60 * 1000;
/** In the place of an answer's status: what is about to be done, or was, with nobody left who knows what came of it. */
const INTENT = 102;

export function idempotency(connection: Connection): Pick<Store, Verbs> {
  const { statement, tryWrite, write, writeFact, owner } = connection;
  const setAnswer = `UPDATE idempotency_keys SET state = 'done', status = @status, body = @body, owner = @after
    WHERE org_id = @orgId AND key = @key AND owner = @owner`;

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
          `SELECT request_hash, state, begun_at, status, body, owner FROM idempotency_keys WHERE org_id = ? AND key = ?`,
        ).get(orgId, key);
        if (!row) {
          statement(
            `INSERT INTO idempotency_keys (org_id, key, request_hash, state, begun_at, created_at, owner)
             VALUES (?, ?, ?, 'in_progress', ?, ?, ?)`,
          ).run(orgId, key, requestHash, now, now, owner);
          return { state: 'new' as const };
        }
        if (row.request_hash !== requestHash) return { state: 'reused' as const };
        // Also of an intent: what comes of it is known when that request is over.
        if (row.owner !== null && row.owner !== owner) return { state: 'in_progress' as const };
        if (row.state === 'done' && row.status === INTENT) {
          statement('UPDATE idempotency_keys SET begun_at = ?, owner = ? WHERE org_id = ? AND key = ?').run(
            now,
            owner,
            orgId,
            key,
          );
          return { state: 'intended' as const, body: String(row.body) };
        }
        if (row.state === 'done') {
          return { state: 'done' as const, status: Number(row.status), body: String(row.body) };
        }
        if (String(row.begun_at) > before(ABANDONED_MS)) return { state: 'in_progress' as const };
        statement('UPDATE idempotency_keys SET begun_at = ?, owner = ? WHERE org_id = ? AND key = ?').run(
          now,
          owner,
          orgId,
          key,
        );
        return { state: 'new' as const };
      });
    },

    async intendIdempotent(orgId, key, body) {
      return tryWrite(() => {
        const { changes } = statement(setAnswer).run({
          orgId,
          key,
          status: INTENT,
          body,
          owner,
          after: owner,
        });
        if (changes === 0) throw new Refusal('not_owner');
        return null;
      });
    },

    async finishIdempotent(orgId, key, status, body) {
      writeFact({
        callId: null,
        length: body.length,
        work: () =>
          void statement(setAnswer).run({ orgId, key, status: status ?? INTENT, body, owner, after: null }),
        meanwhile: () => {},
      });
    },

    async dropIdempotent(orgId, key) {
      const sql = `DELETE FROM idempotency_keys WHERE org_id = ? AND key = ? AND owner = ? AND state = 'in_progress'`;
      writeFact({
        callId: null,
        length: 0,
        work: () => void statement(sql).run(orgId, key, owner),
        meanwhile: () => {},
      });
    },
  };
}
