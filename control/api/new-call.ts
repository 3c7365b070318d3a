// The record of a call about to be placed: what is taken from the request, what from the agent, what from the organization.
import type { z } from 'zod';
import { A_PAGE, type Carrier } from '../../bridge/carriers/carrier.ts';
import { AppError } from '../../errors.ts';
import type { AgentView, CallRecord, NumberView } from '../../storage/records.ts';
import { parseReturns } from '../agents/returns-schema.ts';
import type { ControlParts } from '../http/parts.ts';
import { DEFAULT_VOICE } from './agent-voice.ts';
import { type CallChoice, callRecord, choiceOf, speaksOf } from './call-record.ts';
import type * as schemas from './call-schemas.ts';
import { checkAgentUrls, defaultDisclosure, newAgent } from './new-agent.ts';

type Parts = Pick<ControlParts, 'store' | 'carriers' | 'egress' | 'config' | 'models' | 'now'> & {
  orgId: string;
};

/**
 * A call of an agent.
 * @throws AppError agent_not_found, agent_archived, agent_not_outbound, agent_has_no_number, from_number_not_attached,
 *   invalid_model, invalid_url, blocked_address
 */
export async function agentCall(
  parts: Parts,
  body: z.output<typeof schemas.dispatchCall>,
): Promise<CallRecord> {
  const agent = await usableAgent(parts, body.agent_id);
  if (agent.type !== 'outbound') {
    throw refuseAgent(
      'agent_not_outbound',
      'This agent answers calls; to place one, use an agent of type outbound.',
    );
  }
  const active = agent.numbers.filter((number) => number.status === 'active');
  const primary = primaryOf(agent);
  if (primary === undefined) {
    throw refuseAgent(
      'agent_has_no_number',
      'This agent has no number to call from; attach one with POST /v1/agents/{id}/numbers.',
    );
  }
  let from: NumberView = primary;
  if (body.from_number !== undefined) {
    const attached = active.find((number) => number.e164 === body.from_number);
    if (attached === undefined) {
      throw new AppError(
        'from_number_not_attached',
        'from_number is not attached to this agent; leave it out for the primary number, or attach it first.',
        { param: 'from_number' },
      );
    }
    from = attached;
  }
  const webhookUrl = body.webhook_url ?? agent.webhook_url;
  checkAgentUrls(parts.egress, { webhook_url: webhookUrl, tools: agent.tools });
  return newCall(parts, from, {
    ...choiceOf(agent, modelOf(parts, agent)),
    to_number: body.to,
    instructions: body.instructions ?? agent.instructions,
    webhook_url: webhookUrl,
    context: body.context ?? {},
    metadata: body.metadata ?? {},
  });
}

/**
 * A call without an agent.
 * @throws AppError no_active_number, from_number_not_owned, invalid_returns, invalid_url, blocked_address
 */
export async function promptCall(
  parts: Parts,
  body: z.output<typeof schemas.promptCall>,
): Promise<CallRecord> {
  const returns = parseReturns(body.returns);
  checkAgentUrls(parts.egress, { webhook_url: body.webhook_url });
  return newCall(parts, await callerId(parts, body.from_number), {
    agent_id: null,
    to_number: body.to,
    persona: null,
    instructions: body.instructions,
    returns,
    voice: DEFAULT_VOICE,
    model: parts.models.defaultName,
    tools: null,
    voicemail_action: 'hangup',
    interruption_words: [],
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: body.summarize ?? false,
    disclosure: body.disclosure ?? defaultDisclosure('outbound', parts.config),
    mask: body.mask ?? [],
    webhook_url: body.webhook_url ?? null,
    language: body.language ?? null,
    context: body.context ?? {},
    metadata: body.metadata ?? {},
  });
}

/**
 * A call from a page, for trying an agent out: as its calls are, but for the other side. It runs the agent's way: an
 * outbound agent is the one who called. A side without a number is named as the page is. Of a draft everything is kept
 * with the call, and nothing with the agent.
 * @throws AppError missing_parameter, agent_not_found, agent_archived, invalid_model, invalid_voice, invalid_returns,
 *   invalid_tool, invalid_url, blocked_address
 */
