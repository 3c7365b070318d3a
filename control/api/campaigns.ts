// The campaign routes: made, changed, started, paused, stopped, and what they have come to. Who calls is control/campaigns/.
import { v7 as uuidv7 } from 'uuid';
import { AppError } from '../../errors.ts';
import type { CampaignRecord, CampaignStatus } from '../../storage/campaign-records.ts';
import type { Conflict, Store } from '../../storage/store.ts';
import { reportOf } from '../campaigns/report.ts';
import { found } from '../http/answer.ts';
import { page } from '../http/paging.ts';
import type { ControlParts } from '../http/parts.ts';
import { type Route, route } from '../http/route.ts';
import * as schemas from './campaign-schemas.ts';
import { campaignView } from './campaign-views.ts';
import { agentCall } from './new-call.ts';

export const NO_CAMPAIGN = 'Your organization has no campaign with this id; GET /v1/campaigns lists them.';
const rule = (times: number, after_minutes: number) => ({ times, after_minutes });
const RETRIES: CampaignRecord['retries'] = {
  busy: rule(2, 15),
  no_answer: rule(2, 120),
  voicemail: rule(0, 120),
  cut: rule(1, 5),
  failed: rule(1, 15),
};
/** Any number: an agent is asked whether it could call, and nobody is called. */
const NOBODY = '+14155550100';

const AGENT_ERRORS = [
  'agent_not_found',
  'agent_archived',
  'agent_not_outbound',
  'agent_has_no_number',
  'invalid_model',
  'from_number_not_attached',
] as const;

const REFUSALS: Readonly<Record<string, string>> = {
  no_contacts: 'The campaign has nobody to call; add contacts first.',
  too_many_contacts:
    'A campaign may have 50,000 contacts at most; these would be more, and none of them was added.',
};

/** A verb's refusal as the API's. */
export function campaignRefused(conflict: Conflict, what: string): AppError {
  return new AppError(
    'conflict',
    REFUSALS[conflict.conflict] ?? `The campaign cannot be ${what} as it stands.`,
  );
}

async function viewed(store: Store, campaign: CampaignRecord, now: () => Date) {
  return campaignView(campaign, await store.campaignTallies(campaign.id), now());
}

/** @throws AppError of AGENT_ERRORS: as a call of it would be refused */
async function checkAgent(
  parts: ControlParts & { orgId: string },
  { agent_id, from_number }: Pick<CampaignRecord, 'agent_id' | 'from_number'>,
): Promise<void> {
  await agentCall(parts, { agent_id, to: NOBODY, ...(from_number === null ? {} : { from_number }) });
}

/** A route that changes how a campaign stands. */
function turn(o: {
  verb: 'start' | 'pause' | 'resume' | 'stop';
  operation: string;
  from: readonly CampaignStatus[];
  to: CampaignStatus;
  what: string;
  summary: string;
  description?: string;
}): Route {
  const begins = o.to === 'running';
  return route({
    method: 'post',
    path: `/v1/campaigns/:id/${o.verb}` as '/v1/campaigns/:id/start',
    operation: o.operation,
    errors: ['conflict', ...(begins ? AGENT_ERRORS : [])],
    summary: o.summary,
    description: o.description,
    status: 200,
    answer: schemas.campaign,
    async run(parts) {
      const { store, orgId, params, campaigns, now } = parts;
      const before = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      if (begins && o.from.includes(before.status)) await checkAgent(parts, before);
      const after = found(
        await store.updateCampaign(orgId, params.id, { status: o.to, status_reason: null }, o.from),
        NO_CAMPAIGN,
      );
      if ('conflict' in after) {
        if (after.conflict !== 'status') throw campaignRefused(after, o.what);
        throw new AppError('conflict', `The campaign is ${before.status}; it cannot be ${o.what}.`);
      }
      campaigns.wake();
      return { body: await viewed(store, after, now) };
    },
  });
}

