// Money in one direction: what each row of the ledger takes or gives, and what of a call follows from it. PURE: the engine
// reads what is held and what is left, and writes the row and the balance in the same transaction.
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
// of the organization. A call has one settle or one release, never both. Unlimited organizations (balance null) get the
// same rows; only the balance is not there to move.
import type { CallRecord, LedgerRecord } from './records.ts';
import type { Conflict } from './store.ts';

export interface LedgerEntry {
  kind: LedgerRecord['kind'];
  amountMilliCents: number;
}

/** What a call's money stands at. */
export interface Standing {
  /** What its rows hold now; null once it is settled or released. */
  heldMilliCents: number | null;
  /** What its organization has left; null: without limit. */
  balanceMilliCents: number | null;
}

/** What the rows of a call hold; null once it is settled or released. */
export function heldBy(rows: readonly LedgerEntry[]): number | null {
  if (rows.some(({ kind }) => kind === 'settle' || kind === 'release')) return null;
  return 0 - rows.reduce((sum, { amountMilliCents }) => sum + amountMilliCents, 0);
}

/** A row to write, and the call as it then stands: reserved_milli_cents follows the rows. */
export interface Posting {
  amountMilliCents: number;
  call: CallRecord;
}

/**
 * What an entry of a call takes or gives.
 *
 * `reserve` and `top_up` take their amount from the entry, zero or negative. The other two follow from what is held,
 * so that the rows always add up: `release` gives it all back, `settle` all but billing_amount_milli_cents (where
 * that is null, the entry's amount decides and the bill follows from it). A charge beyond the hold that the balance
 * does not cover is cut to what is there, on the call too: a balance never goes below zero.
 * Conflict insufficient_credit, ledger_exists.
 * @throws RangeError for a hold that gives credit, and for a credit, which belongs to no call
 */
export function posting(call: CallRecord, entry: LedgerEntry, standing: Standing): Posting | Conflict {
  const { kind, amountMilliCents: amount } = entry;
  const held = standing.heldMilliCents;
  if (held === null) return { conflict: 'ledger_exists' };
  const available = standing.balanceMilliCents ?? Number.POSITIVE_INFINITY;
  switch (kind) {
    case 'reserve':
    case 'top_up':
      if (!(amount <= 0)) throw new RangeError(`a ${kind} takes credit: ${amount} is not negative`);
      if (available + amount < 0) return { conflict: 'insufficient_credit' };
      return { amountMilliCents: amount, call: { ...call, reserved_milli_cents: held - amount } };
    case 'release':
      return {
        amountMilliCents: held,
        call: { ...call, reserved_milli_cents: 0, reservation_status: 'released' },
      };
    case 'settle': {
      const charge = Math.max(0, call.billing_amount_milli_cents ?? held - amount);
      const charged = Math.min(charge, held + available);
      return {
        amountMilliCents: held - charged,
        call: {
          ...call,
          reserved_milli_cents: 0,
          reservation_status: 'settled',
          billing_amount_milli_cents: charged,
        },
      };
    }
    case 'credit':
      throw new RangeError('a credit belongs to no call');
  }
}

/**
 * The balance after so much was added, or taken. Conflict unlimited, insufficient_credit.
 * @throws RangeError for parts of a milli-cent
 */
export function creditAdded(
  balanceMilliCents: number | null,
  amountMilliCents: number,
): { balanceMilliCents: number } | Conflict {
  if (!Number.isSafeInteger(amountMilliCents)) {
    throw new RangeError(`credit is a whole number of milli-cents: ${amountMilliCents}`);
  }
  if (balanceMilliCents === null) return { conflict: 'unlimited' };
  const after = balanceMilliCents + amountMilliCents;
  return after < 0 ? { conflict: 'insufficient_credit' } : { balanceMilliCents: after };
}

/**
 * The amount of the `credit` row that brings a balance to what it is to be, from the sum of all rows of the organization.
 * Credit that live calls hold is not part of the balance and comes back to it when they end.
 * @throws RangeError for parts of a milli-cent, and below zero
 */
export function creditTo(balanceMilliCents: number, ledgerMilliCents: number): number {
  if (!Number.isSafeInteger(balanceMilliCents) || balanceMilliCents < 0) {
    throw new RangeError(`a balance is a whole number of milli-cents, zero or more: ${balanceMilliCents}`);
  }
  return balanceMilliCents - ledgerMilliCents;
}
