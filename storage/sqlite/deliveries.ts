// Webhook deliveries and their attempts: who may try now, what came of it, and what that means for the endpoint and
// the call. When to try again is the sender's decision; it comes in with the outcome.
import { v7 as uuid } from 'uuid';
import { dueOf } from '../due-delivery.ts';
import {
  type AttemptRecord,
  DELIVERY_STATUSES,
  type DeliveryRecord,
  type EndpointRecord,
  EVENT_TYPES,
} from '../records.ts';
import type { AttemptOutcome, Store } from '../store.ts';
import { type Connection, type News, Refusal, updateById } from './connection.ts';
import { OWED, readEndpoint } from './endpoints.ts';
import { type PageOptions, readPage } from './pages.ts';
import { ATTEMPTS, DELIVERIES, type Row } from './rows.ts';

type Verbs =
  | 'claimDelivery'
  | 'recordAttempt'
  | 'dueDeliveries'
  | 'releaseDelivery'
  | 'pullDueDeliveries'
  | 'getDelivery'
  | 'listDeliveries'
  | 'listCallDeliveries'
  | 'redeliver'
  | 'replayDeliveries';

/** Consecutive exhausted deliveries that disable an endpoint. */
const MAX_CONSECUTIVE_FAILURES = 10;

/** An attempt that was not charged is made again after a minute. */
const SLACK_MS = 2 * 60_000;

/** Deliveries that wait for nothing but their time: pending, and not held by a disabled endpoint. */
const DELIVERABLE = `deliveries.status = 'pending' AND (deliveries.endpoint_id IS NULL OR EXISTS
  (SELECT 1 FROM endpoints WHERE endpoints.id = deliveries.endpoint_id AND endpoints.status = 'enabled'))`;

/** Who is owed something and may have it. */
const OWED_NOW = `${OWED} SELECT owed.id FROM owed LEFT JOIN endpoints ON endpoints.id = owed.id
  WHERE owed.id IS NULL OR endpoints.status = 'enabled'`;

/** What one of them is owed now. */
const DUE = `SELECT seq, id, attempt_count, next_attempt_at, endpoint_id, url, call_id
  FROM deliveries INDEXED BY deliveries_pending
  WHERE status = 'pending' AND endpoint_id IS @endpoint AND next_attempt_at <= @now
    AND (lease_until IS NULL OR (lease_owner = @owner AND lease_until <= @now))
  ORDER BY next_attempt_at, seq LIMIT @limit`;

/** Where its endpoint is now: an endpoint that has moved takes what it is owed along, however much that is. */
const PRESENT_URL = '(SELECT endpoints.url FROM endpoints WHERE endpoints.id = deliveries.endpoint_id)';

const MISSED = `SELECT id FROM deliveries INDEXED BY deliveries_by_endpoint
  WHERE endpoint_id = @endpoint AND org_id = @org AND event_type = @type AND status = @status
    AND created_at >= @since AND created_at < @until ORDER BY created_at, seq LIMIT @limit`;

/** Of a replay in one transaction: other work comes in between. */
const REPLAYED_AT_ONCE = 50;

const NO_LEASE = { lease_until: null, lease_owner: null };

