// What calls are found by, a document per call in a full-text index: numbers by every three digits in a row, words as they were
// said, and facts to narrow a search by. A call is entered when it has ended; what is said on a live one is read as it is.
import type { Connection } from './connection.ts';

/** The columns of calls that a search can be narrowed by, as the index's facts have them. */
export const fact = {
  organization: (seq: number) => `o${seq}`,
  agent: (id: string) => `a${id.replaceAll('-', '')}`,
  status: (status: string) => status.replaceAll('_', ''),
  direction: (direction: string) => direction,
};

/** Enters an ended call, or enters it anew; a live one is left out. Within the caller's transaction. */
export function enterCall(connection: Connection, callId: string): void {
  connection
    .statement(
      `INSERT OR REPLACE INTO call_words (rowid, facts, numbers, words)
       SELECT seq, facts, numbers, words FROM call_documents
       WHERE id = ? AND status NOT IN ('queued', 'initiated', 'ringing', 'in_progress')`,
    )
    .run(callId);
}
