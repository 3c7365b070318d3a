// The agent routes: create, list, read, change, archive, and the numbers of an agent.
import { AppError } from '../../errors.ts';
import type { AgentRecord, AgentView } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { agentView } from '../../storage/views.ts';
import { parseReturns } from '../agents/returns-schema.ts';
import { keepMasked, parseTools } from '../agents/tools.ts';
import { found, versionOf } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { page } from '../http/paging.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './agent-schemas.ts';
import { checkAgentUrls, defaultDisclosure, knownModel, knownVoice, newAgent } from './new-agent.ts';
import { checkTransferTargets } from './transfer-targets.ts';

const NO_AGENT = 'Your organization has no agent with this id; GET /v1/agents lists them.';

/** An agent that may still be changed. @throws AppError not_found, agent_archived */
async function liveAgent(store: Pick<Store, 'getAgent'>, orgId: string, id: string): Promise<AgentView> {
  const agent = found(await store.getAgent(orgId, id), NO_AGENT);
  if (agent.archived_at !== null) {
    throw new AppError('agent_archived', 'The agent is archived and cannot be changed; create a new one.');
  }
  return agent;
}

/** An agent as lists show it: without its numbers. */
function agentSummary(agent: AgentView) {
  const { numbers: _numbers, ...summary } = agentView(agent);
  return summary;
}

