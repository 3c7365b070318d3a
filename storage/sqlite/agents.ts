// Agents and their numbers, as they are read and written; what becomes of the numbers is ../agent-numbers.ts's.
import {
  agentUpdatedAt,
  attaching,
  CHANGEABLE_OF_AGENT,
  firstPrimary,
  primaryAfterAttaching,
  primaryAfterDetaching,
  primaryChosen,
} from '../agent-numbers.ts';
import type { AgentRecord, AgentView } from '../records.ts';
import type { Store } from '../store.ts';
import { accepted, type Connection, updateById } from './connection.ts';
import { NUMBER_VIEW, readNumber, toNumberView } from './numbers.ts';
import { readPage } from './pages.ts';
import { AGENTS } from './rows.ts';

type Verbs =
  | 'createAgent'
  | 'getAgent'
  | 'listAgents'
  | 'updateAgent'
  | 'archiveAgent'
  | 'attachNumber'
  | 'detachNumber'
  | 'setPrimaryNumber';

export function agents(connection: Connection): Pick<Store, Verbs> {
  const { statement, tryWrite, write } = connection;

  function withNumbers(agent: AgentRecord): AgentView {
    const rows = statement(
      `SELECT ${NUMBER_VIEW} FROM agent_numbers JOIN numbers ON numbers.id = agent_numbers.number_id
       WHERE agent_numbers.agent_id = ? ORDER BY agent_numbers.seq`,
    ).all(agent.id);
    return { ...agent, numbers: rows.map(toNumberView) };
  }

  function read(orgId: string, id: string): AgentView | null {
    const row = statement(`SELECT ${AGENTS.selected} FROM agents WHERE id = ? AND org_id = ?`).get(id, orgId);
    return row ? withNumbers(AGENTS.fromRow(row)) : null;
  }

  /** @throws Refusal number_not_found, number_taken */
  function attach(agent: AgentRecord, numberId: string, at: string): void {
    if (accepted(attaching(agent, readNumber(connection, agent.org_id, numberId))) === 'kept') return;
    statement(
      'INSERT INTO agent_numbers (agent_id, number_id, agent_type, attached_at) VALUES (?, ?, ?, ?)',
    ).run(agent.id, numberId, agent.type, at);
  }

  return {
    async createAgent(agent, numberIds) {
      return tryWrite(() => {
        const { primaryNumberId } = accepted(firstPrimary(agent.primary_number_id, numberIds));
        statement(AGENTS.insert).run(AGENTS.toRow({ ...agent, primary_number_id: null }));
        for (const numberId of numberIds) attach(agent, numberId, agent.created_at);
        updateById(connection, AGENTS, agent.id, { primary_number_id: primaryNumberId });
        return withNumbers({ ...agent, primary_number_id: primaryNumberId });
      });
    },

    async getAgent(orgId, id) {
      return read(orgId, id);
    },

    async listAgents(orgId, filters, page) {
      const where = [
        { sql: 'agents.type = ?', value: filters.type },
        { sql: 'agents.archived_at IS NULL', value: filters.includeArchived ? undefined : 1 },
      ];
      const index = filters.type === undefined ? 'agents_by_org' : 'agents_by_type';
      const rows = await readPage(connection, AGENTS, { time: 'created_at', orgId, where, page, index });
      return rows.map((row) => withNumbers(AGENTS.fromRow(row)));
    },

    async updateAgent(orgId, id, change, { ifUpdatedAt = null } = {}) {
      return tryWrite(() => {
        const before = read(orgId, id);
        if (!before) return null;
        const asked = change.updated_at ?? connection.now();
        const { updatedAt } = accepted(agentUpdatedAt(before.updated_at, asked, ifUpdatedAt));
        updateById(connection, AGENTS, id, {
          ...AGENTS.toRow(change, CHANGEABLE_OF_AGENT),
          updated_at: updatedAt,
        });
        return read(orgId, id);
      });
    },

    async archiveAgent(orgId, id, at) {
      return write(() => {
        const agent = read(orgId, id);
        if (!agent || agent.archived_at !== null) return agent;
        statement('DELETE FROM agent_numbers WHERE agent_id = ?').run(id);
        updateById(connection, AGENTS, id, { archived_at: at, updated_at: at, primary_number_id: null });
        return read(orgId, id);
      });
    },

    async attachNumber(orgId, agentId, numberId, { primary, at }) {
      return tryWrite(() => {
        const agent = read(orgId, agentId);
        if (!agent) return null;
        const { primaryNumberId } = accepted(primaryAfterAttaching(agent, numberId, primary));
        attach(agent, numberId, at);
        updateById(connection, AGENTS, agentId, { primary_number_id: primaryNumberId, updated_at: at });
        return read(orgId, agentId);
      });
    },

    async detachNumber(orgId, agentId, numberId, at) {
      return write(() => {
        const agent = read(orgId, agentId);
        const left = agent && primaryAfterDetaching(agent, numberId);
        if (left === null) return null;
        statement('DELETE FROM agent_numbers WHERE agent_id = ? AND number_id = ?').run(agentId, numberId);
        updateById(connection, AGENTS, agentId, { primary_number_id: left.primaryNumberId, updated_at: at });
        return read(orgId, agentId);
      });
    },

    async setPrimaryNumber(orgId, agentId, numberId, at) {
      return tryWrite(() => {
        const agent = read(orgId, agentId);
        if (!agent) return null;
        const { primaryNumberId } = accepted(primaryChosen(agent, numberId));
        updateById(connection, AGENTS, agentId, { primary_number_id: primaryNumberId, updated_at: at });
        return read(orgId, agentId);
      });
    },
  };
}
