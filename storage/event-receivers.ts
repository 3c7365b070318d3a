// Who receives an event of a call, and the deliveries that come of it. PURE: the engine reads the endpoints and writes the
// rows in the transaction that makes the event true.
import type { CallRecord, DeliveryRecord, EndpointRecord, EventRecord, EventType } from './records.ts';

/** What of an endpoint decides. */
type Endpoint = Pick<EndpointRecord, 'id' | 'url' | 'enabled_events' | 'status'>;

export interface Receiver {
  /** Null: the call's own webhook_url. */
  endpointId: string | null;
  url: string;
  /** False where it is sent nothing now; it is listed all the same, and can be redelivered. */
  enabled: boolean;
}

/**
 * The call as its events' bodies show it: a call.completed with an inline receiver has its delivery pending.
 * To be applied before the row is written.
 */
export function beforePublishing(call: CallRecord, types: readonly EventType[]): CallRecord {
  return types.includes('call.completed') && call.webhook_url !== null
    ? { ...call, webhook_status: 'pending', webhook_error: null }
    : call;
}

/** The call's own webhook_url first, then each endpoint of its organization that wants the type, in the order given. */
export function receiversOf(
  call: Pick<CallRecord, 'webhook_url'>,
  type: EventType,
  endpoints: readonly Endpoint[],
): Receiver[] {
  const inline =
    call.webhook_url === null ? [] : [{ endpointId: null, url: call.webhook_url, enabled: true }];
  const wanting = endpoints.filter(
    ({ enabled_events }) => enabled_events.includes('*') || enabled_events.includes(type),
  );
  return [
    ...inline,
    ...wanting.map(({ id, url, status }) => ({ endpointId: id, url, enabled: status === 'enabled' })),
  ];
}

/**
 * An event's delivery to one receiver, due at once. What a disabled endpoint misses is exhausted from the start
 * (`endpoint_disabled`), and is not counted as a failure.
 */
export function newDelivery(
  id: string,
  event: Omit<EventRecord, 'body'>,
  { endpointId, url, enabled }: Receiver,
): DeliveryRecord {
  return {
    id,
    org_id: event.org_id,
    endpoint_id: endpointId,
    call_id: event.call_id,
    event_id: event.id,
    event_type: event.type,
    url,
    status: enabled ? 'pending' : 'exhausted',
    attempt_count: 0,
    attempts_before: 0,
    manual_retry_count: 0,
    next_attempt_at: event.created_at,
    last_error: enabled ? null : 'endpoint_disabled',
    last_response_status: null,
    delivered_at: null,
    created_at: event.created_at,
    updated_at: event.created_at,
  };
}
