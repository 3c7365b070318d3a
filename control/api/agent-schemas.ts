// What the agent routes take and answer, with what the reference says of each field. PURE.
// `returns` and `tools` are checked by their own files; here they only have the shape that the reference shows.
import { z } from 'zod';
import { MASK_KINDS } from '../../storage/masking.ts';
import { parseLanguage } from '../agents/language.ts';
import { booleanQuery, id, instructions, pageQuery, persona, time, url } from '../http/schemas.ts';
import { DEFAULT_VOICE, VOICES } from './agent-voice.ts';
import { disclosure, disclosureOfAgent } from './disclosure-schemas.ts';
import { AGENT, ATTACHED_NUMBER } from './examples.ts';
import { number } from './number-schemas.ts';

/** Answers the canonical tag. */
const language = z
  .string()
  .check((c) => {
    try {
      c.value = parseLanguage(c.value) ?? c.value;
    } catch {
      const message = 'must be a BCP-47 code such as en, es or pt-BR';
      c.issues.push({ code: 'custom', message, params: { code: 'invalid_language' }, input: c.value });
    }
  })
  .meta({ examples: ['en', 'pt-BR'] });

const name = z
  .string()
  .min(1, 'may not be empty')
  .max(200, 'may have 200 characters at most')
  .regex(/\S/, 'may not be blank')
  .meta({ description: 'Human-readable label.', examples: ['Reminder'] });

const voice = z
  .string()
  .check((c) => {
    if (!VOICES.includes(c.value)) {
      const message = `must be one of ${VOICES.join(', ')}`;
      c.issues.push({ code: 'custom', message, params: { code: 'invalid_voice' }, input: c.value });
    }
  })
  .meta({ enum: [...VOICES] });

/** Held against the names that the daemon is configured with where they are known. */
const model = z.string().min(1, 'may not be empty').max(100, 'may have 100 characters at most');

const type = z
  .enum(['inbound', 'outbound'])
  .describe('`inbound` answers calls to its numbers; `outbound` is dispatched with POST /v1/calls.');
const voicemailAction = z
  .enum(['hangup', 'leave_message'])
  .describe(
    'What to do when a voicemail answers: `hangup` at the verdict (the default), or `leave_message` after the beep.',
  );

const interruptionWords = z
  .array(
    z
      .string()
      .regex(/[\p{L}\p{N}]/u, 'needs a letter or a digit')
      .max(60, 'may have 60 characters at most'),
  )
  .max(50, 'may hold 50 at most')
  .meta({ examples: [['Sarah', 'okay doctor']] });
const patience = z
  .enum(['short', 'normal', 'long'])
  .describe(
    'How long it waits where the other side may not have finished: after it has asked for a number, a name, an address or a spelling, while they dictate, after an "uhm", and once their pauses have been long. `long` for callers who look things up; with `short` a slow dictation is answered in the middle. Default: `normal`.',
  );
const eagerness = z
  .enum(['relaxed', 'normal', 'eager'])
  .describe(
    'How soon it answers when the other side has stopped speaking. `relaxed` leaves a quarter of a second more for an afterthought, and begins fewer answers that come to nothing; `eager` leaves a tenth of a second less, which is heard where the model is quick, and answers into pauses of half a second. Default: `normal`.',
  );
const interruption = z
  .enum(['hard', 'normal', 'easy'])
  .describe(
    'How easily it is interrupted: how much speech over its voice stops it. `easy` stops for half a second of it, and sometimes for an “okay” or a cough; `hard` goes on until somebody keeps speaking for about a second. A word that means “stop” stops it in any case. Default: `normal`.',
  );
const consent = z
  .enum(['none', 'required'])
  .describe(
    'Whether it calls only whose consent is known (`POST /v1/consents`): `required` refuses other calls with `consent_missing`. The organization’s own rule counts beside it. Default: `none`.',
  );

const mask = z
  .array(z.enum(MASK_KINDS))
  .max(MASK_KINDS.length, `may have ${MASK_KINDS.length} values at most`)
  .describe(
    'Numbers that are not stored of what is said on its calls, but for their last four: `card` (payment cards, by length, scheme and check digit), `iban`, `ssn` (of the United States: any nine digits in a row that could be one). In transcripts, keys, results, summaries, tools’ arguments and answers, events and deliveries; written as digits, or said one digit a word in English, Spanish, German or French. Not in the recording, not in what the agent hears and its tools are sent, and not where a number is said in pieces with other words between, or as “forty-one eleven”. Default: [].',
  );

