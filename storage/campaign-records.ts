// The records of campaigns: many calls by one agent, to a list of contacts. PURE.
// Names are the API's own. Times are ISO 8601 UTC with milliseconds.

export const CAMPAIGN_STATUSES = ['draft', 'running', 'paused', 'completed', 'stopped'] as const;
export type CampaignStatus = (typeof CAMPAIGN_STATUSES)[number];

export const CONTACT_STATUSES = ['waiting', 'calling', 'done', 'refused', 'skipped'] as const;
export type ContactStatus = (typeof CONTACT_STATUSES)[number];

/** How one attempt ended. */
const ATTEMPT_OUTCOMES = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'failed',
  'cut',
  'canceled',
  'opted_out',
] as const;
export type AttemptOutcomeName = (typeof ATTEMPT_OUTCOMES)[number];

/** Those after which a contact may be called again. */
export const RETRY_OUTCOMES = ['busy', 'no_answer', 'voicemail', 'cut', 'failed'] as const;
export type RetryOutcome = (typeof RETRY_OUTCOMES)[number];

const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/** Hours of some days, local. `to` is the first minute that is no longer of it; 24:00 is the end of the day. */
export interface CallingWindow {
  days: Weekday[];
  from: string;
  to: string;
}

/** How often a contact is called again after one outcome, and how much later. */
export interface RetryRule {
  times: number;
  after_minutes: number;
}

export interface CampaignRecord {
  id: string;
  org_id: string;
  name: string;
  agent_id: string;
  /** Null: the agent's primary number. */
  from_number: string | null;
  status: CampaignStatus;
  /** Why it was paused by itself: an error code and what it says; null where a person did, or nobody. */
  status_reason: string | null;
  /** Calls begin at least 60 seconds divided by this apart. */
  calls_per_minute: number;
  /** Calls of it at once. */
  max_concurrent: number;
  /** Lines of the daemon that it leaves to others. */
  free_lines: number;
  /** None: at any time. */
  windows: CallingWindow[];
  /** IANA name; the campaign's own zone. */
  time_zone: string;
  /** In whose zone the windows hold: the contact's (all that his number may be in), the campaign's, or both. */
  window_zone: 'contact' | 'campaign' | 'both';
  retries: Record<RetryOutcome, RetryRule>;
  /** Of one contact, whatever their outcomes. */
  max_attempts: number;
  created_at: string;
  updated_at: string;
  /** When it was first started. */
  started_at: string | null;
  ended_at: string | null;
  /** Why nothing is begun for a while, as an error code, and until when; null: nothing is in the way. */
  held_code: string | null;
  held_until: string | null;
  /** When its last call began. */
  last_started_at: string | null;
  /** It runs, or was stopped and has contacts that are still to be skipped. */
  at_work: boolean;
}

/** Why a contact is not called before `due_at`. */
export type DueReason = 'new' | 'retry' | 'window' | 'gate';

export interface ContactRecord {
  id: string;
  org_id: string;
  campaign_id: string;
  to_number: string;
  /** What the agent is told of this one. */
  context: Record<string, unknown>;
  /** 9 first, 0 last. */
  priority: number;
  /** IANA names: where the number may be; all must be within a window. */
  time_zones: string[];
  status: ContactStatus;
  /** Of the last attempt once it is over, `refused:<code>` or `skipped`; null while it is not known. */
  outcome: string | null;
  attempts: number;
  /** Attempts by their outcome. */
  tries: Record<string, number>;
  /** Not before; empty: at once. */
  due_at: string;
  due_reason: DueReason;
  last_call_id: string | null;
  created_at: string;
  updated_at: string;
}

/** A contact with what his last call has resulted in. */
export interface ContactView extends ContactRecord {
  result: Record<string, unknown> | null;
  result_status: string | null;
}

/** One call to a contact. Of each contact and number of attempt there is one at most. */
export interface CampaignAttemptRecord {
  contact_id: string;
  attempt: number;
  campaign_id: string;
  call_id: string;
  started_at: string;
  ended_at: string | null;
  outcome: string | null;
}

/** How many contacts stand where, contacts by final outcome, and attempts by outcome and hour; kept up with each change. */
export interface CampaignTally {
  kind: 'status' | 'outcome' | 'attempt';
  /** `YYYY-MM-DDTHH` of attempts, when they ended; else empty. */
  hour: string;
  value: string;
  count: number;
}
