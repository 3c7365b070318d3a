// The erasure routes: what is asked for, how far it is, and the receipt. What is erased is storage/erasure-plan.ts's; it is
// carried out by control/operations/erasures.ts.

import type { Response } from 'express';
import { v7 as uuidv7 } from 'uuid';
import type { z } from 'zod';
import { AppError } from '../../errors.ts';
import type { ErasureRecord } from '../../storage/kept-records.ts';
import type { Store } from '../../storage/store.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import { isFinal, NO_CALL } from './calls.ts';
import * as schemas from './kept-schemas.ts';
import { operatorOnly } from './operator-key.ts';

/** Most are done by then, and answered with their receipt. */
const WAIT_MS = 5_000;
const NO_ERASURE = 'There is no such erasure.';

async function receipt(store: Pick<Store, 'listErasedFiles'>, erasure: ErasureRecord) {
  const { id, subject, call_id, number_hash, reason, state, requested_by } = erasure;
  const { counts, backups, created_at, done_at, rewritten_at } = erasure;
  return {
    id,
    subject,
    call_id,
    number_hash,
    reason,
    state,
    requested_by,
    counts,
    files: await store.listErasedFiles(id),
    backups,
    created_at,
    done_at,
    rewritten_at,
  };
}

/** @throws AppError when an organization is to be erased and that was not said as it must be */
async function confirm(
  body: z.output<typeof schemas.newErasure>,
  o: { store: Pick<Store, 'getOrganization'>; orgId: string; operatorKey: string | null; res: Response },
): Promise<void> {
  const fault = schemas.subjectFault(body);
  if (fault !== null) throw new AppError('invalid_request', fault);
  if (body.organization === undefined) return;
  operatorOnly(o.operatorKey, o.res, 'Erasing an organization is');
  const { name } = found(await o.store.getOrganization(o.orgId), 'The organization is gone.');
  if (body.confirm !== name) {
    throw new AppError(
      'invalid_request',
      'confirm must be the name of your organization, letter by letter.',
      {
        param: 'confirm',
      },
    );
  }
}

export const erasureRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/erasures',
    operation: 'createErasure',
    needs: 'admin',
    errors: ['forbidden', 'not_found', 'legal_hold', 'conflict', 'invalid_number'],
    summary: 'Erase a call, all calls with a number, or your organization, for good',
    description:
      'Recordings, transcripts, results, prompts, contexts, events’ and deliveries’ bodies, what receivers answered and what a call is found by are erased, from the database, its log and the disk; of a call stays what counts (times, lengths, money). What others said of the person on calls with somebody else is not found by a number. Answers with the receipt, in the state it is in after five seconds at most; GET /v1/erasures/{id} has it from then on: for an erased organization with the key of another one and the header Operator-Key.',
    status: 201,
    body: schemas.newErasure,
    answer: schemas.erasure,
    once: { failures: 'dropped' },
    async run({ store, calls, keeper, config, log, orgId, actor, body, now }, res) {
      await confirm(body, { store, orgId, operatorKey: config.OPERATOR_KEY, res });
      if (body.call_id !== undefined) {
        const call = found(await store.getCall(orgId, body.call_id), NO_CALL);
        if (!(await isFinal(call, { calls, store, now })))
          throw new AppError('conflict', 'The call is live; it can be erased once it has ended.');
      }
      const subject =
        body.call_id !== undefined ? 'call' : body.number !== undefined ? 'number' : 'organization';
      const { kind, id, name } = actor;
      const begun = settled(
        await store.beginErasure({
          id: uuidv7(),
          org_id: orgId,
          subject,
          call_id: body.call_id ?? null,
          number: body.number ?? null,
          reason: body.reason ?? null,
          state: 'running',
          requested_by: { kind, id, name },
          counts: {},
          backups: [],
          created_at: now().toISOString(),
          done_at: null,
          rewritten_at: null,
        }),
      );
      log.info({ org_id: orgId, actor_id: id, erasure_id: begun.id, subject }, 'erasure.begun');
      await keeper.done(begun.id, WAIT_MS);
      return { body: await receipt(store, found(await store.getErasure(orgId, begun.id), NO_ERASURE)) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/erasures',
    operation: 'listErasures',
    summary: 'List erasures with their receipts, newest first',
    status: 200,
    query: schemas.listErasures,
    answer: schemas.erasureList,
    async run({ store, orgId, query, url }) {
      const list = await page({
        query,
        url,
        exists: (id) => store.getErasure(orgId, id),
        list: (at) => store.listErasures(orgId, { number: query.number }, at),
        body: (erasures) => erasures,
      });
      const erasures = list.body as ErasureRecord[];
      return { ...list, body: { data: await Promise.all(erasures.map((one) => receipt(store, one))) } };
    },
  }),

  route({
    method: 'get',
    path: '/v1/erasures/:id',
    operation: 'getErasure',
    errors: ['forbidden'],
    summary: 'Read how far an erasure is, and its receipt',
    status: 200,
    answer: schemas.erasure,
    async run({ store, config, orgId, params }, res) {
      const ofAll = res.req.get('Operator-Key') !== undefined;
      if (ofAll) operatorOnly(config.OPERATOR_KEY, res, 'Receipts of other organizations are');
      return {
        body: await receipt(
          store,
          found(await store.getErasure(ofAll ? null : orgId, params.id), NO_ERASURE),
        ),
      };
    },
  }),
];