const summarize = z
  .boolean()
  .describe(
    'Whether each call is summed up when it is over, in one to three sentences and a word on how the other side was; by the extraction model, in the same request as the result, and for a little more of its tokens. Default: false.',
  );

/** One returns schema, as requests and answers have it; the values are checked by parseReturns. */
export const returns = z
  .record(
    z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    z.union([
      z
        .string()
        .regex(/^((string|number|integer|boolean|date|datetime)|enum\([^()]*\))(\[\])?$/)
        .meta({
          description: 'A type name; `[]` behind it makes a list.',
          examples: ['boolean', 'string[]', 'enum(yes|no|later)'],
        }),
      z
        .strictObject({
          type: z
            .string()
            .regex(/^((string|number|integer|boolean|date|datetime)|enum(\([^()]*\))?)(\[\])?$/)
            .meta({ description: 'A type name, as above.', examples: ['string'] }),
          description: z
            .string()
            .max(500)
            .optional()
            .describe('What the field means, for the model that reads the transcript.'),
          enum: z
            .array(z.string())
            .min(1)
            .max(100)
            .optional()
            .describe('The only values there are, for the types string and enum.'),
        })
        .describe('A type with what it means.'),
    ]),
  )
  .meta({
    id: 'Returns',
    description:
      'What to extract from a conversation: field name -> type. Types: string, number, integer, boolean, date (YYYY-MM-DD), datetime (ISO 8601), `enum(a|b|c)`, each with `[]` for a list, or an object with `type`, `description` and `enum`. 100 fields at most. Every field of a result may come back null: not said.',
    examples: [
      { will_come: 'boolean', new_date: { type: 'date', description: 'the day asked for instead' } },
    ],
  });

/** Shown in the reference; the values are checked by parseReturns, which takes null for none. */
export const returnsInput = z
  .unknown()
  .meta({ anyOf: [{ $ref: '#/components/schemas/Returns' }, { type: 'null' }] });
const toolsInput = z.unknown().meta({
  type: ['array', 'null'],
  items: { $ref: '#/components/schemas/NewTool' },
  maxItems: 20,
});

const settings = {
  persona: persona
    .nullable()
    .optional()
    .describe('Who the agent is and what it must not do. Null or left out: the default persona.'),
  instructions: instructions
    .nullable()
    .optional()
    .describe('Its task: one goal per call. An outbound call may replace it for itself.'),
  voice: voice.optional().describe(`The voice of the speech model. Default: ${DEFAULT_VOICE}.`),
  model: model
    .nullable()
    .optional()
    .describe(
      'The speech model that talks, by the name the daemon knows it by: its default, or one of its `MODELS_FILE`. Null or left out: the default.',
    ),
  language: language
    .nullable()
    .optional()
    .describe(
      "BCP-47 code of the language spoken. Null or left out: the greeting is in English, then the other side's language decides.",
    ),
  returns: returnsInput
    .optional()
    .describe('What to extract after each call. Null or left out: nothing is extracted.'),
  tools: toolsInput
    .optional()
    .describe(
      'What the agent may do during a call, 20 at most. `end_call` is always there. The model fills the typed parameters only, never the host, the headers or fixed parts.',
    ),
  webhook_url: url
    .nullable()
    .optional()
    .describe(
      "Receives the events of this agent's calls, signed with the organization's default secret. https only; addresses that are not public are refused.",
    ),
  voicemail_action: voicemailAction.optional(),
  interruption_words: interruptionWords
    .nullable()
    .optional()
    .describe(
      'Words or short phrases that stop the agent when somebody says them over its voice, even where they would count as assent: a name, “okay, doctor”. 50 at most. What means “stop” and what means “go on” is known in many languages and need not be listed. Null or left out: none.',
    ),
  patience: patience.optional(),
  eagerness: eagerness.optional(),
  interruption: interruption.optional(),
  summarize: summarize.optional(),
  mask: mask.optional(),
  consent: consent.optional(),
  disclosure: disclosureOfAgent,
};

