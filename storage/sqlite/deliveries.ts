// Webhook deliveries and their attempts, as they are read and written; what becomes of them is ../delivery-state.ts's.
import { v7 as uuid } from 'uuid';
import {
  atPresent,
  attempted,
  callAfter,
  claim,
  givenBack,
  type Lease,
  REPLAYED,
  replayed,
  sendable,
  signingSecrets,
} from '../delivery-state.ts';
import { dueOf } from '../due-delivery.ts';
import { endpointAfter } from '../endpoint-state.ts';
import { type AttemptRecord, DELIVERY_STATUSES, type DeliveryRecord, EVENT_TYPES } from '../records.ts';
import type { AttemptOutcome, Store } from '../store.ts';
import { accepted, type Connection, updateById } from './connection.ts';
import { deliveryOf, deliveryRow, dueOfRow, leaseOf } from './delivery-rows.ts';
import { OWED, readEndpoint } from './endpoints.ts';
import { type PageOptions, readPage } from './pages.ts';
import { ATTEMPTS, CALLS, changedColumns, DELIVERIES, ENDPOINTS, type Row, type Value } from './rows.ts';
import type { News } from './subscribers.ts';

type Verbs =
  | 'claimDelivery'
  | 'recordAttempt'
  | 'dueDeliveries'
  | 'releaseDelivery'
  | 'getDelivery'
  | 'listDeliveries'
  | 'listCallDeliveries'
  | 'redeliver'
  | 'replayDeliveries';

/** Who is owed something and may have it. */
const OWED_NOW = `${OWED} SELECT owed.id FROM owed LEFT JOIN endpoints ON endpoints.id = owed.id
  WHERE owed.id IS NULL OR endpoints.status = 'enabled'`;

/** What one of them is owed now. */
const DUE = `SELECT seq, id, attempt_count, next_attempt_at, endpoint_id, url, call_id
  FROM deliveries INDEXED BY deliveries_pending
  WHERE status = 'pending' AND endpoint_id IS @endpoint AND next_attempt_at <= @now
    AND (lease_until IS NULL OR (lease_owner = @owner AND lease_until <= @now))
  ORDER BY next_attempt_at, seq LIMIT @limit`;

const MISSED = `SELECT id FROM deliveries INDEXED BY deliveries_by_endpoint
  WHERE endpoint_id = @endpoint AND org_id = @org AND event_type = @type AND status = @status
    AND created_at >= @since AND created_at < @until ORDER BY created_at, seq LIMIT @limit`;

/** Of a replay in one transaction: other work comes in between. */
const REPLAYED_AT_ONCE = 50;

const NO_LEASE = { lease_until: null, lease_owner: null };

/** A delivery with all that decides about it, and all that one attempt needs; `current` and so on are who signs it. */
const ENTIRE = `SELECT ${DELIVERIES.selected}, deliveries.lease_until, deliveries.lease_owner, events.body, events.sequence,
    endpoints.status AS endpoint_status, endpoints.url AS endpoint_url,
    iif(deliveries.endpoint_id IS NULL, organizations.webhook_secret, endpoints.secret) AS current,
    iif(deliveries.endpoint_id IS NULL, organizations.previous_webhook_secret, endpoints.previous_secret) AS previous,
    iif(deliveries.endpoint_id IS NULL, organizations.previous_webhook_secret_expires_at,
      endpoints.previous_secret_expires_at) AS expires
  FROM deliveries JOIN events ON events.id = deliveries.event_id
  JOIN organizations ON organizations.id = deliveries.org_id
  LEFT JOIN endpoints ON endpoints.id = deliveries.endpoint_id WHERE deliveries.id = ?`;

const textOrNull = (value: Value | undefined) => (value == null ? null : String(value));

/** The index of a list of deliveries: by call, or by receiver and how they stand. */
function deliveryIndex(filters: Parameters<Store['listDeliveries']>[1]): Pick<PageOptions, 'index' | 'arms'> {
  if (filters.callId !== undefined) return { index: 'deliveries_by_call' };
  const arms = [
    { column: 'event_type', values: filters.eventType === undefined ? EVENT_TYPES : [filters.eventType] },
    { column: 'status', values: filters.status === undefined ? DELIVERY_STATUSES : [filters.status] },
  ];
  return { index: filters.endpointId === undefined ? 'deliveries_by_state' : 'deliveries_by_endpoint', arms };
}

