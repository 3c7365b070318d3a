// Legal holds: what may neither be erased nor swept; which call one covers is ../legal-hold.ts's.
import type { HoldRecord } from '../kept-records.ts';
import type { KeptVerbs } from '../kept-verbs.ts';
import { holdsCall, holdsErasure } from '../legal-hold.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
import { ERASURES, HOLDS } from './kept-rows.ts';
import { readPage } from './pages.ts';
import { CALLS } from './rows.ts';

type Verbs = 'createHold' | 'liftHold' | 'getHold' | 'listHolds' | 'holdsOf';

/** A call of an organization as far as holds go by it. */
export function heldCall({ statement }: Connection, orgId: string, id: string) {
  const row = statement('SELECT * FROM calls WHERE id = ? AND org_id = ?').get(id, orgId);
  return row === undefined ? null : CALLS.fromRow(row);
}

/** Those of an organization that are in force, oldest first. */
export function holdsInForce({ statement }: Connection, orgId: string): HoldRecord[] {
  return statement(
    `SELECT ${HOLDS.selected} FROM legal_holds INDEXED BY legal_holds_in_force
     WHERE org_id = ? AND lifted_at IS NULL ORDER BY seq`,
  )
    .all(orgId)
    .map(HOLDS.fromRow);
}

export function holds(connection: Connection): Pick<KeptVerbs, Verbs> {
  const { statement, tryWrite, write } = connection;

  function read(orgId: string, id: string): HoldRecord | null {
    const row = statement(`SELECT ${HOLDS.selected} FROM legal_holds WHERE id = ? AND org_id = ?`).get(
      id,
      orgId,
    );
    return row === undefined ? null : HOLDS.fromRow(row);
  }

  return {
    async createHold(hold) {
      return tryWrite(() => {
        if (hold.call_id !== null && heldCall(connection, hold.org_id, hold.call_id) === null)
          throw new Refusal('not_found');
        const underWay = statement(
          `SELECT ${ERASURES.selected} FROM erasures INDEXED BY erasures_under_way WHERE state <> 'done' AND org_id = ?`,
        )
          .all(hold.org_id)
          .map(ERASURES.fromRow);
        const call = (id: string) => heldCall(connection, hold.org_id, id);
        if (underWay.some((erasure) => holdsErasure(hold, erasure, call))) throw new Refusal('being_erased');
        statement(HOLDS.insert).run(HOLDS.toRow(hold));
        return hold;
      });
    },

    async liftHold(orgId, id, by, at) {
      return write(() => {
        const hold = read(orgId, id);
        if (hold === null || hold.lifted_at !== null) return hold;
        updateById(connection, HOLDS, id, HOLDS.toRow({ lifted_by: by, lifted_at: at }));
        // What was passed over while it was held is looked through again.
        statement('DELETE FROM retention_swept WHERE org_id = ?').run(orgId);
        return { ...hold, lifted_by: by, lifted_at: at };
      });
    },

    async getHold(orgId, id) {
      return read(orgId, id);
    },

    async listHolds(orgId, page) {
      const o = { time: null, orgId, where: [], page, index: 'legal_holds_by_org' };
      return (await readPage(connection, HOLDS, o)).map(HOLDS.fromRow);
    },

    async holdsOf(orgId, callId) {
      const inForce = holdsInForce(connection, orgId);
      const call = inForce.length === 0 ? null : heldCall(connection, orgId, callId);
      return call === null ? [] : inForce.filter((hold) => holdsCall(hold, call));
    },
  };
}
