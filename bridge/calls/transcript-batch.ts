// Lines of transcripts that were said at about the same time, stored as one transaction: what costs is the commit. What they
// say and when is the media threads'.
import type { Log } from '../../log.ts';
import type { TranscriptItemRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Stores what is given with all else of this turn of the event loop; whatever is asked later finds it.
 * @returns those of them that are stored. A line that cannot be, or of a call that is another daemon's, is told to the log and
 * lost, and takes no other one with it.
 */
export type TranscriptBatch = (
  records: readonly TranscriptItemRecord[],
) => Promise<readonly TranscriptItemRecord[]>;

/** An empty batch. */
export function openTranscriptBatch(store: Pick<Store, 'saveTranscript'>, log: Log): TranscriptBatch {
  let together: { records: TranscriptItemRecord[]; lost: Promise<ReadonlySet<TranscriptItemRecord>> } | null =
    null;

  async function save(records: readonly TranscriptItemRecord[]): Promise<ReadonlySet<TranscriptItemRecord>> {
    const lost = new Set<TranscriptItemRecord>();
    try {
      const others = new Set(await store.saveTranscript(records));
      for (const record of records) if (others.has(record.call_id)) lost.add(record);
      if (others.size > 0) log.warn({ call_ids: [...others] }, 'transcript.not_owned');
    } catch (refused) {
      let reason: unknown = refused;
      // All at once, in their order: nothing newer of the same line comes between.
      const alone = records.length === 1 ? [] : records.map((record) => store.saveTranscript([record]));
      const saved = await Promise.allSettled(alone);
      for (const [at, record] of records.entries()) {
        const one = saved[at];
        if (one?.status === 'fulfilled' && !one.value.includes(record.call_id)) continue;
        lost.add(record);
        if (one?.status === 'rejected') reason = one.reason;
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
      const lost = Promise.resolve().then(() => {
        together = null;
        return save(gathered);
      });
      together = { records: gathered, lost };
    }
    together.records.push(...records);
    const lost = await together.lost;
    return records.filter((record) => !lost.has(record));
  };
}
