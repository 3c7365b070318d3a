// Money in one direction: the ledger's rows and the balance they move. Runs inside the caller's transaction.
//
// Signs are the organization's: what leaves its credit is negative. With R reserved, T topped up and A charged:
//
//   reserve  -R         at dispatch
//   top_up   -T         while live, any number of times
//   settle   +(R+T)-A   the call was connected: the whole hold comes back less the charge (may be negative)
//   release  +(R+T)     the call was never connected: the whole hold comes back
//   credit   any        an operator set the balance or added to it; belongs to no call
//
// So the rows of an ended call add up to -A (0 when released), and while a balance is set, it is the sum of all rows
// of the organization. That sum is kept with each row (`ledger_milli_cents`), so that no verb has to read them all. A call
// has one settle or one release, never both. Unlimited organizations (balance null) get the same rows; only the balance
// is not there to move.
import { v7 as uuid } from 'uuid';
import type { CallRecord, LedgerRecord } from '../records.ts';
import { type Connection, Refusal } from './connection.ts';
import { LEDGER } from './rows.ts';

export interface LedgerEntry {
  kind: LedgerRecord['kind'];
  amountMilliCents: number;
}

function insert(connection: Connection, row: Omit<LedgerRecord, 'id' | 'created_at'>): void {
  const record = LEDGER.toRow({ ...row, id: uuid(), created_at: connection.now() });
  const { changes } = connection.statement(`${LEDGER.insert} ON CONFLICT DO NOTHING`).run(record);
  if (changes === 0) throw new Refusal('ledger_exists');
  connection
    .statement(
      `UPDATE organizations SET ledger_milli_cents = ledger_milli_cents + @amount,
         balance_milli_cents = balance_milli_cents + @amount WHERE id = @org`,
    )
    .run({ amount: row.amount_milli_cents, org: row.org_id });
}

function balance(connection: Connection, orgId: string): number | null {
  const row = connection.statement('SELECT balance_milli_cents FROM organizations WHERE id = ?').get(orgId);
  return row?.balance_milli_cents == null ? null : Number(row.balance_milli_cents);
}

/** What a call's rows hold now; null once it is settled or released. */
function held(connection: Connection, callId: string): number | null {
  const row = connection
    .statement(
      `SELECT -coalesce(sum(amount_milli_cents), 0) AS held, coalesce(max(kind IN ('settle', 'release')), 0) AS ended
       FROM ledger WHERE call_id = ?`,
    )
    .get(callId);
  return row?.ended === 0 ? Number(row.held) : null;
}

/**
 * Moves money for a call and answers the call as it then stands (reserved_milli_cents follows the rows).
 *
 * `reserve` and `top_up` take their amount from the entry, zero or negative. The other two follow from what is held,
 * so that the rows always add up: `release` gives it all back, `settle` all but billing_amount_milli_cents (where
 * that is null, the entry's amount decides and the bill follows from it). A charge beyond the hold that the balance
 * does not cover is cut to what is there, on the call too: a balance never goes below zero.
 * @throws Refusal insufficient_credit, ledger_exists
 */
export function post(connection: Connection, call: CallRecord, entry: LedgerEntry): CallRecord {
  const { kind, amountMilliCents: amount } = entry;
  const own = { org_id: call.org_id, call_id: call.id, kind };
  const now = held(connection, call.id);
  if (now === null) throw new Refusal('ledger_exists');
  const available = balance(connection, call.org_id) ?? Number.POSITIVE_INFINITY;

  switch (kind) {
    case 'reserve':
    case 'top_up':
      if (!(amount <= 0)) throw new RangeError(`a ${kind} takes credit: ${amount} is not negative`);
      if (available + amount < 0) throw new Refusal('insufficient_credit');
      insert(connection, { ...own, amount_milli_cents: amount });
      return { ...call, reserved_milli_cents: now - amount };
    case 'release':
      insert(connection, { ...own, amount_milli_cents: now });
      return { ...call, reserved_milli_cents: 0, reservation_status: 'released' };
    case 'settle': {
      const charge = Math.max(0, call.billing_amount_milli_cents ?? now - amount);
      const charged = Math.min(charge, now + available);
      insert(connection, { ...own, amount_milli_cents: now - charged });
      return {
        ...call,
        reserved_milli_cents: 0,
        reservation_status: 'settled',
        billing_amount_milli_cents: charged,
      };
    }
    case 'credit':
      throw new RangeError('a credit belongs to no call');
  }
}

/**
 * Adds to an organization's balance by a `credit` row, or takes from it; answers the balance.
 * @throws Refusal unlimited, insufficient_credit
 */
export function addCredit(connection: Connection, orgId: string, amountMilliCents: number): number {
  if (!Number.isSafeInteger(amountMilliCents)) {
    throw new RangeError(`credit is a whole number of milli-cents: ${amountMilliCents}`);
  }
  const before = balance(connection, orgId);
  if (before === null) throw new Refusal('unlimited');
  if (before + amountMilliCents < 0) throw new Refusal('insufficient_credit');
  insert(connection, { org_id: orgId, call_id: null, kind: 'credit', amount_milli_cents: amountMilliCents });
  return before + amountMilliCents;
}

/**
 * Sets an organization's balance by a `credit` row of the difference. Credit that live calls hold is not part of the
 * balance and comes back to it when they end.
 */
export function creditTo(connection: Connection, orgId: string, balanceMilliCents: number): void {
  if (!Number.isSafeInteger(balanceMilliCents) || balanceMilliCents < 0) {
    throw new RangeError(`a balance is a whole number of milli-cents, zero or more: ${balanceMilliCents}`);
  }
  const row = connection
    .statement('SELECT ledger_milli_cents AS sum FROM organizations WHERE id = ?')
    .get(orgId);
  const amount = balanceMilliCents - Number(row?.sum ?? 0);
  insert(connection, { org_id: orgId, call_id: null, kind: 'credit', amount_milli_cents: amount });
  connection
    .statement('UPDATE organizations SET balance_milli_cents = ledger_milli_cents WHERE id = ?')
    .run(orgId);
}
