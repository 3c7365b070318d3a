// What the call routes take and answer, with what the reference says of each field and when it is set. PURE.
import { z } from 'zod';
import { MASK_KINDS } from '../../storage/masking.ts';
import { GAP_REASONS, SENTIMENTS } from '../../storage/records.ts';
import { context, e164, id, instructions, metadata, time, url } from '../http/schemas.ts';
import { draftAgent, returns, returnsInput } from './agent-schemas.ts';
import { callDisclosure, disclosureOfPrompt, optedOut } from './disclosure-schemas.ts';
import { AGENT, CALL, TRANSCRIPT } from './examples.ts';
import { gate, override } from './gate-schemas.ts';

export const status = z
  .enum([
    'queued',
    'initiated',
    'ringing',
    'in_progress',
    'completed',
    'no_answer',
    'busy',
    'canceled',
    'failed',
  ])
  .describe(
    '`queued`: recorded, the carrier not yet asked. `initiated`: the carrier has accepted it. `ringing`. `in_progress`: answered. Then one end, for good: `completed` (a connected call that ended well), `no_answer`, `busy`, `canceled` (before it was answered) or `failed`. It never goes back.',
  );
export const direction = z
  .enum(['inbound', 'outbound'])
  .describe('`outbound`: placed with POST /v1/calls. `inbound`: answered by an inbound agent.');

const common = {
  override: override.optional(),
  to: e164.describe('Whom to call, E.164.'),
  context: context
    .optional()
    .describe(
      'Facts the agent may use during the call: any JSON object, 64 KB at most. It is fenced off as data: the agent is told neither to obey it nor to read it out. Default: {}.',
    ),
  metadata: metadata
    .optional()
    .describe(
      'Yours; the agent never sees it. 50 keys at most, keys and values of 500 characters at most. Default: {}.',
    ),
};

/** A call of an agent: who speaks, and how, comes from the agent. */
export const dispatchCall = z
  .strictObject({
    agent_id: id.describe('An outbound agent with at least one attached number.'),
    ...common,
    from_number: e164
      .optional()
      .describe("Caller ID: a number attached to the agent. Left out: the agent's primary number."),
    webhook_url: url
      .optional()
      .describe("Receives this call's events in place of the agent's webhook URL. https only."),
    instructions: instructions
      .optional()
      .describe("The task of this call. Replaces the agent's instructions wholly."),
  })
  .meta({
    id: 'AgentCall',
    title: 'A call of an agent',
    description:
      'Persona, voice, model, language, returns, tools, voicemail_action, interruption_words, patience, eagerness, interruption, summarize, mask and disclosure come from the agent and are not accepted here.',
    examples: [{ agent_id: AGENT.id, to: CALL.to_number, context: CALL.context, metadata: CALL.metadata }],
  });

/** A call without an agent. */
export const promptCall = z
  .strictObject({
    ...common,
    from_number: e164
      .optional()
      .describe('Caller ID: an active number of the organization. Left out: the oldest one.'),
    webhook_url: url
      .optional()
      .describe("Receives this call's events, signed with the organization's default secret. https only."),
    instructions: instructions.regex(/\S/, 'may not be blank').describe('The task of this call.'),
    returns: returnsInput
      .optional()
      .describe('What to extract after the call. Null or left out: nothing is extracted.'),
    mask: z
      .array(z.enum(MASK_KINDS))
      .max(MASK_KINDS.length, `may have ${MASK_KINDS.length} values at most`)
      .optional()
      .describe('Numbers that are not stored of what is said, as of an agent. Default: [].'),
    summarize: z
      .boolean()
      .optional()
      .describe('Whether the call is summed up when it is over. Default: false.'),
    disclosure: disclosureOfPrompt,
    language: z
      .enum(['en', 'es'], 'must be en or es')
      .optional()
      .describe("Language spoken. Left out: the greeting is in English, then the other side's decides."),
  })
  .meta({
    id: 'PromptCall',
    title: 'A call by a prompt, without an agent',
    examples: [
      {
        to: CALL.to_number,
        instructions: 'Ask whether the ordered glasses may be sent by post.',
        returns: { by_post: 'boolean' },
        language: 'en',
      },
    ],
  });

/** A call from a page: of the session-only API, so it stands in no reference. */
export const pageCall = z.strictObject({
  agent_id: id.optional().describe('Any agent that is not archived; it needs no number.'),
  draft: draftAgent
    .optional()
    .describe(
      'The agent as it is being written, with what is not saved: checked like one, used for this call alone, stored only in its record. Without `agent_id`: one that is not there yet.',
    ),
  text_only: z.boolean().optional().describe('The other side types, and has no microphone.'),
  context: common.context,
});

export const createCall = z.union([dispatchCall, promptCall]);

