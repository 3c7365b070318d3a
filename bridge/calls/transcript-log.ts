// Lines of transcripts that were said at about the same time, stored as one transaction: what costs is the commit. What they
// say and when is the media threads'.
import type { Log } from '../../log.ts';
import type { TranscriptItemRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Stores what is given with all else that comes until it is its turn: one batch after the other, so that what is newer of a
 * line is written last. Resolves when it is stored.
 * @returns those of them that are stored. A line that cannot be, or of a call that is another daemon's, is told to the log and
 * lost, and takes no other one with it.
 */
export type TranscriptLog = (
  records: readonly TranscriptItemRecord[],
) => Promise<readonly TranscriptItemRecord[]>;

/** An empty batch. `replaced`: told of calls that turn out to be another daemon's. */
export function openTranscriptLog(
  store: Pick<Store, 'saveTranscript'>,
  log: Log,
  replaced: (callIds: readonly string[]) => void,
): TranscriptLog {
  let together: { records: TranscriptItemRecord[]; lost: Promise<ReadonlySet<TranscriptItemRecord>> } | null =
    null;
  let before: Promise<unknown> = Promise.resolve();

  /** @returns those that are another's */
  async function write(records: readonly TranscriptItemRecord[]): Promise<TranscriptItemRecord[]> {
    const others = await store.saveTranscript(records);
    if (others.length > 0) {
      log.warn({ call_ids: others }, 'transcript.not_owned');
      replaced(others);
    }
    return records.filter((record) => others.includes(record.call_id));
  }

  async function save(records: readonly TranscriptItemRecord[]): Promise<ReadonlySet<TranscriptItemRecord>> {
    const lost = new Set<TranscriptItemRecord>();
    try {
      for (const record of await write(records)) lost.add(record);
    } catch (refused) {
      let reason: unknown = refused;
      if (records.length === 1) for (const record of records) lost.add(record);
      else {
        for (const record of records) {
          try {
            for (const other of await write([record])) lost.add(other);
          } catch (error) {
            reason = error;
            lost.add(record);
          }
        }
      }
      const calls = new Set([...lost].map((record) => record.call_id));
      const fields = { lost: lost.size, of: records.length, call_ids: [...calls], err: reason };
      log.error(fields, 'transcript.not_stored');
    }
    return lost;
  }

  return async (records) => {
    if (together === null) {
      const gathered: TranscriptItemRecord[] = [];
      const lost = before.then(() => {
        together = null;
        return save(gathered);
      });
      before = lost;
      together = { records: gathered, lost };
    }
    together.records.push(...records);
    const lost = await together.lost;
    return records.filter((record) => !lost.has(record));
  };
}
