// The events of an organization, to be read back or followed: what webhooks tell, for whoever cannot be reached by one,
// or wants to check that nothing was missed.
import type { Response } from 'express';
import { AppError } from '../../errors.ts';
import type { EventRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { concurrencyLimit } from '../http/concurrency-limit.ts';
import { page } from '../http/paging.ts';
import { contextOf } from '../http/request-context.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './webhook-schemas.ts';

/** Requests of one organization that wait at once. Each holds a connection, and reads again with every event. */
const MAX_WAITING = 50;
/** How soon a request that waits notices that its key was revoked, or that another daemon has stored an event. */
const LOOK_MS = 1_000;
const inTurn = concurrencyLimit(MAX_WAITING, {
  message: `${MAX_WAITING} requests wait for the next event already; follow with fewer, or with wait=0.`,
  retryAfterSeconds: 5,
});

const eventView = (event: EventRecord) => ({
  id: event.id,
  type: event.type,
  sequence: event.sequence,
  call_id: event.call_id,
  created_at: event.created_at,
  // Serialized once, when it happened: nothing of it has changed since.
  call: JSON.parse(event.body) as unknown,
});

export const eventRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/events',
    operation: 'listEvents',
    summary: 'List events of all calls, newest first',
    description: 'What webhooks were or would have been sent, kept as it was then.',
    status: 200,
    query: schemas.listEvents,
    answer: schemas.eventList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getEvent(orgId, id),
        list: (at) => store.listOrgEvents(orgId, { callId: query.call_id, type: query.type }, at),
        body: (events) => ({ data: events.map(eventView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/events/follow',
    operation: 'followEvents',
    summary: 'Follow events: those after one that was seen, oldest first',
    description:
      'For programs that no webhook can reach, and to find out what was missed: ask with the id of the last event ' +
      'that was seen, and `wait` for the next ones. No event is ever left out.',
    status: 200,
    query: schemas.followEvents,
    answer: schemas.eventsAfter,
    async run({ store, orgId, query }, res) {
      const read = async () => {
        const events = await store.eventsAfter(orgId, query.after ?? null, query.limit);
        if (events !== null) return events;
        throw new AppError(
          'invalid_request',
          'after must be the id of an event; GET /v1/events lists them.',
          {
            param: 'after',
          },
        );
      };
      // Heard before it is read: nothing that happens in between is slept through.
      const next = nextEvent(store, { orgId, after: query.after ?? null, forMs: query.wait * 1000 }, res);
      try {
        let events = await read();
        if (events.length === 0 && query.wait > 0) {
          await inTurn(orgId, () => next.come);
          await checkStillGood(res);
          events = await read();
        }
        return { body: { data: events.map(eventView) } };
      } finally {
        next.stop();
      }
    },
  }),
];

/** @throws AppError unauthorized when the key was revoked, or the session has ended, since the request came */
async function checkStillGood(res: Response): Promise<void> {
  if (await contextOf(res).isStillGood()) return;
  res.set('WWW-Authenticate', 'Bearer realm="offhook"');
  throw new AppError('unauthorized', 'This API key was revoked while the request waited.');
}

/** Comes with the organization's next event, when the time is over, when whoever asks has gone, or may ask no more. */
function nextEvent(
  store: Pick<Store, 'subscribe' | 'daemons' | 'eventsAfter'>,
  { orgId, after, forMs }: { orgId: string; after: string | null; forMs: number },
  res: Response,
): { come: Promise<void>; stop: () => void } {
  let stop = () => {};
  const come = new Promise<void>((resolve) => {
    const timer = setTimeout(() => stop(), forMs);
    const look = async () => {
      if (!(await contextOf(res).isStillGood())) return stop();
      // Of what another daemon stores nobody here is told.
      const others = (await store.daemons()).length > 1;
      if (others && ((await store.eventsAfter(orgId, after, 1))?.length ?? 0) > 0) stop();
    };
    // Storage that fails for a moment ends no wait: before anything is told, it is asked again.
    const asking = setInterval(() => void look().catch(() => {}), LOOK_MS);
    const unsubscribe = store.subscribe({
      event(event) {
        if (event.org_id === orgId) stop();
      },
    });
    stop = () => {
      clearTimeout(timer);
      clearInterval(asking);
      unsubscribe();
      resolve();
    };
    res.once('close', () => stop());
  });
  return { come, stop: () => stop() };
}