/** What to say of fields that only an agent has. */
export const DISPATCH_HINTS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'persona',
    'voice',
    'model',
    'language',
    'returns',
    'tools',
    'voicemail_action',
    'interruption_words',
    'patience',
    'eagerness',
    'interruption',
    'summarize',
    'disclosure',
    'mask',
  ].map((field) => [
    field,
    `${field} comes from the agent and is not accepted here; change it with PATCH /v1/agents/{id}.`,
  ]),
);
export const PROMPT_HINTS: Readonly<Record<string, string>> = {
  'missing instructions': 'instructions is required when no agent_id is given: send one of the two.',
};

const costPart = z
  .strictObject({
    name: z.string().describe('The model, or the carrier.'),
    milli_cents: z
      .number()
      .nullable()
      .describe('Thousandths of a cent. Null: something was used whose rate is not known.'),
    used: z.record(z.string(), z.number()).describe('What was used: raw counts, seconds, minutes.'),
  })
  .meta({ id: 'CostPart', description: "One part of a call's cost." });

const cost = z
  .strictObject({
    estimate: z.literal(true).describe('Always true: a table of rates, not an invoice.'),
    total_milli_cents: z
      .number()
      .nullable()
      .describe('The sum of the parts, in thousandths of a cent. Null when one of them is not known.'),
    model: costPart.describe('The speech model.'),
    transcription: costPart.describe("Writing down the caller's words."),
    extraction: costPart.describe('Extracting the result.'),
    carrier: costPart.describe('The connection.'),
    as_of: z.string().describe('The day of the rates, YYYY-MM-DD.'),
  })
  .meta({
    id: 'CallCost',
    description: 'What a call cost whoever runs the service, estimated; beside the price that is charged.',
  });

const gap = z
  .strictObject({
    why: z
      .enum(GAP_REASONS)
      .describe(
        '`stream_lost`: the media stream between the carrier and the service broke, or carried nothing any more. `thread_lost`: a part of the service broke down. `daemon_restart`: all of it did, and came back.',
      ),
    started_at: time.describe('When the line was last heard before it.'),
    from_ms: z.number().describe("The same in milliseconds since the call's audio began."),
    to_ms: z
      .number()
      .nullable()
      .describe('When the line was back, likewise. Null: it is not back yet, or the call ended without it.'),
  })
  .meta({
    id: 'CallGap',
    description:
      'A time in which the line was up and nobody carried its sound: neither side heard the other, and what was said into it is lost.',
  });

