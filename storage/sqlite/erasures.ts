// Erasures: what ../erasure-plan.ts says, carried out a call at a time, each in one transaction, so that one that is cut off goes
// on where it was. Files are deleted before, by whoever carries it out.
import { callView } from '../call-view.ts';
import { ERASURE_PLAN, GONE, NOW, OWN, type Rows } from '../erasure-plan.ts';
import type { ErasureRecord, SweptCall } from '../kept-records.ts';
import type { KeptVerbs } from '../kept-verbs.ts';
import { holdsErasure } from '../legal-hold.ts';
import { changeContact } from './campaign-attempts.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { LIVE } from './daemons.ts';
import { heldCall, holdsInForce } from './holds.ts';
import { ERASED_FILES, ERASURES } from './kept-rows.ts';
import { knownHash, numberHash } from './number-hashes.ts';
import { readPage } from './pages.ts';
import { CALLS, CONTACTS, type Row, type Value } from './rows.ts';
import { enterCall } from './search-index.ts';

type Verbs =
  | 'beginErasure'
  | 'getErasure'
  | 'listErasures'
  | 'listErasedFiles'
  | 'takeErasure'
  | 'nextToErase'
  | 'noteErasedFiles'
  | 'eraseCall'
  | 'eraseRest'
  | 'keptAnswers'
  | 'replaceAnswer'
  | 'advanceErasure';

/** Rows that one transaction deletes of a table at most. */
const DELETED_AT_ONCE = 200;
const ANSWERS_AT_ONCE = 50;
const NOT_SETTLED = `(${LIVE} OR (status = 'completed' AND result_status = 'pending'))`;

const SWEPT = 'id, org_id, created_at, recording_path';
export const sweptOf = (row: Row) => ({ ...row }) as unknown as SweptCall;

/** Whose rows: a call's or an organization's by its id, a number's within an organization. */
interface About {
  value: Value;
  /** Of a number. */
  number?: { orgId: string; hash: string };
}

/** The rows of a line of the plan, as a condition with its values. */
function rowsOf({ by, through, hashed, within }: Rows, { value, number }: About) {
  if (number === undefined) {
    const found =
      through === undefined
        ? '= @value'
        : `IN (SELECT id FROM ${through.table} WHERE ${through.by} = @value)`;
    return { where: `${by} ${found}`, given: { value } };
  }
  const own =
    within === undefined
      ? 'org_id = @org'
      : `${within.column} IN (SELECT id FROM ${within.table} WHERE org_id = @org)`;
  return {
    where: `${by} = @value AND ${own}`,
    given: { value: hashed === true ? number.hash : value, org: number.orgId },
  };
}

/** Carries out one line of the plan; `all`: with all rows that are to be deleted. @returns how many rows it was */
function erase(connection: Connection, table: string, rows: Rows, about: About, all = false): number {
  const { to } = rows;
  const { where, given } = rowsOf(rows, about);
  if (to === 'deleted') {
    const sql = `DELETE FROM ${table} WHERE ${where} LIMIT ${DELETED_AT_ONCE}`;
    for (let deleted = 0; ; ) {
      const { changes } = connection.statement(sql).run(given);
      deleted += changes;
      if (changes < DELETED_AT_ONCE || !all) return deleted;
    }
  }
  const values: Record<string, Value> = {};
  const set = Object.entries(to).map(([column, instead]) => {
    if (instead === OWN) return `${column} = '${GONE} ' || id`;
    values[`new_${column}`] = instead === NOW ? connection.now() : (instead as Value);
    return `${column} = @new_${column}`;
  });
  return connection
    .statement(`UPDATE ${table} SET ${set.join(', ')} WHERE ${where}`)
    .run({ ...given, ...values }).changes;
}

/**
 * All that stands of a call; its row stays, for what it counts. Within the caller's transaction.
 * @returns rows by table
 */
