// Times to come that are stored by the wall clock, and what becomes of them when that clock is set.
import type { Connection } from './connection.ts';

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

/** Moves all of them by so many milliseconds. */
export function moveTimes(connection: Connection, byMs: number): void {
  const seconds = `${byMs >= 0 ? '+' : '-'}${(Math.abs(byMs) / 1000).toFixed(3)} seconds`;
  connection.writeFact({
    callId: null,
    work() {
      for (const { table, columns, where } of WAITS) {
        const set = columns.map(
          (column) => `${column} = strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, @seconds)`,
        );
        connection
          .statement(
            `/* walks: what waits, and the keys of a day, when the clock was set */ UPDATE ${table} SET ${set.join(', ')} WHERE ${where}`,
          )
          .run({ seconds });
      }
    },
    meanwhile() {},
  });
}
