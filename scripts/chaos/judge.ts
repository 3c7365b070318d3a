// What must be true after a campaign, whatever was killed: read from the daemon's database, the receiver's ledger, the
// carrier's own list of calls and what customers were told. Reads only; the database's tables are named here as they are.
import Database from 'better-sqlite3';
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Dispatched } from './customers.ts';
import { type Delivered, hashOf } from './receiver.ts';

export interface Check {
  name: string;
  /** What was counted. */
  value: number | string;
  violations: string[];
}

export interface Evidence {
  databasePath: string;
  ledger: ReadonlyMap<string, Delivered>;
  /** Addresses that every event goes to. */
  paths: readonly string[];
  carrierCalls: readonly CallReport[];
  dispatched: readonly Dispatched[];
  complaints: readonly string[];
  /** When the daemon died, by performance.now(). */
  deathsMs: readonly number[];
}

const TERMINAL: Record<string, string> = {
  completed: 'call.completed',
  failed: 'call.failed',
  no_answer: 'call.no_answer',
  busy: 'call.busy',
  canceled: 'call.canceled',
};
const TERMINAL_EVENTS = new Set(Object.values(TERMINAL));
/** A response that was written before a death may be noted a little after it. */
const DEATH_SLACK_MS = 250;
/** Both round up, and a call that we end is counted by our own clock. */
const BILLED_SLACK_SECONDS = 2;

interface CallRow {
  id: string;
  status: string;
  direction: string;
  metadata: string;
  result_status: string;
  reservation_status: string;
  reserved_milli_cents: number;
  billing_amount_milli_cents: number | null;
  billed_duration_seconds: number | null;
  answered_at: string | null;
  carrier_call_id: string | null;
}
interface EventRow {
  id: string;
  call_id: string;
  type: string;
  sequence: number;
  body: string;
}
interface DeliveryRow {
  id: string;
  event_id: string;
  call_id: string;
  event_type: string;
  url: string;
  status: string;
  last_error: string | null;
}
interface LedgerRow {
  call_id: string | null;
  kind: string;
  amount_milli_cents: number;
}

function grouped<T, K>(items: readonly T[], key: (item: T) => K): Map<K, T[]> {
  return Map.groupBy(items, key);
}

/** The call that a carrier's call was placed for, by the address it reports to; null for one that came in. */
function callIdOf(report: CallReport): string | null {
  for (const hook of report.hooks) {
    const found = /\/calls\/([0-9a-f-]{36})\//.exec(hook.url)?.[1];
    if (found !== undefined) return found;
  }
  return null;
}

/** All checks, each with what it counted and what broke it. */
export function judge(o: Evidence): Check[] {
  const db = new Database(o.databasePath, { readonly: true });
  try {
    return judgeDatabase(db, o);
  } finally {
    db.close();
  }
}