/** An agent without its numbers: what a page tries before it is saved. Of the session-only API, so it stands in no reference. */
export const draftAgent = z.strictObject({ name, type, ...settings });

export const createAgent = draftAgent
  .extend({
    number_ids: z
      .array(id)
      .max(100, 'may hold 100 ids at most')
      .optional()
      .describe('Numbers to attach. A number has one inbound agent at most, and any count of outbound ones.'),
    primary_number_id: id
      .nullable()
      .optional()
      .describe('One of `number_ids`; the first of them when left out.'),
  })
  .meta({
    id: 'NewAgent',
    examples: [
      {
        name: 'Reminder',
        type: 'outbound',
        instructions: 'Remind the person of their appointment and ask whether they will come.',
        returns: { will_come: 'boolean', new_date: 'date' },
        number_ids: [ATTACHED_NUMBER.id],
      },
    ],
  });

export const changeAgent = z
  .strictObject({ name: name.optional(), ...settings })
  .meta({ id: 'AgentChange', examples: [{ language: 'es', persona: null }] });

export const listAgents = pageQuery.extend({
  type: type.optional().describe('Only agents of this type.'),
  include_archived: booleanQuery.optional().describe('`true` lists archived agents too. Default: false.'),
});

export const attachNumber = z
  .strictObject({
    number_id: id.describe('An active number of the organization.'),
    primary: z
      .boolean()
      .optional()
      .describe('Makes it the primary number. The first number attached becomes primary anyway.'),
  })
  .meta({ id: 'NumberAttachment', examples: [{ number_id: ATTACHED_NUMBER.id, primary: true }] });
export const setPrimaryNumber = z
  .strictObject({ number_id: id.describe('A number that is attached to the agent.') })
  .meta({ id: 'PrimaryNumber', examples: [{ number_id: ATTACHED_NUMBER.id }] });

/** An agent as lists show it. */
export const agentSummary = z
  .strictObject({
    id: id.describe('Agent id.'),
    org_id: id.describe('The organization it belongs to.'),
    user_id: z
      .string()
      .describe(
        'Who created it: the id of the API key, or of the operator where it was made in the dashboard. Of a key that is revoked it stays; it is never a name or an address.',
      ),
    name: z.string().describe('Human-readable label.'),
    type,
    persona: z.string().nullable().describe('Identity and policy. Null: the default persona.'),
    instructions: z.string().nullable().describe('Default task. Null: none of its own.'),
    voice: z.string().describe('Voice of the speech model.'),
    model: z.string().nullable().describe('Name of the speech model. Null: the default.'),
    language: z
      .string()
      .nullable()
      .describe("BCP-47 code. Null: the other side's language decides, with a greeting in English."),
    returns: returns.describe('What is extracted after each call. Empty: nothing.'),
    tools: z
      .array(z.record(z.string(), z.unknown()))
      .meta({ items: { $ref: '#/components/schemas/Tool' } })
      .nullable()
      .describe('What it may do during a call, defaults filled in. Null: only `end_call`.'),
    webhook_url: z.string().nullable().describe('Default webhook URL of its calls. Null: none.'),
    voicemail_action: voicemailAction,
    interruption_words: z
      .array(z.string())
      .describe('What stops the agent when said over its voice, beside what does so in its language.'),
    patience,
    eagerness,
    interruption,
    summarize,
    mask,
    consent,
    disclosure: disclosure.describe('What it says before all else.'),
    primary_number_id: id
      .nullable()
      .describe(
        'Default caller ID of outbound calls; for an inbound agent its main number. Null: no number is attached.',
      ),
    archived_at: time
      .nullable()
      .describe(
        'When it was archived. Null: it is active. An archived agent can be read, not changed or used.',
      ),
    created_at: time.describe('Creation.'),
    updated_at: time.describe('Last change.'),
  })
  .meta({ id: 'AgentSummary', description: 'An agent as lists show it: without its numbers.' });

/** An agent with its numbers: details and answers to changes. */
export const agent = agentSummary
  .extend({ numbers: z.array(number).describe('Every attached number, oldest attachment first.') })
  .meta({
    id: 'Agent',
    description: 'How calls are to be led: who speaks, about what, with which voice, tools and numbers.',
    examples: [AGENT],
  });
export const agentList = z.strictObject({ data: z.array(agentSummary).describe('Newest first.') });