/** A lease ends by time for who holds it; another daemon's ends with that one's life, however long it stands still. */
const FREE = `(deliveries.lease_until IS NULL OR (deliveries.lease_owner = @owner AND deliveries.lease_until <= @now))`;

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

  /** With the lease beside the record's columns. */
  function readRow(id: string): Row | undefined {
    return statement(
      `SELECT ${DELIVERIES.selected}, lease_until, lease_owner FROM deliveries WHERE id = ?`,
    ).get(id);
  }

  function readOwn(orgId: string, id: string): DeliveryRecord | null {
    const row = readRow(id);
    return row?.org_id === orgId ? atPresent(DELIVERIES.fromRow(row)) : null;
  }

  /** With the url that it will go to. */
  function atPresent(delivery: DeliveryRecord): DeliveryRecord {
    if (delivery.status !== 'pending' || delivery.endpoint_id === null) return delivery;
    const row = statement('SELECT url FROM endpoints WHERE id = ?').get(delivery.endpoint_id);
    return row === undefined ? delivery : { ...delivery, url: String(row.url) };
  }

  /** The secrets that sign a delivery now, the current one first. */
  function secretsOf(delivery: DeliveryRecord, now: string): string[] {
    const row =
      delivery.endpoint_id === null
        ? statement(
            `SELECT webhook_secret AS current, previous_webhook_secret AS previous,
               previous_webhook_secret_expires_at AS expires FROM organizations WHERE id = ?`,
          ).get(delivery.org_id)
        : statement(
            `SELECT secret AS current, previous_secret AS previous, previous_secret_expires_at AS expires
             FROM endpoints WHERE id = ?`,
          ).get(delivery.endpoint_id);
    if (!row) throw new Error(`delivery ${delivery.id} has nobody to sign it`);
    const secrets = [String(row.current)];
    if (row.previous !== null && row.expires !== null && String(row.expires) > now) {
      secrets.push(String(row.previous));
    }
    return secrets;
  }

  /** What an outcome means for the call: its webhook fields speak of the inline call.completed alone. */
  function updateCall(
    delivery: DeliveryRecord,
    status: 'pending' | 'delivered' | 'failed',
    error: string | null,
  ) {
    if (delivery.endpoint_id !== null || delivery.call_id === null) return;
    if (delivery.event_type !== 'call.completed') return;
    const updated_at = connection.now();
    updateById(connection, { name: 'calls' }, delivery.call_id, {
      webhook_status: status,
      webhook_error: error,
      updated_at,
    });
  }

  /** Success clears the count of failures, exhaustion adds one, a failed attempt that is tried again does neither. */
  function updateEndpoint(delivery: DeliveryRecord, now: string): void {
    if (delivery.endpoint_id === null || delivery.status === 'pending') return;
    const endpoint = readEndpoint(connection, delivery.org_id, delivery.endpoint_id);
    if (!endpoint) return;
    const failures = delivery.status === 'delivered' ? 0 : endpoint.consecutive_failures + 1;
    if (failures === endpoint.consecutive_failures) return;
    const disable = failures >= MAX_CONSECUTIVE_FAILURES && endpoint.status === 'enabled';
    updateById(connection, { name: 'endpoints' }, endpoint.id, {
      consecutive_failures: failures,
      updated_at: now,
      ...(disable ? { status: 'disabled', disabled_reason: 'too_many_failures', disabled_at: now } : {}),
    });
  }

  /** A claimed delivery after an attempt. @throws Refusal not_claimed, not_owner */
  function attempted(id: string, { attempt, status, nextAttemptAt }: AttemptOutcome): DeliveryRecord {
    const row = readRow(id);
    if (row?.status !== 'pending' || row.lease_until === null) throw new Refusal('not_claimed');
    if (row.lease_owner !== owner) throw new Refusal('not_owner');
    if (status === 'pending' && nextAttemptAt === undefined) {
      throw new TypeError('a delivery that stays pending needs nextAttemptAt');
    }
    const before = DELIVERIES.fromRow(row);
    const now = connection.now();
    return {
      ...before,
      status,
      attempt_count: before.attempt_count + 1,
      next_attempt_at: nextAttemptAt ?? before.next_attempt_at,
      last_error: status === 'delivered' ? null : attempt.error,
      last_response_status: attempt.response_status,
      delivered_at: status === 'delivered' ? now : before.delivered_at,
      updated_at: now,
    };
  }

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

  /** @throws Refusal for an endpoint that is sent nothing: what is queued for it would wait for ever */
  function sendable(orgId: string, endpointId: string): EndpointRecord {
    const endpoint = readEndpoint(connection, orgId, endpointId);
    if (!endpoint) throw new Refusal('endpoint_deleted');
    if (endpoint.status === 'disabled') throw new Refusal('endpoint_disabled');
    return endpoint;
  }

  /** Back to the start of its schedule, to the endpoint's present url. */
  function requeue(before: DeliveryRecord, at: string, news: News): DeliveryRecord {
    const url = before.endpoint_id === null ? before.url : sendable(before.org_id, before.endpoint_id).url;
    const delivery: DeliveryRecord = {
      ...before,
      url,
      status: 'pending',
      attempts_before: before.attempt_count,
      manual_retry_count: before.manual_retry_count + 1,
      next_attempt_at: at,
      delivered_at: null,
      updated_at: connection.now(),
    };
    updateById(connection, DELIVERIES, before.id, { ...DELIVERIES.toRow(delivery), ...NO_LEASE });
    updateCall(delivery, 'pending', delivery.last_error);
    news.deliveries.push(dueOf(delivery));
    return delivery;
  }

  return {
    async claimDelivery(id, attempt, now, leaseMs) {
      return write(() => {
        const until = new Date(Date.parse(now) + leaseMs).toISOString();
        const { changes } = statement(
          `UPDATE deliveries SET lease_until = @until, lease_owner = @owner, url = coalesce(${PRESENT_URL}, url)
           WHERE id = @id AND attempt_count = @attempt AND ${FREE} AND ${DELIVERABLE}`,
        ).run({ id, attempt, now, until, owner });
        if (changes === 0) return null;
        const row = statement(
          `SELECT ${DELIVERIES.selected}, events.body, events.sequence FROM deliveries
           JOIN events ON events.id = deliveries.event_id WHERE deliveries.id = ?`,
        ).get(id);
        if (!row) return null;
        const delivery = DELIVERIES.fromRow(row);
        return {
          delivery,
          body: String(row.body),
          sequence: Number(row.sequence),
          secrets: secretsOf(delivery, now),
          replay: delivery.manual_retry_count > 0,
        };
      });
    },

    async recordAttempt(id, outcome) {
      return tryWriteFact({
        callId: null,
        work(news) {
          const delivery = attempted(id, outcome);
          insertAttempt(id, outcome.attempt);
          updateById(connection, DELIVERIES, id, { ...DELIVERIES.toRow(delivery), ...NO_LEASE });
          updateEndpoint(delivery, delivery.updated_at);
          const { status, last_error } = delivery;
          updateCall(delivery, status === 'exhausted' ? 'failed' : status, last_error);
          if (status === 'pending') news.deliveries.push(dueOf(delivery));
          return delivery;
        },
        meanwhile: () => attempted(id, outcome),
      });
    },

    async dueDeliveries(now, limit) {
      const owed = await connection.read(OWED_NOW, {});
      // A disabled endpoint may hold very many: a receiver is asked for by itself, and that one not at all.
      const due: Row[] = [];
      for (const { id } of owed)
        due.push(...(await connection.read(DUE, { endpoint: id ?? null, now, owner, limit })));
      const earlier = (a: Row, b: Row) => {
        const [one, other] = [String(a.next_attempt_at), String(b.next_attempt_at)];
        return one === other ? Number(a.seq) - Number(b.seq) : one < other ? -1 : 1;
      };
      return due
        .sort(earlier)
        .slice(0, limit)
        .map((row) => dueOf(row as unknown as Parameters<typeof dueOf>[0]));
    },

    async releaseDelivery(id, at) {
      return writeFact({
        callId: null,
        work(news) {
          const row = readRow(id);
          if (row?.status !== 'pending' || row.lease_until === null || row.lease_owner !== owner)
            return false;
          const delivery = { ...DELIVERIES.fromRow(row), next_attempt_at: at, updated_at: connection.now() };
          updateById(connection, DELIVERIES, id, {
            next_attempt_at: at,
            updated_at: delivery.updated_at,
            ...NO_LEASE,
          });
          news.deliveries.push(dueOf(delivery));
          return true;
        },
        meanwhile: () => true,
      });
    },

    async pullDueDeliveries(now, waitsMs) {
      const nowMs = Date.parse(now);
      write(() => {
        for (const [made, waitMs] of waitsMs.entries()) {
          const latest = new Date(nowMs + 2 * waitMs + SLACK_MS).toISOString();
          statement(
            `UPDATE deliveries SET next_attempt_at = ? WHERE status = 'pending' AND attempt_count = ? AND next_attempt_at > ?`,
          ).run(new Date(nowMs + waitMs).toISOString(), made, latest);
        }
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
      return (await readPage(connection, DELIVERIES, o)).map((row) => atPresent(DELIVERIES.fromRow(row)));
    },

    async listCallDeliveries(callId) {
      const rows = statement(
        `/* sorts: the deliveries of one call */ SELECT ${DELIVERIES.selected} FROM deliveries
         WHERE call_id = ? ORDER BY seq`,
      ).all(callId);
      return rows.map((row) => atPresent(DELIVERIES.fromRow(row)));
    },

    /**
     * A replay gets the whole schedule again, and its failures count like any other's. It goes to the endpoint's present
     * url. An attempt under way is let go: its outcome comes too late and is a conflict.
     */
    async redeliver(orgId, id, at) {
      return tryWrite((news) => {
        const before = readOwn(orgId, id);
        return before && requeue(before, at, news);
      });
    },

    async replayDeliveries(orgId, endpointId, { since, until, only, at, limit }) {
      const statuses = only === 'failed' ? ['exhausted'] : ['exhausted', 'delivered'];
      const ids: string[] = [];
      for (const type of EVENT_TYPES) {
        for (const status of statuses) {
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
        const done = tryWrite((news) => {
          sendable(orgId, endpointId);
          for (const id of ids.slice(from, from + REPLAYED_AT_ONCE)) {
            const before = readOwn(orgId, id);
            if (before === null || before.status === 'pending') continue;
            requeue(before, at, news);
            count++;
          }
        });
        if (done !== undefined) return done;
      }
      return { count };
    },
  };
}
