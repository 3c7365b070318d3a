// What the webhook routes take and answer. PURE.
import { z } from 'zod';
import { EVENT_TYPES } from '../storage/records.ts';
import { id, pageQuery, time, url } from './schemas.ts';

const eventType = z.enum(EVENT_TYPES);
const enabledEvents = z
  .array(z.enum([...EVENT_TYPES, '*'], `must be * or one of ${EVENT_TYPES.join(', ')}`))
  .min(1, 'must name at least one event, or *')
  .max(50, 'may hold 50 names at most');
const description = z.string().max(1000, 'may have 1000 characters at most').nullable();
const endpointStatus = z.enum(['enabled', 'disabled']);
const deliveryStatus = z.enum(['pending', 'delivered', 'exhausted']);

export const eventTypeList = z.strictObject({ data: z.array(eventType) });

export const createEndpoint = z.strictObject({
  url,
  description: description.optional(),
  enabled_events: enabledEvents.optional(),
});
export const changeEndpoint = z.strictObject({
  url: url.optional(),
  description: description.optional(),
  enabled_events: enabledEvents.optional(),
  status: endpointStatus.optional(),
});
export const listEndpoints = pageQuery;

export const endpoint = z.strictObject({
  id,
  org_id: id,
  url: z.string(),
  description: z.string().nullable(),
  enabled_events: z.array(z.string()),
  status: endpointStatus,
  disabled_reason: z.string().nullable(),
  disabled_at: time.nullable(),
  consecutive_failures: z.int(),
  created_at: time,
  updated_at: time,
});
/** Only the answers that make a secret show it. */
export const endpointWithSecret = endpoint.extend({ secret: z.string() });
export const endpointList = z.strictObject({ data: z.array(endpoint) });

export const listDeliveries = pageQuery.extend({
  endpoint_id: id.optional(),
  call_id: id.optional(),
  event_type: eventType.optional(),
  status: deliveryStatus.optional(),
});

export const delivery = z.strictObject({
  id,
  org_id: id,
  endpoint_id: id.nullable(),
  call_id: id.nullable(),
  event_type: eventType,
  url: z.string(),
  status: deliveryStatus,
  attempt_count: z.int(),
  manual_retry_count: z.int(),
  next_attempt_at: time,
  last_error: z.string().nullable(),
  last_response_status: z.int().nullable(),
  delivered_at: time.nullable(),
  created_at: time,
  updated_at: time,
});
export const deliveryList = z.strictObject({ data: z.array(delivery) });
export const deliveryDetail = delivery.extend({
  attempts: z.array(
    z.strictObject({
      id,
      attempt: z.int(),
      started_at: time,
      latency_ms: z.number(),
      response_status: z.int().nullable(),
      error: z.string().nullable(),
      response_excerpt: z.string().nullable(),
    }),
  ),
});
