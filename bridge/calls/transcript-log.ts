// Lines of a transcript on their way to storage, and what becomes of those that cannot be stored. What they say and when is the
// media threads'.
import type { Log } from '../../log.ts';
import type { Patience } from '../../storage/answers.ts';
import type { TranscriptItemRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Stores lines of one call, together. Resolves when they are stored.
 * @returns those of them that are. A line that cannot be, or of a call that is another daemon's, is told to the log and lost,
 * and takes no other one with it.
 */
export type TranscriptLog = (
  records: readonly TranscriptItemRecord[],
  patience?: Patience,
) => Promise<readonly TranscriptItemRecord[]>;

/** `replaced`: told of calls that turn out to be another daemon's. */
export function openTranscriptLog(
  store: Pick<Store, 'saveTranscript'>,
  log: Log,
  replaced: (callIds: readonly string[]) => void,
): TranscriptLog {
  /** @returns those that are stored */
  async function write(
    records: readonly TranscriptItemRecord[],
    patience?: Patience,
  ): Promise<readonly TranscriptItemRecord[]> {
    const others = await store.saveTranscript(records, patience);
    if (others.length === 0) return records;
    log.warn({ call_ids: others }, 'transcript.not_owned');
    replaced(others);
    return records.filter((record) => !others.includes(record.call_id));
  }

  /** One by one, what was refused together. */
  async function writeAlone(
    records: readonly TranscriptItemRecord[],
    refused: unknown,
  ): Promise<readonly TranscriptItemRecord[]> {
    const stored: TranscriptItemRecord[] = [];
    const lost: TranscriptItemRecord[] = records.length === 1 ? [...records] : [];
    let reason = refused;
    for (const record of records.length === 1 ? [] : records) {
      try {
        stored.push(...(await write([record])));
      } catch (error) {
        reason = error;
        lost.push(record);
      }
    }
    const calls = new Set(lost.map((record) => record.call_id));
    const fields = { lost: lost.length, of: records.length, call_ids: [...calls], err: reason };
    log.error(fields, 'transcript.not_stored');
    return stored;
  }

  return async (records, patience) => {
    try {
      return await write(records, patience);
    } catch (refused) {
      return writeAlone(records, refused);
    }
  };
}
