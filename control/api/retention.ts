// The retention routes: how long what is kept, by organization and agent. It is carried out by control/operations/retention.ts.
import {
  KEPT_KINDS,
  type KeptDays,
  type KeptKind,
  type RetentionRecord,
} from '../../storage/kept-records.ts';
import { found } from '../http/answer.ts';
import { settled } from '../http/conflicts.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './kept-schemas.ts';

const FOR_EVER = Object.fromEntries(KEPT_KINDS.map((kind) => [kind, null])) as KeptDays;

const daysView = (days: KeptDays) =>
  Object.fromEntries(KEPT_KINDS.map((kind) => [`${kind}_days`, days[kind]])) as Record<
    `${KeptKind}_days`,
    number | null
  >;

function retentionView(rules: readonly RetentionRecord[]) {
  return {
    default: daysView(rules.find(({ agent_id }) => agent_id === null)?.days ?? FOR_EVER),
    agents: rules.flatMap(({ agent_id, days }) =>
      agent_id === null ? [] : [{ agent_id, days: daysView(days) }],
    ),
  };
}

export const retentionRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/retention',
    operation: 'getRetention',
    summary: 'Read how long recordings, transcripts, events, deliveries and calls are kept',
    status: 200,
    answer: schemas.retention,
    async run({ store, orgId }) {
      return { body: retentionView(await store.listRetention(orgId)) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/retention',
    operation: 'updateRetention',
    needs: 'admin',
    errors: ['agent_not_found'],
    summary: 'Set how long what is kept, of all agents or of one',
    description:
      'What is older goes within the hour, for good. Nothing is deleted by age until this is set. What a legal hold covers stays.',
    status: 200,
    body: schemas.changeRetention,
    answer: schemas.retention,
    async run({ store, log, orgId, actor, body, keeper }) {
      const { agent_id: agentId = null, ...given } = body;
      const rules = await store.listRetention(orgId);
      const of = (id: string | null) => rules.find(({ agent_id }) => agent_id === id)?.days;
      const before = of(agentId) ?? of(null) ?? FOR_EVER;
      const days = Object.fromEntries(
        KEPT_KINDS.map((kind) => [
          kind,
          given[`${kind}_days`] === undefined ? before[kind] : given[`${kind}_days`],
        ]),
      ) as KeptDays;
      const after = settled(await store.setRetention(orgId, agentId, days), 'agent_id');
      log.info({ org_id: orgId, actor_id: actor.id, agent_id: agentId, days }, 'retention.set');
      keeper.sweep();
      return { body: retentionView(after) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/retention/:agent_id',
    operation: 'removeAgentRetention',
    needs: 'admin',
    summary: 'Take an agent’s own days away: the default holds for its calls',
    status: 200,
    answer: schemas.retention,
    async run({ store, log, orgId, actor, params, keeper }) {
      found(await store.getAgent(orgId, params.agent_id), 'There is no such agent.');
      const after = settled(await store.setRetention(orgId, params.agent_id, null), 'agent_id');
      log.info({ org_id: orgId, actor_id: actor.id, agent_id: params.agent_id }, 'retention.removed');
      keeper.sweep();
      return { body: retentionView(after) };
    },
  }),
];