export const campaignRoutes: Route[] = [
  route({
    method: 'post',
    path: '/v1/campaigns',
    operation: 'createCampaign',
    errors: ['invalid_number', ...AGENT_ERRORS],
    summary: 'Make a campaign: many calls by one agent, to a list of contacts',
    description: 'It is a draft until it is started. Contacts are added by their own requests.',
    status: 201,
    body: schemas.createCampaign,
    answer: schemas.campaign,
    once: { failures: 'dropped' },
    async run(parts) {
      const { store, orgId, body, now } = parts;
      const from_number = body.from_number ?? null;
      await checkAgent(parts, { agent_id: body.agent_id, from_number });
      const at = now().toISOString();
      const campaign: CampaignRecord = {
        id: uuidv7(),
        org_id: orgId,
        name: body.name,
        agent_id: body.agent_id,
        from_number,
        status: 'draft',
        status_reason: null,
        calls_per_minute: body.calls_per_minute ?? 60,
        max_concurrent: body.max_concurrent ?? 10,
        free_lines: body.free_lines ?? 2,
        windows: body.windows ?? [],
        time_zone: body.time_zone ?? 'UTC',
        window_zone: body.window_zone ?? 'contact',
        retries: withRules(RETRIES, body.retries),
        max_attempts: body.max_attempts ?? 3,
        created_at: at,
        updated_at: at,
        started_at: null,
        ended_at: null,
        held_code: null,
        held_until: null,
        last_started_at: null,
        at_work: false,
      };
      return { body: await viewed(store, await store.createCampaign(campaign), now) };
    },
  }),

  route({
    method: 'get',
    path: '/v1/campaigns',
    operation: 'listCampaigns',
    summary: 'List campaigns, newest first',
    status: 200,
    query: schemas.listCampaigns,
    answer: schemas.campaignList,
    async run({ store, orgId, query, url, now }) {
      const shown = new Map<string, ReturnType<typeof campaignView>>();
      return page({
        query,
        url,
        exists: (id) => store.getCampaign(orgId, id),
        async list(at) {
          const campaigns = await store.listCampaigns(orgId, { status: query.status }, at);
          for (const one of campaigns) shown.set(one.id, await viewed(store, one, now));
          return campaigns;
        },
        body: (campaigns) => ({ data: campaigns.map(({ id }) => shown.get(id)) }),
      });
    },
  }),

  route({
    method: 'get',
    path: '/v1/campaigns/:id',
    operation: 'getCampaign',
    summary: 'Read a campaign, with how many contacts stand where',
    status: 200,
    answer: schemas.campaign,
    async run({ store, orgId, params, now }) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      return { body: await viewed(store, campaign, now) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/campaigns/:id',
    operation: 'updateCampaign',
    errors: ['invalid_number', 'conflict', ...AGENT_ERRORS],
    summary: 'Change a campaign, also one that runs',
    description: 'What it says holds from the next call on. One that is completed or stopped stays as it is.',
    status: 200,
    body: schemas.changeCampaign,
    answer: schemas.campaign,
    async run(parts) {
      const { store, orgId, params, body, campaigns, now } = parts;
      const before = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      const { retries, ...change } = body;
      if (change.agent_id !== undefined || change.from_number !== undefined)
        await checkAgent(parts, {
          agent_id: change.agent_id ?? before.agent_id,
          from_number: change.from_number === undefined ? before.from_number : change.from_number,
        });
      const rules = retries === undefined ? {} : { retries: withRules(before.retries, retries) };
      const open = ['draft', 'running', 'paused'] as const;
      const after = found(
        await store.updateCampaign(orgId, params.id, { ...defined(change), ...rules }, open),
        NO_CAMPAIGN,
      );
      if ('conflict' in after) throw campaignRefused(after, 'changed');
      campaigns.wake();
      return { body: await viewed(store, after, now) };
    },
  }),

  route({
    method: 'delete',
    path: '/v1/campaigns/:id',
    operation: 'deleteCampaign',
    errors: ['conflict'],
    summary: 'Delete a draft, with its contacts',
    status: 204,
    answer: null,
    async run({ store, orgId, params }) {
      const deleted = found(await store.deleteCampaign(orgId, params.id), NO_CAMPAIGN);
      if (deleted !== true)
        throw new AppError(
          'conflict',
          'Only a draft can be deleted; a campaign that was started is stopped.',
        );
      return { body: undefined };
    },
  }),

  turn({
    verb: 'start',
    operation: 'startCampaign',
    from: ['draft'],
    to: 'running',
    what: 'started',
    summary: 'Start a campaign',
    description: 'It calls from now on, by its pace, its windows and the rules of outbound calls.',
  }),
  turn({
    verb: 'pause',
    operation: 'pauseCampaign',
    from: ['running'],
    to: 'paused',
    what: 'paused',
    summary: 'Pause a campaign: calls that are on go on, none begins',
  }),
  turn({
    verb: 'resume',
    operation: 'resumeCampaign',
    from: ['paused'],
    to: 'running',
    what: 'resumed',
    summary: 'Go on with a campaign that was paused',
  }),
  turn({
    verb: 'stop',
    operation: 'stopCampaign',
    from: ['draft', 'running', 'paused'],
    to: 'stopped',
    what: 'stopped',
    summary: 'Stop a campaign for good: whoever waits is skipped, calls that are on go on',
  }),

  route({
    method: 'get',
    path: '/v1/campaigns/:id/report',
    operation: 'getCampaignReport',
    summary: 'Read what a campaign has come to: contacts and calls by outcome, calls by the hour',
    status: 200,
    answer: schemas.report,
    async run({ store, orgId, params }) {
      const campaign = found(await store.getCampaign(orgId, params.id), NO_CAMPAIGN);
      const report = reportOf(await store.campaignTallies(campaign.id));
      return { body: { campaign_id: campaign.id, ...report } };
    },
  }),
];

/** Without the fields that were not given. */
function defined<T extends object>(change: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function withRules(
  before: CampaignRecord['retries'],
  given: { [K in keyof CampaignRecord['retries']]?: CampaignRecord['retries'][K] | undefined } | undefined,
): CampaignRecord['retries'] {
  return { ...before, ...defined(given ?? {}) };
}
