// Campaigns and contacts as the API shows them, and as lines of a table. PURE.
import type { CampaignRecord, CampaignTally, ContactView } from '../../storage/campaign-records.ts';
import { countsOf } from '../campaigns/report.ts';
import type { CsvValue } from './csv.ts';

export function campaignView(campaign: CampaignRecord, tallies: readonly CampaignTally[], now: Date) {
  const { held_code, held_until } = campaign;
  const held =
    campaign.status === 'running' && held_code !== null && held_until !== null
      ? { code: held_code, until: held_until }
      : null;
  return {
    id: campaign.id,
    name: campaign.name,
    agent_id: campaign.agent_id,
    from_number: campaign.from_number,
    calls_per_minute: campaign.calls_per_minute,
    max_concurrent: campaign.max_concurrent,
    free_lines: campaign.free_lines,
    windows: campaign.windows,
    time_zone: campaign.time_zone,
    window_zone: campaign.window_zone,
    max_attempts: campaign.max_attempts,
    status: campaign.status,
    status_reason: campaign.status_reason,
    retries: campaign.retries,
    held: held !== null && Date.parse(held.until) > now.getTime() ? held : null,
    contacts: countsOf(tallies),
    created_at: campaign.created_at,
    updated_at: campaign.updated_at,
    started_at: campaign.started_at,
    ended_at: campaign.ended_at,
  };
}

export function contactView(contact: ContactView) {
  const waits = contact.status === 'waiting' && contact.due_at !== '' && contact.due_reason !== 'new';
  return {
    id: contact.id,
    campaign_id: contact.campaign_id,
    to_number: contact.to_number,
    context: contact.context,
    priority: contact.priority,
    time_zones: contact.time_zones,
    status: contact.status,
    outcome: contact.outcome,
    attempts: contact.attempts,
    next_attempt_at: waits ? contact.due_at : null,
    waits_for: waits ? contact.due_reason : null,
    last_call_id: contact.last_call_id,
    result: contact.result,
    result_status: contact.result_status,
    created_at: contact.created_at,
    updated_at: contact.updated_at,
  };
}

type Column = { name: string; of: (contact: ContactView) => CsvValue };

const FIXED: readonly Column[] = [
  { name: 'to_number', of: (contact) => contact.to_number },
  { name: 'status', of: (contact) => contact.status },
  { name: 'outcome', of: (contact) => contact.outcome },
  { name: 'attempts', of: (contact) => contact.attempts },
  { name: 'priority', of: (contact) => contact.priority },
  { name: 'last_call_id', of: (contact) => contact.last_call_id },
  { name: 'updated_at', of: (contact) => contact.updated_at },
];

const inCell = (value: unknown): CsvValue => {
  if (value === null || value === undefined) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return JSON.stringify(value);
};

const partsOf = (key: 'context' | 'result', names: readonly string[]): Column[] =>
  names.map((name) => ({
    name: `${key}.${name}`,
    of: (contact) => inCell(Object.hasOwn(contact[key] ?? {}, name) ? contact[key]?.[name] : null),
  }));

/** The columns of an export: what every contact has, what the first ones are told, what the agent brings back. */
export function contactColumns(first: readonly ContactView[], returns: readonly string[]): Column[] {
  const told = [...new Set(first.flatMap(({ context }) => Object.keys(context)))];
  return [...FIXED, ...partsOf('result', returns), ...partsOf('context', told)];
}
