// A delivery as those who wait for its time know it: whose turn it takes, and when. PURE.
import type { DeliveryRecord } from './records.ts';
import type { DueDelivery } from './store.ts';

/** The receiver whose turn it is: a registered endpoint, or the origin of an inline URL. */
export function receiverOf({ endpoint_id, url }: Pick<DeliveryRecord, 'endpoint_id' | 'url'>): string {
  if (endpoint_id !== null) return endpoint_id;
  return URL.canParse(url) ? new URL(url).origin : url;
}

export function dueOf(
  delivery: Pick<
    DeliveryRecord,
    'id' | 'attempt_count' | 'next_attempt_at' | 'endpoint_id' | 'url' | 'call_id'
  >,
): DueDelivery {
  return {
    id: delivery.id,
    attempt: delivery.attempt_count,
    at: delivery.next_attempt_at,
    receiver: receiverOf(delivery),
    callId: delivery.call_id,
  };
}
