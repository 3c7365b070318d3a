// The records of what outlives a call, field for field as they are stored. PURE.
// Names are the API's own. Times are ISO 8601 UTC with milliseconds; money is in milli-cents.
import type { MaskKind } from './masking.ts';
import type { CallGate } from './outbound/outbound-records.ts';

const LIVE_STATUSES = ['queued', 'initiated', 'ringing', 'in_progress'] as const;
export const TERMINAL_STATUSES = ['completed', 'no_answer', 'busy', 'canceled', 'failed'] as const;
export const CALL_STATUSES = [...LIVE_STATUSES, ...TERMINAL_STATUSES] as const;
export type CallStatus = (typeof CALL_STATUSES)[number];

export const EVENT_TYPES = [
  'call.queued',
  'call.ringing',
  'call.answered',
  'call.completed',
  'call.failed',
  'call.no_answer',
  'call.busy',
  'call.canceled',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export const DIRECTIONS = ['inbound', 'outbound'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export type ResultStatus = 'pending' | 'completed' | 'failed';
export type ReservationStatus = 'reserved' | 'settled' | 'released';
export type WebhookStatus = 'none' | 'pending' | 'delivered' | 'failed';
export const DELIVERY_STATUSES = ['pending', 'delivered', 'exhausted'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];
export type VoicemailAction = 'hangup' | 'leave_message';
export type RecordingNotice = 'always' | 'never';
export type AgentType = 'inbound' | 'outbound';
/** How an agent takes turns, in words; what they mean is told in control/api/agent-schemas.ts. */
export type AgentPatience = 'short' | 'normal' | 'long';
export type AgentEagerness = 'relaxed' | 'normal' | 'eager';
export type AgentInterruption = 'hard' | 'normal' | 'easy';
export const SENTIMENTS = ['positive', 'neutral', 'negative'] as const;
export type Sentiment = (typeof SENTIMENTS)[number];

/** What an agent says before all else. `text`: of `custom` alone. */
export interface AgentDisclosure {
  mode: 'standard' | 'custom' | 'off';
  text: string | null;
}

/** What was to be said on a call before all else, and how much of it was heard. Times count from the first stream's start. */
export interface CallDisclosure {
  text: string;
  heard_text: string;
  heard_ms: number;
  /** Null: it has not begun. */
  started_ms: number | null;
  /** Null: it is being said, or the process that said it has died. */
  ended_ms: number | null;
  /** All of it was heard, word for word. */
  complete: boolean;
}

/** The other side asked not to be called again: what was said, and when, since the first stream's start. */
export interface OptedOut {
  at_ms: number;
  text: string;
  by: 'words' | 'tool';
}

/** A returns schema as the client gave it: field name -> type name, or an object with type, description and enum. */
export type Returns = Record<string, string | { type: string; description?: string; enum?: string[] }>;

/** An in-call tool as the client gave it; checked at the edge. */
export type Tool =
  | {
      type: 'http';
      name: string;
      description: string;
      parameters: Record<string, unknown>;
      url: string;
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      headers?: Record<string, string>;
      timeout_ms?: number;
      speak_first?: string;
    }
  | { type: 'end_call' }
  | { type: 'transfer_call'; targets: { name: string; number: string }[] }
  | { type: 'send_dtmf' };

/** One part of a call's cost. `milli_cents` is null where the rate is not known and something was used. */
export interface CostPart {
  /** The model, or the carrier. */
  name: string;
  milli_cents: number | null;
  /** What was used, raw: counts, seconds, minutes. */
  used: Record<string, number>;
}

/** What a call cost, by a table of rates; an estimate, beside the price that is charged. */
export interface CallCost {
  estimate: true;
  /** The sum of the parts; null when one of them is not known. */
  total_milli_cents: number | null;
  model: CostPart;
  transcription: CostPart;
  extraction: CostPart;
  carrier: CostPart;
  /** The day of the rates, YYYY-MM-DD. */
  as_of: string;
}

/** One run of the daemon on a database; what it owns says so by its epoch. */
export interface DaemonRecord {
  /** Counts the runs on a database, over all hosts; never given twice, and a later run has a higher one. */
  epoch: number;
  /** The host's name, for people. */
  host: string;
  pid: number;
  started_at: string;
  /** When it closed, or was found dead; null while it may live. */
  ended_at: string | null;
  /** Of the program that it runs. */
  version: string;
  /** `leaving`: another has the listener and all new calls, and this one ends with its last call. */
  state: 'running' | 'leaving';
  /** Where other daemons of the host reach it, on loopback; null: nowhere. */
  private_port: number | null;
  /** When it last said that it lives, several times a second while it has calls; null: it has none. */
  alive_at: string | null;
}

/** A time in which the line of a call was up and nobody carried its sound. */
export interface CallGap {
  why: GapReason;
  started_at: string;
  /** Milliseconds since the first media stream's start: the last that was heard before. */
  from_ms: number;
  /** When the next stream began; null: none has, or the call ended without one. */
  to_ms: number | null;
}

/** The stream broke; the thread that carried it stopped; so did the daemon. */
export const GAP_REASONS = ['stream_lost', 'thread_lost', 'daemon_restart'] as const;
export type GapReason = (typeof GAP_REASONS)[number];

/** A tool that was called and has not answered. */
export interface RunningTool {
  tool_call_id: string;
  name: string;
  arguments_json: string;
  /** Milliseconds since the first media stream's start. */
  at_ms: number;
}

export interface OrganizationRecord {
  id: string;
  name: string;
  /** Signs inline deliveries (whsec_…). */
  webhook_secret: string;
  previous_webhook_secret: string | null;
  previous_webhook_secret_expires_at: string | null;
  /** Null: unlimited credit. */
  balance_milli_cents: number | null;
  /** What it is called on the phone; null: as its name. */
  spoken_name: string | null;
  /** Whether it is said that a call is recorded; null: as the daemon's setting has it. */
  recording_notice: RecordingNotice | null;
  created_at: string;
}

export interface KeyRecord {
  id: string;
  org_id: string;
  /** SHA-256 of the whole key, hex. */
  hash: string;
  name: string;
  /** The first characters, to recognize a key by. */
  prefix: string;
  last4: string;
  created_at: string;
  last_used_at: string | null;
  revoked_at: string | null;
  /** What it may; null: everything of its organization. */
  scopes: string[] | null;
  /** From then on it is worth nothing; null: it does not end by itself. */
  expires_at: string | null;
  /** Who made it, for people; null: the host, or before that was kept. */
  created_by: string | null;
}

export interface NumberRecord {
  id: string;
  org_id: string;
  e164: string;
  friendly_name: string;
  country_code: string;
  number_type: string;
  status: 'active' | 'released';
  monthly_cost_cents: number;
  purchased_at: string;
  /** Name of the carrier that it is at. */
  carrier: string;
  /** The carrier's own id of the number (PN…). */
  carrier_number_id: string;
}

/** A number with what is attached to it, as the API shows it. */
export interface NumberView extends NumberRecord {
  inbound_agent_id: string | null;
  outbound_agent_ids: string[];
}

export interface AgentRecord {
  id: string;
  org_id: string;
  user_id: string;
  name: string;
  type: AgentType;
  persona: string | null;
  instructions: string | null;
  voice: string;
  /** The name of the speech model; null: the daemon's default. */
  model: string | null;
  language: string | null;
  returns: Returns;
  tools: Tool[] | null;
  webhook_url: string | null;
  voicemail_action: VoicemailAction;
  /** Stop the agent when said over its voice, beside what does so in its language. */
  interruption_words: string[];
  /** How long it waits where the other side may not have finished. */
  patience: AgentPatience;
  /** How soon it answers. */
  eagerness: AgentEagerness;
  /** How easily it is interrupted. */
  interruption: AgentInterruption;
  /** Its calls are summed up when they are over. */
  summarize: boolean;
  /** Numbers that are not stored of what is said on its calls. */
  mask: MaskKind[];
  /** Whether it calls nobody without a consent. */
  consent: AgentConsent;
  /** Null: nothing was chosen (`disclosureOf`). */
  disclosure: AgentDisclosure | null;
  primary_number_id: string | null;
  archived_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface AgentView extends AgentRecord {
  /** Attached numbers, oldest attachment first. */
  numbers: NumberView[];
}

/** Whether an agent calls only whose consent is known. */
export type AgentConsent = 'none' | 'required';

/** A call: the API's fields, then what the daemon keeps beside them. */
export interface CallRecord {
  id: string;
  agent_id: string | null;
  to_number: string;
  from_number: string;
  status: CallStatus;
  direction: Direction;
  persona: string | null;
  instructions: string | null;
  prompt: string;
  context: Record<string, unknown> | null;
  returns: Returns;
  language: string;
  result: Record<string, unknown> | null;
  result_status: ResultStatus;
  result_error: string | null;
  /** In a few sentences; null where none was asked for, nobody talked, or the model gave none. */
  summary: string | null;
  /** How the other side was on the whole; null with the summary. */
  sentiment: Sentiment | null;
  created_at: string;
  started_at: string | null;
  answered_at: string | null;
  ended_at: string | null;
  duration_seconds: number | null;
  billed_duration_seconds: number | null;
  billing_amount_milli_cents: number | null;
  reservation_status: ReservationStatus;
  webhook_url: string | null;
  webhook_status: WebhookStatus;
  webhook_error: string | null;
  error_code: string | null;
  error_message: string | null;
  hangup_cause: string | null;
  metadata: Record<string, unknown>;
  updated_at: string;
  /** Null until the call is over and all of its usage is known. */
  cost: CallCost | null;
  /** The name of the speech model that leads it; null for one made before names were kept. */
  model: string | null;

  org_id: string;
  /** The language as it was chosen; null lets the other side's language decide. */
  chosen_language: string | null;
  voice: string;
  tools: Tool[] | null;
  voicemail_action: VoicemailAction;
  interruption_words: string[];
  patience: AgentPatience;
  eagerness: AgentEagerness;
  interruption: AgentInterruption;
  /** It is summed up when it is over. */
  summarize: boolean;
  /** Null: there was nothing to be said before all else. */
  disclosure: CallDisclosure | null;
  /** Null: nobody has asked that. */
  opted_out: OptedOut | null;
  /** Numbers that are not stored of what is said on it. */
  mask: MaskKind[];
  carrier: string;
  /** It goes over the telephone network; else its other side is a page, and it does not say how the line does. */
  telephone: boolean;
  /** Null until the carrier has accepted the call. */
  carrier_call_id: string | null;
  /** human, machine, fax or unknown, once answering-machine detection has spoken. */
  answered_by: string | null;
  /** Credit held for the call now. */
  reserved_milli_cents: number;
  /** Path of the recording, relative to the data folder. */
  recording_path: string | null;
  /** The speech model's usage added up over the call; raw counts. Written by the bridge alone. */
  usage: Record<string, number> | null;
  /** The extraction model's usage, all its attempts; raw counts. Written with the result alone. */
  extraction_usage: Record<string, number> | null;
  /** When its first media stream began: its other times count from there. Null: none has. */
  stream_began_at: string | null;
  /** In order; of several at most the last is open. */
  gaps: CallGap[];
  /** Written before they run, so that another process knows of them; none once the call is over. */
  running_tools: RunningTool[];
  /** By which facts the gate let an outbound call through; null for others, and for one made before there was a gate. */
  gate: CallGate | null;
  /** The campaign that it is a call of, its contact there, and which attempt at him, from 1; null without one. */
  campaign_id: string | null;
  contact_id: string | null;
  attempt: number | null;
  /** When all that told of anybody was taken out of it; null: it was not. */
  erased_at: string | null;
}

export interface TranscriptItemRecord {
  id: string;
  call_id: string;
  /** `system`: keys that the other side pressed, and nothing else. */
  role: 'agent' | 'caller' | 'tool' | 'system';
  /** What was generated or transcribed. */
  text: string;
  /** What the other side heard before it was cut; equals text when all was heard. */
  heard_text: string;
  interrupted: boolean;
  started_at: string;
  /** Milliseconds since the media stream's start. */
  start_ms: number;
  end_ms: number | null;
}

/** The moments of one answer of the agent, in milliseconds since the media stream's start; null where it did not come to that. */
export interface TurnRecord {
  id: string;
  call_id: string;
  /** Counts from 1 in a call, in the order in which the turns were over. */
  turn_index: number;
  kind: 'greeting' | 'answer' | 'prompt';
  /** Null where no speech was answered. */
  speech_end_ms: number | null;
  /** When the answer was wanted. */
  decided_ms: number;
  /** Before `decided_ms` where the model was asked while the caller paused. */
  requested_ms: number | null;
  first_model_audio_ms: number | null;
  first_sent_ms: number | null;
  first_heard_ms: number | null;
  /** It was cut short, before or after its first sound was heard. */
  barged_in: boolean;
  /** Answers begun early before it that were thrown away unheard. */
  thrown_away: number;
}

/** The caller speaking into the agent's voice; times as in TurnRecord. */
export interface InterruptionRecord {
  id: string;
  call_id: string;
  /** When it was decided what it was. */
  at_ms: number;
  /** When the caller's speech began. */
  onset_ms: number | null;
  /** When the voice was lowered. */
  held_ms: number | null;
  /** When it was paused; null: it was not, before it was cut or went on. */
  paused_ms: number | null;
  /** When the last of the voice was played at the carrier. */
  silenced_ms: number | null;
  /** It was no interruption after all, and the voice went on as before, where it had paused. */
  taken_back: boolean;
}

export interface EventRecord {
  id: string;
  org_id: string;
  call_id: string;
  type: EventType;
  /** Counts from 1 in a call, without a gap. */
  sequence: number;
  /** The Call object as it was, serialized once. */
  body: string;
  created_at: string;
}

export interface EndpointRecord {
  id: string;
  org_id: string;
  url: string;
  description: string | null;
  enabled_events: string[];
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  disabled_at: string | null;
  consecutive_failures: number;
  created_at: string;
  updated_at: string;
  secret: string;
  previous_secret: string | null;
  previous_secret_expires_at: string | null;
}

export interface DeliveryRecord {
  /** Sent as Service-Event-Id and webhook-id: one event to one receiver, the same over all attempts and replays. */
  id: string;
  org_id: string;
  endpoint_id: string | null;
  call_id: string | null;
  event_id: string;
  event_type: EventType;
  url: string;
  status: DeliveryStatus;
  /** Attempts made in its whole life; it never falls. */
  attempt_count: number;
  /** Of these, the ones made before its present schedule began: 0, and at a replay all so far. */
  attempts_before: number;
  manual_retry_count: number;
  next_attempt_at: string;
  last_error: string | null;
  last_response_status: number | null;
  delivered_at: string | null;
  created_at: string;
  updated_at: string;
}

export interface AttemptRecord {
  id: string;
  delivery_id: string;
  /** Counts from 1 over the delivery's whole life, replays included. */
  attempt: number;
  started_at: string;
  latency_ms: number;
  response_status: number | null;
  error: string | null;
  /** The first 2 KiB of the answer. */
  response_excerpt: string | null;
}

/** Money in one direction, append-only. `amount_milli_cents` is signed from the organization's side: a hold is negative. */
export interface LedgerRecord {
  id: string;
  org_id: string;
  call_id: string | null;
  kind: 'reserve' | 'top_up' | 'settle' | 'release' | 'credit';
  amount_milli_cents: number;
  created_at: string;
}
