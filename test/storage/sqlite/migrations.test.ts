// The schema: a column for every field of every record, and what its steps make of rows that are there.
import Database from 'better-sqlite3';
import t from 'tap';
import type { CallRecord } from '../../../storage/records.ts';
import { openConnection } from '../../../storage/sqlite/connection.ts';
import * as keptRows from '../../../storage/sqlite/kept-rows.ts';
import { MIGRATIONS } from '../../../storage/sqlite/migrations.ts';
import { countCall } from '../../../storage/sqlite/overview.ts';
import * as rows from '../../../storage/sqlite/rows.ts';
import { CALLS, TRANSCRIPT_ITEMS } from '../../../storage/sqlite/rows.ts';
import { SteadyClock } from '../../../storage/sqlite/steady-clock.ts';
import { makeCall, makeItem } from '../makers.ts';

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

t.test('the ledger of each organization is summed up', (t) => {
  const db = new Database(':memory:');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'sums of the ledger');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  for (const id of ['a', 'b', 'none']) {
    db.prepare(
      `INSERT INTO organizations (id, name, webhook_secret, created_at) VALUES (?, ?, 's', 't')`,
    ).run(id, id);
  }
  const book = db.prepare(
    `INSERT INTO ledger (id, org_id, kind, amount_milli_cents, created_at) VALUES (?, ?, 'credit', ?, 't')`,
  );
  for (const [org, amount] of [
    ['a', 700],
    ['b', 5],
    ['a', -30],
    ['a', -1000],
  ] as const)
    book.run(`${org}${amount}`, org, amount);
  for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
  t.same(db.prepare('SELECT id, ledger_milli_cents AS sum FROM organizations ORDER BY id').all(), [
    { id: 'a', sum: -330 },
    { id: 'b', sum: 5 },
    { id: 'none', sum: 0 },
  ]);
  db.close();
  t.end();
});

/** Stores a call with the columns that calls had at the step a database has come to. */
function insertCall(db: Database.Database, call: CallRecord): void {
  const row = CALLS.toRow(call);
  const columns = (db.pragma('table_info(calls)') as { name: string }[]).flatMap(({ name }) =>
    name in row ? [name] : [],
  );
  const values = columns.map((name) => `@${name}`).join(', ');
  db.prepare(`INSERT INTO calls (${columns.join(', ')}) VALUES (${values})`).run(row);
}

t.test('agents and calls from before they could be tuned take turns as normal does', (t) => {
  const db = new Database(':memory:');
  db.pragma('foreign_keys = OFF');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'tuning');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  insertCall(db, makeCall('o', { id: 'before' }));
  db.exec(`INSERT INTO agents (id, org_id, user_id, name, type, voice, returns, voicemail_action, created_at, updated_at)
    VALUES ('a', 'o', 'u', 'n', 'inbound', 'marin', '{}', 'hangup', 't', 't')`);
  for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
  for (const table of ['agents', 'calls']) {
    t.same(db.prepare(`SELECT patience, eagerness, interruption FROM ${table}`).all(), [
      { patience: 'normal', eagerness: 'normal', interruption: 'normal' },
    ]);
  }
  db.close();
  t.end();
});

t.test('what is under way when owners are first written down is that of a run that is over', (t) => {
  const db = new Database(':memory:');
  db.pragma('foreign_keys = OFF');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'owners');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  for (const fields of [
    { id: 'live', status: 'in_progress' },
    { id: 'unsettled', status: 'completed', result_status: 'pending' },
    { id: 'settled', status: 'completed', result_status: 'completed' },
  ] as const) {
    insertCall(db, makeCall('o', fields));
  }
  db.exec(`INSERT INTO deliveries (id, org_id, event_id, event_type, url, status, attempt_count, manual_retry_count,
      next_attempt_at, created_at, updated_at, lease_until) VALUES ('d', 'o', 'e', 'call.busy', 'u', 'pending', 0, 0, 't', 't', 't', 't');
    INSERT INTO idempotency_keys (org_id, key, request_hash, state, begun_at, created_at) VALUES
      ('o', 'running', 'h', 'in_progress', 't', 't'), ('o', 'answered', 'h', 'done', 't', 't')`);
  for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
  t.same(db.prepare('SELECT id, owner FROM calls ORDER BY seq').all(), [
    { id: 'live', owner: 1 },
    { id: 'unsettled', owner: 1 },
    { id: 'settled', owner: null },
  ]);
  t.same(db.prepare('SELECT epoch, heir FROM daemons WHERE ended_at IS NOT NULL').all(), [
    { epoch: 1, heir: null },
  ]);
  t.same(db.prepare('SELECT lease_until FROM deliveries').pluck().all(), [null]);
  t.same(db.prepare('SELECT key FROM idempotency_keys').pluck().all(), ['answered']);
  db.close();
  t.end();
});

