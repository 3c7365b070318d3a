// Numbers that an organization does not call any more.
import { v7 as uuid } from 'uuid';
import type { DoNotCallRecord, NewDoNotCall } from '../outbound/outbound-records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { knownHash, numberHash } from './number-hashes.ts';
import { DO_NOT_CALL } from './outbound-rows.ts';
import { readPage } from './pages.ts';

type Verbs = 'addDoNotCall' | 'isDoNotCall' | 'getDoNotCall' | 'listDoNotCall' | 'removeDoNotCall';

/** The entry of a number, as it is stored. */
export function findDoNotCall(connection: Connection, orgId: string, e164: string): DoNotCallRecord | null {
  const known = knownHash(connection, orgId, e164);
  if (known === null) return null;
  const row = connection
    .statement(`SELECT ${DO_NOT_CALL.selected} FROM do_not_call WHERE org_id = ? AND number_hash = ?`)
    .get(orgId, known);
  return row === undefined ? null : DO_NOT_CALL.fromRow(row);
}

export function doNotCall(connection: Connection): Pick<Store, Verbs> {
  const { statement, write, writeFact } = connection;

  function made(orgId: string, entry: NewDoNotCall, number_hash: string): DoNotCallRecord {
    return {
      id: uuid(),
      org_id: orgId,
      number_hash,
      number: entry.number,
      last4: entry.number.slice(-4),
      reason: entry.reason ?? null,
      source: entry.source,
      call_id: entry.call_id ?? null,
      item_id: entry.item_id ?? null,
      at_ms: entry.at_ms ?? null,
      created_by: entry.created_by ?? null,
      created_at: connection.now(),
    };
  }

  function add(orgId: string, entry: NewDoNotCall): DoNotCallRecord {
    const found = findDoNotCall(connection, orgId, entry.number);
    if (found !== null) {
      if (found.number !== null) return found;
      // Erased before, and given again.
      statement('UPDATE do_not_call SET number = ? WHERE id = ?').run(entry.number, found.id);
      return { ...found, number: entry.number };
    }
    const record = made(orgId, entry, numberHash(connection, orgId, entry.number));
    statement(DO_NOT_CALL.insert).run(DO_NOT_CALL.toRow(record));
    return record;
  }

  return {
    async addDoNotCall(orgId, entries) {
      return writeFact({
        callId: entries.length === 1 ? (entries[0]?.call_id ?? null) : null,
        work: () => entries.map((entry) => add(orgId, entry)),
        meanwhile: () =>
          entries.map((entry) => findDoNotCall(connection, orgId, entry.number) ?? made(orgId, entry, '')),
      });
    },

    async isDoNotCall(orgId, e164) {
      return findDoNotCall(connection, orgId, e164) !== null;
    },

    async getDoNotCall(orgId, id) {
      const row = statement(
        `SELECT ${DO_NOT_CALL.selected} FROM do_not_call WHERE id = ? AND org_id = ?`,
      ).get(id, orgId);
      return row === undefined ? null : DO_NOT_CALL.fromRow(row);
    },

    async listDoNotCall(orgId, { number }, page) {
      if (number !== undefined) {
        const found = findDoNotCall(connection, orgId, number);
        return found === null || page.startingAfter !== undefined ? [] : [found];
      }
      const o = { time: 'created_at', orgId, where: [], page, index: 'do_not_call_by_org' };
      return (await readPage(connection, DO_NOT_CALL, o)).map(DO_NOT_CALL.fromRow);
    },

    async removeDoNotCall(orgId, id) {
      return write(
        () => statement('DELETE FROM do_not_call WHERE id = ? AND org_id = ?').run(id, orgId).changes === 1,
      );
    },
  };
}
