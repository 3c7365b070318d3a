// One example of each resource, as the reference shows it: one clinic, one agent, one call and its webhook. PURE.
// Tests hold every example against the schema it belongs to.

const ORG = '0199b0c0-2f6e-7d0a-8a53-5f0f5f1b2c01';

export const ATTACHED_NUMBER = {
  id: '0199b0c1-54c8-7b11-9f3e-0a4b6e5d7f02',
  e164: '+14155550100',
  friendly_name: 'Front desk',
  country_code: 'US',
  number_type: 'local',
  status: 'active',
  monthly_cost_cents: 115,
  purchased_at: '2026-03-01T11:40:00.000Z',
  carrier: 'twilio',
  inbound_agent_id: null,
  outbound_agent_ids: ['0199b0c2-9d34-7e52-8c17-6b1f9a2e3d03'],
};

export const SPEECH_MODEL = {
  name: 'gpt-realtime-2.1',
  is_default: true,
  kind: 'openai',
  model: 'gpt-realtime-2.1',
  voices: ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar'],
  default_voice: 'marin',
  audio_formats: [
    { encoding: 'mulaw', rate_hz: 8000 },
    { encoding: 'alaw', rate_hz: 8000 },
    { encoding: 'pcm16', rate_hz: 24000 },
  ],
  capabilities: { truncates: true, says_lines: false, calls_tools: true },
};

export const AVAILABLE_NUMBER = {
  e164: '+14155550101',
  friendly_name: '(415) 555-0101',
  country_code: 'US',
  number_type: 'local',
  locality: 'San Francisco',
  region: 'CA',
  monthly_cost_cents: 115,
};

export const AGENT = {
  id: '0199b0c2-9d34-7e52-8c17-6b1f9a2e3d03',
  org_id: ORG,
  user_id: '0199b0c0-2f6e-7d0a-8a53-5f0f5f1b2c09',
  name: 'Reminder',
  type: 'outbound',
  persona: null,
  instructions: 'Remind the person of their appointment and ask whether they will come.',
  voice: 'marin',
  model: null,
  language: null,
  returns: { will_come: 'boolean', new_date: 'date' },
  tools: null,
  webhook_url: 'https://example.com/calls',
  voicemail_action: 'hangup',
  interruption_words: [],
  patience: 'normal',
  eagerness: 'normal',
  interruption: 'normal',
  summarize: true,
  mask: ['card'],
  consent: 'none',
  disclosure: { mode: 'standard', text: null },
  primary_number_id: ATTACHED_NUMBER.id,
  archived_at: null,
  created_at: '2026-03-01T11:45:00.000Z',
  updated_at: '2026-03-01T11:45:00.000Z',
  numbers: [ATTACHED_NUMBER],
};

export const HTTP_TOOL = {
  type: 'http',
  name: 'look_up_order',
  description: 'Finds an order by its number and says when it will arrive.',
  parameters: {
    type: 'object',
    properties: { order_number: { type: 'string', description: 'The number, as the caller says it.' } },
    required: ['order_number'],
  },
  url: 'https://example.com/orders/look-up',
  method: 'POST',
  headers: { 'X-Api-Key': 'orders-key' },
  timeout_ms: 5000,
  speak_first: 'One moment, I am looking that up.',
};

