// The webhook routes: event types, endpoints with their secrets, deliveries and their replay. Sending is another's.
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../errors.ts';
import { type EndpointRecord, EVENT_TYPES } from '../../storage/records.ts';
import { attemptView, deliveryView, endpointView } from '../../storage/views.ts';
import { found } from '../http/answer.ts';
import { concurrencyLimit } from '../http/concurrency-limit.ts';
import { settled } from '../http/conflicts.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import { newWebhookSecret } from '../webhooks/signature.ts';
import { testEndpoint } from '../webhooks/test-delivery.ts';
import * as schemas from './webhook-schemas.ts';
import { OVERLAP_MS } from './webhook-secret.ts';

const NO_ENDPOINT =
  'Your organization has no webhook endpoint with this id; GET /v1/webhook_endpoints lists them.';
const NO_DELIVERY =
  'Your organization has no webhook delivery with this id; GET /v1/webhook_deliveries lists them.';

/** One event is delivered to each of them. */
const MAX_ENDPOINTS = 20;
/** In one request: it is one transaction. */
const MAX_REPLAYED = 10_000;
/** Each holds a connection of the daemon for as long as the endpoint takes. */
const MAX_TESTS = 5;
const testInTurn = concurrencyLimit(MAX_TESTS, {
  message: `${MAX_TESTS} tests of your endpoints are under way already; wait for one to end.`,
  retryAfterSeconds: 5,
});

