// Rows <-> records: which columns hold JSON, which a boolean. The compiler refuses a record field without a column. PURE.

import type { AlertMessageRecord, AlertSettingsRecord, AlertStateRecord } from '../alert-records.ts';
import type {
  CampaignAttemptRecord,
  CampaignRecord,
  CampaignTally,
  ContactRecord,
} from '../campaign-records.ts';
import type { ActionRecord, InvitationRecord, SessionRecord, UserRecord } from '../people-records.ts';
import type {
  AgentRecord,
  AttemptRecord,
  CallRecord,
  DaemonRecord,
  DeliveryRecord,
  EndpointRecord,
  EventRecord,
  InterruptionRecord,
  KeyRecord,
  LedgerRecord,
  NumberRecord,
  OrganizationRecord,
  TranscriptItemRecord,
  TurnRecord,
} from '../records.ts';

export type Value = string | number | null;
export type Row = Record<string, Value>;

type Kind<V> = [V] extends [Value] ? 'value' : [V] extends [boolean] ? 'boolean' : 'json';

export interface Table<R> {
  name: string;
  columns: readonly (keyof R & string)[];
  /** `a, b, c`, each with the table's name before it. */
  selected: string;
  insert: string;
  /** The columns of a change, as stored; fields that are undefined or not in `allowed` are left out. */
  toRow(record: Partial<R>, allowed?: readonly (keyof R & string)[]): Row;
  fromRow(row: Row): R;
}

export function table<R extends object>(
  name: string,
  kinds: { [F in keyof R & string]: Kind<R[F]> },
): Table<R> {
  const columns = Object.keys(kinds) as (keyof R & string)[];
  return {
    name,
    columns,
    selected: columns.map((column) => `${name}.${column}`).join(', '),
    insert: `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${columns.map((column) => `@${column}`).join(', ')})`,
    toRow(record, allowed = columns) {
      const row: Row = {};
      for (const column of allowed) {
        const value: unknown = record[column];
        if (value === undefined) continue;
        const kind: string = kinds[column];
        if (value === null) row[column] = null;
        else if (kind === 'json') row[column] = JSON.stringify(value);
        else if (kind === 'boolean') row[column] = value ? 1 : 0;
        else row[column] = value as Value;
      }
      return row;
    },
    fromRow(row) {
      const record: Record<string, unknown> = {};
      for (const column of columns) {
        const value = row[column] ?? null;
        const kind: string = kinds[column];
        if (value === null || kind === 'value') record[column] = value;
        else record[column] = kind === 'json' ? JSON.parse(String(value)) : value === 1;
      }
      return record as R;
    },
  };
}

/** Of a row, the columns that differ from those before: an update of these alone leaves the other indexes as they are. */
export function changedColumns(before: Row, after: Row): Row {
  return Object.fromEntries(Object.entries(after).filter(([column, value]) => before[column] !== value));
}

export const DAEMONS = table<DaemonRecord>('daemons', {
  epoch: 'value',
  host: 'value',
  pid: 'value',
  started_at: 'value',
  ended_at: 'value',
  version: 'value',
  state: 'value',
  private_port: 'value',
  alive_at: 'value',
});

export const ORGANIZATIONS = table<OrganizationRecord>('organizations', {
  id: 'value',
  name: 'value',
  webhook_secret: 'value',
  previous_webhook_secret: 'value',
  previous_webhook_secret_expires_at: 'value',
  balance_milli_cents: 'value',
  spoken_name: 'value',
  recording_notice: 'value',
  created_at: 'value',
});

export const KEYS = table<KeyRecord>('api_keys', {
  id: 'value',
  org_id: 'value',
  hash: 'value',
  name: 'value',
  prefix: 'value',
  last4: 'value',
  created_at: 'value',
  last_used_at: 'value',
  revoked_at: 'value',
  scopes: 'json',
  expires_at: 'value',
  created_by: 'value',
});

export const USERS = table<UserRecord>('users', {
  id: 'value',
  org_id: 'value',
  email: 'value',
  name: 'value',
  role: 'value',
  may_listen: 'boolean',
  password_hash: 'value',
  totp_secret: 'value',
  totp_confirmed_at: 'value',
  totp_last_step: 'value',
  recovery_codes: 'json',
  oidc_issuer: 'value',
  oidc_subject: 'value',
  disabled_at: 'value',
  signed_in_at: 'value',
  created_at: 'value',
  updated_at: 'value',
});

