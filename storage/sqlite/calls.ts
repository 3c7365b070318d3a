// Calls: each change is one transaction of the row, its events with their deliveries, and its money.
import { changedCall, isTerminal } from '../call-change.ts';
import { beforePublishing } from '../event-receivers.ts';
import { CALL_STATUSES, type CallRecord, DIRECTIONS } from '../records.ts';
import type { CallChange, CallFilters, CallSums, Conflict, Store } from '../store.ts';
import { beginAttempt, endAttempt } from './campaign-attempts.ts';
import { accepted, type Connection, Refusal, updateById } from './connection.ts';
import { LIVE, refuseOthers } from './daemons.ts';
import { post } from './ledger.ts';
import type { OutboundGate } from './outbound-gate.ts';
import { publish } from './outbox.ts';
import { countCall } from './overview.ts';
import { type PageOptions, readPage, type Where } from './pages.ts';
import { CALLS, changedColumns, EVENTS, LEDGER, type Row } from './rows.ts';
import { searchCalls } from './search.ts';
import { enterCall } from './search-index.ts';
import type { News } from './subscribers.ts';

type Verbs =
  | 'createCall'
  | 'getCall'
  | 'findCall'
  | 'findCallByCarrierId'
  | 'listCalls'
  | 'sumCalls'
  | 'unfinishedCalls'
  | 'saveCall'
  | 'listEvents'
  | 'listOrgEvents'
  | 'eventsAfter'
  | 'getEvent'
  | 'listLedger';

/** UNIQUE (call_id, sequence). */
const EVENTS_OF_CALL = 'sqlite_autoindex_events_2';

function storedTime(time: string | undefined): string | undefined {
  return time === undefined ? undefined : new Date(time).toISOString();
}

/** The index of a list of calls: by whom they were with where that is asked, the fewest first; else by how they stand. */
function callIndex(filters: CallFilters): Pick<PageOptions, 'index' | 'arms'> {
  const arms = [
    { column: 'direction', values: filters.direction === undefined ? DIRECTIONS : [filters.direction] },
    { column: 'status', values: filters.status === undefined ? CALL_STATUSES : [filters.status] },
  ];
  if (filters.toNumber !== undefined) return { index: 'calls_by_to', arms };
  if (filters.fromNumber !== undefined) return { index: 'calls_by_from', arms };
  if (filters.agentId !== undefined) return { index: 'calls_by_agent', arms };
  const any = filters.direction === undefined && filters.status === undefined;
  return any ? { index: 'calls_by_org' } : { index: 'calls_by_state', arms };
}

/** Times are compared as text, so a client's take the stored form first. */
const timed = <F extends CallFilters>(given: F): F => ({
  ...given,
  createdAfter: storedTime(given.createdAfter),
  createdBefore: storedTime(given.createdBefore),
});

/** How a list of calls is read, without a search. */
function listOf(given: CallFilters): Pick<PageOptions, 'time' | 'where' | 'index' | 'arms'> {
  const filters = timed(given);
  const where: Where[] = [
    { sql: 'calls.agent_id = ?', value: filters.agentId },
    { sql: 'calls.to_number = ?', value: filters.toNumber },
    { sql: 'calls.from_number = ?', value: filters.fromNumber },
    { sql: 'calls.created_at > ?', value: filters.createdAfter },
    { sql: 'calls.created_at < ?', value: filters.createdBefore },
  ];
  return { time: 'created_at', where, ...callIndex(filters) };
}

/** Few and small columns, so that a thousand calls are read at once. */
const ADDED_UP = `calls.telephone, calls.status, calls.billed_duration_seconds AS seconds,
  calls.billing_amount_milli_cents AS billed, json_extract(calls.cost, '$.total_milli_cents') AS cost`;

function sumsOf(rows: readonly Row[], limit: number): CallSums {
  const sums: CallSums = {
    calls: 0,
    completed: 0,
    talkSeconds: 0,
    billedMilliCents: 0,
    costMilliCents: null,
    more: rows.length > limit,
  };
  for (const { telephone, status, seconds, billed, cost } of rows.slice(0, limit)) {
    if (telephone === 1) sums.calls++;
    if (telephone === 1 && status === 'completed') sums.completed++;
    sums.talkSeconds += Number(seconds ?? 0);
    sums.billedMilliCents += Number(billed ?? 0);
    if (cost !== null) sums.costMilliCents = (sums.costMilliCents ?? 0) + Number(cost);
  }
  return sums;
}

