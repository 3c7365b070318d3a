// The routes that tell how a call went: the times of its turns, and its events with their deliveries.
import type { DeliveryRecord } from '../../storage/records.ts';
import { interruptionView, turnView } from '../../storage/turn-view.ts';
import { found } from '../http/answer.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './call-activity-schemas.ts';
import { isFinal, NO_CALL } from './calls.ts';

/** An address without what may be secret in it. */
function receiverOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function eventDelivery(delivery: DeliveryRecord) {
  return {
    id: delivery.id,
    endpoint_id: delivery.endpoint_id,
    receiver: receiverOf(delivery.url),
    status: delivery.status,
    attempt_count: delivery.attempt_count,
    last_response_status: delivery.last_response_status,
    last_error: delivery.last_error,
    next_attempt_at: delivery.status === 'pending' ? delivery.next_attempt_at : null,
    delivered_at: delivery.delivered_at,
  };
}

export const callActivityRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/calls/:id/turns',
    operation: 'getTurns',
    summary: 'Read how fast the agent answered on a call, stage by stage',
    description:
      'Can be read while the call lasts; a turn is there once its first sound was heard or it came to nothing. All times are of what was heard at the carrier, not of what was sent.',
    status: 200,
    answer: schemas.callTurns,
    async run({ store, calls, now, orgId, params }) {
      // Asked before the turns are read: `final` then never comes without the last of them.
      const call = found(await store.getCall(orgId, params.id), NO_CALL);
      const status = (await isFinal(call, { calls, store, now })) ? 'final' : 'live';
      const [turns, interruptions] = await Promise.all([
        store.listTurns(call.id),
        store.listInterruptions(call.id),
      ]);
      return {
        body: {
          call_id: call.id,
          status,
          data: turns.map(turnView),
          interruptions: interruptions.map(interruptionView),
        },
      };
    },
  }),

  route({
    method: 'get',
    path: '/v1/calls/:id/events',
    operation: 'listCallEvents',
    summary: "Read a call's events in order, each with its deliveries",
    status: 200,
    answer: schemas.callEvents,
    async run({ store, orgId, params }) {
      const call = found(await store.getCall(orgId, params.id), NO_CALL);
      const [events, deliveries] = await Promise.all([
        store.listEvents(call.id),
        store.listCallDeliveries(call.id),
      ]);
      const byEvent = Map.groupBy(deliveries, ({ event_id }) => event_id);
      return {
        body: {
          call_id: call.id,
          data: events.map(({ id, type, sequence, created_at }) => ({
            id,
            type,
            sequence,
            created_at,
            deliveries: (byEvent.get(id) ?? []).map(eventDelivery),
          })),
        },
      };
    },
  }),
];
