// Which numbers an agent has and which of them is primary; when one may be attached or released. PURE.
import type { AgentRecord, AgentView, NumberRecord, NumberView } from './records.ts';
import type { Conflict } from './store.ts';

/** What may be changed of an agent as such; the rest has verbs of its own or stays. */
export const CHANGEABLE_OF_AGENT = [
  'user_id',
  'name',
  'persona',
  'instructions',
  'voice',
  'model',
  'language',
  'returns',
  'tools',
  'webhook_url',
  'voicemail_action',
  'interruption_words',
  'patience',
  'eagerness',
  'interruption',
  'summarize',
  'mask',
  'consent',
  'disclosure',
] as const satisfies readonly (keyof AgentRecord)[];

/** The primary number of a new agent: the one that was asked for, else the first. Conflict primary_number_not_attached. */
export function firstPrimary(
  asked: string | null,
  numberIds: readonly string[],
): { primaryNumberId: string | null } | Conflict {
  const primaryNumberId = asked ?? numberIds[0] ?? null;
  if (primaryNumberId !== null && !numberIds.includes(primaryNumberId)) {
    return { conflict: 'primary_number_not_attached' };
  }
  return { primaryNumberId };
}

/**
 * Whether a number becomes an agent's: `kept` where it is already. A number serves any number of outbound agents and one
 * inbound agent. Conflict number_not_found, number_taken.
 */
export function attaching(
  agent: Pick<AgentRecord, 'id' | 'type'>,
  number: NumberView | null,
): 'attached' | 'kept' | Conflict {
  if (number?.status !== 'active') return { conflict: 'number_not_found' };
  const { inbound_agent_id: inbound, outbound_agent_ids: outbound } = number;
  if (inbound === agent.id || outbound.includes(agent.id)) return 'kept';
  return agent.type === 'inbound' && inbound !== null ? { conflict: 'number_taken' } : 'attached';
}

/** Of an agent that gets a number: that one becomes primary where it is asked for, or is the first. Conflict agent_archived. */
export function primaryAfterAttaching(
  agent: Pick<AgentRecord, 'archived_at' | 'primary_number_id'>,
  numberId: string,
  asked: boolean,
): { primaryNumberId: string | null } | Conflict {
  if (agent.archived_at !== null) return { conflict: 'agent_archived' };
  const { primary_number_id: before } = agent;
  return { primaryNumberId: asked || before === null ? numberId : before };
}

/** Of an agent that loses a number: the oldest one left becomes primary when the primary one goes. Null: it has no such number. */
export function primaryAfterDetaching(
  agent: Pick<AgentView, 'numbers' | 'primary_number_id'>,
  numberId: string,
): { primaryNumberId: string | null } | null {
  if (!agent.numbers.some(({ id }) => id === numberId)) return null;
  if (agent.primary_number_id !== numberId) return { primaryNumberId: agent.primary_number_id };
  return { primaryNumberId: agent.numbers.find(({ id }) => id !== numberId)?.id ?? null };
}

/** Conflict primary_number_not_attached: only an attached number can be primary. */
export function primaryChosen(
  agent: Pick<AgentView, 'numbers'>,
  numberId: string,
): { primaryNumberId: string } | Conflict {
  return agent.numbers.some(({ id }) => id === numberId)
    ? { primaryNumberId: numberId }
    : { conflict: 'primary_number_not_attached' };
}

/**
 * The `updated_at` of a changed agent: it always grows, so that two changes within one millisecond are told apart.
 * Conflict changed_meanwhile where it was to be another one before.
 */
export function agentUpdatedAt(
  before: string,
  asked: string,
  ifUpdatedAt: string | null,
): { updatedAt: string } | Conflict {
  if (ifUpdatedAt !== null && ifUpdatedAt !== before) return { conflict: 'changed_meanwhile' };
  return { updatedAt: asked > before ? asked : new Date(Date.parse(before) + 1).toISOString() };
}

/** Conflict number_attached: an agent has it. */
export function releasing(number: NumberView): { status: NumberRecord['status'] } | Conflict {
  const free = number.inbound_agent_id === null && number.outbound_agent_ids.length === 0;
  return free ? { status: 'released' } : { conflict: 'number_attached' };
}