export const agentRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/agents',
    operation: 'createAgent',
    errors: [
      'invalid_voice',
      'invalid_model',
      'invalid_language',
      'invalid_returns',
      'invalid_tool',
      'destination_closed',
      'destination_not_allowed',
      'invalid_url',
      'blocked_address',
      'primary_number_not_attached',
      'number_not_found',
      'number_taken',
    ],
    summary: 'Create an agent',
    status: 201,
    body: schemas.createAgent,
    answer: schemas.agent,
    once: { failures: 'dropped' },
    async run({ store, egress, models, config, orgId, keyId, body, now }) {
      const numberIds = [...new Set(body.number_ids ?? [])];
      const primary = body.primary_number_id ?? numberIds[0] ?? null;
      if (primary !== null && !numberIds.includes(primary)) {
        throw new AppError('primary_number_not_attached', 'primary_number_id must be one of number_ids.', {
          param: 'primary_number_id',
        });
      }
      const agent = newAgent({ egress, models, config, orgId, now: now() }, body, { userId: keyId, primary });
      await checkTransferTargets(store, orgId, agent.tools);
      return { body: agentView(settled(await store.createAgent(agent, numberIds), 'number_ids')) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/agents',
    operation: 'listAgents',
    summary: 'List agents, newest first',
    status: 200,
    query: schemas.listAgents,
    answer: schemas.agentList,
    async run({ store, orgId, query, url }) {
      const filters = { type: query.type, includeArchived: query.include_archived === 'true' };
      return page({
        query,
        url,
        exists: (id) => store.getAgent(orgId, id),
        list: (at) => store.listAgents(orgId, filters, at),
        body: (agents) => ({ data: agents.map(agentSummary) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/agents/:id',
    operation: 'getAgent',
    summary: 'Read an agent',
    status: 200,
    answer: schemas.agent,
    async run({ store, orgId, params }) {
      const agent = found(await store.getAgent(orgId, params.id), NO_AGENT);
      return { body: agentView(agent), headers: versionOf(agent) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/agents/:id',
    operation: 'updateAgent',
    ifMatch: true,
    errors: [
      'agent_archived',
      'changed_meanwhile',
      'invalid_voice',
      'invalid_model',
      'invalid_language',
      'invalid_returns',
      'invalid_tool',
      'destination_closed',
      'destination_not_allowed',
      'invalid_url',
      'blocked_address',
    ],
    summary: 'Change an agent',
    description:
      'Any field of creation but `type`, `number_ids` and `primary_number_id`; null clears those that may be null. Calls that are placed or live keep what they had. Of two changes the later one stands; `If-Match` with the `updated_at` that the change was made on refuses it instead, when there was another one meanwhile.',
    status: 200,
    body: schemas.changeAgent,
    answer: schemas.agent,
    async run({ store, egress, models, config, orgId, params, body, ifUpdatedAt, now }) {
      const agent = await liveAgent(store, orgId, params.id);
      const change: Partial<AgentRecord> = { updated_at: now().toISOString() };
      if (body.name !== undefined) change.name = body.name;
      if (body.persona !== undefined) change.persona = body.persona;
      if (body.instructions !== undefined) change.instructions = body.instructions;
      if (body.model !== undefined) change.model = knownModel(models, body.model);
      if (body.voice !== undefined || body.model !== undefined) {
        const model = body.model === undefined ? agent.model : body.model;
        const voice = knownVoice(models, model, body.voice ?? agent.voice);
        if (body.voice !== undefined) change.voice = voice;
      }
      if (body.language !== undefined) change.language = body.language;
      if (body.returns !== undefined) change.returns = parseReturns(body.returns);
      if (body.tools !== undefined) {
        change.tools = keepMasked(parseTools(body.tools), agent.tools);
        await checkTransferTargets(store, orgId, change.tools);
      }
      if (body.webhook_url !== undefined) change.webhook_url = body.webhook_url;
      if (body.voicemail_action !== undefined) change.voicemail_action = body.voicemail_action;
      if (body.interruption_words !== undefined) change.interruption_words = body.interruption_words ?? [];
      if (body.patience !== undefined) change.patience = body.patience;
      if (body.eagerness !== undefined) change.eagerness = body.eagerness;
      if (body.consent !== undefined) change.consent = body.consent;
      if (body.interruption !== undefined) change.interruption = body.interruption;
      if (body.summarize !== undefined) change.summarize = body.summarize;
      if (body.disclosure !== undefined)
        change.disclosure = body.disclosure ?? defaultDisclosure(agent.type, config);
      if (body.mask !== undefined) change.mask = body.mask;
      checkAgentUrls(egress, change);
      const changed = settled(
        found(await store.updateAgent(orgId, params.id, change, { ifUpdatedAt }), NO_AGENT),
        'If-Match',
      );
      return { body: agentView(changed), headers: versionOf(changed) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/agents/:id',
    operation: 'archiveAgent',
    summary: 'Archive an agent and detach its numbers; live calls go on',
    status: 200,
    answer: schemas.agent,
    async run({ store, orgId, params, now }) {
      const agent = found(await store.getAgent(orgId, params.id), NO_AGENT);
      if (agent.archived_at !== null) return { body: agentView(agent) };
      return {
        body: agentView(found(await store.archiveAgent(orgId, params.id, now().toISOString()), NO_AGENT)),
      };
    },
  }),

  route({
    method: 'post',
    path: '/v1/agents/:id/numbers',
    operation: 'attachNumber',
    errors: ['agent_archived', 'number_not_found', 'number_taken'],
    summary: 'Attach a number; the first one becomes primary',
    status: 200,
    body: schemas.attachNumber,
    answer: schemas.agent,
    async run({ store, orgId, params, body, now }) {
      await liveAgent(store, orgId, params.id);
      const attached = await store.attachNumber(orgId, params.id, body.number_id, {
        primary: body.primary ?? false,
        at: now().toISOString(),
      });
      return { body: agentView(settled(found(attached, NO_AGENT), 'number_id')) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/agents/:id/numbers/:number_id',
    operation: 'detachNumber',
    errors: ['conflict'],
    summary: 'Detach a number; the oldest one left becomes primary when it was',
    status: 200,
    answer: schemas.agent,
    async run({ store, orgId, params, now }) {
      const agent = found(await store.getAgent(orgId, params.id), NO_AGENT);
      if (!agent.numbers.some((number) => number.id === params.number_id)) {
        throw new AppError(
          'not_found',
          'No number with this id is attached to the agent; GET /v1/agents/{id} lists its numbers.',
        );
      }
      const detached = await store.detachNumber(orgId, params.id, params.number_id, now().toISOString());
      return { body: agentView(settled(found(detached, NO_AGENT))) };
    },
  }),

  route({
    method: 'put',
    path: '/v1/agents/:id/primary-number',
    operation: 'setPrimaryNumber',
    errors: ['agent_archived', 'primary_number_not_attached'],
    summary: 'Choose the primary number among those attached',
    status: 200,
    body: schemas.setPrimaryNumber,
    answer: schemas.agent,
    async run({ store, orgId, params, body, now }) {
      const agent = await liveAgent(store, orgId, params.id);
      if (!agent.numbers.some((number) => number.id === body.number_id)) {
        throw new AppError(
          'primary_number_not_attached',
          'number_id is not attached to this agent; attach it first with POST /v1/agents/{id}/numbers.',
          { param: 'number_id' },
        );
      }
      const changed = await store.setPrimaryNumber(orgId, params.id, body.number_id, now().toISOString());
      return { body: agentView(settled(found(changed, NO_AGENT), 'number_id')) };
    },
  }),
];
