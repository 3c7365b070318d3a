// Times to come that are stored by the wall clock, and what becomes of them when that clock is set.
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { keepNote, readNote } from './notes.ts';

/** By table: its times that are still to come, or from which a wait is counted. */
const WAITS = [
  { table: 'deliveries', columns: ['next_attempt_at', 'lease_until'], where: "status = 'pending'" },
  { table: 'idempotency_keys', columns: ['created_at', 'begun_at'], where: '1' },
  { table: 'dashboard_sessions', columns: ['last_seen_at', 'expires_at'], where: '1' },
  { table: 'organizations', columns: ['previous_webhook_secret_expires_at'], where: '1' },
  {
    table: 'endpoints',
    columns: ['previous_secret_expires_at'],
    where: 'previous_secret_expires_at IS NOT NULL',
  },
] as const;

/** By how much all that is stored has been moved since the database was made, in milliseconds. */
const MOVED = 'times_moved_ms';
/** Several daemons measure one setting of the clock to within this; less is none (clock.ts). */
const SAME_MS = 1_000;

/**
 * Moves all of them by so many milliseconds, once, whichever of the daemons on this host says so first: each knows by how
 * much its own clock was set since it began, and from that what all moves together must come to.
 */
export function openStoredTimes(connection: Connection): Store['moveTimes'] {
  const moved = () => Number(readNote(connection.db, MOVED) ?? 0);
  let due = moved();

  return async (byMs) => {
    due += byMs;
    const wanted = due;
    connection.writeFact({
      callId: null,
      work() {
        const step = wanted - moved();
        if (Math.abs(step) < SAME_MS) return;
        for (const { table, columns, where } of WAITS) move(connection, { table, columns, where }, step);
        keepNote(connection.db, MOVED, String(wanted));
      },
      meanwhile() {},
    });
  };
}

function move(
  connection: Connection,
  { table, columns, where }: { table: string; columns: readonly string[]; where: string },
  byMs: number,
): void {
  const seconds = `${byMs >= 0 ? '+' : '-'}${(Math.abs(byMs) / 1000).toFixed(3)} seconds`;
  const set = columns.map((column) => `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, @seconds)`);
  connection
    .statement(
      `/* walks: what waits, and the keys of a day, when the clock was set */ UPDATE ${table} SET ${set.join(', ')} WHERE ${where}`,
    )
    .run({ seconds });
}
