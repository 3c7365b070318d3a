// Whole records for the storage tests, each field settable; ids are fresh, times fixed.
import { v7 as uuid } from 'uuid';
import type { CampaignRecord, ContactRecord } from '../../storage/campaign-records.ts';
import type { SessionRecord, UserRecord } from '../../storage/people-records.ts';
import type {
  AgentRecord,
  CallRecord,
  EndpointRecord,
  InterruptionRecord,
  KeyRecord,
  NumberRecord,
  OrganizationRecord,
  TranscriptItemRecord,
  TurnRecord,
} from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

/** Opens a store that holds nothing; the suite closes it. */
export type OpenEmpty = (o: { now: () => Date }) => Promise<Store>;

export const START = '2026-03-01T12:00:00.000Z';

/** The n-th millisecond (or `ms` later) after START, as stored. */
export function at(ms: number): string {
  return new Date(Date.parse(START) + ms).toISOString();
}

/** A clock that stands still until told otherwise. */
export function stoppedClock() {
  let time = Date.parse(START);
  return {
    now: () => new Date(time),
    iso: () => new Date(time).toISOString(),
    tick(ms: number) {
      time += ms;
      return new Date(time).toISOString();
    },
  };
}

export function makeOrganization(fields: Partial<OrganizationRecord> = {}): OrganizationRecord {
  return {
    id: uuid(),
    name: 'Bluebird Clinic',
    webhook_secret: 'whsec_b3Jn',
    previous_webhook_secret: null,
    previous_webhook_secret_expires_at: null,
    balance_milli_cents: null,
    spoken_name: null,
    recording_notice: null,
    created_at: START,
    ...fields,
  };
}

export function makeKey(orgId: string, fields: Partial<KeyRecord> = {}): KeyRecord {
  const id = uuid();
  return {
    id,
    org_id: orgId,
    hash: id.replaceAll('-', '').repeat(2),
    name: 'default',
    prefix: 'sk_abc',
    last4: 'wxyz',
    created_at: START,
    last_used_at: null,
    revoked_at: null,
    scopes: null,
    expires_at: null,
    created_by: null,
    ...fields,
  };
}

let lastNumber = 0;

export function makeNumber(orgId: string, fields: Partial<NumberRecord> = {}): NumberRecord {
  lastNumber += 1;
  return {
    id: uuid(),
    org_id: orgId,
    e164: `+1415555${String(lastNumber).padStart(4, '0')}`,
    friendly_name: 'Front desk',
    country_code: 'US',
    number_type: 'local',
    status: 'active',
    monthly_cost_cents: 115,
    purchased_at: START,
    carrier: 'simulated',
    carrier_number_id: `PN${lastNumber}`,
    ...fields,
  };
}

export function makeAgent(orgId: string, fields: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id: uuid(),
    org_id: orgId,
    user_id: 'user_1',
    name: 'Reminder',
    type: 'outbound',
    persona: null,
    instructions: 'Confirm the appointment.',
    voice: 'marin',
    model: null,
    language: null,
    returns: { confirmed: 'boolean', note: { type: 'string', description: 'What else was said' } },
    tools: [{ type: 'end_call' }],
    webhook_url: null,
    voicemail_action: 'hangup',
    interruption_words: [],
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: false,
    mask: [],
    consent: 'none',
    disclosure: null,
    primary_number_id: null,
    archived_at: null,
    created_at: START,
    updated_at: START,
    ...fields,
  };
}

export function makeCall(orgId: string, fields: Partial<CallRecord> = {}): CallRecord {
  return {
    id: uuid(),
    agent_id: null,
    to_number: '+14155550100',
    from_number: '+14155550199',
    status: 'queued',
    direction: 'outbound',
    persona: 'A calm assistant – “Zoë”.',
    instructions: 'Confirm the appointment.',
    prompt: 'You are calling on behalf of the clinic.',
    context: { patient: 'Ann', slots: [1, 2] },
    returns: { confirmed: 'boolean' },
    language: 'en',
    result: null,
    result_status: 'pending',
    result_error: null,
    summary: null,
    sentiment: null,
    created_at: START,
    started_at: null,
    answered_at: null,
    ended_at: null,
    duration_seconds: null,
    billed_duration_seconds: null,
    billing_amount_milli_cents: null,
    reservation_status: 'reserved',
    webhook_url: null,
    webhook_status: 'none',
    webhook_error: null,
    error_code: null,
    error_message: null,
    hangup_cause: null,
    metadata: { order: 7 },
    updated_at: START,
    org_id: orgId,
    voice: 'marin',
    tools: null,
    voicemail_action: 'hangup',
    interruption_words: [],
    patience: 'normal',
    eagerness: 'normal',
    interruption: 'normal',
    summarize: false,
    disclosure: null,
    opted_out: null,
    mask: [],
    carrier: 'simulated',
    telephone: true,
    carrier_call_id: null,
    answered_by: null,
    reserved_milli_cents: 0,
    chosen_language: null,
    recording_path: null,
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
    cost: null,
    model: null,
    ...fields,
  };
}

