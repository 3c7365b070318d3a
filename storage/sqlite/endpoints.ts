// Webhook endpoints. A deleted one stays as a row without its secrets, for the deliveries that point to it.
import { ENDED_BY_DELETION } from '../delivery-state.ts';
import { endpointChange, endpointDeleted } from '../endpoint-state.ts';
import type { EndpointRecord } from '../records.ts';
import type { Store } from '../store.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { dueOfRow } from './delivery-rows.ts';
import { readPage } from './pages.ts';
import { ENDPOINTS } from './rows.ts';
import { laterBy, laterOf } from './stored-times.ts';
import type { News } from './subscribers.ts';

type Verbs =
  | 'createEndpoint'
  | 'getEndpoint'
  | 'listEndpoints'
  | 'updateEndpoint'
  | 'deleteEndpoint'
  | 'endDeletedDeliveries';

/** Of a deleted endpoint's deliveries in one transaction: each is entered anew in three indexes, and others wait meanwhile. */
const ENDED_AT_ONCE = 100;

/** As a table expression: the receivers that are owed something, one seek each; null: those of calls' own URLs. */
export const OWED = `WITH RECURSIVE owed (id) AS (
    SELECT min(endpoint_id) FROM deliveries INDEXED BY deliveries_pending
      WHERE status = 'pending' AND endpoint_id > ''
    UNION ALL
    SELECT (SELECT min(endpoint_id) FROM deliveries INDEXED BY deliveries_pending
      WHERE status = 'pending' AND endpoint_id > owed.id) FROM owed WHERE owed.id IS NOT NULL
  )`;

/** Deleted endpoints that are owed something. */
const OWED_TO_DELETED = `${OWED} SELECT owed.id FROM owed JOIN endpoints ON endpoints.id = owed.id
  WHERE endpoints.deleted_at IS NOT NULL`;

/** How many held deliveries are told when an endpoint is enabled again; the sweeper finds the rest. */
const TOLD_AT_ONCE = 500;

/** The endpoint a delivery goes to; null when it is deleted. */
export function readEndpoint(connection: Connection, orgId: string, id: string): EndpointRecord | null {
  const row = connection
    .statement(
      `SELECT ${ENDPOINTS.selected} FROM endpoints WHERE id = ? AND org_id = ? AND deleted_at IS NULL`,
    )
    .get(id, orgId);
  return row ? ENDPOINTS.fromRow(row) : null;
}

export function endpoints(connection: Connection): Pick<Store, Verbs> {
  const { statement, write, tryWrite } = connection;

  /** Pending deliveries were held while the endpoint was disabled: nothing of them is lost, and they go on now. */
  function tellHeld(news: News, endpointId: string): void {
    const rows = statement(
      `SELECT id, attempt_count, next_attempt_at, endpoint_id, url, call_id FROM deliveries
       WHERE endpoint_id = ? AND status = 'pending' ORDER BY next_attempt_at LIMIT ?`,
    ).all(endpointId, TOLD_AT_ONCE);
    news.deliveries.push(...rows.map((row) => dueOfRow(connection, row)));
  }

  /** Ends some of what a deleted endpoint was owed. @returns how many */
  function endPending(endpointId: string): number {
    return statement(
      `UPDATE deliveries SET status = @status, last_error = @last_error, lease_until = NULL, lease_owner = NULL,
         next_attempt_at = ${laterOf('next_attempt_at')}, updated_at = @now
       WHERE seq IN (SELECT seq FROM deliveries INDEXED BY deliveries_pending
         WHERE endpoint_id = @endpointId AND status = 'pending' LIMIT @limit)`,
    ).run({
      ...ENDED_BY_DELETION,
      now: connection.now(),
      endpointId,
      limit: ENDED_AT_ONCE,
      later: laterBy(connection.steadyClock.aheadMs()),
    }).changes;
  }

  return {
    async createEndpoint(endpoint, o = {}) {
      return tryWrite(() => {
        if (o.limit !== undefined) {
          const row = statement(
            'SELECT count(*) AS count FROM endpoints WHERE org_id = ? AND deleted_at IS NULL',
          ).get(endpoint.org_id);
          if (Number(row?.count) >= o.limit) throw new Refusal('too_many_endpoints');
        }
        statement(ENDPOINTS.insert).run(ENDPOINTS.toRow(endpoint));
        return endpoint;
      });
    },

    async getEndpoint(orgId, id) {
      return readEndpoint(connection, orgId, id);
    },

    async listEndpoints(orgId, page) {
      const where = [{ sql: 'endpoints.deleted_at IS NULL', value: 1 }];
      const o = { time: 'created_at', orgId, where, page, index: 'endpoints_by_org' };
      return (await readPage(connection, ENDPOINTS, o)).map(ENDPOINTS.fromRow);
    },

    async updateEndpoint(orgId, id, asked) {
      return write((news) => {
        const found = readEndpoint(connection, orgId, id);
        if (!found) return null;
        const { change, released } = endpointChange(found, asked, connection.now());
        updateById(connection, ENDPOINTS, id, ENDPOINTS.toRow(change));
        if (released) tellHeld(news, id);
        return readEndpoint(connection, orgId, id);
      });
    },

    async deleteEndpoint(orgId, id) {
      return write(() => {
        if (!readEndpoint(connection, orgId, id)) return false;
        const { deleted_at, ...change } = endpointDeleted(connection.now());
        updateById(connection, ENDPOINTS, id, { ...ENDPOINTS.toRow(change), deleted_at });
        endPending(id);
        return true;
      });
    },

    async endDeletedDeliveries() {
      for (const { id } of await connection.read(OWED_TO_DELETED, {}))
        if ((await write(() => endPending(String(id)), { alone: true })) > 0) return true;
      return false;
    },
  };
}
