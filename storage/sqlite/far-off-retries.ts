// Retries that a clock which was ahead has put too far off, found and pulled at a start, beside what the daemon does already.
import { neverPulled, pulledTo } from '../delivery-state.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { OWED } from './endpoints.ts';
import type { Row } from './rows.ts';

/** Everybody who is owed something; null: calls' own URLs. */
const RECEIVERS = `${OWED} SELECT owed.id FROM owed`;

const RETRY = 'SELECT seq, attempt_count, next_attempt_at FROM deliveries';

/** What one of them waits for, from a place on: many may be due at the same moment. */
const WAITING = `${RETRY} INDEXED BY deliveries_pending WHERE status = 'pending' AND endpoint_id IS @endpoint`;
const PAGE = `SELECT * FROM (${WAITING} AND next_attempt_at = @at AND seq > @seq ORDER BY seq LIMIT @limit)
  UNION ALL SELECT * FROM (${WAITING} AND next_attempt_at > @at ORDER BY next_attempt_at, seq LIMIT @limit)
  LIMIT @limit`;

const READ_AT_ONCE = 5_000;
/** In one transaction: others wait meanwhile. */
const PULLED_AT_ONCE = 200;

export function farOffRetries(connection: Connection): Pick<Store, 'pullDueDeliveries'> {
  const { closing, statement, steadyClock, wall, steady, write } = connection;
  const closed = () => closing.signal.aborted;

  const retryOf = ({ attempt_count, next_attempt_at }: Row) => ({
    attempt_count: Number(attempt_count),
    next_attempt_at: wall(String(next_attempt_at)),
  });

  /** Rows to be pulled: seldom any, of however many. */
  async function find(now: () => string, waitsMs: readonly number[]): Promise<number[]> {
    const found: number[] = [];
    const from = steady(neverPulled(now()));
    for (const { id } of await connection.read(RECEIVERS, {})) {
      for (let [at, seq] = [from, 0]; !closed(); ) {
        const page = { endpoint: id ?? null, at, seq, limit: READ_AT_ONCE };
        const rows = await connection.read(PAGE, page);
        for (const row of rows)
          if (pulledTo(retryOf(row), now(), waitsMs) !== null) found.push(Number(row.seq));
        const last = rows.at(-1);
        if (last === undefined || rows.length < READ_AT_ONCE) break;
        [at, seq] = [String(last.next_attempt_at), Number(last.seq)];
      }
    }
    return found;
  }

  /** Within a transaction: it may have been attempted since it was found. */
  function pull(seq: number, now: string, waitsMs: readonly number[]): void {
    const row = statement(`${RETRY} WHERE seq = ? AND status = 'pending'`).get(seq);
    const to = row === undefined ? null : pulledTo(retryOf(row), now, waitsMs);
    if (to !== null)
      statement('UPDATE deliveries SET next_attempt_at = ? WHERE seq = ?').run(steady(to), seq);
  }

  return {
    async pullDueDeliveries(begun, waitsMs) {
      const aheadMs = steadyClock.aheadMs();
      // The clock may be set before all is done.
      const now = () => new Date(Date.parse(begun) + steadyClock.aheadMs() - aheadMs).toISOString();
      const found = await find(now, waitsMs);
      for (let from = 0; from < found.length && !closed(); from += PULLED_AT_ONCE) {
        const some = found.slice(from, from + PULLED_AT_ONCE);
        await write(
          () => {
            for (const seq of some) pull(seq, now(), waitsMs);
          },
          { alone: true },
        );
        await new Promise((next) => setImmediate(next));
      }
    },
  };
}
