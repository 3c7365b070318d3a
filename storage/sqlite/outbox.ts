// Events and their deliveries, written inside the transaction that makes them true; who receives one is
// ../event-receivers.ts's.
import { v7 as uuid } from 'uuid';
import { callView } from '../call-view.ts';
import { dueOf } from '../due-delivery.ts';
import { newDelivery, receiversOf } from '../event-receivers.ts';
import type { CallRecord, EventRecord, EventType } from '../records.ts';
import { type Connection, Refusal } from './connection.ts';
import { deliveryRow } from './delivery-rows.ts';
import { DELIVERIES, ENDPOINTS, EVENTS } from './rows.ts';
import type { News } from './subscribers.ts';

/**
 * Writes one event per type, in this order, and its deliveries.
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
    for (const receiver of receiversOf(call, type, endpoints)) {
      const delivery = newDelivery(uuid(), event, receiver);
      statement(DELIVERIES.insert).run(deliveryRow(connection, delivery));
      if (delivery.status === 'pending') news.deliveries.push(dueOf(delivery));
    }
  }
}
