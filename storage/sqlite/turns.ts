// How fast the answers of a call came, and who spoke into them.
import type { TurnRecord } from '../records.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { isOwn } from './daemons.ts';
import { countLatency } from './overview.ts';
import { INTERRUPTIONS, TURNS } from './rows.ts';

export function turns(connection: Connection): Pick<Store, 'saveTurns' | 'listTurns' | 'listInterruptions'> {
  const { statement, writeFacts } = connection;
  const insert = `${TURNS.insert} ON CONFLICT (call_id, turn_index) DO NOTHING`;
  // What was cut short stays so, in whichever order it is told.
  const cut = `UPDATE turns SET barged_in = max(barged_in, @barged_in)
    WHERE call_id = @call_id AND turn_index = @turn_index`;

  function saveTurn(turn: TurnRecord): void {
    const row = TURNS.toRow(turn);
    if (statement(insert).run(row).changes === 1) countLatency(connection, turn);
    else {
      const { barged_in, call_id, turn_index } = row;
      statement(cut).run({ barged_in, call_id, turn_index });
    }
  }

  return {
    async saveTurns(o, patience) {
      const others = new Set<string>();
      if (o.turns.length + o.interruptions.length === 0) return [];
      const ofOwner = (callId: string, save: () => void) => ({
        callId,
        length: 0,
        work() {
          if (isOwn(connection, callId)) save();
          else others.add(callId);
        },
      });
      await writeFacts(
        [
          ...o.turns.map((turn) => ofOwner(turn.call_id, () => saveTurn(turn))),
          ...o.interruptions.map((one) =>
            ofOwner(one.call_id, () => void statement(INTERRUPTIONS.insert).run(INTERRUPTIONS.toRow(one))),
          ),
        ],
        patience,
      );
      return [...others];
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
