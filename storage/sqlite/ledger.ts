// The ledger's rows and the balance they move, inside the caller's transaction; what each takes or gives is ../ledger.ts's.
// The sum of an organization's rows is kept with it (`ledger_milli_cents`), so that no verb has to read them all.
import { v7 as uuid } from 'uuid';
import { creditAdded, creditTo, heldBy, type LedgerEntry, posting } from '../ledger.ts';
import type { CallRecord, LedgerRecord } from '../records.ts';
import { accepted, type Connection, Refusal } from './connection.ts';
import { LEDGER } from './rows.ts';

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

function entriesOf(connection: Connection, callId: string): LedgerEntry[] {
  const rows = connection
    .statement('SELECT kind, amount_milli_cents AS amountMilliCents FROM ledger WHERE call_id = ?')
    .all(callId);
  return rows as unknown as LedgerEntry[];
}

/**
 * Moves money for a call and answers the call as it then stands.
 * @throws Refusal insufficient_credit, ledger_exists
 */
export function post(connection: Connection, call: CallRecord, entry: LedgerEntry): CallRecord {
  const posted = accepted(
    posting(call, entry, {
      heldMilliCents: heldBy(entriesOf(connection, call.id)),
      balanceMilliCents: balance(connection, call.org_id),
    }),
  );
  insert(connection, {
    org_id: call.org_id,
    call_id: call.id,
    kind: entry.kind,
    amount_milli_cents: posted.amountMilliCents,
  });
  return posted.call;
}

/**
 * Adds to an organization's balance, or takes from it; answers the balance.
 * @throws Refusal unlimited, insufficient_credit
 */
export function addCredit(connection: Connection, orgId: string, amountMilliCents: number): number {
  const { balanceMilliCents } = accepted(creditAdded(balance(connection, orgId), amountMilliCents));
  insert(connection, {
    org_id: orgId,
    call_id: null,
    kind: 'credit',
    amount_milli_cents: amountMilliCents,
  });
  return balanceMilliCents;
}

/** Sets an organization's balance by a row of the difference. */
export function setCredit(connection: Connection, orgId: string, balanceMilliCents: number): void {
  const row = connection
    .statement('SELECT ledger_milli_cents AS sum FROM organizations WHERE id = ?')
    .get(orgId);
  const amount = creditTo(balanceMilliCents, Number(row?.sum ?? 0));
  insert(connection, { org_id: orgId, call_id: null, kind: 'credit', amount_milli_cents: amount });
  connection
    .statement('UPDATE organizations SET balance_milli_cents = ledger_milli_cents WHERE id = ?')
    .run(orgId);
}