export const webhookRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/webhook_events',
    operation: 'listWebhookEvents',
    summary: 'List the event types',
    status: 200,
    answer: schemas.eventTypeList,
    run: async () => ({ body: { data: EVENT_TYPES } }),
  }),

  route({
    method: 'get',
    path: '/v1/webhook_endpoints',
    operation: 'listWebhookEndpoints',
    summary: 'List webhook endpoints, newest first',
    status: 200,
    query: schemas.listEndpoints,
    answer: schemas.endpointList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getEndpoint(orgId, id),
        list: (at) => store.listEndpoints(orgId, at),
        body: (endpoints) => ({ data: endpoints.map(endpointView) }),
      });
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_endpoints',
    operation: 'createWebhookEndpoint',
    errors: ['invalid_url', 'blocked_address', 'conflict'],
    summary: 'Register a webhook endpoint; its secret is shown this once',
    status: 201,
    body: schemas.createEndpoint,
    answer: schemas.endpointWithSecret,
    once: { failures: 'dropped' },
    async run({ store, egress, orgId, body, now }) {
      egress.check(body.url, 'url');
      const at = now().toISOString();
      const endpoint: EndpointRecord = {
        id: uuidv7(),
        org_id: orgId,
        url: body.url,
        description: body.description ?? null,
        enabled_events: [...new Set(body.enabled_events ?? ['*'])],
        status: 'enabled',
        disabled_reason: null,
        disabled_at: null,
        consecutive_failures: 0,
        created_at: at,
        updated_at: at,
        secret: newWebhookSecret(),
        previous_secret: null,
        previous_secret_expires_at: null,
      };
      const made = settled(await store.createEndpoint(endpoint, { limit: MAX_ENDPOINTS }));
      return { body: { ...endpointView(made), secret: made.secret } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/webhook_endpoints/:id',
    operation: 'getWebhookEndpoint',
    summary: 'Read a webhook endpoint',
    status: 200,
    answer: schemas.endpoint,
    async run({ store, orgId, params }) {
      return { body: endpointView(found(await store.getEndpoint(orgId, params.id), NO_ENDPOINT)) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/webhook_endpoints/:id',
    operation: 'updateWebhookEndpoint',
    errors: ['invalid_url', 'blocked_address'],
    summary: 'Change, disable or enable a webhook endpoint',
    status: 200,
    body: schemas.changeEndpoint,
    answer: schemas.endpoint,
    async run({ store, egress, orgId, params, body, now }) {
      const endpoint = found(await store.getEndpoint(orgId, params.id), NO_ENDPOINT);
      if (body.url !== undefined) egress.check(body.url, 'url');
      const at = now().toISOString();
      const change: Partial<EndpointRecord> = { updated_at: at };
      if (body.url !== undefined) change.url = body.url;
      if (body.description !== undefined) change.description = body.description;
      if (body.enabled_events !== undefined) change.enabled_events = [...new Set(body.enabled_events)];
      if (body.status === 'disabled' && endpoint.status === 'enabled') {
        Object.assign(change, { status: 'disabled', disabled_reason: 'manual', disabled_at: at });
      }
      if (body.status === 'enabled' && endpoint.status === 'disabled') {
        Object.assign(change, {
          status: 'enabled',
          disabled_reason: null,
          disabled_at: null,
          consecutive_failures: 0,
        });
      }
      return { body: endpointView(found(await store.updateEndpoint(orgId, params.id, change), NO_ENDPOINT)) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/webhook_endpoints/:id',
    operation: 'deleteWebhookEndpoint',
    summary: 'Remove a webhook endpoint',
    status: 204,
    answer: null,
    async run({ store, orgId, params }) {
      found((await store.deleteEndpoint(orgId, params.id)) ? true : null, NO_ENDPOINT);
      return {};
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_endpoints/:id/rotate_secret',
    operation: 'rotateWebhookEndpointSecret',
    summary: 'Make a new secret, shown this once; the one before signs beside it for 24 hours',
    status: 200,
    answer: schemas.endpointWithSecret,
    async run({ store, orgId, params, now }) {
      const endpoint = found(await store.getEndpoint(orgId, params.id), NO_ENDPOINT);
      const at = now();
      const rotated = await store.updateEndpoint(orgId, params.id, {
        secret: newWebhookSecret(),
        previous_secret: endpoint.secret,
        previous_secret_expires_at: new Date(at.getTime() + OVERLAP_MS).toISOString(),
        updated_at: at.toISOString(),
      });
      const shown = found(rotated, NO_ENDPOINT);
      return { body: { ...endpointView(shown), secret: shown.secret } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_endpoints/:id/test',
    operation: 'testWebhookEndpoint',
    summary: 'Send a test event to a webhook endpoint, and answer what came of it',
    description:
      'At once, signed as a delivery is, with the type `endpoint.test` and a small body of its own. It is no delivery: it is not stored, not tried again, and changes nothing about the endpoint. A disabled endpoint can be tested too. Five tests of an organization at once, then 429.',
    status: 200,
    answer: schemas.testOutcome,
    async run({ store, egress, orgId, params, log, now }) {
      const endpoint = found(await store.getEndpoint(orgId, params.id), NO_ENDPOINT);
      const outcome = await testInTurn(orgId, () => testEndpoint(egress, endpoint, now()));
      log.info({ org_id: orgId, endpoint_id: endpoint.id, ...outcome }, 'endpoint.tested');
      return { body: outcome };
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_endpoints/:id/replay',
    operation: 'replayWebhookEndpoint',
    errors: ['conflict', 'endpoint_disabled'],
    summary: 'Send again what a webhook endpoint has missed since a time',
    description:
      'As if each delivery were sent again by itself: the same body under the same id, marked with Service-Replay: true. What is still pending is left alone. Refused with `endpoint_disabled` while the endpoint is disabled, and with `conflict` for more than 10,000 deliveries at once.',
    status: 200,
    body: schemas.replay,
    answer: schemas.replayed,
    async run({ store, orgId, params, body, log, now }) {
      const endpoint = found(await store.getEndpoint(orgId, params.id), NO_ENDPOINT);
      const at = now().toISOString();
      const replayed = await store.replayDeliveries(orgId, endpoint.id, {
        since: new Date(body.since).toISOString(),
        until: body.until === undefined ? null : new Date(body.until).toISOString(),
        only: body.only,
        at,
        limit: MAX_REPLAYED,
      });
      if ('conflict' in replayed && replayed.conflict === 'too_many') {
        throw new AppError('conflict', `More than ${MAX_REPLAYED} deliveries; choose a shorter time.`);
      }
      const queued = settled(replayed);
      log.info({ org_id: orgId, endpoint_id: endpoint.id, only: body.only, ...queued }, 'endpoint.replayed');
      return { body: queued };
    },
  }),

  route({
    method: 'get',
    path: '/v1/webhook_deliveries',
    operation: 'listWebhookDeliveries',
    summary: 'List webhook deliveries, newest first',
    status: 200,
    query: schemas.listDeliveries,
    answer: schemas.deliveryList,
    async run({ store, orgId, query, url }) {
      const filters = {
        endpointId: query.endpoint_id,
        callId: query.call_id,
        eventType: query.event_type,
        status: query.status,
      };
      return page({
        query,
        url,
        exists: (id) => store.getDelivery(orgId, id),
        list: (at) => store.listDeliveries(orgId, filters, at),
        body: (deliveries) => ({ data: deliveries.map(deliveryView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/webhook_deliveries/:id',
    operation: 'getWebhookDelivery',
    summary: 'Read a webhook delivery with every attempt',
    status: 200,
    answer: schemas.deliveryDetail,
    async run({ store, orgId, params }) {
      const { delivery, attempts } = found(await store.getDelivery(orgId, params.id), NO_DELIVERY);
      return { body: { ...deliveryView(delivery), attempts: attempts.map(attemptView) } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/webhook_deliveries/:id/redeliver',
    operation: 'redeliverWebhook',
    errors: ['endpoint_disabled', 'endpoint_deleted'],
    summary: 'Send a delivery again, whatever became of it',
    description:
      'The same body under the same id, marked with Service-Replay: true, with the whole schedule of attempts again. Refused while its endpoint is disabled, and when the endpoint was removed: it would never be sent.',
    status: 200,
    answer: schemas.delivery,
    async run({ store, orgId, params, now }) {
      const queued = await store.redeliver(orgId, params.id, now().toISOString());
      return { body: deliveryView(settled(found(queued, NO_DELIVERY))) };
    },
  }),
];
