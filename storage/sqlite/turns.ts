// How fast the answers of a call came, and who spoke into them.
import type { Store } from '../store.ts';
import { countLatency } from './overview.ts';
import { INTERRUPTIONS, TURNS } from './rows.ts';
import type { Session } from './session.ts';

export function turns(session: Session): Pick<Store, 'saveTurns' | 'listTurns' | 'listInterruptions'> {
  const { statement, write } = session;

  return {
    async saveTurns(o) {
      if (o.turns.length + o.interruptions.length === 0) return;
      write(() => {
        for (const turn of o.turns) {
          const { changes } = statement(`${TURNS.insert} ON CONFLICT (call_id, turn_index) DO NOTHING`).run(
            TURNS.toRow(turn),
          );
          if (changes === 1) countLatency(session, turn);
        }
        for (const one of o.interruptions) statement(INTERRUPTIONS.insert).run(INTERRUPTIONS.toRow(one));
      });
    },

    async listTurns(callId) {
      const rows = statement(`SELECT ${TURNS.selected} FROM turns WHERE call_id = ? ORDER BY turn_index`);
      return rows.all(callId).map(TURNS.fromRow);
    },

    async listInterruptions(callId) {
      const rows = statement(
        `SELECT ${INTERRUPTIONS.selected} FROM interruptions WHERE call_id = ? ORDER BY at_ms, seq`,
      );
      return rows.all(callId).map(INTERRUPTIONS.fromRow);
    },
  };
}
