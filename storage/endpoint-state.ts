// What becomes of a webhook endpoint: enabled and disabled by its owner, disabled by its failures, deleted. PURE.
import type { DeliveryStatus, EndpointRecord } from './records.ts';

/** Consecutive exhausted deliveries that disable an endpoint. */
export const MAX_CONSECUTIVE_FAILURES = 10;

/** What may be changed of an endpoint. */
const CHANGEABLE_OF_ENDPOINT = [
  'url',
  'description',
  'enabled_events',
  'status',
  'disabled_reason',
  'disabled_at',
  'secret',
  'previous_secret',
  'previous_secret_expires_at',
] as const satisfies readonly (keyof EndpointRecord)[];

export interface EndpointChange {
  change: Partial<EndpointRecord>;
  /** It takes deliveries again: what was held for it meanwhile goes on now. */
  released: boolean;
}

/** A change asked for. Enabling clears the counter of failures; disabling twice is once. */
export function endpointChange(
  found: EndpointRecord,
  asked: Partial<EndpointRecord>,
  now: string,
): EndpointChange {
  const change: Partial<EndpointRecord> = { updated_at: asked.updated_at ?? now };
  for (const field of CHANGEABLE_OF_ENDPOINT) {
    if (asked[field] !== undefined) Object.assign(change, { [field]: asked[field] });
  }
  if (asked.status === 'enabled') {
    Object.assign(change, { consecutive_failures: 0, disabled_reason: null, disabled_at: null });
  }
  if (asked.status === 'disabled') {
    change.disabled_reason = asked.disabled_reason ?? found.disabled_reason ?? 'manual';
    change.disabled_at = asked.disabled_at ?? found.disabled_at ?? now;
  }
  return { change, released: asked.status === 'enabled' && found.status === 'disabled' };
}

/**
 * What a delivery's outcome does to its endpoint; null: nothing. Success clears the count of failures, exhaustion adds one
 * and the tenth in a row disables it, a failed attempt that is tried again does neither.
 */
export function endpointAfter(
  found: Pick<EndpointRecord, 'consecutive_failures' | 'status'>,
  outcome: DeliveryStatus,
  now: string,
): Partial<EndpointRecord> | null {
  if (outcome === 'pending') return null;
  const failures = outcome === 'delivered' ? 0 : found.consecutive_failures + 1;
  if (failures === found.consecutive_failures) return null;
  const change: Partial<EndpointRecord> = { consecutive_failures: failures, updated_at: now };
  if (failures < MAX_CONSECUTIVE_FAILURES || found.status !== 'enabled') return change;
  return { ...change, status: 'disabled', disabled_reason: 'too_many_failures', disabled_at: now };
}

/** A deleted endpoint gets nothing more, and keeps no secret. */
export function endpointDeleted(now: string): Partial<EndpointRecord> & { deleted_at: string } {
  return {
    status: 'disabled',
    deleted_at: now,
    updated_at: now,
    secret: '',
    previous_secret: null,
    previous_secret_expires_at: null,
  };
}
