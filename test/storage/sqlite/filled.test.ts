// A small filled database: what each list answers is what a plain walk through the rows finds, page after page, in files and
// through the reader as a daemon asks.
import { join } from 'node:path';
import Database from 'better-sqlite3';
import t from 'tap';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { CallFilters, Page } from '../../../storage/store.ts';
import { fillDatabase } from '../../scale/fill-database.ts';

t.test('lists of every kind are what a walk through all rows finds', async (t) => {
  const path = join(t.testdir(), 'offhook.db');
  const until = new Date('2026-03-01T12:00:00.000Z');
  const filled = fillDatabase({ path, calls: 400, events: 2_500, days: 20, until, seed: 7 });
  t.ok(filled.calls === 400 && filled.events >= 2_500, JSON.stringify(filled));
  const store = await openStore({ path });
  t.teardown(() => store.close());
  const shell = new Database(path, { readonly: true });
  t.teardown(() => shell.close());
  const one = (sql: string) => shell.prepare(sql).pluck().get() as string;
  const walk = (sql: string, ...values: unknown[]) =>
    shell
      .prepare(sql)
      .pluck()
      .all(...values) as string[];
  const org = one('SELECT id FROM organizations ORDER BY seq LIMIT 1');

  /** All pages of a list. */
  async function all(list: (page: Page) => Promise<{ id: string }[]>): Promise<string[]> {
    const found: string[] = [];
    for (;;) {
      const startingAfter = found.at(-1);
      const page = await list({ limit: 37, ...(startingAfter === undefined ? {} : { startingAfter }) });
      found.push(...page.map(({ id }) => id));
      if (page.length < 37) return found;
    }
  }

  const agent = one(
    'SELECT agent_id FROM calls WHERE agent_id IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1',
  );
  const own = one(
    `SELECT from_number FROM calls WHERE direction = 'outbound' AND org_id = '${org}' GROUP BY 1 ORDER BY count(*) DESC LIMIT 1`,
  );
  const word = (text: string) =>
    `id IN (SELECT call_id FROM transcript_items WHERE ' ' || text LIKE '% ${text}%')`;
  for (const [filters, where] of [
    [{}, '1'],
    [{ status: 'failed' }, "status = 'failed'"],
    [{ direction: 'inbound' }, "direction = 'inbound'"],
    [{ direction: 'inbound', status: 'busy' }, "direction = 'inbound' AND status = 'busy'"],
    [{ agentId: agent }, `agent_id = '${agent}'`],
    [{ agentId: agent, status: 'completed' }, `agent_id = '${agent}' AND status = 'completed'`],
    [{ fromNumber: own }, `from_number = '${own}'`],
    [{ fromNumber: own, status: 'no_answer' }, `from_number = '${own}' AND status = 'no_answer'`],
    [
      { createdAfter: '2026-02-20T00:00:00Z', status: 'completed' },
      "created_at > '2026-02-20T00:00:00.000Z' AND status = 'completed'",
    ],
    [{ createdBefore: '2026-02-20T00:00:00Z' }, "created_at < '2026-02-20T00:00:00.000Z'"],
    [{ search: 'wednesday' }, word('wednesday')],
    [{ search: 'appo' }, word('appo')],
    [{ search: 'appo', status: 'failed' }, `${word('appo')} AND status = 'failed'`],
    [
      { search: 'appo', createdBefore: '2026-02-20T00:00:00Z' },
      `${word('appo')} AND created_at < '2026-02-20T00:00:00.000Z'`,
    ],
    [{ search: own.slice(2) }, `(to_number = '${own}' OR from_number = '${own}')`],
    [{ search: 'reminder' }, "agent_id IN (SELECT id FROM agents WHERE name LIKE '%reminder%')"],
  ] satisfies [CallFilters, string][]) {
    const wanted = walk(
      `SELECT id FROM calls WHERE org_id = ? AND ${where} ORDER BY created_at DESC, seq DESC`,
      org,
    );
    const found = await all((page) => store.listCalls(org, filters, page));
    t.ok(wanted.length > 0 && wanted.length < 2_000, `${JSON.stringify(filters)}: ${wanted.length}`);
    // A search is in the order in which calls were made; here the times are nearly in it.
    if ('search' in filters) t.strictSame(found.sort(), wanted.sort(), JSON.stringify(filters));
    else t.strictSame(found, wanted, JSON.stringify(filters));
  }

  for (const [type, where] of [
    [undefined, '1'],
    ['call.busy', "type = 'call.busy'"],
  ] as const) {
    const wanted = walk(`SELECT id FROM events WHERE org_id = ? AND ${where} ORDER BY seq DESC`, org);
    t.strictSame(await all((page) => store.listOrgEvents(org, { type }, page)), wanted, `events ${type}`);
  }
  const followed: string[] = [];
  for (;;) {
    const next = await store.eventsAfter(org, followed.at(-1) ?? null, 100);
    followed.push(...(next ?? []).map(({ id }) => id));
    if (next === null || next.length < 100) break;
  }
  t.strictSame(
    followed,
    walk('SELECT id FROM events WHERE org_id = ? ORDER BY seq', org),
    'followed to the end',
  );

  const endpoint = one('SELECT id FROM endpoints ORDER BY seq LIMIT 1');
  for (const [filters, where] of [
    [{}, '1'],
    [{ status: 'exhausted' }, "status = 'exhausted'"],
    [{ eventType: 'call.completed' }, "event_type = 'call.completed'"],
    [{ endpointId: endpoint }, `endpoint_id = '${endpoint}'`],
    [
      { endpointId: endpoint, status: 'delivered', eventType: 'call.busy' },
      `endpoint_id = '${endpoint}' AND status = 'delivered' AND event_type = 'call.busy'`,
    ],
  ] as const) {
    const wanted = walk(
      `SELECT id FROM deliveries WHERE org_id = ? AND ${where} ORDER BY created_at DESC, seq DESC`,
      org,
    );
    t.ok(wanted.length > 0, `${where}: ${wanted.length}`);
    t.strictSame(await all((page) => store.listDeliveries(org, filters, page)), wanted, where);
  }
});
