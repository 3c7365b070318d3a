// The schema: a column for every field of every record, and an index for every question that is asked often.
import Database from 'better-sqlite3';
import t from 'tap';
import { MIGRATIONS } from '../../storage/migrations.ts';
import { agents } from '../../storage/sqlite/agents.ts';
import { calls } from '../../storage/sqlite/calls.ts';
import { deliveries } from '../../storage/sqlite/deliveries.ts';
import { endpoints } from '../../storage/sqlite/endpoints.ts';
import { numbers } from '../../storage/sqlite/numbers.ts';
import * as rows from '../../storage/sqlite/rows.ts';
import { openSession, type Session } from '../../storage/sqlite/session.ts';
import { transcript } from '../../storage/sqlite/transcript.ts';
import { turns } from '../../storage/sqlite/turns.ts';

function migrated() {
  const db = new Database(':memory:');
  for (const { sql } of MIGRATIONS) db.exec(sql);
  return db;
}

t.test('a count of attempts that a replay had set back is made whole', (t) => {
  const db = new Database(':memory:');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'attempts count on over replays');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  db.pragma('foreign_keys = OFF');
  const deliver = (id: string, attempts: number, shown: number, replays: number) => {
    db.prepare(
      `INSERT INTO deliveries (id, org_id, event_id, event_type, url, status, attempt_count, manual_retry_count,
         next_attempt_at, created_at, updated_at) VALUES (?, 'o', ?, 'call.busy', 'u', 'pending', ?, ?, 't', 't', 't')`,
    ).run(id, id, shown, replays);
    for (let i = 1; i <= attempts; i++) {
      db.prepare(
        `INSERT INTO attempts (id, delivery_id, attempt, started_at, latency_ms) VALUES (?, ?, ?, 't', 1)`,
      ).run(`${id}${i}`, id, i);
    }
  };
  deliver('new', 2, 2, 0);
  deliver('replayed', 11, 1, 1);
  deliver('missed', 0, 0, 1);
  for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
  t.same(db.prepare('SELECT id, attempt_count AS made, attempts_before AS before FROM deliveries').all(), [
    { id: 'new', made: 2, before: 0 },
    { id: 'replayed', made: 11, before: 10 },
    { id: 'missed', made: 0, before: 0 },
  ]);
  db.close();
  t.end();
});

t.test('every table is strict and holds the fields of its record', (t) => {
  const db = migrated();
  const all = db.pragma('table_list') as { name: string; type: string; strict: number; schema: string }[];
  // The full-text index and its own tables hold no records.
  const strict = all.filter(({ name, type }) => type === 'table' && !name.startsWith('sqlite_'));
  for (const { name } of strict.filter((table) => !table.strict)) {
    t.fail(`${name} is not strict`);
  }
  // Columns that are storage's own, beside the record's.
  const own: Record<string, string[]> = {
    calls: ['cost_milli_cents'],
    endpoints: ['deleted_at'],
    deliveries: ['lease_until'],
  };
  const tables = Object.values(rows).filter((value) => typeof value === 'object');
  t.equal(tables.length, 15);
  for (const table of tables) {
    const columns = (db.pragma(`table_info(${table.name})`) as { name: string }[]).map(
      (column) => column.name,
    );
    t.strictSame(columns.sort(), ['seq', ...table.columns, ...(own[table.name] ?? [])].sort(), table.name);
  }
  db.close();
  t.end();
});

t.test(
  'every statement of the lists, sweeps and recovery reads the index made for it, in its order',
  async (t) => {
    const db = migrated();
    const session = openSession({ db, clock: () => new Date(0) });
    let asked: string[] = [];
    const spy: Session = {
      ...session,
      statement(sql) {
        asked.push(sql);
        return session.statement(sql);
      },
    };
    const calling = calls(spy);
    const delivering = deliveries(spy);
    const page = { limit: 50, startingAfter: 'x' };
    const [org, time] = ['o', '2026-03-01T12:00:00.000Z'];
    const questions: [name: string, ask: () => Promise<unknown>, index: string][] = [
      ['calls', () => calling.listCalls(org, {}, page), 'calls_by_org'],
      ['calls after', () => calling.listCalls(org, { createdAfter: time }, page), 'calls_by_org'],
      ['calls before', () => calling.listCalls(org, { createdBefore: time }, page), 'calls_by_org'],
      ['calls by status', () => calling.listCalls(org, { status: 'busy' }, page), 'calls_by_status'],
      [
        'calls by direction',
        () => calling.listCalls(org, { direction: 'inbound' }, page),
        'calls_by_direction',
      ],
      ['calls by agent', () => calling.listCalls(org, { agentId: 'a' }, page), 'calls_by_agent'],
      ['calls by to', () => calling.listCalls(org, { toNumber: '+1' }, page), 'calls_by_to'],
      ['calls by from', () => calling.listCalls(org, { fromNumber: '+1' }, page), 'calls_by_from'],
      ['unfinished calls', () => calling.unfinishedCalls(), 'calls_unfinished'],
      ['pending results', () => calling.pendingResults(), 'calls_pending_result'],
      ['events', () => calling.listEvents('c'), 'sqlite_autoindex_events_2'],
      ['ledger', () => calling.listLedger(org), 'ledger_by_org'],
      ['transcript', () => transcript(spy).listTranscript('c'), 'transcript_items_in_speech_order'],
      ['turns', () => turns(spy).listTurns('c'), 'sqlite_autoindex_turns_2'],
      ['interruptions', () => turns(spy).listInterruptions('c'), 'interruptions_in_order'],
      ['due deliveries', () => delivering.dueDeliveries(time, 500), 'deliveries_pending'],
      ['deliveries', () => delivering.listDeliveries(org, {}, page), 'deliveries_by_org'],
      [
        'deliveries by endpoint',
        () => delivering.listDeliveries(org, { endpointId: 'e' }, page),
        'deliveries_by_endpoint',
      ],
      [
        'deliveries by call',
        () => delivering.listDeliveries(org, { callId: 'c' }, page),
        'deliveries_by_call',
      ],
      [
        'deliveries by type',
        () => delivering.listDeliveries(org, { eventType: 'call.busy' }, page),
        'deliveries_by_type',
      ],
      [
        'deliveries by status',
        () => delivering.listDeliveries(org, { status: 'pending' }, page),
        'deliveries_by_status',
      ],
      ['oldest number', () => numbers(spy).oldestActiveNumber(org), 'numbers_by_org'],
      ['numbers', () => numbers(spy).listNumbers(org, page), 'numbers_by_org'],
      ['agents', () => agents(spy).listAgents(org, {}, page), 'agents_by_org'],
      ['agents by type', () => agents(spy).listAgents(org, { type: 'inbound' }, page), 'agents_by_type'],
      ['endpoints', () => endpoints(spy).listEndpoints(org, page), 'endpoints_by_org'],
    ];
    for (const [name, ask, index] of questions) {
      asked = [];
      await ask();
      t.equal(asked.length, 1, name);
      const sql = asked[0] ?? '';
      const steps = db
        .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
        .all(
          ...sql
            .split('?')
            .slice(1)
            .map(() => null),
        )
        .map((step) => step.detail);
      t.match(steps[0], new RegExp(`USING (COVERING )?INDEX ${index}\\b`), name);
      t.notMatch(
        steps.join('; '),
        /USE TEMP B-TREE|SCAN (?!calls USING INDEX calls_|\(subquery)/,
        `${name}: nothing is sorted`,
      );
    }
    db.close();
  },
);