function judgeDatabase(db: Database.Database, o: Evidence): Check[] {
  const all = <T>(sql: string) => db.prepare(sql).all() as T[];
  const checks: Check[] = [];
  const check = (name: string, value: number | string, violations: string[]) =>
    checks.push({ name, value, violations });

  const calls = all<CallRow>('SELECT * FROM calls ORDER BY seq');
  const events = all<EventRow>('SELECT * FROM events ORDER BY call_id, sequence');
  const deliveries = all<DeliveryRow>('SELECT * FROM deliveries');
  const money = all<LedgerRow>('SELECT * FROM ledger');
  const callOf = new Map(calls.map((call) => [call.id, call]));
  const eventsOf = grouped(events, (event) => event.call_id);
  const deliveriesOf = grouped(deliveries, (delivery) => delivery.event_id);
  const moneyOf = grouped(money, (row) => row.call_id);

  const integrity = all<{ integrity_check: string }>('PRAGMA integrity_check').map(
    (row) => row.integrity_check,
  );
  check('database sound', integrity.join(), integrity.join() === 'ok' ? [] : integrity);

  check(
    'calls ended',
    calls.length,
    calls
      .filter((call) => !(call.status in TERMINAL) || call.result_status === 'pending')
      .map((call) => `${call.id} is ${call.status}, its result ${call.result_status}`),
  );
  check(
    'one terminal event per call',
    calls.length,
    calls.flatMap((call) => {
      const found = (eventsOf.get(call.id) ?? []).map((e) => e.type).filter((e) => TERMINAL_EVENTS.has(e));
      return found.length === 1 && found[0] === TERMINAL[call.status]
        ? []
        : [`${call.id} (${call.status}) has ${found.join(' + ') || 'none'}`];
    }),
  );
  check(
    'sequences without a gap',
    events.length,
    calls.flatMap((call) => {
      const of = eventsOf.get(call.id) ?? [];
      const good = of.length > 0 && of.every((event, index) => event.sequence === index + 1);
      return good && TERMINAL_EVENTS.has(of.at(-1)?.type ?? '')
        ? []
        : [`${call.id}: ${of.map((event) => `${event.sequence} ${event.type}`).join(', ')}`];
    }),
  );

  // Webhooks: what was promised, what came.
  const lost: string[] = [];
  for (const event of events) {
    const of = deliveriesOf.get(event.id) ?? [];
    for (const path of o.paths) {
      const delivery = of.find((one) => one.url.endsWith(path));
      if (delivery === undefined) {
        lost.push(`event ${event.id} (${event.type}) has no delivery to ${path}`);
        continue;
      }
      const came = o.ledger.get(delivery.id);
      const accepted = came?.arrivals.some((arrival) => arrival.outcome === 'accepted') === true;
      if (!accepted || delivery.status !== 'delivered')
        lost.push(
          `delivery ${delivery.id} (${event.type} to ${path}) is ${delivery.status} (${delivery.last_error}), accepted: ${accepted}`,
        );
      if (came !== undefined && (came.bodyHash !== hashOf(event.body) || came.sequence !== event.sequence))
        lost.push(`delivery ${delivery.id} brought another body or sequence than event ${event.id}`);
    }
  }
  check('events lost', `${lost.length} of ${events.length}`, lost);
  const promised = new Set(deliveries.map((delivery) => delivery.id));
  const invented = [...o.ledger.keys()].filter((id) => !promised.has(id));
  check(
    'deliveries invented',
    `${invented.length} of ${o.ledger.size}`,
    invented.map((id) => `${id} is in no table`),
  );
  const arrivals = [...o.ledger.values()].flatMap((one) => one.arrivals);
  let again = 0;
  const needless: string[] = [];
  for (const one of o.ledger.values()) {
    let acceptedAt: number | null = null;
    for (const arrival of one.arrivals) {
      if (acceptedAt !== null) {
        again += 1;
        const from = acceptedAt;
        const died = o.deathsMs.some((at) => at >= from - DEATH_SLACK_MS && at <= arrival.atMs);
        if (!died && !arrival.replay)
          needless.push(`${one.id} (${one.type}) came again although it was accepted and nothing had died`);
      }
      if (arrival.outcome === 'accepted') acceptedAt = arrival.atMs;
    }
  }
  check('repeated after a 2xx, same id and body', `${again} of ${arrivals.length}`, needless);
  const seen = grouped([...o.ledger.values()], (one) => `${one.callId} ${one.path} ${one.type}`);
  check(
    'one id an event and receiver',
    seen.size,
    [...seen].filter(([, of]) => of.length > 1).map(([what]) => `${what} came under several ids`),
  );

  // Money.
  check(
    'open reservations',
    calls.filter((call) => call.reserved_milli_cents !== 0 || call.reservation_status === 'reserved').length,
    calls
      .filter((call) => call.reserved_milli_cents !== 0 || call.reservation_status === 'reserved')
      .map((call) => `${call.id} holds ${call.reserved_milli_cents} (${call.reservation_status})`),
  );
  check(
    'ledger adds up a call',
    money.length,
    calls.flatMap((call) => {
      const of = moneyOf.get(call.id) ?? [];
      const count = (kind: string) => of.filter((row) => row.kind === kind).length;
      const sum = of.reduce((total, row) => total + row.amount_milli_cents, 0);
      const ends = count('settle') + count('release');
      const due = -(call.billing_amount_milli_cents ?? 0);
      return count('reserve') === 1 && ends === 1 && sum === due
        ? []
        : [`${call.id}: ${count('reserve')} reserve, ${ends} ends, sum ${sum}, billed ${-due}`];
    }),
  );
  const organizations = all<{ id: string; balance_milli_cents: number | null; sum: number }>(
    `SELECT id, balance_milli_cents, (SELECT coalesce(sum(amount_milli_cents), 0) FROM ledger WHERE org_id = organizations.id) AS sum
     FROM organizations`,
  );
  check(
    'ledger adds up an organization',
    organizations.map((one) => one.balance_milli_cents ?? 'unlimited').join(),
    organizations
      .filter((one) => one.balance_milli_cents !== null && one.balance_milli_cents !== one.sum)
      .map((one) => `${one.id}: balance ${one.balance_milli_cents}, rows ${one.sum}`),
  );

  // The carrier's side.
  const dialled = grouped(
    o.carrierCalls.filter((report) => report.direction !== 'inbound'),
    callIdOf,
  );
  check(
    'dialled once per call',
    [...dialled.values()].reduce((total, of) => total + of.length, 0),
    [...dialled].flatMap(([callId, of]) => {
      if (callId === null) return of.map((report) => `carrier call ${report.sid} is for nobody`);
      if (!callOf.has(callId)) return [`carrier call ${of[0]?.sid} is for ${callId}, which is not there`];
      return of.length === 1 ? [] : [`${callId} was dialled ${of.length} times`];
    }),
  );
  check(
    'calls left live at the carrier',
    o.carrierCalls.filter((report) => report.endedAtMs === null).length,
    o.carrierCalls
      .filter((report) => report.endedAtMs === null)
      .map((report) => `${report.sid} (${report.direction}, ${report.status})`),
  );
  const bySid = new Map(o.carrierCalls.map((report) => [report.sid, report]));
  check(
    'each with its own carrier call',
    calls.filter((call) => call.carrier_call_id !== null).length,
    calls.flatMap((call) => {
      if (call.carrier_call_id === null) return [];
      const report = bySid.get(call.carrier_call_id);
      if (report === undefined) return [`${call.id}: the carrier knows no ${call.carrier_call_id}`];
      const own = call.direction === 'inbound' ? call.id : callIdOf(report);
      return own === call.id ? [] : [`${call.id} has the carrier call of ${own}`];
    }),
  );
  check(
    'billed seconds are those of the carrier',
    calls.filter((call) => call.billed_duration_seconds !== null).length,
    calls.flatMap((call) => {
      const carriers = bySid.get(call.carrier_call_id ?? '')?.durationSeconds ?? 0;
      const billed = call.billed_duration_seconds ?? 0;
      return billed <= carriers + BILLED_SLACK_SECONDS
        ? []
        : [`${call.id}: billed ${billed} s of ${carriers} s`];
    }),
  );

  // What customers were told.
  const byKey = grouped(
    calls.filter((call) => call.direction === 'outbound'),
    (call) => String((JSON.parse(call.metadata) as { key?: unknown }).key),
  );
  check(
    'one call an Idempotency-Key',
    o.dispatched.length,
    o.dispatched.flatMap((one) => {
      const of = byKey.get(one.key) ?? [];
      if (of.length > 1) return [`${one.key} made ${of.length} calls`];
      const wrong = [...one.ids].filter((id) => of[0]?.id !== id);
      return wrong.length === 0 ? [] : [`${one.key} was answered ${wrong.join()}, and made ${of[0]?.id}`];
    }),
  );
  check('complaints of customers and receiver', o.complaints.length, [...o.complaints]);
  return checks;
}
