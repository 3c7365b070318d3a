// The legal hold routes: what may be neither erased nor deleted by age.
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../errors.ts';
import type { HoldRecord } from '../../storage/kept-records.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import { NO_CALL } from './calls.ts';
import * as schemas from './kept-schemas.ts';

const NO_HOLD = 'There is no such legal hold.';

function holdView({ org_id: _, ...hold }: HoldRecord) {
  return hold;
}

export const legalHoldRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/legal_holds',
    operation: 'createLegalHold',
    needs: 'admin',
    errors: ['not_found', 'conflict', 'invalid_number'],
    summary: 'Hold a call, all calls with a number, or everything: nothing of it is erased or deleted by age',
    status: 201,
    body: schemas.newHold,
    answer: schemas.hold,
    once: { failures: 'dropped' },
    async run({ store, log, orgId, actor: { kind, id, name }, body, now }) {
      const fault = schemas.subjectFault(body);
      if (fault !== null) throw new AppError('invalid_request', fault);
      const made = settled(
        await store.createHold({
          id: uuidv7(),
          org_id: orgId,
          subject:
            body.call_id !== undefined ? 'call' : body.number !== undefined ? 'number' : 'organization',
          call_id: body.call_id ?? null,
          number: body.number ?? null,
          reason: body.reason,
          created_by: { kind, id, name },
          created_at: now().toISOString(),
          lifted_by: null,
          lifted_at: null,
        }),
      );
      log.info({ org_id: orgId, actor_id: id, hold_id: made.id, subject: made.subject }, 'hold.made');
      return { body: holdView(made) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/legal_holds',
    operation: 'listLegalHolds',
    errors: ['not_found'],
    summary: 'List legal holds, newest first; those that were lifted too',
    status: 200,
    query: schemas.listHolds,
    answer: schemas.holdList,
    async run({ store, orgId, query, url }) {
      if (query.call_id !== undefined) {
        found(await store.getCall(orgId, query.call_id), NO_CALL);
        return { body: { data: (await store.holdsOf(orgId, query.call_id)).reverse().map(holdView) } };
      }
      return page({
        query,
        url,
        exists: (id) => store.getHold(orgId, id),
        list: (at) => store.listHolds(orgId, at),
        body: (holds) => ({ data: holds.map(holdView) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/legal_holds/:id',
    operation: 'getLegalHold',
    summary: 'Read a legal hold',
    status: 200,
    answer: schemas.hold,
    async run({ store, orgId, params }) {
      return { body: holdView(found(await store.getHold(orgId, params.id), NO_HOLD)) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/legal_holds/:id',
    operation: 'liftLegalHold',
    needs: 'admin',
    summary: 'Lift a legal hold; it stays in the list, with who lifted it',
    status: 200,
    answer: schemas.hold,
    async run({ store, log, orgId, actor: { kind, id, name }, params, now, keeper }) {
      const lifted = await store.liftHold(orgId, params.id, { kind, id, name }, now().toISOString());
      const hold = found(lifted, NO_HOLD);
      log.info({ org_id: orgId, actor_id: id, hold_id: hold.id }, 'hold.lifted');
      keeper.sweep();
      return { body: holdView(hold) };
    },
  }),
];
