// A contact as it was given, checked: its number as E.164 and the zones that it may be in, or why it cannot be called. PURE.
import type { CampaignRecord, ContactRecord } from '../../storage/campaign-records.ts';
import { dialledNumber } from '../../storage/outbound/dialled-number.ts';
import { numberFacts } from '../../storage/outbound/number-facts.ts';
import { isZone } from './windows.ts';

export interface GivenContact {
  to: string;
  context: Record<string, unknown>;
  priority?: number | string | undefined;
  time_zone?: string | undefined;
}

/** Why a contact is not taken. */
export interface NotTaken {
  code: 'invalid_number' | 'invalid_priority' | 'invalid_time_zone' | 'context_too_large' | 'duplicate';
  message: string;
}

const MOST_CONTEXT = 16_384;

const refused = (code: NotTaken['code'], message: string): NotTaken => ({ code, message });

/** @param o.country of numbers without a country's code; null: they are none */
export function contactOf(
  given: GivenContact,
  o: { campaign: Pick<CampaignRecord, 'id' | 'org_id'>; country: string | null; id: string; now: string },
): ContactRecord | NotTaken {
  const to = dialledNumber(given.to, o.country);
  if (to === null) {
    const hint = o.country === null ? ' with its country code, such as +14155550123' : '';
    return refused('invalid_number', `is no telephone number${hint}`);
  }
  const priority = Number(given.priority === undefined || given.priority === '' ? 0 : given.priority);
  if (!Number.isInteger(priority) || priority < 0 || priority > 9)
    return refused('invalid_priority', 'priority must be a whole number from 0 to 9');
  const own = given.time_zone?.trim() ?? '';
  if (own !== '' && !isZone(own))
    return refused('invalid_time_zone', 'time_zone must be the name of a zone, such as Europe/Berlin');
  if (JSON.stringify(given.context).length > MOST_CONTEXT)
    return refused('context_too_large', `context may have ${MOST_CONTEXT} characters at most`);
  return {
    id: o.id,
    org_id: o.campaign.org_id,
    campaign_id: o.campaign.id,
    to_number: to,
    context: given.context,
    priority,
    time_zones: own === '' ? [...numberFacts(to).zones] : [own],
    status: 'waiting',
    outcome: null,
    attempts: 0,
    tries: {},
    due_at: '',
    due_reason: 'new',
    last_call_id: null,
    created_at: o.now,
    updated_at: o.now,
  };
}
