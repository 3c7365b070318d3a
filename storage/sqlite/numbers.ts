// Phone numbers, each with the agents it is attached to.
import { releasing } from '../agent-numbers.ts';
import type { NumberView } from '../records.ts';
import type { Store } from '../store.ts';
import { accepted, type Connection, Refusal, updateById } from './connection.ts';
import { readPage } from './pages.ts';
import { NUMBERS, type Row } from './rows.ts';

type Verbs =
  | 'insertNumber'
  | 'getNumber'
  | 'listNumbers'
  | 'findActiveNumber'
  | 'oldestActiveNumber'
  | 'releaseNumber';

const ATTACHED = `
  (SELECT agent_id FROM agent_numbers WHERE number_id = numbers.id AND agent_type = 'inbound') AS inbound_agent_id,
  (SELECT json_group_array(agent_id) FROM (SELECT agent_id FROM agent_numbers
     WHERE number_id = numbers.id AND agent_type = 'outbound' ORDER BY seq)) AS outbound_agent_ids`;

/** What to select for `toNumberView`. */
export const NUMBER_VIEW = `${NUMBERS.selected}, ${ATTACHED}`;

export function toNumberView(row: Row): NumberView {
  return {
    ...NUMBERS.fromRow(row),
    inbound_agent_id: row.inbound_agent_id === null ? null : String(row.inbound_agent_id),
    outbound_agent_ids: JSON.parse(String(row.outbound_agent_ids)) as string[],
  };
}

export function readNumber(connection: Connection, orgId: string, id: string): NumberView | null {
  const row = connection
    .statement(`SELECT ${NUMBER_VIEW} FROM numbers WHERE id = ? AND org_id = ?`)
    .get(id, orgId);
  return row ? toNumberView(row) : null;
}

export function numbers(connection: Connection): Pick<Store, Verbs> {
  const { statement, tryWrite } = connection;

  return {
    async insertNumber(number) {
      return tryWrite(() => {
        const taken = statement("SELECT 1 FROM numbers WHERE e164 = ? AND status = 'active'").get(
          number.e164,
        );
        if (taken && number.status === 'active') throw new Refusal('number_exists');
        statement(NUMBERS.insert).run(NUMBERS.toRow(number));
        return { ...number, inbound_agent_id: null, outbound_agent_ids: [] };
      });
    },

    async getNumber(orgId, id) {
      return readNumber(connection, orgId, id);
    },

    async listNumbers(orgId, page) {
      const o = {
        time: 'purchased_at',
        orgId,
        where: [],
        page,
        selected: NUMBER_VIEW,
        index: 'numbers_by_org',
      };
      return (await readPage(connection, NUMBERS, o)).map(toNumberView);
    },

    async findActiveNumber(e164) {
      const row = statement(`SELECT ${NUMBER_VIEW} FROM numbers WHERE e164 = ? AND status = 'active'`).get(
        e164,
      );
      return row ? toNumberView(row) : null;
    },

    async oldestActiveNumber(orgId) {
      const row = statement(
        `SELECT ${NUMBER_VIEW} FROM numbers WHERE org_id = ? AND status = 'active' ORDER BY purchased_at, seq LIMIT 1`,
      ).get(orgId);
      return row ? toNumberView(row) : null;
    },

    async releaseNumber(orgId, id) {
      return tryWrite(() => {
        const number = readNumber(connection, orgId, id);
        if (!number) return null;
        const change = accepted(releasing(number));
        updateById(connection, NUMBERS, id, change);
        return { ...number, ...change };
      });
    },
  };
}
