// What the webhook routes take and answer, with what the reference says of each field. PURE.
import { z } from 'zod';
import { EVENT_TYPES } from '../../storage/records.ts';
import { id, pageQuery, time, url } from '../http/schemas.ts';
import { call } from './call-schemas.ts';
import { DELIVERY, DELIVERY_ATTEMPT, ENDPOINT } from './examples.ts';

const eventType = z.enum(EVENT_TYPES).describe('Event type.');
const enabledEvents = z
  .array(z.enum([...EVENT_TYPES, '*'], `must be * or one of ${EVENT_TYPES.join(', ')}`))
  .min(1, 'must name at least one event, or *')
  .max(50, 'may hold 50 names at most');
const description = z.string().max(1000, 'may have 1000 characters at most').nullable();
const endpointStatus = z.enum(['enabled', 'disabled']);
const deliveryStatus = z.enum(['pending', 'delivered', 'exhausted']);

const changeable = {
  description: description.optional().describe('A note for people. Null: none.'),
  enabled_events: enabledEvents
    .optional()
    .describe('Event types to be sent; `*` stands for every one, also future ones. Default: ["*"].'),
};
const target = url.describe('Where to send events. https only; addresses that are not public are refused.');

export const eventTypeList = z.strictObject({
  data: z.array(eventType).describe('Every event type there is.'),
});

export const listEvents = pageQuery.extend({
  call_id: id.optional().describe('Only of this call.'),
  type: eventType.optional().describe('Only of this type.'),
});
export const followEvents = z.strictObject({
  after: id
    .optional()
    .describe('The last event that was seen. Without it the answer begins with the first event there is.'),
  wait: z.coerce
    .number('must be a number')
    .int()
    .min(0)
    .max(25)
    .default(0)
    .describe('Seconds to wait for the first one when there is none yet.'),
  limit: z.coerce.number('must be a number').int().min(1).max(100).default(50).describe('How many at most.'),
});
export const event = z
  .strictObject({
    id: id.describe('Event id.'),
    type: eventType,
    sequence: z.int().describe('Counts the events of its call from 1, without a gap.'),
    call_id: id.describe('The call it tells of.'),
    created_at: time.describe('When it happened.'),
    call: call.describe('The Call as it was then: what webhooks carry as their body.'),
  })
  .meta({ id: 'Event' });
export const eventList = z.strictObject({ data: z.array(event).describe('Newest first.') });
export const eventsAfter = z.strictObject({
  data: z
    .array(event)
    .describe('Oldest first; empty when nothing has happened. Ask again after the last one.'),
});

export const createEndpoint = z.strictObject({ url: target, ...changeable }).meta({
  id: 'NewWebhookEndpoint',
  examples: [{ url: 'https://example.com/offhook', enabled_events: ['call.completed', 'call.failed'] }],
});
export const changeEndpoint = z
  .strictObject({
    url: target.optional(),
    ...changeable,
    enabled_events: enabledEvents.optional().describe('Event types to be sent; `*` stands for every one.'),
    status: endpointStatus
      .optional()
      .describe(
        '`disabled` stops deliveries and keeps the endpoint; `enabled` clears its count of failures.',
      ),
  })
  .meta({ id: 'WebhookEndpointChange', examples: [{ status: 'enabled' }] });
export const listEndpoints = pageQuery;

export const endpoint = z
  .strictObject({
    id: id.describe('Endpoint id.'),
    org_id: id.describe('The organization it belongs to.'),
    url: z.string().describe('Where events are sent.'),
    description: z.string().nullable().describe('A note for people. Null: none.'),
    enabled_events: z.array(z.string()).describe('Event types that are sent; `*` stands for every one.'),
    status: endpointStatus.describe('Nothing is sent to a disabled endpoint; what it misses is listed.'),
    disabled_reason: z
      .string()
      .nullable()
      .describe(
        '`too_many_failures` after 10 deliveries in a row were exhausted, `manual` when set by PATCH. Null while enabled.',
      ),
    disabled_at: time.nullable().describe('Since when it is disabled. Null while enabled.'),
    consecutive_failures: z
      .int()
      .describe('Exhausted deliveries in a row. A delivery that succeeds, or enabling, sets it to 0.'),
    created_at: time.describe('Creation.'),
    updated_at: time.describe('Last change.'),
  })
  .meta({
    id: 'WebhookEndpoint',
    description: "A receiver of the events of all of the organization's calls.",
    examples: [ENDPOINT],
  });
/** Only the answers that make a secret show it. */
export const endpointWithSecret = endpoint
  .extend({
    secret: z
      .string()
      .describe('Signing secret, `whsec_` and base64. Shown in this answer and never again: keep it.'),
  })
  .meta({
    id: 'WebhookEndpointWithSecret',
    description: 'A webhook endpoint with the secret that was just made for it.',
    examples: [{ ...ENDPOINT, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }],
  });
export const endpointList = z.strictObject({ data: z.array(endpoint).describe('Newest first.') });