t.test('numbers of before are where they were bought', (t) => {
  const db = new Database(':memory:');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'carrier of a number');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  db.prepare(
    `INSERT INTO organizations (id, name, webhook_secret, created_at) VALUES ('a', 'a', 's', 't')`,
  ).run();
  db.prepare(
    `INSERT INTO numbers (id, org_id, e164, friendly_name, country_code, number_type, status, monthly_cost_cents,
       purchased_at, carrier_number_id) VALUES ('n', 'a', '+14155550100', '', 'US', 'local', 'active', 115, 't', 'PN1')`,
  ).run();
  for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
  t.same(db.prepare('SELECT carrier, carrier_number_id FROM numbers').all(), [
    { carrier: 'twilio', carrier_number_id: 'PN1' },
  ]);
  db.close();
  t.end();
});

t.test('what waits when times become steady is due when it was, however the clock was set before', (t) => {
  const step = MIGRATIONS.findIndex(({ name }) => name === 'steady times');
  for (const [noted, ahead] of [
    [null, 0],
    ['3600000', 0],
  ] as const) {
    const db = new Database(':memory:');
    for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
    if (noted !== null) db.prepare("INSERT INTO notes VALUES ('times_moved_ms', ?)").run(noted);
    for (const { sql } of MIGRATIONS.slice(step)) db.exec(sql);
    const clock = new SteadyClock(db);
    t.equal(clock.aheadMs(), ahead);
    t.equal(clock.note(clock.set(60_000)), 60_000);
    t.equal(new SteadyClock(db).aheadMs(), 60_000, 'and after the next start');
    db.close();
  }
  t.end();
});

t.test('calls of before are telephone calls unless they came from a page', (t) => {
  const db = new Database(':memory:');
  db.pragma('foreign_keys = OFF');
  const step = MIGRATIONS.findIndex(({ name }) => name === 'telephone calls');
  for (const { sql } of MIGRATIONS.slice(0, step)) db.exec(sql);
  db.exec(
    `INSERT INTO organizations (id, name, webhook_secret, created_at) VALUES ('o', 'n', 'w', '2026-03-01T12:00:00.000Z')`,
  );
  for (const fields of [
    { id: 'phoned', carrier: 'twilio' },
    { id: 'tried', carrier: 'browser' },
  ]) {
    insertCall(db, makeCall('o', fields));
  }
  for (const { sql } of MIGRATIONS.slice(step, step + 1)) db.exec(sql);
  t.same(db.prepare('SELECT id, telephone FROM calls ORDER BY seq').all(), [
    { id: 'phoned', telephone: 1 },
    { id: 'tried', telephone: 0 },
  ]);
  db.exec(`UPDATE calls SET status = 'failed'`);
  t.match(db.prepare('SELECT calls, failed FROM call_hours').get(), { calls: 1, failed: 1 });
  db.close();
  t.end();
});