/** At call.completed. */
export const CALL = {
  id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c04',
  agent_id: AGENT.id,
  to_number: '+14155550123',
  from_number: ATTACHED_NUMBER.e164,
  status: 'completed',
  direction: 'outbound',
  persona: null,
  instructions: AGENT.instructions,
  prompt: '# Who you are\nYou are a friendly, professional AI assistant on the phone. …',
  context: { appointment: 'Tuesday, 10:00' },
  returns: AGENT.returns,
  language: 'en',
  result: { will_come: true, new_date: null },
  result_status: 'completed',
  result_error: null,
  summary: 'The person was reminded of the appointment on Tuesday and will come.',
  sentiment: 'positive',
  created_at: '2026-03-01T12:00:00.000Z',
  started_at: '2026-03-01T12:00:01.204Z',
  answered_at: '2026-03-01T12:00:07.310Z',
  ended_at: '2026-03-01T12:00:49.871Z',
  duration_seconds: 49,
  billed_duration_seconds: 43,
  billing_amount_milli_cents: 1434,
  reservation_status: 'settled',
  webhook_url: AGENT.webhook_url,
  webhook_status: 'pending',
  webhook_error: null,
  error_code: null,
  error_message: null,
  hangup_cause: 'agent_ended',
  metadata: { patient: '4711' },
  updated_at: '2026-03-01T12:00:52.006Z',
  cost: {
    estimate: true,
    total_milli_cents: 6210,
    model: {
      name: 'gpt-realtime-2.1',
      milli_cents: 5240,
      used: { audio_input_tokens: 412, audio_output_tokens: 655 },
    },
    transcription: { name: 'gpt-transcribe', milli_cents: 230, used: { seconds: 23 } },
    extraction: { name: 'gpt-5.6-luna', milli_cents: 40, used: { input_tokens: 610, output_tokens: 18 } },
    carrier: { name: 'twilio', milli_cents: 700, used: { minutes: 1 } },
    as_of: '2026-03-01',
  },
  model: 'gpt-realtime-2.1',
  gaps: [{ why: 'stream_lost', started_at: '2026-03-01T12:00:30.412Z', from_ms: 23_102, to_ms: 23_640 }],
  erased_at: null,
  campaign_id: null,
  contact_id: null,
  attempt: null,
  gate: {
    decided_at: '2026-03-01T17:00:00.000Z',
    country: 'US',
    kind: 'fixed_line_or_mobile',
    zones: ['America/Los_Angeles'],
    local_times: [{ zone: 'America/Los_Angeles', time: '2026-03-01T09:00' }],
    calls_to_destination: 0,
    calls_in_minute: 2,
    spent_milli_cents: null,
    consent_id: null,
    overridden: null,
  },
  disclosure: {
    text: 'Hello, this is an AI assistant calling for Bluebird Clinic.',
    heard_text: 'Hello, this is an AI assistant calling for Bluebird Clinic.',
    heard_ms: 3_420,
    started_ms: 610,
    ended_ms: 4_030,
    complete: true,
  },
  opted_out: null,
};

export const TRANSCRIPT = {
  call_id: CALL.id,
  status: 'final',
  data: [
    {
      id: '0199b0c4-95e2-7a0b-8d44-1c3e5f7a9b05',
      role: 'agent',
      text: 'Hello, this is the assistant of the Bluebird Clinic, calling about your appointment on Tuesday.',
      heard_text: 'Hello, this is the assistant of the Bluebird Clinic,',
      interrupted: true,
      started_at: '2026-03-01T12:00:07.902Z',
      start_ms: 592,
      end_ms: 3210,
    },
    {
      id: '0199b0c4-a37f-7f6c-9e21-4d6f8b0a2c06',
      role: 'caller',
      text: 'Yes, I know, I will be there.',
      heard_text: 'Yes, I know, I will be there.',
      interrupted: false,
      started_at: '2026-03-01T12:00:10.120Z',
      start_ms: 2810,
      end_ms: 4660,
    },
  ],
};

export const CALL_TURNS = {
  call_id: CALL.id,
  status: 'final',
  data: [
    {
      id: '0199b0c4-95f0-7e1b-8a2c-3d4e5f6a7b11',
      index: 1,
      kind: 'greeting',
      speech_end_ms: null,
      decided_ms: 1.2,
      requested_ms: 1.3,
      first_model_audio_ms: 240.5,
      first_sent_ms: 241.1,
      first_heard_ms: 322.4,
      barged_in: false,
      thrown_away: 0,
      latency_ms: 322.4,
      parts: { end_of_turn_ms: null, request_ms: 1.3, model_ms: 239.2, send_ms: 0.6, playout_ms: 81.3 },
    },
    {
      id: '0199b0c4-a9c1-7a3d-9b5e-6f7a8b9c0d12',
      index: 2,
      kind: 'answer',
      speech_end_ms: 4660,
      decided_ms: 5180,
      requested_ms: 5180.2,
      first_model_audio_ms: 5561.9,
      first_sent_ms: 5562.4,
      first_heard_ms: 5640.8,
      barged_in: false,
      thrown_away: 0,
      latency_ms: 980.8,
      parts: { end_of_turn_ms: 520, request_ms: 0.2, model_ms: 381.7, send_ms: 0.5, playout_ms: 78.4 },
    },
  ],
  interruptions: [
    {
      id: '0199b0c4-a0d2-7b4e-8c6f-7a8b9c0d1e13',
      at_ms: 3010.2,
      onset_ms: 2810,
      held_ms: 2870.5,
      paused_ms: 2930.5,
      silenced_ms: 2990.1,
      taken_back: false,
    },
  ],
};

