// The routes of the do-not-call list.
import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../errors.ts';
import type { DoNotCallRecord } from '../../storage/outbound/outbound-records.ts';
import { doerOf } from '../http/actor.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import { readDoNotCallFile } from './do-not-call-file.ts';
import * as schemas from './outbound-schemas.ts';

const FILE_BYTES = 256 * 1024;
/** In one transaction; others write between two. */
const AT_ONCE = 500;

function entryView({ org_id: _org, number_hash: _hash, ...entry }: DoNotCallRecord) {
  return entry;
}

export const doNotCallRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/do_not_call',
    operation: 'listDoNotCall',
    errors: ['invalid_number'],
    summary: 'List numbers that are not called, newest first, or look one up',
    status: 200,
    query: schemas.listDoNotCall,
    answer: schemas.doNotCallList,
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (id) => store.getDoNotCall(orgId, id),
        list: (at) => store.listDoNotCall(orgId, { number: query.number }, at),
        body: (data) => ({ data: data.map(entryView) }),
      });
    },
  }),

  route({
    method: 'post',
    path: '/v1/do_not_call',
    operation: 'addDoNotCall',
    errors: ['invalid_number'],
    summary: 'Have numbers not called any more',
    description:
      'From the next call on. One that is on the list already stays as it is; the answer has each as it stands there.',
    status: 201,
    body: schemas.addDoNotCall,
    answer: schemas.doNotCallList,
    async run({ store, orgId, actor, body }) {
      const source = actor.kind === 'user' ? 'dashboard' : 'api';
      const entries = [...new Set(body.numbers)].map((number) => ({
        number,
        source: source as 'dashboard' | 'api',
        reason: body.reason ?? null,
        created_by: doerOf(actor),
      }));
      return { body: { data: (await store.addDoNotCall(orgId, entries)).map(entryView) } };
    },
  }),

  route({
    method: 'post',
    path: '/v1/do_not_call/import',
    operation: 'importDoNotCall',
    summary: 'Have the numbers of a CSV file not called any more',
    description:
      'The column that is called `number`, `phone` or the like, else the first; names of columns may be missing. Numbers with their country code, as `+1 415 555 0123`. Lines without one are named in the answer, and do not keep out the others.',
    status: 200,
    takes: { description: 'CSV in UTF-8, 256 KB at most.', bytes: FILE_BYTES },
    answer: schemas.doNotCallReport,
    async run({ store, orgId, actor, file }) {
      let read: ReturnType<typeof readDoNotCallFile>;
      try {
        read = readDoNotCallFile(
          new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(await file())),
        );
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw new AppError('invalid_request', 'The file is no CSV in UTF-8.', { cause: error });
      }
      const created_by = doerOf(actor);
      for (let from = 0; from < read.numbers.length; from += AT_ONCE) {
        const some = read.numbers.slice(from, from + AT_ONCE);
        await store.addDoNotCall(
          orgId,
          some.map((number) => ({ number, source: 'csv' as const, created_by })),
        );
        await setImmediate();
      }
      return { body: { lines: read.lines, listed: read.numbers.length, refused: read.refused } };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/do_not_call/:id',
    operation: 'removeDoNotCall',
    needs: 'admin',
    summary: 'Take a number off the do-not-call list',
    description: 'It may be called again.',
    status: 204,
    answer: null,
    async run({ store, orgId, params, actor, log }) {
      if (!(await store.removeDoNotCall(orgId, params.id))) {
        throw new AppError(
          'not_found',
          'Your do-not-call list has no entry with this id; GET /v1/do_not_call lists them.',
        );
      }
      log.warn({ org_id: orgId, by: doerOf(actor), entry: params.id }, 'outbound.do_not_call_removed');
      return {};
    },
  }),
];