t.test('a step that is said only to add does, and in a moment; one that fills takes nothing away', (t) => {
  const columns = /^ALTER TABLE \w+ ADD COLUMN (?!.*\bUNIQUE\b)/;
  const table = /^CREATE TABLE (\w+)/;
  const index = /^CREATE INDEX \w+ ON (\w+)/;
  for (const { name, sql, kind } of MIGRATIONS) {
    if (kind === undefined) continue;
    const statements = sql
      .replaceAll(/^\s*--.*$/gm, '')
      .split(';')
      .map((one) => one.trim())
      .filter((one) => one !== '');
    const own = new Set(statements.map((one) => table.exec(one)?.[1]));
    for (const one of statements) {
      const of = index.exec(one)?.[1] ?? '';
      const adds = columns.test(one) || table.test(one) || own.has(of);
      const fills = of !== '' || /^(INSERT INTO|UPDATE) \w+/.test(one);
      t.ok(adds || (kind === 'fills' && fills), `${name}: ${one.slice(0, 60)}`);
    }
  }
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
    organizations: ['ledger_milli_cents', 'erased_at'],
    erasures: ['owner'],
    erased_files: ['erasure_id'],
    calls: ['cost_milli_cents', 'owner'],
    endpoints: ['deleted_at'],
    deliveries: ['lease_until', 'lease_owner'],
    daemons: ['life', 'heir'],
    campaigns: ['owner'],
    campaign_tallies: ['campaign_id'],
  };
  const tables = Object.values({ ...rows, ...keptRows }).filter((value) => typeof value === 'object');
  t.ok(tables.length >= 20);
  for (const table of tables) {
    const columns = (db.pragma(`table_info(${table.name})`) as { name: string }[]).map(
      (column) => column.name,
    );
    // A daemon's epoch is the order of insertion itself.
    const order = table.name === 'daemons' ? [] : ['seq'];
    t.strictSame(columns.sort(), [...order, ...table.columns, ...(own[table.name] ?? [])].sort(), table.name);
  }
  db.close();
  t.end();
});

const PART = { name: 'x', milli_cents: 7, used: {} };
const PARTS = { model: PART, transcription: PART, extraction: PART, carrier: PART };
const COST: CallRecord['cost'] = { estimate: true, total_milli_cents: 7, ...PARTS, as_of: '2026-01-01' };

t.test('calls that are there are counted by the hour and entered to be found, as new ones are', (t) => {
  const step = MIGRATIONS.findIndex(({ name }) => name === 'words of calls');
  const fill = (db: Database.Database) => {
    db.pragma('foreign_keys = OFF');
    db.exec(
      `INSERT INTO organizations (id, name, webhook_secret, created_at) VALUES ('o', 'n', 'w', '2026-03-01T12:00:00.000Z')`,
    );
    const call = makeCall('o', { carrier_call_id: null, created_at: '2026-03-01T12:00:00.000Z' });
    const calls: CallRecord[] = [];
    for (const fields of [
      { id: 'live' },
      { id: 'done', status: 'completed', answered_at: call.created_at, billed_duration_seconds: 60 },
      { id: 'broken', status: 'failed', error_code: 'model_error', direction: 'inbound' },
      { id: 'tried', status: 'failed', carrier: 'browser', telephone: false },
    ] as const) {
      insertCall(db, { ...call, ...fields });
      calls.push({ ...call, ...fields, cost: COST });
      db.prepare('UPDATE calls SET cost_milli_cents = 7 WHERE id = ?').run(fields.id);
    }
    db.prepare(TRANSCRIPT_ITEMS.insert).run(TRANSCRIPT_ITEMS.toRow(makeItem('done', { text: 'My glasses' })));
    return calls;
  };
  const before = new Database(':memory:');
  for (const { sql } of MIGRATIONS.slice(0, step)) before.exec(sql);
  fill(before);
  for (const { sql } of MIGRATIONS.slice(step)) before.exec(sql);
  const after = migrated();
  const connection = openConnection({ db: after, owner: 1, clock: () => new Date(0) });
  for (const call of fill(after)) countCall(connection, null, call);
  after.exec(
    "INSERT INTO call_words (rowid, facts, numbers, words) SELECT seq, facts, numbers, words FROM call_documents WHERE status IN ('completed', 'failed')",
  );
  for (const sql of [
    'SELECT * FROM call_hours',
    'SELECT * FROM failure_hours',
    `SELECT rowid FROM call_words WHERE call_words MATCH 'words : ("glas" *)'`,
    `SELECT rowid FROM call_words WHERE call_words MATCH 'numbers : ("n415") AND facts : ("o1" AND "inbound")'`,
  ]) {
    const found = before.prepare(sql).all();
    t.ok(found.length > 0, sql);
    t.strictSame(found, after.prepare(sql).all(), sql);
  }
  t.match(before.prepare('SELECT * FROM call_hours').get(), {
    calls: 3,
    inbound: 1,
    ended: 2,
    completed: 1,
    failed: 1,
    talk_seconds: 60,
    cost_milli_cents: 28,
    costs_known: 4,
  });
  before.close();
  after.close();
  t.end();
});
