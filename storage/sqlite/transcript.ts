// What was said on a call, item by item.
import { type MaskKind, maskHeard } from '../masking.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { isOwn } from './daemons.ts';
import { TRANSCRIPT_ITEMS as ITEMS } from './rows.ts';
import { enterCall } from './search-index.ts';

export function transcript(connection: Connection): Pick<Store, 'saveTranscript' | 'listTranscript'> {
  const { statement, writeFacts } = connection;
  const replaced = ITEMS.columns.filter((column) => column !== 'id' && column !== 'call_id');
  const upsert = `${ITEMS.insert} ON CONFLICT (call_id, id) DO UPDATE SET
    ${replaced.map((column) => `${column} = excluded.${column}`).join(', ')}`;

  /** Which numbers are not stored of a call. */
  function maskOf(callId: string): MaskKind[] {
    const row = statement('SELECT mask FROM calls WHERE id = ?').get(callId);
    return row === undefined ? [] : JSON.parse(String(row.mask));
  }

  return {
    async saveTranscript(items, patience) {
      const others = new Set<string>();
      if (items.length === 0) return [];
      await writeFacts(
        items.map((item) => ({
          callId: item.call_id,
          name: `item ${item.call_id} ${item.id}`,
          length: item.text.length + item.heard_text.length,
          work() {
            if (!isOwn(connection, item.call_id)) {
              others.add(item.call_id);
              return;
            }
            // Clocks of the media side may count in fractions; the columns are whole milliseconds.
            const start_ms = Math.round(item.start_ms);
            const end_ms = item.end_ms === null ? null : Math.round(item.end_ms);
            const said = maskHeard(item, maskOf(item.call_id));
            statement(upsert).run(ITEMS.toRow({ ...item, ...said, start_ms, end_ms }));
            // Last words come when the call has ended already.
            enterCall(connection, item.call_id);
          },
        })),
        patience,
      );
      return [...others];
    },

    async listTranscript(callId) {
      const rows = statement(
        `SELECT ${ITEMS.selected} FROM transcript_items WHERE call_id = ? ORDER BY start_ms, seq`,
      ).all(callId);
      return rows.map(ITEMS.fromRow);
    },
  };
}