export const testOutcome = z
  .strictObject({
    status: z.enum(['delivered', 'failed']).describe('`delivered`: a 2xx came within 15 s.'),
    status_code: z.int().nullable().describe('HTTP status. Null: no answer came.'),
    latency_ms: z.int().describe('Milliseconds until it was over.'),
    error: z
      .string()
      .nullable()
      .describe("What went wrong, by the names of a delivery's `last_error`. Null: nothing."),
  })
  .meta({
    id: 'WebhookTest',
    description: 'What came of a test event.',
    examples: [{ status: 'failed', status_code: 500, latency_ms: 84, error: 'http_status_500' }],
  });

const bodyTime = z.iso.datetime({
  offset: true,
  error: 'must be an ISO 8601 time such as 2026-01-31T12:00:00Z',
});
export const replay = z
  .strictObject({
    since: bodyTime.describe('Deliveries of events from this time on, ISO 8601.'),
    until: bodyTime.optional().describe('And before this time. Default: now.'),
    only: z
      .enum(['failed', 'all'])
      .default('failed')
      .describe(
        '`failed`: those that were given up, and those that the endpoint missed while it was disabled. `all`: those that were delivered too.',
      ),
  })
  .meta({ id: 'WebhookReplay', examples: [{ since: '2026-03-01T12:00:00.000Z', only: 'failed' }] });
export const replayed = z
  .strictObject({ count: z.int().describe('Deliveries that were queued again.') })
  .meta({ id: 'WebhookReplayed', description: 'How much is sent again.', examples: [{ count: 17 }] });

export const listDeliveries = pageQuery.extend({
  endpoint_id: id.optional().describe('Only deliveries to this endpoint.'),
  call_id: id.optional().describe('Only deliveries of this call.'),
  event_type: eventType.optional().describe('Only deliveries of this event type.'),
  status: deliveryStatus.optional().describe('Only deliveries in this status.'),
});

export const delivery = z
  .strictObject({
    id: id.describe(
      'Sent as Service-Event-Id and webhook-id, the same on every attempt: drop what you have seen.',
    ),
    org_id: id.describe('The organization it belongs to.'),
    endpoint_id: id
      .nullable()
      .describe(
        "The endpoint it goes to. Null: an inline delivery to the call's `webhook_url`, signed with the organization's default secret.",
      ),
    call_id: id.nullable().describe('The call it tells of.'),
    event_type: eventType,
    url: z.string().describe('Where it is sent.'),
    status: deliveryStatus.describe(
      '`pending`: more attempts follow, or wait until its disabled endpoint is enabled. `delivered`: a 2xx came within 15 s. `exhausted`: given up.',
    ),
    attempt_count: z
      .int()
      .describe('Attempts made so far, over its whole life: sending it again does not set it back.'),
    manual_retry_count: z.int().describe('How often it was sent again by hand.'),
    next_attempt_at: time.describe(
      'When the next attempt is due; in the past while the endpoint is disabled, and means nothing once it is no longer pending.',
    ),
    last_error: z
      .string()
      .nullable()
      .describe(
        'Of the last attempt: timeout, connection_failed, dns_error, tls_error, protocol_error, blocked_address, redirect_not_followed or http_status_<n>; without one: endpoint_disabled or endpoint_deleted. Null: no attempt yet, or it went well.',
      ),
    last_response_status: z
      .int()
      .nullable()
      .describe('HTTP status of the last attempt. Null: no attempt yet, or no answer came.'),
    delivered_at: time.nullable().describe('When it was delivered. Null: not so far.'),
    created_at: time.describe('When the event happened.'),
    updated_at: time.describe('Last change.'),
  })
  .meta({
    id: 'WebhookDelivery',
    description: 'One event on its way to one receiver.',
    examples: [DELIVERY],
  });
export const deliveryList = z.strictObject({ data: z.array(delivery).describe('Newest first.') });
export const deliveryDetail = delivery
  .extend({
    attempts: z
      .array(
        z
          .strictObject({
            id: id.describe('Attempt id.'),
            attempt: z.int().describe("Counts from 1 over the delivery's whole life, replays included."),
            started_at: time.describe('When it began.'),
            latency_ms: z.number().describe('Milliseconds until it was over.'),
            response_status: z.int().nullable().describe('HTTP status. Null: no answer came.'),
            error: z.string().nullable().describe('What went wrong, as in `last_error`. Null: nothing.'),
            response_excerpt: z
              .string()
              .nullable()
              .describe('The first 2 KiB of the answer. Null: it was empty, or none came.'),
          })
          .meta({ id: 'WebhookAttempt', description: 'One attempt of a delivery.' }),
      )
      .describe('Every attempt, in order.'),
  })
  .meta({
    id: 'WebhookDeliveryDetail',
    description: 'A webhook delivery with its attempts.',
    examples: [{ ...DELIVERY, attempts: [DELIVERY_ATTEMPT] }],
  });
