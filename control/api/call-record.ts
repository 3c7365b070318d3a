// The record of a call at its start, whichever way it comes about: the prompt is rendered here, and never again.
import { v7 as uuidv7 } from 'uuid';
import type { Carrier } from '../../bridge/carriers/carrier.ts';
import type { Config } from '../../config.ts';
import { disclosureOf, spokenNameOf } from '../../storage/disclosure.ts';
import type { AgentDisclosure, AgentView, CallDisclosure, CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { disclosureLine } from '../agents/texts/disclosure.ts';
import { renderPrompt } from '../agents/texts/system-prompt.ts';

/** What of an organization and its daemon is said on its calls. `notice`: they are recorded, and that is to be said. */
export interface Speaks {
  organization: string | null;
  notice: boolean;
}

/** How the calls of an organization begin. */
export async function speaksOf(
  store: Pick<Store, 'getOrganization'>,
  orgId: string,
  { RECORD_CALLS, RECORDING_NOTICE }: Pick<Config, 'RECORD_CALLS' | 'RECORDING_NOTICE'>,
): Promise<Speaks> {
  const organization = await store.getOrganization(orgId);
  const notice = organization?.recording_notice ?? RECORDING_NOTICE;
  return { organization: spokenNameOf(organization), notice: RECORD_CALLS && notice === 'always' };
}

/** Nothing of it has been said yet. */
const unsaid = (text: string): CallDisclosure => ({
  text,
  heard_text: '',
  heard_ms: 0,
  started_ms: null,
  ended_ms: null,
  complete: false,
});

/** What is the caller's choice of a call; the rest of a record follows from it. */
export type CallChoice = Pick<
  CallRecord,
  | 'agent_id'
  | 'to_number'
  | 'from_number'
  | 'persona'
  | 'instructions'
  | 'returns'
  | 'voice'
  | 'model'
  | 'tools'
  | 'voicemail_action'
  | 'interruption_words'
  | 'patience'
  | 'eagerness'
  | 'interruption'
  | 'summarize'
  | 'mask'
  | 'direction'
  | 'webhook_url'
> & {
  disclosure: AgentDisclosure;
  /** Null: the other side's language decides. */
  language: string | null;
  /** Null for a call that came in. */
  context: Record<string, unknown> | null;
  metadata: Record<string, unknown>;
  /** The carrier's id of a call that came in. */
  carrier_call_id?: string;
};

/** What a call keeps of its agent, as the agent is now. `model`: the name of the one that leads it. */
export function choiceOf(agent: AgentView, model: string) {
  const { persona, instructions, returns, voice, tools, webhook_url, language } = agent;
  const { voicemail_action, interruption_words } = agent;
  const { patience, eagerness, interruption, summarize, mask } = agent;
  const disclosure = disclosureOf(agent);
  return {
    agent_id: agent.id,
    persona,
    instructions,
    returns,
    voice,
    model,
    tools,
    voicemail_action,
    interruption_words,
    patience,
    eagerness,
    interruption,
    summarize,
    disclosure,
    mask,
    webhook_url,
    language,
  };
}

/** A call to be dialled (`queued`) or one that rings here (`ringing`). */
export function callRecord(
  choice: CallChoice,
  o: {
    orgId: string;
    carrier: Pick<Carrier, 'name' | 'capabilities'>;
    now: Date;
    reserve: number;
    speaks: Speaks;
  },
): CallRecord {
  const { disclosure, direction, language } = choice;
  const line = disclosureLine({ disclosure, direction, language, ...o.speaks });
  const at = o.now.toISOString();
  const inbound = choice.direction === 'inbound';
  return {
    id: uuidv7(),
    agent_id: choice.agent_id,
    to_number: choice.to_number,
    from_number: choice.from_number,
    status: inbound ? 'ringing' : 'queued',
    direction: choice.direction,
    persona: choice.persona,
    instructions: choice.instructions,
    // Rendered here and never again: the record says what the model was told.
    prompt: renderPrompt({
      persona: choice.persona,
      instructions: choice.instructions,
      language: choice.language,
      context: choice.context,
      direction: choice.direction,
      now: o.now,
    }),
    context: choice.context,
    returns: choice.returns,
    language: choice.language ?? 'en',
    result: null,
    result_status: 'pending',
    result_error: null,
    summary: null,
    sentiment: null,
    created_at: at,
    started_at: inbound ? at : null,
    answered_at: null,
    ended_at: null,
    duration_seconds: null,
    billed_duration_seconds: null,
    billing_amount_milli_cents: null,
    reservation_status: 'reserved',
    webhook_url: choice.webhook_url,
    webhook_status: 'none',
    webhook_error: null,
    error_code: null,
    error_message: null,
    hangup_cause: null,
    metadata: choice.metadata,
    updated_at: at,
    cost: null,
    model: choice.model,
    org_id: o.orgId,
    voice: choice.voice,
    tools: choice.tools,
    voicemail_action: choice.voicemail_action,
    interruption_words: choice.interruption_words,
    patience: choice.patience,
    eagerness: choice.eagerness,
    interruption: choice.interruption,
    summarize: choice.summarize,
    disclosure: line === null ? null : unsaid(line),
    opted_out: null,
    mask: choice.mask,
    carrier: o.carrier.name,
    telephone: o.carrier.capabilities.telephone,
    carrier_call_id: choice.carrier_call_id ?? null,
    answered_by: null,
    reserved_milli_cents: o.reserve,
    recording_path: null,
    chosen_language: choice.language,
    usage: null,
    extraction_usage: null,
    stream_began_at: null,
    gaps: [],
    running_tools: [],
    gate: null,
    campaign_id: null,
    contact_id: null,
    attempt: null,
    erased_at: null,
  };
}
