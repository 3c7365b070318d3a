// The audit log: who did what, to what, and when, read back by whoever may.
import { z } from 'zod';
import type { ActionRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import { id, pageQuery, time } from '../http/schemas.ts';
import { type CsvValue, sendCsv } from './csv.ts';

const PAGE = 200;

const filters = {
  actor_id: id.optional().describe('Only what this key or person did.'),
  action: z
    .string()
    .max(100, 'may have 100 characters at most')
    .optional()
    .describe('Only this operation, as the reference names it: `createCall`, `signIn`.'),
  target_id: id.optional().describe('Only what was done to this.'),
};

const action = z
  .strictObject({
    id: id.describe('Id of the row.'),
    created_at: time.describe('When it was done.'),
    actor_kind: z
      .enum(['key', 'user', 'nobody', 'host'])
      .describe('`nobody`: a failed attempt to sign in. `host`: a link or a command of the machine itself.'),
    actor_id: z.string().nullable().describe('Of the key or the person. Null: neither.'),
    actor_name: z.string().describe('As it was called then.'),
    action: z.string().describe('The operation, as the reference names it, or what was done to sign in.'),
    target_kind: z.string().nullable().describe('What it was done to: `agent`, `call`, `user`.'),
    target_id: z.string().nullable().describe('Its id, where it has one.'),
    detail: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What else there is to say, small; never a body, a number or a secret.'),
    address: z.string().nullable().describe('Where it was asked from; of IPv6 the network.'),
    request_id: z.string().nullable().describe('X-Request-Id of the request.'),
  })
  .meta({
    id: 'Action',
    description: 'A row of the audit log: something that was changed, or an attempt to sign in.',
    examples: [
      {
        id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c90',
        created_at: '2026-03-01T12:00:00.000Z',
        actor_kind: 'user',
        actor_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c91',
        actor_name: 'Ann Field',
        action: 'updateAgent',
        target_kind: 'agent',
        target_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c01',
        detail: null,
        address: '203.0.113.7',
        request_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c11',
      },
    ],
  });

function view({ org_id: _org, ...shown }: ActionRecord) {
  return shown;
}

interface Filters {
  actor_id?: string | undefined;
  action?: string | undefined;
  target_id?: string | undefined;
}
const filtersOf = (query: Filters) => ({
  actorId: query.actor_id,
  action: query.action,
  targetId: query.target_id,
});

const COLUMNS = [
  'created_at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'action',
  'target_kind',
  'target_id',
  'detail',
  'address',
  'request_id',
  'id',
] as const;

async function* rows(store: Store, orgId: string, query: Filters): AsyncGenerator<CsvValue[][]> {
  let startingAfter: string | undefined;
  for (;;) {
    const some = await store.listActions(orgId, filtersOf(query), { limit: PAGE, startingAfter });
    startingAfter = some.at(-1)?.id;
    yield some.map((one) =>
      COLUMNS.map((name) =>
        name === 'detail' ? (one.detail === null ? null : JSON.stringify(one.detail)) : one[name],
      ),
    );
    if (some.length < PAGE) return;
  }
}

export const auditLogRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/audit_log',
    operation: 'listActions',
    needs: 'admin',
    summary: 'List who did what, newest first',
    description:
      'Every request that changes something has a row, and so have signing in, failing to, and all that is done about people and keys. Rows are never changed.',
    status: 200,
    query: pageQuery.extend(filters),
    answer: z.strictObject({ data: z.array(action).describe('Newest first.') }),
    async run({ store, orgId, query, url }) {
      return page({
        query,
        url,
        exists: (one) => store.getAction(orgId, one),
        list: (at) => store.listActions(orgId, filtersOf(query), at),
        body: (actions) => ({ data: actions.map(view) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/audit_log.csv',
    operation: 'exportActions',
    errors: ['at_capacity'],
    needs: 'admin',
    summary: 'Export the audit log as CSV, newest first: all that fits the filters',
    description: 'RFC 4180 in UTF-8 with a line of names, made while it is read.',
    status: 200,
    query: z.strictObject(filters),
    answer: null,
    media: 'text/csv',
    async run({ store, orgId, query, now }, res) {
      await sendCsv(res, {
        of: orgId,
        name: `audit-log-${now().toISOString().slice(0, 10)}.csv`,
        header: COLUMNS,
        pages: rows(store, orgId, query),
        forSpreadsheet: true,
      });
      return null;
    },
  }),
];
