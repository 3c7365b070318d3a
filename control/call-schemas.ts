// What the call routes take and answer. PURE.
import { z } from 'zod';
import { returnsInput } from './agent-schemas.ts';
import {
  context,
  e164,
  id,
  instructions,
  metadata,
  numberQuery,
  pageQuery,
  time,
  timeQuery,
  url,
} from './schemas.ts';

const status = z.enum([
  'queued',
  'initiated',
  'ringing',
  'in_progress',
  'completed',
  'no_answer',
  'busy',
  'canceled',
  'failed',
]);
const direction = z.enum(['inbound', 'outbound']);

const common = {
  to: e164.describe('destination'),
  from_number: e164.optional().describe('caller ID'),
  context: context.optional().describe('what the agent may use during the call'),
  webhook_url: url.optional(),
  metadata: metadata.optional(),
};

/** A call of an agent: who speaks, and how, comes from the agent. */
export const dispatchCall = z.strictObject({
  agent_id: id,
  ...common,
  instructions: instructions.optional().describe("replaces the agent's instructions wholly"),
});

/** A call without an agent. */
export const promptCall = z.strictObject({
  ...common,
  instructions: instructions.regex(/\S/, 'may not be blank'),
  returns: returnsInput.optional(),
  language: z.enum(['en', 'es'], 'must be en or es').optional(),
});

export const createCall = z.union([dispatchCall, promptCall]);

/** What to say of fields that only an agent has. */
export const DISPATCH_HINTS: Readonly<Record<string, string>> = Object.fromEntries(
  ['persona', 'voice', 'language', 'returns', 'tools', 'voicemail_action'].map((field) => [
    field,
    `${field} comes from the agent and is not accepted here; change it with PATCH /v1/agents/{id}.`,
  ]),
);
export const PROMPT_HINTS: Readonly<Record<string, string>> = {
  'missing instructions': 'instructions is required when no agent_id is given: send one of the two.',
};

export const listCalls = pageQuery.extend({
  status: status.optional(),
  direction: direction.optional(),
  agent_id: id.optional(),
  to_number: numberQuery.optional(),
  // Inbound calls with a withheld number have this word for one.
  from_number: z.union([z.literal('anonymous'), numberQuery]).optional(),
  created_after: timeQuery.optional(),
  created_before: timeQuery.optional(),
});

export const call = z.strictObject({
  id,
  agent_id: id.nullable(),
  to_number: z.string(),
  from_number: z.string(),
  status,
  direction,
  persona: z.string().nullable(),
  instructions: z.string().nullable(),
  prompt: z.string(),
  context: z.record(z.string(), z.unknown()).nullable(),
  returns: z.record(z.string(), z.unknown()),
  language: z.string(),
  result: z.record(z.string(), z.unknown()).nullable(),
  result_status: z.enum(['pending', 'completed', 'failed']),
  result_error: z.string().nullable(),
  created_at: time,
  started_at: time.nullable(),
  answered_at: time.nullable(),
  ended_at: time.nullable(),
  duration_seconds: z.int().nullable(),
  billed_duration_seconds: z.int().nullable(),
  billing_amount_milli_cents: z.int().nullable(),
  reservation_status: z.enum(['reserved', 'settled', 'released']),
  webhook_url: z.string().nullable(),
  webhook_status: z.enum(['none', 'pending', 'delivered', 'failed']),
  webhook_error: z.string().nullable(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  hangup_cause: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  updated_at: time,
});
/** Bare, without a `data` wrapper; the next page is in the Link header. */
export const callList = z.array(call);

export const transcript = z.strictObject({
  call_id: id,
  status: z.enum(['live', 'final']),
  data: z.array(
    z.strictObject({
      id: z.string(),
      role: z.enum(['agent', 'caller', 'tool', 'system']),
      text: z.string().describe('what was generated or transcribed'),
      heard_text: z.string().describe('what the other side heard before it was cut'),
      interrupted: z.boolean(),
      started_at: time,
      start_ms: z.number(),
      end_ms: z.number().nullable(),
    }),
  ),
});
