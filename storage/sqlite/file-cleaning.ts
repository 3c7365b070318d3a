// What was deleted leaves the file too: the index of words is merged until nothing of it holds what was taken out, the write-ahead
// log is emptied, and the file is written anew where nobody waits for it meanwhile.
import type { KeptVerbs } from '../kept-verbs.ts';
import type { Connection } from './connection.ts';
import { LIVE } from './daemons.ts';
import { NOT_ENDED } from './enrolment.ts';

type Verbs = 'clearIndex' | 'emptyLog' | 'rewriteFile' | 'awaitsRewriting';

/** Pages that one transaction writes of the index. */
const MERGED_PAGES = 32;
/** Writing this much anew takes about a second, in which nobody is answered. */
const LARGEST_REWRITTEN = 128 * 1024 * 1024;

export function fileCleaning(connection: Connection): Pick<KeptVerbs, Verbs> {
  const { statement, write, db } = connection;
  /** Whether all of the index is being merged into one; rows that were deleted are not in what comes of that. */
  let isMerging = false;

  /** @returns false while another connection reads by what is in it */
  function truncateLog(): boolean {
    // Whoever reads is not waited for: that would hold up this thread.
    const patience = db.pragma('busy_timeout', { simple: true });
    db.pragma('busy_timeout = 0');
    try {
      const [answer] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[];
      return answer?.busy !== 1;
    } finally {
      db.pragma(`busy_timeout = ${Number(patience)}`);
    }
  }

  return {
    async clearIndex() {
      return write(
        () => {
          const changes = () => Number(statement('SELECT total_changes() AS changes').get()?.changes);
          const before = changes();
          // A negative number has everything merged, however little there would be to gain (sqlite.org/fts5.html, 6.8).
          statement("INSERT INTO call_words (call_words, rank) VALUES ('merge', ?)").run(
            isMerging ? MERGED_PAGES : -MERGED_PAGES,
          );
          isMerging = changes() - before >= 2;
          return isMerging;
        },
        { alone: true },
      );
    },

    async emptyLog() {
      await connection.flush();
      return truncateLog();
    },

    async rewriteFile() {
      await connection.flush();
      const pages = Number(db.pragma('page_count', { simple: true }));
      const bytes = pages * Number(db.pragma('page_size', { simple: true }));
      const isLive = statement(`SELECT 1 FROM calls INDEXED BY calls_unfinished WHERE ${LIVE} LIMIT 1`).get();
      if (bytes > LARGEST_REWRITTEN || isLive !== undefined || db.inTransaction) return false;
      if (statement(NOT_ENDED).all().length > 1) return false;
      db.exec('VACUUM');
      if (!truncateLog()) return false;
      await write(() =>
        statement(
          "UPDATE erasures INDEXED BY erasures_to_rewrite SET rewritten_at = ? WHERE rewritten_at IS NULL AND state = 'done'",
        ).run(connection.now()),
      );
      return true;
    },

    async awaitsRewriting() {
      const found = statement(
        "SELECT 1 FROM erasures INDEXED BY erasures_to_rewrite WHERE rewritten_at IS NULL AND state = 'done' LIMIT 1",
      ).get();
      return found !== undefined;
    },
  };
}