export function eraseCallRows(connection: Connection, callId: string): Record<string, number> {
  const { statement } = connection;
  const counts: Record<string, number> = {};
  // Nobody is sent it any more; an attempt that is under way finds that the delivery is not its own.
  statement(
    `UPDATE deliveries SET status = 'exhausted', last_error = 'erased', lease_until = NULL, lease_owner = NULL
     WHERE call_id = ? AND status = 'pending'`,
  ).run(callId);
  for (const [table, { call }] of Object.entries(ERASURE_PLAN)) {
    if (call !== undefined) counts[table] = erase(connection, table, call, { value: callId }, true);
  }
  const row = statement(`SELECT ${CALLS.selected} FROM calls WHERE id = ?`).get(callId);
  if (row !== undefined) {
    const body = JSON.stringify(callView(CALLS.fromRow(row)));
    statement('UPDATE events SET body = ? WHERE call_id = ?').run(body, callId);
    enterCall(connection, callId);
  }
  return counts;
}

/** Adds to what an erasure has erased. */
function count(connection: Connection, id: string, added: Record<string, number>): void {
  const row = connection.statement('SELECT counts FROM erasures WHERE id = ?').get(id);
  const counts = JSON.parse(String(row?.counts ?? '{}')) as Record<string, number>;
  for (const [name, rows] of Object.entries(added)) if (rows > 0) counts[name] = (counts[name] ?? 0) + rows;
  updateById(connection, ERASURES, id, { counts: JSON.stringify(counts) });
}

