// Times to come, and those from which a wait is counted, when the wall clock is set: each stays as far off as it was. What
// there may be much of is stored by the steady clock, and is right at once; the few others are moved.
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';

/** By table, those that are stored by the wall clock. */
const MOVED: readonly { table: string; columns: readonly string[]; where: string }[] = [
  { table: 'user_sessions', columns: ['last_seen_at', 'expires_at'], where: '1' },
  { table: 'invitations', columns: ['expires_at'], where: 'used_at IS NULL' },
  { table: 'organizations', columns: ['previous_webhook_secret_expires_at'], where: '1' },
  {
    table: 'endpoints',
    columns: ['previous_secret_expires_at'],
    where: 'previous_secret_expires_at IS NOT NULL',
  },
  { table: 'alert_states', columns: ['since_at', 'told_at'], where: '1' },
  { table: 'alert_messages', columns: ['next_attempt_at'], where: 'next_attempt_at IS NOT NULL' },
];

/** In SQL: a time of a column, later by what `@later` says. */
export const laterOf = (column: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, @later)`;
export const laterBy = (ms: number) => `${ms >= 0 ? '+' : '-'}${(Math.abs(ms) / 1000).toFixed(3)} seconds`;

/** Of several daemons on a host each says by how much its clock was set; what is stored is moved once. */
export function storedTimes(connection: Connection): Pick<Store, 'moveTimes'> {
  const { steadyClock, statement, writeFact } = connection;

  function move(byMs: number): void {
    for (const { table, columns, where } of MOVED) {
      const set = columns.map((column) => `${column} = ${laterOf(column)}`).join(', ');
      statement(`UPDATE ${table} SET ${set} WHERE ${where}`).run({ later: laterBy(byMs) });
    }
  }

  return {
    async moveTimes(byMs) {
      const allMs = steadyClock.set(byMs);
      await writeFact({
        callId: null,
        work() {
          const stepMs = steadyClock.note(allMs);
          if (stepMs !== 0) move(stepMs);
        },
        meanwhile() {},
      });
      connection.moved(byMs);
    },
  };
}