export async function pageCall(
  parts: Parts & { keyId: string },
  body: z.output<typeof schemas.pageCall>,
): Promise<CallRecord> {
  const { draft } = body;
  const stored = body.agent_id === undefined ? null : await usableAgent(parts, body.agent_id);
  const agent = draft === undefined ? stored : draftOf(parts, draft, stored);
  if (agent === null) {
    throw new AppError('missing_parameter', 'agent_id is required where no draft is given.', {
      param: 'agent_id',
    });
  }
  checkAgentUrls(parts.egress, { webhook_url: agent.webhook_url, tools: agent.tools });
  const number = primaryOf(agent)?.e164 ?? A_PAGE;
  const outbound = agent.type === 'outbound';
  return callRecord(
    {
      direction: agent.type,
      ...choiceOf(agent, modelOf(parts, agent)),
      agent_id: stored?.id ?? null,
      to_number: outbound ? A_PAGE : number,
      from_number: outbound ? number : A_PAGE,
      context: body.context ?? (outbound ? {} : null),
      metadata: {
        source: A_PAGE,
        ...(body.text_only === true ? { text_only: true } : {}),
        ...(draft === undefined ? {} : { draft: draft.name }),
      },
    },
    await recordOptions(parts, parts.carriers.ofPages()),
  );
}

/** The agent that a draft describes. Of a stored one it keeps what no draft changes: its kind, its numbers, its secrets. */
function draftOf(
  parts: Parts & { keyId: string },
  draft: NonNullable<z.output<typeof schemas.pageCall>['draft']>,
  stored: AgentView | null,
): AgentView {
  const record = newAgent({ ...parts, now: parts.now() }, draft, {
    userId: parts.keyId,
    primary: stored?.primary_number_id ?? null,
    storedTools: stored?.tools ?? null,
  });
  return { ...record, type: stored?.type ?? draft.type, numbers: stored?.numbers ?? [] };
}

function refuseAgent(
  code: 'agent_not_found' | 'agent_archived' | 'agent_not_outbound' | 'agent_has_no_number',
  message: string,
): AppError {
  return new AppError(code, message, { param: 'agent_id' });
}

async function usableAgent(parts: Parts, id: string): Promise<AgentView> {
  const agent = await parts.store.getAgent(parts.orgId, id);
  if (agent === null) {
    throw refuseAgent(
      'agent_not_found',
      'Your organization has no agent with this id; GET /v1/agents lists them.',
    );
  }
  if (agent.archived_at !== null) {
    throw refuseAgent('agent_archived', 'This agent is archived; use another one.');
  }
  return agent;
}

/** The name of an agent's model. One that was taken out of the settings stands for no other. */
function modelOf({ models }: Parts, agent: AgentView): string {
  const name = agent.model ?? models.defaultName;
  if (models.access(name) !== null) return name;
  throw new AppError(
    'invalid_model',
    `The agent's model ${name} is none of ${models.names.join(', ')}; change it with PATCH /v1/agents/{id}.`,
    { param: 'agent_id' },
  );
}

function primaryOf(agent: AgentView): NumberView | undefined {
  const active = agent.numbers.filter((number) => number.status === 'active');
  return active.find((number) => number.id === agent.primary_number_id) ?? active[0];
}

async function callerId(parts: Parts, e164: string | undefined): Promise<NumberView> {
  if (e164 === undefined) {
    const oldest = await parts.store.oldestActiveNumber(parts.orgId);
    if (oldest !== null) return oldest;
    throw new AppError(
      'no_active_number',
      'Your organization has no number to call from; buy one with POST /v1/numbers/purchase.',
    );
  }
  const number = await parts.store.findActiveNumber(e164);
  if (number !== null && number.org_id === parts.orgId) return number;
  throw new AppError(
    'from_number_not_owned',
    'from_number is not an active number of your organization; GET /v1/numbers lists them.',
    { param: 'from_number' },
  );
}

/** A call goes out by the carrier of the number that it is made from. */
async function newCall(
  parts: Parts,
  from: NumberView,
  choice: Omit<CallChoice, 'direction' | 'from_number'>,
): Promise<CallRecord> {
  return callRecord(
    { ...choice, from_number: from.e164, direction: 'outbound' },
    await recordOptions(parts, parts.carriers.named(from.carrier)),
  );
}

async function recordOptions(parts: Parts, carrier: Carrier): Promise<Parameters<typeof callRecord>[1]> {
  return {
    orgId: parts.orgId,
    carrier,
    now: parts.now(),
    reserve: parts.config.RESERVE_MINUTES * parts.config.PRICE_PER_MINUTE_MILLI_CENTS,
    speaks: await speaksOf(parts.store, parts.orgId, parts.config),
  };
}