export function erasures(connection: Connection): Pick<KeptVerbs, Verbs> {
  const { statement, tryWrite, write, owner } = connection;

  function read(id: string): ErasureRecord | null {
    const row = statement(`SELECT ${ERASURES.selected} FROM erasures WHERE id = ?`).get(id);
    return row === undefined ? null : ERASURES.fromRow(row);
  }

  /** Of a person's calls, those that are not over. */
  function isOn({ org_id, subject, call_id, number }: Omit<ErasureRecord, 'number_hash'>): boolean {
    if (subject === 'call')
      return statement(`SELECT 1 FROM calls WHERE id = ? AND ${NOT_SETTLED}`).get(call_id) !== undefined;
    const of = { org: org_id, ...(subject === 'number' ? { number } : {}) };
    const [on, pending] = [
      `SELECT 1 FROM calls INDEXED BY calls_unfinished WHERE ${LIVE} AND org_id = @org`,
      `SELECT 1 FROM calls INDEXED BY calls_pending_result
       WHERE status = 'completed' AND result_status = 'pending' AND org_id = @org`,
    ].map((sql) => (subject === 'number' ? `${sql} AND @number IN (to_number, from_number)` : sql));
    return [on, pending].some((sql) => statement(`${sql} LIMIT 1`).get(of) !== undefined);
  }

  /** From here on nobody acts for it any more. */
  function closeOrganization(orgId: string): void {
    const now = connection.now();
    if (statement("SELECT 1 FROM numbers WHERE org_id = ? AND status = 'active' LIMIT 1").get(orgId))
      throw new Refusal('numbers_active');
    statement('UPDATE api_keys SET revoked_at = ? WHERE org_id = ? AND revoked_at IS NULL').run(now, orgId);
    for (const [sessions, of, people] of [
      ['dashboard_sessions', 'operator_id', 'operators'],
      ['user_sessions', 'user_id', 'users'],
    ])
      statement(`DELETE FROM ${sessions} WHERE ${of} IN (SELECT id FROM ${people} WHERE org_id = ?)`).run(
        orgId,
      );
    // A link that nobody has used makes no one new.
    statement('DELETE FROM invitations WHERE org_id = ?').run(orgId);
    statement(
      "UPDATE campaigns SET status = 'paused', at_work = 0, owner = NULL WHERE org_id = ? AND status = 'running'",
    ).run(orgId);
    statement('UPDATE users SET disabled_at = ? WHERE org_id = ? AND disabled_at IS NULL').run(now, orgId);
    statement('UPDATE agents SET archived_at = ? WHERE org_id = ? AND archived_at IS NULL').run(now, orgId);
    statement('UPDATE organizations SET erased_at = ? WHERE id = ?').run(now, orgId);
  }

  /** Who waits to be called by a campaign is called no more. */
  function skipContacts(orgId: string, number: string): void {
    const rows = statement(
      `SELECT ${CONTACTS.selected} FROM campaign_contacts
       WHERE campaign_id IN (SELECT id FROM campaigns WHERE org_id = ?) AND to_number = ? AND status = 'waiting'`,
    ).all(orgId, number);
    for (const contact of rows.map(CONTACTS.fromRow))
      changeContact(connection, contact, { status: 'skipped', outcome: 'skipped' });
  }

  /** The statement of the next call, by the index that its subject has. */
  function nextCall(
    { subject, org_id, call_id, number, created_at }: ErasureRecord,
    after: Row | undefined,
  ): Row | undefined {
    if (subject === 'call') {
      return statement(`SELECT ${SWEPT} FROM calls WHERE id = ? AND erased_at IS NULL`).get(call_id);
    }
    if (subject === 'organization') {
      return statement(
        `SELECT ${SWEPT} FROM calls INDEXED BY calls_by_org WHERE org_id = @org AND (created_at, seq) > (@at, @seq)
         AND erased_at IS NULL AND NOT ${NOT_SETTLED} ORDER BY created_at, seq LIMIT 1`,
      ).get({ org: org_id, at: after?.created_at ?? '', seq: after?.seq ?? 0 });
    }
    // What is erased has this number no more. A call that was made meanwhile is not of it.
    const of = { org: org_id, number, until: created_at };
    const [to, from] = [
      `SELECT ${SWEPT} FROM calls INDEXED BY calls_by_to
       WHERE org_id = @org AND to_number = @number AND direction = 'outbound' AND created_at <= @until LIMIT 1`,
      `SELECT ${SWEPT} FROM calls INDEXED BY calls_by_from
       WHERE org_id = @org AND from_number = @number AND direction = 'inbound' AND created_at <= @until LIMIT 1`,
    ] as const;
    return statement(to).get(of) ?? statement(from).get(of);
  }

  return {
    async beginErasure(given) {
      return tryWrite(() => {
        const { org_id, subject, call_id, number } = given;
        const call = (id: string) => heldCall(connection, org_id, id);
        if (subject === 'call' && (call_id === null || call(call_id) === null))
          throw new Refusal('not_found');
        if (holdsInForce(connection, org_id).some((hold) => holdsErasure(hold, given, call)))
          throw new Refusal('legal_hold');
        if (isOn(given)) throw new Refusal('call_live');
        if (subject === 'organization') closeOrganization(org_id);
        const erasure = {
          ...given,
          number_hash: number === null ? null : numberHash(connection, org_id, number),
        };
        statement(ERASURES.insert).run(ERASURES.toRow(erasure));
        updateById(connection, ERASURES, erasure.id, { owner });
        return erasure;
      });
    },

    async getErasure(orgId, id) {
      const erasure = read(id);
      return orgId === null || erasure?.org_id === orgId ? erasure : null;
    },

    async listErasures(orgId, { number }, page) {
      if (number === undefined) {
        const o = { time: null, orgId, where: [], page, index: 'erasures_by_org' };
        return (await readPage(connection, ERASURES, o)).map(ERASURES.fromRow);
      }
      const known = knownHash(connection, orgId, number);
      if (known === null) return [];
      const where = [{ sql: 'erasures.number_hash = ?', value: known }];
      const o = { time: null, orgId, where, page, index: 'erasures_by_number' };
      return (await readPage(connection, ERASURES, o)).map(ERASURES.fromRow);
    },

    async listErasedFiles(id) {
      const rows = statement(
        `SELECT ${ERASED_FILES.selected} FROM erased_files WHERE erasure_id = ? ORDER BY path`,
      ).all(id);
      return rows.map(ERASED_FILES.fromRow);
    },

    async takeErasure() {
      return write(() => {
        const row = statement(
          `SELECT ${ERASURES.selected} FROM erasures INDEXED BY erasures_under_way
           JOIN daemons ON daemons.epoch = erasures.owner
           WHERE erasures.state <> 'done'
             AND (erasures.owner = @owner OR daemons.ended_at IS NOT NULL OR daemons.heir IS NOT NULL)
           ORDER BY erasures.seq LIMIT 1`,
        ).get({ owner });
        if (row === undefined) return null;
        const erasure = ERASURES.fromRow(row);
        updateById(connection, ERASURES, erasure.id, { owner });
        return erasure;
      });
    },

    async nextToErase(id, after) {
      const erasure = read(id);
      if (erasure === null) return null;
      const last =
        after === null ? undefined : statement('SELECT created_at, seq FROM calls WHERE id = ?').get(after);
      const row = nextCall(erasure, last);
      return row === undefined ? null : sweptOf(row);
    },

    async noteErasedFiles(id, files) {
      if (files.length === 0) return;
      await write(() => {
        let bytes = 0;
        let noted = 0;
        for (const file of files) {
          const { changes } = statement(
            'INSERT INTO erased_files (erasure_id, path, bytes, sha256) VALUES (@id, @path, @bytes, @sha256) ON CONFLICT DO NOTHING',
          ).run({ id, ...file });
          noted += changes;
          bytes += changes * file.bytes;
        }
        count(connection, id, { files: noted, file_bytes: bytes });
      });
    },

    async eraseCall(id, callId) {
      await write(() => count(connection, id, eraseCallRows(connection, callId)), { alone: true });
    },

    async eraseRest(id) {
      return write(
        () => {
          const erasure = read(id);
          if (erasure === null || erasure.subject === 'call') return false;
          const { org_id, number, number_hash } = erasure;
          const about: About =
            number === null || number_hash === null
              ? { value: org_id }
              : { value: number, number: { orgId: org_id, hash: number_hash } };
          if (number !== null) skipContacts(org_id, number);
          const counts: Record<string, number> = {};
          let more = false;
          for (const [table, plan] of Object.entries(ERASURE_PLAN)) {
            const rows = number === null ? plan.organization : plan.number;
            if (rows === undefined) continue;
            counts[table] = erase(connection, table, rows, about);
            // What refers to these rows comes before them, and is gone when they are.
            more = rows.to === 'deleted' && counts[table] === DELETED_AT_ONCE;
            if (more) break;
          }
          count(connection, id, counts);
          return more;
        },
        { alone: true },
      );
    },

    async keptAnswers(orgId, after) {
      const rows = await connection.read(
        `SELECT key, body FROM idempotency_keys WHERE org_id = ? AND key > ? AND state = 'done' AND status <> 102 AND body <> ''
         ORDER BY key LIMIT ${ANSWERS_AT_ONCE}`,
        [orgId, after ?? ''],
      );
      return rows.map(({ key, body }) => ({ key: String(key), body: String(body) }));
    },

    async replaceAnswer(id, { orgId, key, status, body }) {
      await write(() => {
        const { changes } = statement(
          "UPDATE idempotency_keys SET status = ?, body = ? WHERE org_id = ? AND key = ? AND state = 'done'",
        ).run(status, body, orgId, key);
        count(connection, id, { kept_answers: changes });
      });
    },

    async advanceErasure(id, change) {
      await write(() => {
        const now = connection.now();
        const done = change.state === 'done' ? { done_at: now, backups: JSON.stringify(change.backups) } : {};
        updateById(connection, ERASURES, id, { number: null, state: change.state, ...done });
      });
    },
  };
}
