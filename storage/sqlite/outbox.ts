// Events and their deliveries, written inside the transaction that makes them true.
import { v7 as uuid } from 'uuid';
import { callView } from '../call-view.ts';
import { dueOf } from '../due-delivery.ts';
import type { CallRecord, DeliveryRecord, EventRecord, EventType } from '../records.ts';
import { type Connection, type News, Refusal } from './connection.ts';
import { DELIVERIES, ENDPOINTS, EVENTS } from './rows.ts';

/**
 * The call as its events' bodies show it: a call.completed with an inline receiver has its delivery pending.
 * To be applied before the row is written.
 */
export function beforePublishing(call: CallRecord, types: readonly EventType[]): CallRecord {
  return types.includes('call.completed') && call.webhook_url !== null
    ? { ...call, webhook_status: 'pending', webhook_error: null }
    : call;
}

/**
 * Writes an event a type, in this order, and a delivery of each to the call's own webhook_url and to every endpoint
 * of the organization that wants the type. What a disabled endpoint misses is listed as exhausted
 * (`endpoint_disabled`), is not counted as a failure, and can be redelivered.
 * @throws Refusal event_exists: a call has each type of event once
 */
export function publish(
  connection: Connection,
  news: News,
  call: CallRecord,
  types: readonly EventType[],
): void {
  if (types.length === 0) return;
  const { statement } = connection;
  const now = connection.now();
  const body = JSON.stringify(callView(call));
  const endpoints = statement(
    `SELECT ${ENDPOINTS.selected} FROM endpoints WHERE org_id = ? AND deleted_at IS NULL ORDER BY created_at, seq`,
  )
    .all(call.org_id)
    .map(ENDPOINTS.fromRow);

  for (const type of types) {
    const last = statement('SELECT coalesce(max(sequence), 0) AS last FROM events WHERE call_id = ?').get(
      call.id,
    );
    const event: EventRecord = {
      id: uuid(),
      org_id: call.org_id,
      call_id: call.id,
      type,
      sequence: Number(last?.last ?? 0) + 1,
      body,
      created_at: now,
    };
    const { changes } = statement(`${EVENTS.insert} ON CONFLICT DO NOTHING`).run(EVENTS.toRow(event));
    if (changes === 0) throw new Refusal('event_exists');
    news.events.push(event);

    if (call.webhook_url !== null) addDelivery(null, call.webhook_url, true);
    for (const endpoint of endpoints) {
      if (!endpoint.enabled_events.includes('*') && !endpoint.enabled_events.includes(type)) continue;
      addDelivery(endpoint.id, endpoint.url, endpoint.status === 'enabled');
    }

    function addDelivery(endpointId: string | null, url: string, enabled: boolean): void {
      const delivery: DeliveryRecord = {
        id: uuid(),
        org_id: call.org_id,
        endpoint_id: endpointId,
        call_id: call.id,
        event_id: event.id,
        event_type: type,
        url,
        status: enabled ? 'pending' : 'exhausted',
        attempt_count: 0,
        attempts_before: 0,
        manual_retry_count: 0,
        next_attempt_at: now,
        last_error: enabled ? null : 'endpoint_disabled',
        last_response_status: null,
        delivered_at: null,
        created_at: now,
        updated_at: now,
      };
      statement(DELIVERIES.insert).run(DELIVERIES.toRow(delivery));
      if (enabled) news.deliveries.push(dueOf(delivery));
    }
  }
}
