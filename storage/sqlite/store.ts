// The Store on SQLite: opens the file and puts the verbs together; they live in sqlite/, a file per resource. Secrets are sealed around them.
// better-sqlite3 is synchronous: a verb reads when it is asked, and writes with those asked at the same time (group-commit.ts).
import { systemClock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { type OutboundDefaults, UNLIMITED } from '../outbound/rules.ts';
import { sealStore } from '../sealed-store.ts';
import type { Sealer } from '../sealing.ts';
import type { Store } from '../store.ts';
import { agents } from './agents.ts';
import { alerts } from './alerts.ts';
import { auditLog } from './audit-log.ts';
import { calls } from './calls.ts';
import { campaignContacts } from './campaign-contacts.ts';
import { campaigns } from './campaigns.ts';
import { openConnection } from './connection.ts';
import { daemons, LIVE } from './daemons.ts';
import { openDatabase } from './database.ts';
import { deliveries } from './deliveries.ts';
import { doNotCall } from './do-not-call.ts';
import { endpoints } from './endpoints.ts';
import { erasures } from './erasures.ts';
import { farOffRetries } from './far-off-retries.ts';
import { fileCleaning } from './file-cleaning.ts';
import { holds } from './holds.ts';
import { idempotency } from './idempotency.ts';
import { numbers } from './numbers.ts';
import { adoptOperators } from './operators.ts';
import { organizations } from './organizations.ts';
import { outbound } from './outbound.ts';
import { OutboundGate } from './outbound-gate.ts';
import { overview } from './overview.ts';
import { people } from './people.ts';
import { openReader } from './reader.ts';
import { retention } from './retention.ts';
import { openSecrets } from './secret-keys.ts';
import { storedTimes } from './stored-times.ts';
import { transcript } from './transcript.ts';
import { turns } from './turns.ts';

export interface StoreOptions {
  /** The database file; its folder is made. `:memory:` for one that ends with the process. */
  path: string;
  /** Other daemons of this host may have it open too. */
  shared?: boolean;
  log?: Log;
  /** What SECRET_KEY says: the keys of the stored secrets, the newest first. Null: those of the file beside the database. */
  secretKeys?: string | null;
  /**
   * The rules of outbound calls for organizations that have none of their own. Without them only closed ranges, countries
   * and the do-not-call list hold calls back: for programs that place none.
   */
  outbound?: OutboundDefaults;
  /** The clock of updated_at, events, deliveries and ledger rows. */
  now?: () => Date;
  /** For tests: called in each write transaction, and may throw what a disk would, or take as long. */
  onWrite?: () => void;
  /** For tests: told each statement once, when it is first used. In memory these are all; else without the reader's. */
  onPrepare?: (sql: string) => void;
  /** Told how long each write transaction held this thread, and each read the one beside it; milliseconds. */
  onTimed?: (what: 'write' | 'read', ms: number, sql?: string) => void;
}

/** What each receiver is owed, and since when; not what a disabled endpoint holds. */
const PENDING = `SELECT owed.count, owed.oldest FROM
    (SELECT endpoint_id, count(*) AS count, min(next_attempt_at) AS oldest
     FROM deliveries INDEXED BY deliveries_pending WHERE status = 'pending' GROUP BY endpoint_id) AS owed
  LEFT JOIN endpoints ON endpoints.id = owed.endpoint_id
  WHERE owed.endpoint_id IS NULL OR endpoints.status = 'enabled'`;

const UNFINISHED = `SELECT count(*) AS count FROM calls INDEXED BY calls_unfinished WHERE ${LIVE}`;

/**
 * Opens the store, creating or migrating its database.
 * @throws StorageError (database.ts): its message is the one line to show
 */
export async function openStore(o: StoreOptions): Promise<Store> {
  const { path, log, secretKeys = null, now = systemClock.now } = o;
  const database = openDatabase({ path, shared: o.shared, log, now });
  let sealer: Sealer;
  try {
    sealer = openSecrets(database.db, { path, setting: secretKeys, log });
    adoptOperators(database.db);
  } catch (error) {
    database.close();
    throw error;
  }
  const reader =
    path === ':memory:' ? undefined : openReader(path, (sql, ms) => o.onTimed?.('read', ms, sql));
  const connection = openConnection({
    db: database.db,
    owner: database.daemon.epoch,
    clock: now,
    log,
    onWrite: o.onWrite,
    onPrepare: o.onPrepare,
    onWritten: (ms) => o.onTimed?.('write', ms),
    reader,
  });

  const gate = new OutboundGate(connection, o.outbound ?? UNLIMITED);
  const store: Store = {
    ...organizations(connection),
    ...people(connection),
    ...auditLog(connection),
    ...numbers(connection),
    ...agents(connection),
    ...daemons(connection, { path, daemon: database.daemon }),
    ...campaigns(connection),
    ...campaignContacts(connection),
    ...calls(connection, gate),
    ...transcript(connection),
    ...overview(connection),
    ...turns(connection),
    ...endpoints(connection),
    ...deliveries(connection),
    ...farOffRetries(connection),
    ...doNotCall(connection),
    ...outbound(connection, gate),
    ...idempotency(connection),
    ...storedTimes(connection),
    ...alerts(connection),
    ...holds(connection),
    ...erasures(connection),
    ...fileCleaning(connection),
    ...retention(connection),

    subscribe: connection.subscribe,
    letOthersIn: database.letOthersIn,

    writable: () => connection.kept.writable(),
    stored: (callId) => connection.kept.stored(callId),
    flush: connection.flush,

    async close() {
      connection.closing.abort();
      // First: a reader would keep the log from being emptied.
      await reader?.close();
      // What was asked until now is written.
      connection.close();
      database.close();
    },

    /**
     * Deliveries that a disabled endpoint holds are not counted. `oldestPendingSeconds` is how far past its time the
     * most overdue one is: 0 while every retry waits for its turn.
     */
    async stats() {
      const [pending, unfinished] = await Promise.all([
        connection.read(PENDING, {}),
        connection.read(UNFINISHED, {}),
      ]);
      let [count, oldest] = [0, now().toISOString()];
      for (const owed of pending) {
        count += Number(owed.count);
        const due = connection.wall(String(owed.oldest));
        if (due < oldest) oldest = due;
      }
      return {
        pendingDeliveries: count,
        oldestPendingSeconds: Math.max(0, (now().getTime() - Date.parse(oldest)) / 1000),
        unfinishedCalls: Number(unfinished[0]?.count),
        walBytes: database.walBytes(),
        keptWrites: connection.kept.count(),
      };
    },
  };
  return sealStore(store, sealer);
}