export function calls(connection: Connection, gate: OutboundGate): Pick<Store, Verbs> {
  const { statement, tryWrite, tryWriteFact, kept } = connection;
  /** Calls as they are, of which a change is kept in memory and not stored. */
  const ahead = new Map<string, CallRecord>();

  function readStored(id: string): CallRecord | null {
    const row = statement(`SELECT ${CALLS.selected} FROM calls WHERE id = ?`).get(id);
    return row ? CALLS.fromRow(row) : null;
  }

  function readAhead(id: string): CallRecord | null {
    if (ahead.size === 0) return null;
    for (const other of ahead.keys()) if (!kept.has(other)) ahead.delete(other);
    return ahead.get(id) ?? null;
  }

  function read(id: string): CallRecord | null {
    return readAhead(id) ?? readStored(id);
  }

  function save(news: News, id: string, change: CallChange): CallRecord {
    const { events = [], ledger = [] } = change;
    const found = readStored(id);
    if (!found) throw new Refusal('not_found');
    refuseOthers(connection, id);
    let call = accepted(changedCall(found, change, connection.now()));
    for (const entry of ledger) call = post(connection, call, entry);
    checkCarrierId(call);
    updateById(connection, CALLS, id, differences(found, call));
    countCall(connection, found, call);
    publish(connection, news, call, events);
    if (isTerminal(call.status) && call.status !== found.status) {
      enterCall(connection, id);
      endAttempt(connection, call);
    }
    return call;
  }

  /** The call as it is from now on, stored or not; its money is worked out when it is stored. */
  function goAhead(id: string, change: CallChange): CallRecord {
    const found = read(id);
    if (!found) throw new Refusal('not_found');
    refuseOthers(connection, id);
    const call = accepted(changedCall(found, change, connection.now()));
    checkCarrierId(call);
    ahead.set(id, call);
    return call;
  }

  /** @throws Refusal carrier_call_exists: hooks come twice, and two calls must not share a carrier's call */
  function checkCarrierId(call: CallRecord): void {
    if (call.carrier_call_id === null) return;
    const other = statement('SELECT id FROM calls WHERE carrier = ? AND carrier_call_id = ?').get(
      call.carrier,
      call.carrier_call_id,
    );
    if (other && other.id !== call.id) throw new Refusal('carrier_call_exists');
  }

  return {
    async createCall(given, { events, reserve, by, override }) {
      return tryWrite((news): CallRecord | Conflict => {
        if (read(given.id)) throw new Refusal('call_exists');
        // The only way to an outbound row: what the gate refuses is never there to be dialled.
        const passed =
          given.direction === 'outbound' && given.telephone ? gate.pass(given, { by, override }) : null;
        // Not thrown: that it was refused is written down.
        if (passed !== null && 'refusal' in passed) return { conflict: 'refused', refusal: passed.refusal };
        const fresh = {
          ...given,
          updated_at: connection.now(),
          reserved_milli_cents: 0,
          gate: passed?.allowed ?? null,
        };
        const before = beforePublishing(fresh, events);
        checkCarrierId(before);
        beginAttempt(connection, before);
        statement(CALLS.insert).run(CALLS.toRow(before));
        // 0 - reserve, because -0 is not an integer to SQLite.
        const call = post(connection, before, { kind: 'reserve', amountMilliCents: 0 - reserve });
        updateById(connection, CALLS, call.id, {
          reserved_milli_cents: call.reserved_milli_cents,
          owner: connection.owner,
        });
        countCall(connection, null, call);
        publish(connection, news, call, events);
        if (isTerminal(call.status)) enterCall(connection, call.id);
        return call;
      });
    },

    async getCall(orgId, id) {
      const call = read(id);
      return call?.org_id === orgId ? call : null;
    },

    async findCall(id) {
      return read(id);
    },

    async findCallByCarrierId(carrier, carrierCallId) {
      for (const call of ahead.values()) {
        if (call.carrier === carrier && call.carrier_call_id === carrierCallId && kept.has(call.id))
          return call;
      }
      const row = statement(
        `SELECT ${CALLS.selected} FROM calls WHERE carrier = ? AND carrier_call_id = ?`,
      ).get(carrier, carrierCallId);
      return row ? read(String(row.id)) : null;
    },

    async listCalls(orgId, given, page) {
      const filters = timed(given);
      const { search } = filters;
      if (search !== undefined) {
        return (await searchCalls(connection, orgId, { ...filters, search }, page)).map(CALLS.fromRow);
      }
      return (await readPage(connection, CALLS, { orgId, page, ...listOf(given) })).map(CALLS.fromRow);
    },

    async sumCalls(orgId, filters, limit) {
      const page = { limit: limit + 1 };
      const rows = await readPage(connection, CALLS, { orgId, page, selected: ADDED_UP, ...listOf(filters) });
      return sumsOf(rows, limit);
    },

    async unfinishedCalls() {
      const rows = statement(
        `/* sorts: the calls that are on */ SELECT ${CALLS.selected} FROM calls INDEXED BY calls_unfinished
         WHERE ${LIVE} ORDER BY created_at, seq`,
      ).all();
      return rows.map(CALLS.fromRow);
    },

    async saveCall(id, change, patience) {
      // More credit is asked for; everything else has happened.
      if (change.ledger?.some(({ kind }) => kind === 'top_up')) {
        return tryWrite((news) => save(news, id, change), patience);
      }
      return tryWriteFact(
        {
          callId: id,
          work: (news) => save(news, id, change),
          meanwhile: () => goAhead(id, change),
        },
        patience,
      );
    },

    async listEvents(callId) {
      const rows = statement(`SELECT ${EVENTS.selected} FROM events WHERE call_id = ? ORDER BY sequence`).all(
        callId,
      );
      return rows.map(EVENTS.fromRow);
    },

    async listOrgEvents(orgId, { callId, type }, page) {
      const where = [
        { sql: 'events.call_id = ?', value: callId },
        { sql: 'events.type = ?', value: type },
      ];
      const by =
        callId !== undefined
          ? { index: EVENTS_OF_CALL, sorts: 'the events of one call' }
          : { index: type === undefined ? 'events_by_org' : 'events_by_type' };
      const rows = await readPage(connection, EVENTS, { time: null, orgId, where, page, ...by });
      return rows.map(EVENTS.fromRow);
    },

    async eventsAfter(orgId, after, limit) {
      const from =
        after === null
          ? { seq: 0 }
          : statement('SELECT seq FROM events WHERE id = ? AND org_id = ?').get(after, orgId);
      if (from === undefined) return null;
      const rows = await connection.read(
        `SELECT ${EVENTS.selected} FROM events INDEXED BY events_by_org
         WHERE org_id = ? AND seq > ? ORDER BY seq LIMIT ?`,
        [orgId, Number(from.seq), limit],
      );
      return rows.map(EVENTS.fromRow);
    },

    async getEvent(orgId, id) {
      const row = statement(`SELECT ${EVENTS.selected} FROM events WHERE id = ? AND org_id = ?`).get(
        id,
        orgId,
      );
      return row === undefined ? null : EVENTS.fromRow(row);
    },

    async listLedger(orgId, callId) {
      const rows =
        callId === undefined
          ? statement(`SELECT ${LEDGER.selected} FROM ledger WHERE org_id = ? ORDER BY seq`).all(orgId)
          : statement(
              `SELECT ${LEDGER.selected} FROM ledger WHERE org_id = ? AND call_id = ? ORDER BY seq`,
            ).all(orgId, callId);
      return rows.map(LEDGER.fromRow);
    },
  };

  function differences(before: CallRecord, after: CallRecord): Row {
    // What is the same value needs not be made a row of: most of a call are texts that never change.
    const fields = CALLS.columns.filter((column) => before[column] !== after[column]);
    return changedColumns(CALLS.toRow(before, fields), CALLS.toRow(after, fields));
  }
}