export function makeItem(callId: string, fields: Partial<TranscriptItemRecord> = {}): TranscriptItemRecord {
  return {
    id: uuid(),
    call_id: callId,
    role: 'agent',
    text: 'Good morning.',
    heard_text: 'Good morning.',
    interrupted: false,
    started_at: START,
    start_ms: 0,
    end_ms: 900,
    ...fields,
  };
}

export function makeTurn(callId: string, fields: Partial<TurnRecord> = {}): TurnRecord {
  return {
    id: uuid(),
    call_id: callId,
    turn_index: 1,
    kind: 'answer',
    speech_end_ms: 4_660,
    decided_ms: 5_180.5,
    requested_ms: 5_181,
    first_model_audio_ms: 5_561.9,
    first_sent_ms: 5_562.4,
    first_heard_ms: 5_640.8,
    barged_in: false,
    thrown_away: 0,
    ...fields,
  };
}

export function makeInterruption(
  callId: string,
  fields: Partial<InterruptionRecord> = {},
): InterruptionRecord {
  return {
    id: uuid(),
    call_id: callId,
    at_ms: 3_010.2,
    onset_ms: 2_810,
    held_ms: 2_870.5,
    paused_ms: 2_930.5,
    silenced_ms: null,
    taken_back: false,
    ...fields,
  };
}

export function makeEndpoint(orgId: string, fields: Partial<EndpointRecord> = {}): EndpointRecord {
  return {
    id: uuid(),
    org_id: orgId,
    url: 'https://hooks.example.com/offhook',
    description: null,
    enabled_events: ['*'],
    status: 'enabled',
    disabled_reason: null,
    disabled_at: null,
    consecutive_failures: 0,
    created_at: START,
    updated_at: START,
    secret: 'whsec_ZW5kcG9pbnQ=',
    previous_secret: null,
    previous_secret_expires_at: null,
    ...fields,
  };
}

export function makeCampaign(orgId: string, fields: Partial<CampaignRecord> = {}): CampaignRecord {
  const rule = { times: 2, after_minutes: 15 };
  return {
    id: uuid(),
    org_id: orgId,
    name: 'Reminders',
    agent_id: uuid(),
    from_number: null,
    status: 'draft',
    status_reason: null,
    calls_per_minute: 60,
    max_concurrent: 10,
    free_lines: 0,
    windows: [],
    time_zone: 'Europe/Berlin',
    window_zone: 'contact',
    retries: { busy: rule, no_answer: rule, voicemail: rule, cut: rule, failed: rule },
    max_attempts: 3,
    created_at: START,
    updated_at: START,
    started_at: null,
    ended_at: null,
    held_code: null,
    held_until: null,
    last_started_at: null,
    at_work: false,
    ...fields,
  };
}

export function makeContact(
  campaign: Pick<CampaignRecord, 'id' | 'org_id'>,
  fields: Partial<ContactRecord> = {},
): ContactRecord {
  return {
    id: uuid(),
    org_id: campaign.org_id,
    campaign_id: campaign.id,
    to_number: '+14155550100',
    context: { patient: 'Ann' },
    priority: 0,
    time_zones: ['America/Los_Angeles'],
    status: 'waiting',
    outcome: null,
    attempts: 0,
    tries: {},
    due_at: '',
    due_reason: 'new',
    last_call_id: null,
    created_at: START,
    updated_at: START,
    ...fields,
  };
}

/** An organization in the store, and its id. */
export async function addOrganization(
  store: Store,
  fields: Partial<OrganizationRecord> = {},
): Promise<string> {
  const organization = makeOrganization(fields);
  await store.createOrganization(organization, makeKey(organization.id));
  return organization.id;
}

/** The value of a verb that was expected to succeed. */
export function succeeded<T>(answer: T): Exclude<T, { conflict: string } | null> {
  if (answer === null || (typeof answer === 'object' && 'conflict' in (answer as object))) {
    throw new Error(`expected success, got ${JSON.stringify(answer)}`);
  }
  return answer as Exclude<T, { conflict: string } | null>;
}

export function makeUser(orgId: string, fields: Partial<UserRecord> = {}): UserRecord {
  return {
    id: uuid(),
    org_id: orgId,
    email: null,
    name: 'Owner',
    role: 'owner',
    may_listen: true,
    password_hash: 'scrypt$1',
    totp_secret: null,
    totp_confirmed_at: null,
    totp_last_step: null,
    recovery_codes: [],
    oidc_issuer: null,
    oidc_subject: null,
    disabled_at: null,
    signed_in_at: null,
    created_at: START,
    updated_at: START,
    ...fields,
  };
}

export function makeSession(
  user: Pick<UserRecord, 'id' | 'org_id'>,
  fields: Partial<SessionRecord> = {},
): SessionRecord {
  return {
    id: uuid(),
    hash: uuid(),
    user_id: user.id,
    org_id: user.org_id,
    how: 'password',
    address: '203.0.113.7',
    agent: 'A browser',
    created_at: START,
    last_seen_at: START,
    expires_at: at(3_600_000),
    ...fields,
  };
}