export function deliveries(connection: Connection): Pick<Store, Verbs> {
  const { statement, tryWrite, tryWriteFact, write, writeFact, owner } = connection;

  function read(id: string): { delivery: DeliveryRecord; lease: Lease } | null {
    const row = statement(
      `SELECT ${DELIVERIES.selected}, lease_until, lease_owner FROM deliveries WHERE id = ?`,
    ).get(id);
    return row === undefined
      ? null
      : { delivery: deliveryOf(connection, row), lease: leaseOf(connection, row) };
  }

  function readOwn(orgId: string, id: string): DeliveryRecord | null {
    const found = read(id);
    return found?.delivery.org_id === orgId ? shown(found.delivery) : null;
  }

  function shown(delivery: DeliveryRecord): DeliveryRecord {
    if (delivery.status !== 'pending' || delivery.endpoint_id === null) return delivery;
    const row = statement('SELECT url FROM endpoints WHERE id = ?').get(delivery.endpoint_id);
    return atPresent(delivery, textOrNull(row?.url));
  }

  /** Writes what became of a delivery that nobody holds any more, and of its call. `stored`: as it is until then. */
  function release(delivery: DeliveryRecord, stored = read(delivery.id)): void {
    const before = stored === null ? {} : deliveryRow(connection, stored.delivery);
    const changed = changedColumns(before, deliveryRow(connection, delivery));
    updateById(connection, DELIVERIES, delivery.id, { ...changed, ...NO_LEASE });
    const change = callAfter(delivery);
    if (change === null || delivery.call_id === null) return;
    updateById(connection, CALLS, delivery.call_id, { ...change, updated_at: connection.now() });
  }

  function updateEndpoint(delivery: DeliveryRecord): void {
    if (delivery.endpoint_id === null) return;
    const endpoint = readEndpoint(connection, delivery.org_id, delivery.endpoint_id);
    const change = endpoint && endpointAfter(endpoint, delivery.status, delivery.updated_at);
    if (change !== null) updateById(connection, ENDPOINTS, delivery.endpoint_id, ENDPOINTS.toRow(change));
  }

  /** Counts from 1 over the delivery's whole life. */
  function insertAttempt(id: string, attempt: AttemptOutcome['attempt']): void {
    const last = statement(
      'SELECT coalesce(max(attempt), 0) AS last FROM attempts WHERE delivery_id = ?',
    ).get(id);
    const record: AttemptRecord = {
      ...attempt,
      latency_ms: Math.round(attempt.latency_ms),
      id: uuid(),
      delivery_id: id,
      attempt: Number(last?.last ?? 0) + 1,
    };
    statement(ATTEMPTS.insert).run(ATTEMPTS.toRow(record));
  }

  /** @throws Refusal endpoint_deleted, endpoint_disabled */
  function requeue(before: DeliveryRecord, at: string, news: News): DeliveryRecord {
    const { org_id, endpoint_id } = before;
    const endpoint = endpoint_id === null ? null : readEndpoint(connection, org_id, endpoint_id);
    const delivery = accepted(replayed(before, endpoint, at, connection.now()));
    release(delivery);
    news.deliveries.push(dueOf(delivery));
    return delivery;
  }

  return {
    async claimDelivery(id, attempt, now, leaseMs) {
      return write(() => {
        const row = statement(ENTIRE).get(id);
        if (row === undefined) return null;
        const found = deliveryOf(connection, row);
        const url = textOrNull(row.endpoint_url);
        const status = row.endpoint_status === 'enabled' ? 'enabled' : 'disabled';
        const claimed = claim(
          {
            delivery: found,
            lease: leaseOf(connection, row),
            endpoint: url === null ? null : { status, url },
          },
          { attempt, now, leaseMs, owner },
        );
        if (claimed === null) return null;
        updateById(connection, DELIVERIES, id, {
          lease_until: connection.steady(claimed.leaseUntil),
          lease_owner: owner,
          url: claimed.url,
        });
        const keys = {
          current: String(row.current),
          previous: textOrNull(row.previous),
          expiresAt: textOrNull(row.expires),
        };
        return {
          delivery: { ...found, url: claimed.url },
          body: String(row.body),
          sequence: Number(row.sequence),
          secrets: signingSecrets(keys, now),
          replay: found.manual_retry_count > 0,
        };
      });
    },

    async recordAttempt(id, outcome) {
      const outcomeOf = (found = read(id)) => attempted(found, outcome, { owner, now: connection.now() });
      return tryWriteFact({
        callId: null,
        work(news) {
          const found = read(id);
          const delivery = accepted(outcomeOf(found));
          insertAttempt(id, outcome.attempt);
          release(delivery, found);
          updateEndpoint(delivery);
          if (delivery.status === 'pending') news.deliveries.push(dueOf(delivery));
          return delivery;
        },
        meanwhile: () => accepted(outcomeOf()),
      });
    },

    async dueDeliveries(now, limit) {
      const owed = await connection.read(OWED_NOW, {});
      // A disabled endpoint may hold very many: a receiver is asked for by itself, and that one not at all.
      const due: Row[] = [];
      for (const { id } of owed)
        due.push(
          ...(await connection.read(DUE, {
            endpoint: id ?? null,
            now: connection.steady(now),
            owner,
            limit,
          })),
        );
      const earlier = (a: Row, b: Row) => {
        const [one, other] = [String(a.next_attempt_at), String(b.next_attempt_at)];
        return one === other ? Number(a.seq) - Number(b.seq) : one < other ? -1 : 1;
      };
      return due
        .sort(earlier)
        .slice(0, limit)
        .map((row) => dueOfRow(connection, row));
    },

    async releaseDelivery(id, at) {
      return writeFact({
        callId: null,
        work(news) {
          const delivery = givenBack(read(id), at, { owner, now: connection.now() });
          if (delivery === null) return false;
          const { next_attempt_at, updated_at } = delivery;
          const due = at === null ? {} : { next_attempt_at: connection.steady(next_attempt_at) };
          updateById(connection, DELIVERIES, id, { ...due, updated_at, ...NO_LEASE });
          news.deliveries.push(dueOf(delivery));
          return true;
        },
        meanwhile: () => true,
      });
    },

    async getDelivery(orgId, id) {
      const delivery = readOwn(orgId, id);
      if (!delivery) return null;
      const rows = statement(
        `SELECT ${ATTEMPTS.selected} FROM attempts WHERE delivery_id = ? ORDER BY attempt`,
      ).all(id);
      return { delivery, attempts: rows.map(ATTEMPTS.fromRow) };
    },

    async listDeliveries(orgId, filters, page) {
      const where = [
        { sql: 'deliveries.endpoint_id = ?', value: filters.endpointId },
        { sql: 'deliveries.call_id = ?', value: filters.callId },
      ];
      // Few of one call: they are looked through.
      if (filters.callId !== undefined) {
        where.push({ sql: 'deliveries.event_type = ?', value: filters.eventType });
        where.push({ sql: 'deliveries.status = ?', value: filters.status });
      }
      const o = { time: 'created_at', orgId, where, page, ...deliveryIndex(filters) };
      return (await readPage(connection, DELIVERIES, o)).map((row) => shown(deliveryOf(connection, row)));
    },

    async listCallDeliveries(callId) {
      const rows = statement(
        `/* sorts: the deliveries of one call */ SELECT ${DELIVERIES.selected} FROM deliveries
         WHERE call_id = ? ORDER BY seq`,
      ).all(callId);
      return rows.map((row) => shown(deliveryOf(connection, row)));
    },

    async redeliver(orgId, id, at) {
      return tryWrite((news) => {
        const before = readOwn(orgId, id);
        return before && requeue(before, at, news);
      });
    },

    async replayDeliveries(orgId, endpointId, { since, until, only, at, limit }) {
      const ids: string[] = [];
      for (const type of EVENT_TYPES) {
        for (const status of REPLAYED[only]) {
          const rows = await connection.read(MISSED, {
            org: orgId,
            endpoint: endpointId,
            type,
            status,
            since,
            until: until ?? '9999',
            limit: limit + 1 - ids.length,
          });
          for (const { id } of rows) ids.push(String(id));
          if (ids.length > limit) return { conflict: 'too_many' };
        }
      }
      // Ids are in the order of time.
      ids.sort();
      let count = 0;
      for (let from = 0; from === 0 || from < ids.length; from += REPLAYED_AT_ONCE) {
        if (from > 0) await new Promise((next) => setImmediate(next));
        const done = await tryWrite(
          (news) => {
            accepted(sendable(readEndpoint(connection, orgId, endpointId)));
            for (const id of ids.slice(from, from + REPLAYED_AT_ONCE)) {
              const before = readOwn(orgId, id);
              if (before === null || before.status === 'pending') continue;
              requeue(before, at, news);
              count++;
            }
          },
          { alone: true },
        );
        if (done !== undefined) return done;
      }
      return { count };
    },
  };
}