export const ENDPOINT = {
  id: '0199b0c5-1b2c-7d3e-8f4a-5b6c7d8e9f07',
  org_id: ORG,
  url: 'https://example.com/offhook',
  description: null,
  enabled_events: ['*'],
  status: 'enabled',
  disabled_reason: null,
  disabled_at: null,
  consecutive_failures: 0,
  created_at: '2026-03-01T11:50:00.000Z',
  updated_at: '2026-03-01T11:50:00.000Z',
};

export const DELIVERY = {
  id: '0199b0c4-f0a1-7b2c-9d3e-4f5a6b7c8d08',
  org_id: ORG,
  endpoint_id: ENDPOINT.id,
  call_id: CALL.id,
  event_type: 'call.completed',
  url: ENDPOINT.url,
  status: 'delivered',
  attempt_count: 1,
  manual_retry_count: 0,
  next_attempt_at: '2026-03-01T12:00:52.006Z',
  last_error: null,
  last_response_status: 200,
  delivered_at: '2026-03-01T12:00:52.190Z',
  created_at: '2026-03-01T12:00:52.006Z',
  updated_at: '2026-03-01T12:00:52.190Z',
};

export const DELIVERY_ATTEMPT = {
  id: '0199b0c4-f0b3-7c4d-8e5f-6a7b8c9d0e10',
  attempt: 1,
  started_at: '2026-03-01T12:00:52.021Z',
  latency_ms: 164,
  response_status: 200,
  error: null,
  response_excerpt: 'ok',
};

export const CALL_EVENTS = {
  call_id: CALL.id,
  data: [
    {
      id: '0199b0c4-f09a-7d1e-8b3c-5a6b7c8d9e14',
      type: 'call.completed',
      sequence: 4,
      created_at: '2026-03-01T12:00:52.006Z',
      deliveries: [
        {
          id: DELIVERY.id,
          endpoint_id: ENDPOINT.id,
          receiver: ENDPOINT.url,
          status: 'delivered',
          attempt_count: 1,
          last_response_status: 200,
          last_error: null,
          next_attempt_at: null,
          delivered_at: '2026-03-01T12:00:52.190Z',
        },
      ],
    },
  ],
};

const ASKED_BY = { kind: 'key', id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c61', name: 'Back office' };

export const ERASURE = {
  id: '0199b0c4-b111-7cc0-9b1e-2f6d5a8e4c70',
  subject: 'number',
  call_id: null,
  number_hash: '5f0cbb7b3d9f3a2f27d5a4e4d6f6a4b0e3a1c9d8b7f6e5d4c3b2a19081726354',
  reason: 'Asked by letter, 2 March',
  state: 'done',
  requested_by: ASKED_BY,
  counts: { calls: 2, transcript_items: 31, events: 8, deliveries: 8, files: 2, file_bytes: 1_842_604 },
  files: [
    {
      path: `recordings/${CALL.id}.wav`,
      bytes: 921_302,
      sha256: '9b74c9897bac770ffc029102a200c5de5f2a1a7a3b2c1d0e9f8a7b6c5d4e3f21',
    },
  ],
  backups: [{ path: '/var/backups/offhook-20260301T030000000Z.db', made_at: '2026-03-01T03:00:00.000Z' }],
  created_at: '2026-03-03T09:00:00.000Z',
  done_at: '2026-03-03T09:00:01.512Z',
  rewritten_at: '2026-03-03T09:00:01.803Z',
};

export const LEGAL_HOLD = {
  id: '0199b0c4-b222-7cc0-9b1e-2f6d5a8e4c71',
  subject: 'number',
  call_id: null,
  number: CALL.to_number,
  reason: 'Case 14-221',
  created_by: ASKED_BY,
  created_at: '2026-03-03T09:00:00.000Z',
  lifted_by: null,
  lifted_at: null,
};

export const RETENTION = {
  recordings_days: 30,
  transcripts_days: 90,
  events_days: 90,
  deliveries_days: 30,
  calls_days: null,
};