export const call = z
  .strictObject({
    id: id.describe('Call id.'),
    agent_id: id.nullable().describe('The agent that leads it. Null: placed by a prompt.'),
    to_number: z.string().describe('Who is called, E.164; of an inbound call, the number that was called.'),
    from_number: z
      .string()
      .describe(
        'Caller ID, E.164; of an inbound call, who calls: a number where there is one, also out of a SIP address (`sip:+14155550123@…`); else the address (`sip:alice@pbx.example.com`, `client:alice`, the digits of an extension), without password and parameters; `anonymous` when withheld.',
      ),
    status,
    direction,
    persona: z
      .string()
      .nullable()
      .describe("The agent's persona when the call was made. Null: the default persona was used."),
    instructions: z
      .string()
      .nullable()
      .describe("The instructions used: the call's own, else the agent's. Null: there were none."),
    prompt: z
      .string()
      .describe('What the model was told: rendered once when the call is made, never an input.'),
    context: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('As it was sent with the call; {} when nothing was. Null for inbound.'),
    returns: returns.describe('What is to be extracted, as it was when the call was made. Empty: nothing.'),
    language: z
      .string()
      .describe("Language code; `en` where none was chosen and the other side's language decides."),
    result: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'What was extracted: every field of `returns`, null where it was not said. Null until result_status is completed, and for good when it is failed or nothing was asked.',
      ),
    result_status: z
      .enum(['pending', 'completed', 'failed'])
      .describe(
        '`pending` until the call has ended, and up to 60 s longer while a result is extracted; then `completed`, or `failed` with the reason in `result_error`. Without `returns` it ends as completed.',
      ),
    result_error: z
      .string()
      .nullable()
      .describe('Why there is no result. Null unless result_status is failed.'),
    created_at: time.describe('When the call was made, or came in.'),
    started_at: time
      .nullable()
      .describe('When it began to ring. Null before, and when it never did or the carrier did not say.'),
    answered_at: time.nullable().describe('When someone picked up. Null before, and when nobody did.'),
    ended_at: time
      .nullable()
      .describe(
        'When it ended. Null while it has not. created_at, started_at, answered_at and ended_at are in this order, whoever told of them.',
      ),
    duration_seconds: z
      .int()
      .nullable()
      .describe(
        'Whole seconds from ringing (from creation when it never rang) to the end, rounded up. Null until it has ended.',
      ),
    billed_duration_seconds: z
      .int()
      .nullable()
      .describe('Connected seconds charged. Null until it has ended, and when it was never connected.'),
    billing_amount_milli_cents: z
      .int()
      .nullable()
      .describe(
        'The charge in thousandths of a cent, billed by the second. Null until it has ended, and when it was never connected.',
      ),
    reservation_status: z
      .enum(['reserved', 'settled', 'released'])
      .describe(
        'Of the credit held for it: `reserved` until it has ended, then `settled` when it was connected, `released` when not.',
      ),
    webhook_url: z
      .string()
      .nullable()
      .describe(
        "Where its events are sent besides the registered endpoints: its own URL, else the agent's. Null: nowhere.",
      ),
    webhook_status: z
      .enum(['none', 'pending', 'delivered', 'failed'])
      .describe(
        'Of the inline delivery of call.completed: `none` until there is one, `pending` while it is tried, then `delivered` or `failed`.',
      ),
    webhook_error: z
      .string()
      .nullable()
      .describe('Why the last attempt of that delivery failed. Null: none did.'),
    error_code: z
      .string()
      .nullable()
      .describe(
        "What failed: the carrier's own code (Twilio's are digits, such as 21211), or one of our words, such as model_unreachable; the reference lists ours under *Why calls end*. Null: nothing did.",
      ),
    error_message: z.string().nullable().describe('The same in words. Null: nothing failed.'),
    hangup_cause: z
      .string()
      .nullable()
      .describe(
        'Why it ended, or is about to: one of our words, such as remote_hangup, agent_ended or model_failed, or what the carrier names in their place (`SIP 486`); the reference lists ours under *Why calls end*. More may be added. Null while live.',
      ),
    metadata: z
      .record(z.string(), z.unknown())
      .describe('As it was sent with the call; {} when nothing was.'),
    updated_at: time.describe('Last change.'),
    cost: cost
      .nullable()
      .describe('What it cost, estimated. Null until the call is over and all of its usage is known.'),
    model: z
      .string()
      .nullable()
      .describe(
        'Name of the speech model that leads it, as it was when the call was made. Null: made before names were kept.',
      ),
    gaps: z
      .array(gap)
      .describe(
        'Times in which the line had no sound because something of ours or between us and the carrier broke, and after which the call went on; in order. Empty: none. Only the last one can be open.',
      ),
    erased_at: time
      .nullable()
      .describe(
        'When all that told of anybody was taken out of it, by an erasure or because it was older than calls are kept. What is left counts: times, lengths, money. Both numbers are `erased`. Null: nothing was.',
      ),
    campaign_id: id.nullable().describe('The campaign that it is a call of; null without one.'),
    contact_id: id.nullable().describe('The contact there.'),
    attempt: z.int().nullable().describe('Which call to this contact it is, from 1.'),
    gate: gate
      .nullable()
      .describe(
        'By which facts an outbound call was let through; null for an inbound one, and for one made before there was a gate.',
      ),
    disclosure: callDisclosure,
    opted_out: optedOut,
    summary: z
      .string()
      .nullable()
      .describe(
        'What it was about and what came of it, in one to three sentences, in the language that was spoken. Null until the result is settled, and for good where no summary was asked for (`summarize` of the agent), nobody talked, or the model gave none.',
      ),
    sentiment: z
      .enum(SENTIMENTS)
      .nullable()
      .describe(
        'How the other side was on the whole, by a model’s reading of their words. Null as `summary` is.',
      ),
  })
  .meta({
    id: 'Call',
    description:
      'A phone call, past or live; also the body of every webhook. Its transcript is a resource of its own.',
    examples: [CALL],
  });
/** Bare, without a `data` wrapper; the next page is in the Link header. */
export const callList = z.array(call).describe('Newest first; the next page is in the Link header.');

export const transcript = z
  .strictObject({
    call_id: id.describe('The call.'),
    status: z
      .enum(['live', 'final'])
      .describe('`live` while the call lasts: more follows. `final` once it has ended.'),
    data: z
      .array(
        z
          .strictObject({
            id: z.string().describe('Item id.'),
            role: z
              .enum(['agent', 'caller', 'tool', 'system'])
              .describe('Who: the agent, the other side, a tool that was used, or the service.'),
            text: z.string().describe('What was generated, or transcribed.'),
            heard_text: z
              .string()
              .describe(
                'What the other side heard of it before it was cut; equals `text` when all was heard. Grows by words while the agent speaks.',
              ),
            interrupted: z.boolean().describe('Whether it was cut short.'),
            started_at: time.describe('When it began.'),
            start_ms: z.number().describe("The same in milliseconds since the call's audio began."),
            end_ms: z
              .number()
              .nullable()
              .describe('When it ended, likewise. Null: it goes on, or it is not known.'),
          })
          .meta({
            id: 'TranscriptItem',
            description: 'One stretch of speech, or what happened between two.',
          }),
      )
      .describe('In speech order.'),
  })
  .meta({ id: 'Transcript', description: 'What was said on a call.', examples: [TRANSCRIPT] });