export const SESSIONS = table<SessionRecord>('user_sessions', {
  id: 'value',
  hash: 'value',
  user_id: 'value',
  org_id: 'value',
  how: 'value',
  address: 'value',
  agent: 'value',
  created_at: 'value',
  last_seen_at: 'value',
  expires_at: 'value',
});

export const INVITATIONS = table<InvitationRecord>('invitations', {
  id: 'value',
  org_id: 'value',
  hash: 'value',
  email: 'value',
  role: 'value',
  may_listen: 'boolean',
  user_id: 'value',
  created_by: 'value',
  created_at: 'value',
  expires_at: 'value',
  used_at: 'value',
});

export const ACTIONS = table<ActionRecord>('audit_log', {
  id: 'value',
  org_id: 'value',
  created_at: 'value',
  actor_kind: 'value',
  actor_id: 'value',
  actor_name: 'value',
  action: 'value',
  target_kind: 'value',
  target_id: 'value',
  detail: 'json',
  address: 'value',
  request_id: 'value',
});

export const NUMBERS = table<NumberRecord>('numbers', {
  id: 'value',
  org_id: 'value',
  e164: 'value',
  friendly_name: 'value',
  country_code: 'value',
  number_type: 'value',
  status: 'value',
  monthly_cost_cents: 'value',
  purchased_at: 'value',
  carrier: 'value',
  carrier_number_id: 'value',
});

export const AGENTS = table<AgentRecord>('agents', {
  id: 'value',
  org_id: 'value',
  user_id: 'value',
  name: 'value',
  type: 'value',
  persona: 'value',
  instructions: 'value',
  voice: 'value',
  model: 'value',
  language: 'value',
  returns: 'json',
  tools: 'json',
  webhook_url: 'value',
  voicemail_action: 'value',
  interruption_words: 'json',
  patience: 'value',
  eagerness: 'value',
  interruption: 'value',
  summarize: 'boolean',
  mask: 'json',
  consent: 'value',
  disclosure: 'json',
  primary_number_id: 'value',
  archived_at: 'value',
  created_at: 'value',
  updated_at: 'value',
});

export const CALLS = table<CallRecord>('calls', {
  id: 'value',
  agent_id: 'value',
  to_number: 'value',
  from_number: 'value',
  status: 'value',
  direction: 'value',
  persona: 'value',
  instructions: 'value',
  prompt: 'value',
  context: 'json',
  returns: 'json',
  language: 'value',
  result: 'json',
  result_status: 'value',
  result_error: 'value',
  summary: 'value',
  sentiment: 'value',
  created_at: 'value',
  started_at: 'value',
  answered_at: 'value',
  ended_at: 'value',
  duration_seconds: 'value',
  billed_duration_seconds: 'value',
  billing_amount_milli_cents: 'value',
  reservation_status: 'value',
  webhook_url: 'value',
  webhook_status: 'value',
  webhook_error: 'value',
  error_code: 'value',
  error_message: 'value',
  hangup_cause: 'value',
  metadata: 'json',
  updated_at: 'value',
  cost: 'json',
  model: 'value',
  org_id: 'value',
  voice: 'value',
  tools: 'json',
  voicemail_action: 'value',
  interruption_words: 'json',
  patience: 'value',
  eagerness: 'value',
  interruption: 'value',
  summarize: 'boolean',
  mask: 'json',
  carrier: 'value',
  telephone: 'boolean',
  carrier_call_id: 'value',
  answered_by: 'value',
  reserved_milli_cents: 'value',
  chosen_language: 'value',
  recording_path: 'value',
  usage: 'json',
  extraction_usage: 'json',
  stream_began_at: 'value',
  gaps: 'json',
  running_tools: 'json',
  gate: 'json',
  campaign_id: 'value',
  contact_id: 'value',
  attempt: 'value',
  erased_at: 'value',
  disclosure: 'json',
  opted_out: 'json',
});

export const CAMPAIGNS = table<CampaignRecord>('campaigns', {
  id: 'value',
  org_id: 'value',
  name: 'value',
  agent_id: 'value',
  from_number: 'value',
  status: 'value',
  status_reason: 'value',
  calls_per_minute: 'value',
  max_concurrent: 'value',
  free_lines: 'value',
  windows: 'json',
  time_zone: 'value',
  window_zone: 'value',
  retries: 'json',
  max_attempts: 'value',
  created_at: 'value',
  updated_at: 'value',
  started_at: 'value',
  ended_at: 'value',
  held_code: 'value',
  held_until: 'value',
  last_started_at: 'value',
  at_work: 'boolean',
});

