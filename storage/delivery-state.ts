// What becomes of a webhook delivery: who may try it now, what an attempt, a replay and a deleted endpoint make of it, and
// what that means for its call. PURE. When to try again is the sender's decision; it comes in with the outcome.
import type { CallRecord, DeliveryRecord, DeliveryStatus, EndpointRecord } from './records.ts';
import type { AttemptOutcome, Conflict } from './store.ts';

/** An attempt that was not charged is made again after a minute. */
const SLACK_MS = 2 * 60_000;

/** What a deleted endpoint was still owed. */
export const ENDED_BY_DELETION = { status: 'exhausted', last_error: 'endpoint_deleted' } as const;

type Endpoint = Pick<EndpointRecord, 'status' | 'url'>;

/** Until when a daemon, by its epoch, holds a delivery for an attempt; null: nobody does. */
export type Lease = { until: string; owner: number } | null;

/** Who asks, and when. */
export interface Asking {
  owner: number;
  now: string;
}

/** What a claim makes of a delivery. `endpoint` is null for an inline one. */
export interface Claim {
  leaseUntil: string;
  /** Where it goes now: an endpoint that has moved takes what it is owed along. */
  url: string;
}

/**
 * What a claim for the attempt after so many makes of it; null: someone else has it, or nothing is to do. A lease ends by
 * time for who holds it; another daemon's ends with that one's life, however long it stands still.
 */
export function claim(
  found: { delivery: DeliveryRecord; lease: Lease; endpoint: Endpoint | null },
  o: Asking & { attempt: number; leaseMs: number },
): Claim | null {
  const { delivery, lease, endpoint } = found;
  if (delivery.status !== 'pending' || delivery.attempt_count !== o.attempt) return null;
  if (lease !== null && (lease.owner !== o.owner || lease.until > o.now)) return null;
  if (delivery.endpoint_id !== null && endpoint?.status !== 'enabled') return null;
  return {
    leaseUntil: new Date(Date.parse(o.now) + o.leaseMs).toISOString(),
    url: endpoint?.url ?? delivery.url,
  };
}

/** The secrets that sign now, the current one first; the one before it signs beside it until it expires. */
export function signingSecrets(
  keys: { current: string; previous: string | null; expiresAt: string | null },
  now: string,
): string[] {
  const { current, previous, expiresAt } = keys;
  const both = previous !== null && expiresAt !== null && expiresAt > now;
  return both ? [current, previous] : [current];
}

/**
 * A claimed delivery after an attempt. Conflict not_claimed, not_owner.
 * @throws TypeError for one that stays pending without a time to try again
 */
export function attempted(
  found: { delivery: DeliveryRecord; lease: Lease } | null,
  { attempt, status, nextAttemptAt }: AttemptOutcome,
  { owner, now }: Asking,
): DeliveryRecord | Conflict {
  if (found === null || found.delivery.status !== 'pending' || found.lease === null) {
    return { conflict: 'not_claimed' };
  }
  if (found.lease.owner !== owner) return { conflict: 'not_owner' };
  if (status === 'pending' && nextAttemptAt === undefined) {
    throw new TypeError('a delivery that stays pending needs nextAttemptAt');
  }
  const { delivery } = found;
  return {
    ...delivery,
    status,
    attempt_count: delivery.attempt_count + 1,
    next_attempt_at: nextAttemptAt ?? delivery.next_attempt_at,
    last_error: status === 'delivered' ? null : attempt.error,
    last_response_status: attempt.response_status,
    delivered_at: status === 'delivered' ? now : delivery.delivered_at,
    updated_at: now,
  };
}

/** A claimed delivery given back without an attempt charged; null: it is not this daemon's to give any more. */
export function givenBack(
  found: { delivery: DeliveryRecord; lease: Lease } | null,
  at: string | null,
  { owner, now }: Asking,
): DeliveryRecord | null {
  if (found?.delivery.status !== 'pending' || found.lease?.owner !== owner) return null;
  return { ...found.delivery, next_attempt_at: at ?? found.delivery.next_attempt_at, updated_at: now };
}

/** Conflict for an endpoint that is sent nothing: what is queued for it would wait for ever. */
export function sendable<E extends Endpoint>(endpoint: E | null): E | Conflict {
  if (endpoint === null) return { conflict: 'endpoint_deleted' };
  return endpoint.status === 'disabled' ? { conflict: 'endpoint_disabled' } : endpoint;
}

/**
 * Back to the start of its schedule, to its endpoint's present url; an attempt under way is let go. `endpoint` is null for
 * a deleted one, and is not read for an inline delivery. Conflict endpoint_deleted, endpoint_disabled.
 */
export function replayed(
  before: DeliveryRecord,
  endpoint: Endpoint | null,
  at: string,
  now: string,
): DeliveryRecord | Conflict {
  const receiver = before.endpoint_id === null ? { url: before.url } : sendable(endpoint);
  if ('conflict' in receiver) return receiver;
  return {
    ...before,
    url: receiver.url,
    status: 'pending',
    attempts_before: before.attempt_count,
    manual_retry_count: before.manual_retry_count + 1,
    next_attempt_at: at,
    delivered_at: null,
    updated_at: now,
  };
}

/** What a replay of an endpoint's deliveries takes: what was given up or held back, or all that is over. */
export const REPLAYED: Readonly<Record<'failed' | 'all', readonly DeliveryStatus[]>> = {
  failed: ['exhausted'],
  all: ['exhausted', 'delivered'],
};

/** As a delivery is shown: a pending one with the url that it will go to. */
export function atPresent(delivery: DeliveryRecord, endpointUrl: string | null): DeliveryRecord {
  return delivery.status !== 'pending' || endpointUrl === null ? delivery : { ...delivery, url: endpointUrl };
}

/** What a delivery means for its call, whose webhook fields speak of the inline call.completed alone; null: nothing. */
export function callAfter(
  delivery: DeliveryRecord,
): Pick<CallRecord, 'webhook_status' | 'webhook_error'> | null {
  if (delivery.endpoint_id !== null || delivery.call_id === null) return null;
  if (delivery.event_type !== 'call.completed') return null;
  return {
    webhook_status: delivery.status === 'exhausted' ? 'failed' : delivery.status,
    webhook_error: delivery.last_error,
  };
}

/**
 * A retry that lies further off than twice its wait was stored by a clock that was ahead: it comes its wait from now. Null:
 * it stays. `waitsMs` is what the schedule has, by attempts made.
 */
export function pulledTo(
  { attempt_count, next_attempt_at }: Pick<DeliveryRecord, 'attempt_count' | 'next_attempt_at'>,
  now: string,
  waitsMs: readonly number[],
): string | null {
  const waitMs = waitsMs[attempt_count];
  if (waitMs === undefined) return null;
  const offMs = Date.parse(next_attempt_at) - Date.parse(now);
  return offMs > 2 * waitMs + SLACK_MS ? new Date(Date.parse(now) + waitMs).toISOString() : null;
}

/** No retry is pulled that is due until then. */
export function neverPulled(now: string): string {
  return new Date(Date.parse(now) + SLACK_MS).toISOString();
}
