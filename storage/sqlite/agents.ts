// Agents and their numbers. Whether an agent may be used is decided above; here only what must hold in the rows:
// at most one inbound agent a number, and a primary number that is attached.
import type { AgentRecord, AgentView } from '../records.ts';
import type { Store } from '../store.ts';
import { type Connection, Refusal, updateById } from './connection.ts';
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

/** What updateAgent may change; the rest has verbs of its own or stays. */
const CHANGEABLE = [
  'user_id',
  'name',
  'persona',
  'instructions',
  'voice',
  'language',
  'returns',
  'tools',
  'webhook_url',
  'voicemail_action',
] as const satisfies readonly (keyof AgentRecord)[];

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
    if (readNumber(connection, agent.org_id, numberId)?.status !== 'active')
      throw new Refusal('number_not_found');
    const attached = statement('SELECT 1 FROM agent_numbers WHERE agent_id = ? AND number_id = ?');
    if (attached.get(agent.id, numberId)) return;
    // Within one transaction of the one writer nothing is left to collide with but another inbound agent.
    const { changes } = statement(
      `INSERT INTO agent_numbers (agent_id, number_id, agent_type, attached_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO NOTHING`,
    ).run(agent.id, numberId, agent.type, at);
    if (changes === 0) throw new Refusal('number_taken');
  }

  return {
    async createAgent(agent, numberIds) {
      return tryWrite(() => {
        const primary = agent.primary_number_id ?? numberIds[0] ?? null;
        if (primary !== null && !numberIds.includes(primary)) {
          throw new Refusal('primary_number_not_attached');
        }
        statement(AGENTS.insert).run(AGENTS.toRow({ ...agent, primary_number_id: null }));
        for (const numberId of numberIds) attach(agent, numberId, agent.created_at);
        updateById(connection, AGENTS, agent.id, { primary_number_id: primary });
        return withNumbers({ ...agent, primary_number_id: primary });
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
        if (ifUpdatedAt !== null && ifUpdatedAt !== before.updated_at) throw new Refusal('changed_meanwhile');
        const asked = change.updated_at ?? connection.now();
        const next = new Date(Date.parse(before.updated_at) + 1).toISOString();
        const updated_at = asked > before.updated_at ? asked : next;
        updateById(connection, AGENTS, id, { ...AGENTS.toRow(change, CHANGEABLE), updated_at });
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
        if (agent.archived_at !== null) throw new Refusal('agent_archived');
        attach(agent, numberId, at);
        const first = agent.primary_number_id === null;
        const change = primary || first ? { primary_number_id: numberId } : {};
        updateById(connection, AGENTS, agentId, { ...change, updated_at: at });
        return read(orgId, agentId);
      });
    },

    async detachNumber(orgId, agentId, numberId, at) {
      return write(() => {
        const agent = read(orgId, agentId);
        if (!agent?.numbers.some((number) => number.id === numberId)) return null;
        statement('DELETE FROM agent_numbers WHERE agent_id = ? AND number_id = ?').run(agentId, numberId);
        const oldestLeft = agent.numbers.find((number) => number.id !== numberId);
        const change =
          agent.primary_number_id === numberId ? { primary_number_id: oldestLeft?.id ?? null } : {};
        updateById(connection, AGENTS, agentId, { ...change, updated_at: at });
        return read(orgId, agentId);
      });
    },

    async setPrimaryNumber(orgId, agentId, numberId, at) {
      return tryWrite(() => {
        const agent = read(orgId, agentId);
        if (!agent) return null;
        if (!agent.numbers.some((number) => number.id === numberId)) {
          throw new Refusal('primary_number_not_attached');
        }
        updateById(connection, AGENTS, agentId, { primary_number_id: numberId, updated_at: at });
        return read(orgId, agentId);
      });
    },
  };
}