export const CONTACTS = table<ContactRecord>('campaign_contacts', {
  id: 'value',
  org_id: 'value',
  campaign_id: 'value',
  to_number: 'value',
  context: 'json',
  priority: 'value',
  time_zones: 'json',
  status: 'value',
  outcome: 'value',
  attempts: 'value',
  tries: 'json',
  due_at: 'value',
  due_reason: 'value',
  last_call_id: 'value',
  created_at: 'value',
  updated_at: 'value',
});

export const CAMPAIGN_ATTEMPTS = table<CampaignAttemptRecord>('campaign_attempts', {
  contact_id: 'value',
  attempt: 'value',
  campaign_id: 'value',
  call_id: 'value',
  started_at: 'value',
  ended_at: 'value',
  outcome: 'value',
});

export const CAMPAIGN_TALLIES = table<CampaignTally>('campaign_tallies', {
  kind: 'value',
  hour: 'value',
  value: 'value',
  count: 'value',
});

export const TRANSCRIPT_ITEMS = table<TranscriptItemRecord>('transcript_items', {
  id: 'value',
  call_id: 'value',
  role: 'value',
  text: 'value',
  heard_text: 'value',
  interrupted: 'boolean',
  started_at: 'value',
  start_ms: 'value',
  end_ms: 'value',
});

export const TURNS = table<TurnRecord>('turns', {
  id: 'value',
  call_id: 'value',
  turn_index: 'value',
  kind: 'value',
  speech_end_ms: 'value',
  decided_ms: 'value',
  requested_ms: 'value',
  first_model_audio_ms: 'value',
  first_sent_ms: 'value',
  first_heard_ms: 'value',
  barged_in: 'boolean',
  thrown_away: 'value',
});

export const INTERRUPTIONS = table<InterruptionRecord>('interruptions', {
  id: 'value',
  call_id: 'value',
  at_ms: 'value',
  onset_ms: 'value',
  held_ms: 'value',
  paused_ms: 'value',
  silenced_ms: 'value',
  taken_back: 'boolean',
});

export const EVENTS = table<EventRecord>('events', {
  id: 'value',
  org_id: 'value',
  call_id: 'value',
  type: 'value',
  sequence: 'value',
  body: 'value',
  created_at: 'value',
});

export const ENDPOINTS = table<EndpointRecord>('endpoints', {
  id: 'value',
  org_id: 'value',
  url: 'value',
  description: 'value',
  enabled_events: 'json',
  status: 'value',
  disabled_reason: 'value',
  disabled_at: 'value',
  consecutive_failures: 'value',
  created_at: 'value',
  updated_at: 'value',
  secret: 'value',
  previous_secret: 'value',
  previous_secret_expires_at: 'value',
});

export const DELIVERIES = table<DeliveryRecord>('deliveries', {
  id: 'value',
  org_id: 'value',
  endpoint_id: 'value',
  call_id: 'value',
  event_id: 'value',
  event_type: 'value',
  url: 'value',
  status: 'value',
  attempt_count: 'value',
  attempts_before: 'value',
  manual_retry_count: 'value',
  next_attempt_at: 'value',
  last_error: 'value',
  last_response_status: 'value',
  delivered_at: 'value',
  created_at: 'value',
  updated_at: 'value',
});

export const ATTEMPTS = table<AttemptRecord>('attempts', {
  id: 'value',
  delivery_id: 'value',
  attempt: 'value',
  started_at: 'value',
  latency_ms: 'value',
  response_status: 'value',
  error: 'value',
  response_excerpt: 'value',
});

export const LEDGER = table<LedgerRecord>('ledger', {
  id: 'value',
  org_id: 'value',
  call_id: 'value',
  kind: 'value',
  amount_milli_cents: 'value',
  created_at: 'value',
});

export const ALERT_SETTINGS = table<AlertSettingsRecord>('alert_settings', {
  org_id: 'value',
  webhook_url: 'value',
  emails: 'json',
  rules: 'json',
  updated_at: 'value',
});

export const ALERT_STATES = table<AlertStateRecord>('alert_states', {
  org_id: 'value',
  kind: 'value',
  status: 'value',
  since_at: 'value',
  fired_at: 'value',
  told_at: 'value',
  version: 'value',
});

export const ALERT_MESSAGES = table<AlertMessageRecord>('alert_messages', {
  id: 'value',
  org_id: 'value',
  kind: 'value',
  status: 'value',
  text: 'value',
  value: 'value',
  threshold: 'value',
  created_at: 'value',
  webhook: 'json',
  email: 'json',
  next_attempt_at: 'value',
});
