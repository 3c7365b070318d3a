// Owners: what a daemon may write of a call, and what becomes of all that one leaves which is gone.
import { mayWrite, type Owned } from '../call-ownership.ts';
import type { Store, TakenCall } from '../store.ts';
import { type Connection, Refusal } from './connection.ts';
import { buryLife, lifeOf } from './daemon-life.ts';
import { type Enrolled, enrolledOf, NOT_ENDED, OWN_HEIR } from './enrolment.ts';
import { inheritRequests } from './idempotency.ts';
import { CALLS, DAEMONS } from './rows.ts';

type Verbs = 'self' | 'tellSelf' | 'daemons' | 'ownerOf' | 'mayWrite' | 'takeOver' | 'pendingResults';

/** As the index calls_unfinished has it. */
export const LIVE = "status IN ('queued', 'initiated', 'ringing', 'in_progress')";

/** As the index calls_pending_result has it. */
const PENDING_RESULT = "status = 'completed' AND result_status = 'pending'";

/** Whether this daemon may write of a call. Of one that is not there, whoever writes finds that out. */
export function isOwn({ statement, owner }: Connection, callId: string): boolean {
  const found = statement(
    `SELECT calls.status, calls.owner, calls.erased_at, daemons.heir FROM calls
     LEFT JOIN daemons ON daemons.epoch = calls.owner WHERE calls.id = ?`,
  ).get(callId);
  // What was erased stays so, whoever comes late.
  if (found !== undefined && found.erased_at !== null) return false;
  return found === undefined || mayWrite(found as unknown as Owned, owner);
}

/** @throws Refusal not_owner */
export function refuseOthers(connection: Connection, callId: string): void {
  if (!isOwn(connection, callId)) throw new Refusal('not_owner');
}

/** Who owns what, and what others left. */
export function daemons(
  connection: Connection,
  o: { path: string; daemon: ReturnType<Store['self']> },
): Pick<Store, Verbs> {
  const { statement, write, owner } = connection;
  let self = o.daemon;

  const notEnded = (): Enrolled[] => statement(NOT_ENDED).all().map(enrolledOf);

  /** Whether there are calls that nobody owns, as a tool may have put them there. */
  function hasStrays(): boolean {
    const [unfinished, pending] = [
      `SELECT 1 FROM calls INDEXED BY calls_unfinished WHERE ${LIVE} AND owner IS NULL LIMIT 1`,
      `SELECT 1 FROM calls INDEXED BY calls_pending_result WHERE ${PENDING_RESULT} AND owner IS NULL LIMIT 1`,
    ];
    return statement(unfinished).get() !== undefined || statement(pending).get() !== undefined;
  }

  /** Of others, what is over and has no heir yet. */
  function gone(): number[] {
    const ended = statement(
      `SELECT epoch FROM daemons INDEXED BY daemons_without_heir
       WHERE heir IS NULL AND ended_at IS NOT NULL AND epoch <> ?`,
    ).all(owner);
    const dead = notEnded().filter((one) => one.epoch !== owner && lifeOf(o.path, one) === 'dead');
    return [...ended.map(({ epoch }) => Number(epoch)), ...dead.map(({ epoch }) => epoch)];
  }

  /** What one of them owned and had not finished, now this one's. @returns the calls that have not ended */
  function inherit(from: number | null): TakenCall[] {
    const said =
      from === null ? undefined : statement('SELECT alive_at FROM daemons WHERE epoch = ?').get(from);
    const unfinished = statement(
      `SELECT ${CALLS.selected} FROM calls INDEXED BY calls_unfinished WHERE ${LIVE} AND owner IS ?
       ORDER BY created_at, seq`,
    ).all(from);
    for (const change of [
      `UPDATE calls INDEXED BY calls_unfinished SET owner = @owner WHERE ${LIVE} AND owner IS @from`,
      `UPDATE calls INDEXED BY calls_pending_result SET owner = @owner WHERE ${PENDING_RESULT} AND owner IS @from`,
    ]) {
      statement(change).run({ owner, from });
    }
    statement(
      'UPDATE deliveries INDEXED BY deliveries_leased SET lease_until = NULL, lease_owner = NULL WHERE lease_owner = ?',
    ).run(from);
    if (from !== null) inheritRequests(connection, from);
    const owner_alive_at = said === undefined ? null : (said.alive_at as string | null);
    return unfinished.map((row) => ({ ...CALLS.fromRow(row), owner_alive_at }));
  }

  return {
    self: () => self,

    async tellSelf(change) {
      // What is not named may be being told at the same time.
      const columns = Object.keys(change);
      // Nobody waits for the hundredth time that it lives.
      const patient = columns.every((column) => column === 'alive_at');
      await write(
        () => {
          const set = columns.map((column) => `${column} = @${column}`).join(', ');
          statement(`UPDATE daemons SET ${set} WHERE epoch = @owner`).run({ ...change, owner });
        },
        { patient },
      );
      self = { ...self, ...change };
    },

    async daemons() {
      return notEnded().map(({ daemon }) => daemon);
    },

    async ownerOf(callId) {
      const row = statement(
        `SELECT ${DAEMONS.selected} FROM calls JOIN daemons ON daemons.epoch = calls.owner WHERE calls.id = ?`,
      ).get(callId);
      return row === undefined ? null : DAEMONS.fromRow(row);
    },

    async mayWrite(callId) {
      return isOwn(connection, callId) && statement(OWN_HEIR).get(owner)?.heir == null;
    },

    async pendingResults() {
      const rows = statement(
        `SELECT ${CALLS.selected} FROM calls INDEXED BY calls_pending_result WHERE ${PENDING_RESULT} AND owner = ?
         ORDER BY ended_at, seq`,
      ).all(owner);
      return rows.map(CALLS.fromRow);
    },

    async takeOver({ standStill = [] } = {}) {
      const left = gone();
      const taken: TakenCall[] = [];
      const strays = hasStrays();
      if (left.length === 0 && standStill.length === 0 && !strays) return taken;
      await write(
        () => {
          if (strays) taken.push(...inherit(null));
          for (const epoch of left) {
            const { changes } = statement(
              'UPDATE daemons SET ended_at = coalesce(ended_at, ?), heir = ? WHERE epoch = ? AND heir IS NULL',
            ).run(connection.now(), owner, epoch);
            // Else another daemon has looked at the same moment.
            if (changes > 0) taken.push(...inherit(epoch));
          }
          for (const { epoch, alive_at } of standStill) {
            const { changes } = statement(
              `UPDATE daemons SET ended_at = ?, heir = ?
               WHERE epoch = ? AND heir IS NULL AND ended_at IS NULL AND alive_at = ?`,
            ).run(connection.now(), owner, epoch, alive_at);
            // Else it goes on, or is another's.
            if (changes === 0) continue;
            taken.push(...inherit(epoch));
            // Nobody asks whether it lives any more.
            left.push(epoch);
          }
        },
        { alone: true },
      );
      for (const epoch of left) buryLife(o.path, epoch);
      return taken;
    },
  };
}
