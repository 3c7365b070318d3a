// What the agent routes take and answer. PURE.
// `returns` and `tools` are checked by their own files; here they only have the shape that the reference shows.
import { z } from 'zod';
import { number } from './number-schemas.ts';
import { booleanQuery, id, instructions, language, pageQuery, persona, time, url } from './schemas.ts';

/** What the speech model offers. */
export const VOICES = [
  'alloy',
  'ash',
  'ballad',
  'coral',
  'echo',
  'sage',
  'shimmer',
  'verse',
  'marin',
  'cedar',
] as const;
export const DEFAULT_VOICE = 'marin';

const name = z
  .string()
  .min(1, 'may not be empty')
  .max(200, 'may have 200 characters at most')
  .regex(/\S/, 'may not be blank');

const voice = z
  .string()
  .check((c) => {
    if (!(VOICES as readonly string[]).includes(c.value)) {
      const message = `must be one of ${VOICES.join(', ')}`;
      c.issues.push({ code: 'custom', message, params: { code: 'invalid_voice' }, input: c.value });
    }
  })
  .meta({ enum: [...VOICES] });

const type = z.enum(['inbound', 'outbound']);
const voicemailAction = z.enum(['hangup', 'leave_message']);

/** Shown in the reference; the values are checked by parseReturns. */
export const returnsInput = z.unknown().meta({
  type: 'object',
  description:
    'field name -> string, number, integer, boolean, date, datetime, an array of one of them (string[]), enum(a|b|c), or {type, description, enum}',
});
const toolsInput = z.unknown().meta({
  type: ['array', 'null'],
  items: { type: 'object' },
  description: 'tools of type http, end_call, transfer_call or send_dtmf',
});

const settings = {
  persona: persona.nullable().optional(),
  instructions: instructions.nullable().optional(),
  voice: voice.optional(),
  language: language.nullable().optional(),
  returns: returnsInput.optional(),
  tools: toolsInput.optional(),
  webhook_url: url.nullable().optional(),
  voicemail_action: voicemailAction.optional(),
};

export const createAgent = z.strictObject({
  name,
  type,
  ...settings,
  number_ids: z.array(id).max(100, 'may hold 100 ids at most').optional(),
  primary_number_id: id.nullable().optional().describe('one of number_ids; the first of them when left out'),
});

export const changeAgent = z.strictObject({ name: name.optional(), ...settings });

export const listAgents = pageQuery.extend({
  type: type.optional(),
  include_archived: booleanQuery.optional(),
});

export const attachNumber = z.strictObject({ number_id: id, primary: z.boolean().optional() });
export const setPrimaryNumber = z.strictObject({ number_id: id });

/** An agent as lists show it. */
export const agentSummary = z.strictObject({
  id,
  org_id: id,
  user_id: z.string(),
  name: z.string(),
  type,
  persona: z.string().nullable(),
  instructions: z.string().nullable(),
  voice: z.string(),
  language: z.string().nullable(),
  returns: z.record(z.string(), z.unknown()),
  tools: z.array(z.record(z.string(), z.unknown())).nullable(),
  webhook_url: z.string().nullable(),
  voicemail_action: voicemailAction,
  primary_number_id: id.nullable(),
  archived_at: time.nullable(),
  created_at: time,
  updated_at: time,
});

/** An agent with its numbers: details and answers to changes. */
export const agent = agentSummary.extend({ numbers: z.array(number) });
export const agentList = z.strictObject({ data: z.array(agentSummary) });
