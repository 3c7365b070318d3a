// PURE. The client events of the Realtime protocol as JSON Schemas, and the errors that a wrong one earns, with the codes
// and wording of the hosted API where they are known.
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';

export interface ApiError {
  type: string;
  code: string | null;
  message: string;
  param: string | null;
}

export const invalidRequest = (
  code: string | null,
  message: string,
  param: string | null = null,
): ApiError => ({
  type: 'invalid_request_error',
  code,
  message,
  param,
});

type Schema = Record<string, unknown>;

const object = (properties: Record<string, Schema>, required: string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
/** `if`, `then`, `else` of JSON Schema. */
const choose = (condition: Schema, yes: Schema, no: Schema = {}): Schema => ({
  if: condition,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: yes,
  else: no,
});
const nullable = (schema: Schema): Schema => choose({ type: 'null' }, {}, schema);
const byType = (...variants: Schema[]): Schema => ({
  type: 'object',
  required: ['type'],
  discriminator: { propertyName: 'type' },
  oneOf: variants,
});
const text: Schema = { type: 'string' };
const bool: Schema = { type: 'boolean' };
const anything: Schema = {};

const format = byType(
  // Only 24 kHz exists; the rate may be left out.
  object({ type: { const: 'audio/pcm' }, rate: { type: 'integer', enum: [24000] } }, ['type']),
  object({ type: { const: 'audio/pcmu' } }, ['type']),
  object({ type: { const: 'audio/pcma' } }, ['type']),
);

const turnDetection = nullable(
  byType(
    object(
      {
        type: { const: 'server_vad' },
        threshold: { type: 'number', minimum: 0, maximum: 1 },
        prefix_padding_ms: { type: 'integer', minimum: 0 },
        silence_duration_ms: { type: 'integer', minimum: 0 },
        create_response: bool,
        interrupt_response: bool,
        idle_timeout_ms: nullable({ type: 'integer', minimum: 5000, maximum: 30000 }),
      },
      ['type'],
    ),
    object(
      {
        type: { const: 'semantic_vad' },
        eagerness: { enum: ['low', 'medium', 'high', 'auto'] },
        create_response: bool,
        interrupt_response: bool,
      },
      ['type'],
    ),
  ),
);

const transcription = nullable(
  object({
    model: text,
    language: { type: 'string', pattern: '^[a-z]{2,3}$' },
    languages: { type: 'array', items: text },
    keywords: { type: 'array', items: text },
    prompt: text,
    delay: anything,
  }),
);

const VOICES = ['alloy', 'ash', 'ballad', 'coral', 'echo', 'sage', 'shimmer', 'verse', 'marin', 'cedar'];
const voice = choose({ type: 'object' }, object({ id: { type: 'string', pattern: '^voice_' } }, ['id']), {
  enum: VOICES,
});

const maxTokens = choose(
  { type: 'string' },
  { enum: ['inf'] },
  // The reference says 4096, the pages of the 2.x models 32000. UNVERIFIED, so the larger.
  { type: 'integer', minimum: 1, maximum: 32000 },
);

const tools: Schema = {
  type: 'array',
  items: byType(
    // No `strict` here, unlike in the Responses API.
    object(
      {
        type: { const: 'function' },
        name: { type: 'string', pattern: '^[a-zA-Z0-9_-]{1,64}$' },
        description: text,
        parameters: { type: 'object' },
      },
      ['type', 'name'],
    ),
    { type: 'object', properties: { type: { const: 'mcp' } }, required: ['type', 'server_label'] },
  ),
};

const toolChoice = choose(
  { type: 'string' },
  { enum: ['auto', 'none', 'required'] },
  byType(
    object({ type: { const: 'function' }, name: text }, ['type', 'name']),
    object({ type: { const: 'mcp' }, server_label: text, name: nullable(text) }, ['type', 'server_label']),
  ),
);

const modalities: Schema = { type: 'array', items: { enum: ['audio', 'text'] }, minItems: 1, maxItems: 1 };
const reasoning = nullable(object({ effort: { enum: ['minimal', 'low', 'medium', 'high', 'xhigh'] } }));

const session = object(
  {
    type: { enum: ['realtime'] },
    model: text,
    instructions: text,
    output_modalities: modalities,
    audio: object({
      input: object({
        format,
        turn_detection: turnDetection,
        transcription,
        noise_reduction: nullable(
          object(
            {
              type: { enum: ['near_field', 'far_field'] },
              strength: { type: 'number', minimum: 0, maximum: 1 },
            },
            ['type'],
          ),
        ),
      }),
      output: object({ format, voice, speed: { type: 'number', minimum: 0.25, maximum: 1.5 } }),
    }),
    tools,
    tool_choice: toolChoice,
    parallel_tool_calls: bool,
    reasoning,
    max_output_tokens: maxTokens,
    truncation: choose(
      { type: 'string' },
      { enum: ['auto', 'disabled'] },
      object(
        {
          type: { enum: ['retention_ratio'] },
          retention_ratio: { type: 'number', minimum: 0, maximum: 1 },
          token_limits: object({ post_instructions: { type: 'integer', minimum: 0 } }),
        },
        ['type', 'retention_ratio'],
      ),
    ),
    tracing: anything,
    prompt: anything,
    include: nullable({ type: 'array', items: { enum: ['item.input_audio_transcription.logprobs'] } }),
  },
  ['type'],
);

const itemFields = {
  id: text,
  object: { enum: ['realtime.item'] },
  status: { enum: ['completed', 'incomplete', 'in_progress'] },
};
const callId: Schema = { type: 'string', maxLength: 32 };
const part = (...variants: Schema[]): Schema => ({ type: 'array', items: byType(...variants), minItems: 1 });
const inputText = object({ type: { const: 'input_text' }, text }, ['type', 'text']);

const message: Schema = {
  type: 'object',
  required: ['role', 'content'],
  discriminator: { propertyName: 'role' },
  oneOf: [
    object(
      {
        ...itemFields,
        type: { const: 'message' },
        role: { const: 'user' },
        content: part(
          inputText,
          object({ type: { const: 'input_audio' }, audio: text, transcript: nullable(text) }, [
            'type',
            'audio',
          ]),
          object({ type: { const: 'input_image' }, image_url: text, detail: text }, ['type', 'image_url']),
        ),
      },
      ['type', 'role', 'content'],
    ),
    object(
      { ...itemFields, type: { const: 'message' }, role: { const: 'system' }, content: part(inputText) },
      ['type', 'role', 'content'],
    ),
    object(
      {
        ...itemFields,
        type: { const: 'message' },
        role: { const: 'assistant' },
        // Assistant audio cannot be put in: the model would believe a voice that is not its own.
        content: part(object({ type: { const: 'output_text' }, text }, ['type', 'text'])),
      },
      ['type', 'role', 'content'],
    ),
  ],
};
const functionCall = object(
  { ...itemFields, type: { const: 'function_call' }, name: text, call_id: callId, arguments: text },
  ['type', 'name', 'arguments'],
);
const functionOutput = object(
  { ...itemFields, type: { const: 'function_call_output' }, call_id: callId, output: text },
  ['type', 'call_id', 'output'],
);
const itemOf = (...more: Schema[]): Schema => ({
  type: 'object',
  required: ['type'],
  properties: {
    type: {
      enum: [
        'message',
        'function_call',
        'function_call_output',
        ...(more.length > 0 ? ['item_reference'] : []),
      ],
    },
  },
  allOf: [
    ...[
      ['message', message] as const,
      ['function_call', functionCall] as const,
      ['function_call_output', functionOutput] as const,
      ...more.map((schema) => ['item_reference', schema] as const),
    ].map(([type, schema]) => choose({ properties: { type: { const: type } } }, schema)),
  ],
});
const item = itemOf();
const inputItem = itemOf(object({ type: { const: 'item_reference' }, id: text }, ['type', 'id']));

const response = object({
  instructions: text,
  output_modalities: modalities,
  audio: object({ output: object({ format, voice, speed: { type: 'number' } }) }),
  tools,
  tool_choice: toolChoice,
  parallel_tool_calls: bool,
  max_output_tokens: maxTokens,
  conversation: { enum: ['auto', 'none'] },
  input: { type: 'array', items: inputItem },
  metadata: nullable({
    type: 'object',
    maxProperties: 16,
    propertyNames: { maxLength: 64 },
    additionalProperties: { type: 'string', maxLength: 512 },
  }),
  reasoning,
  prompt: anything,
});

const event = (properties: Record<string, Schema>, required: string[] = []): Schema =>
  object({ type: text, event_id: { type: 'string', maxLength: 512 }, ...properties }, required);

/** 15 MiB of audio as base64. */
const MOST_APPEND_CHARACTERS = 20 * 1024 * 1024;

const EVENTS: Record<string, Schema> = {
  'session.update': event({ session }, ['session']),
  'input_audio_buffer.append': event({ audio: { type: 'string', maxLength: MOST_APPEND_CHARACTERS } }, [
    'audio',
  ]),
  'input_audio_buffer.commit': event({}),
  'input_audio_buffer.clear': event({}),
  'conversation.item.create': event({ item, previous_item_id: nullable(text) }, ['item']),
  'conversation.item.truncate': event(
    {
      item_id: text,
      content_index: { type: 'integer', minimum: 0 },
      audio_end_ms: { type: 'integer', minimum: 0 },
    },
    ['item_id', 'content_index', 'audio_end_ms'],
  ),
  'conversation.item.delete': event({ item_id: text }, ['item_id']),
  'conversation.item.retrieve': event({ item_id: text }, ['item_id']),
  'response.create': event({ response: nullable(response) }),
  'response.cancel': event({ response_id: nullable(text) }),
  // WebRTC and SIP only: taken, and of no use.
  'output_audio_buffer.clear': event({}),
};

const ajv = new Ajv({ discriminator: true, strict: false, verbose: true });
const checks = new Map<string, ValidateFunction>();
for (const [type, schema] of Object.entries(EVENTS)) checks.set(type, ajv.compile(schema));

/** `/session/audio/input` as `session.audio.input`, indexes in brackets. */
function dotted(path: string, last?: string): string {
  const parts = path.split('/').slice(1);
  if (last !== undefined) parts.push(last);
  return parts.reduce(
    (param, name) => (/^\d+$/.test(name) ? `${param}[${name}]` : param === '' ? name : `${param}.${name}`),
    '',
  );
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal number';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

const listed = (values: readonly unknown[]): string => values.map((value) => `'${String(value)}'`).join(', ');

function apiError(error: ErrorObject): ApiError {
  const param = dotted(error.instancePath);
  const limit = (error.params as { limit?: number }).limit;
  const whole =
    (error.parentSchema as { type?: string } | undefined)?.type === 'integer' ? 'integer' : 'decimal';
  switch (error.keyword) {
    case 'required': {
      const missing = dotted(
        error.instancePath,
        (error.params as { missingProperty: string }).missingProperty,
      );
      return invalidRequest(
        'missing_required_parameter',
        `Missing required parameter: '${missing}'.`,
        missing,
      );
    }
    case 'additionalProperties': {
      const extra = dotted(
        error.instancePath,
        (error.params as { additionalProperty: string }).additionalProperty,
      );
      return invalidRequest('unknown_parameter', `Unknown parameter: '${extra}'.`, extra);
    }
    case 'type': {
      const wanted = String((error.params as { type: string }).type);
      const article = /^[aeiou]/.test(wanted) ? 'an' : 'a';
      return invalidRequest(
        'invalid_type',
        `Invalid type for '${param}': expected ${article} ${wanted}, but got ${kindOf(error.data)} instead.`,
        param,
      );
    }
    case 'enum':
      return invalidRequest(
        'invalid_value',
        `Invalid value: '${String(error.data)}'. Supported values are: ${listed((error.params as { allowedValues: unknown[] }).allowedValues)}.`,
        param,
      );
    case 'discriminator': {
      const { tag, tagValue } = error.params as { tag: string; tagValue: unknown };
      const at = dotted(error.instancePath, tag);
      return tagValue === undefined
        ? invalidRequest('missing_required_parameter', `Missing required parameter: '${at}'.`, at)
        : invalidRequest('invalid_value', `Invalid value: '${String(tagValue)}'.`, at);
    }
    case 'minimum':
      return invalidRequest(
        `${whole}_below_min_value`,
        `Invalid '${param}': ${whole} below minimum value. Expected a value >= ${limit}, but got ${String(error.data)} instead.`,
        param,
      );
    case 'maximum':
      return invalidRequest(
        `${whole}_above_max_value`,
        `Invalid '${param}': ${whole} above maximum value. Expected a value <= ${limit}, but got ${String(error.data)} instead.`,
        param,
      );
    case 'maxLength':
      return invalidRequest(
        'string_above_max_length',
        `Invalid '${param}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${String(error.data).length} instead.`,
        param,
      );
    case 'minItems':
      return invalidRequest('array_below_min_length', `Invalid '${param}': array too short.`, param);
    case 'maxItems':
      return invalidRequest('array_above_max_length', `Invalid '${param}': array too long.`, param);
    default:
      return invalidRequest(
        'invalid_value',
        `Invalid '${param}': ${error.message ?? 'not accepted'}.`,
        param,
      );
  }
}

export interface ClientEvent {
  type: string;
  event_id?: string;
  [field: string]: unknown;
}

/** A frame as a client event, or the error it earns together with its event_id, as far as it has one. */
export function readClientEvent(
  frame: string,
): { event: ClientEvent } | { error: ApiError; eventId: string | null; type: string | null } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(frame);
  } catch {
    return {
      error: invalidRequest('invalid_json', 'Could not parse the event as JSON.'),
      eventId: null,
      type: null,
    };
  }
  const fields = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  const eventId = typeof fields.event_id === 'string' ? fields.event_id : null;
  const type = typeof fields.type === 'string' ? fields.type : null;
  const check = type === null ? undefined : checks.get(type);
  if (type === null || check === undefined) {
    const message =
      type === null
        ? "Missing required parameter: 'type'."
        : `Invalid value: '${type}'. Supported values are: ${listed(Object.keys(EVENTS))}.`;
    return { error: invalidRequest('invalid_event', message, 'type'), eventId, type };
  }
  if (check(parsed)) return { event: parsed as ClientEvent };
  return { error: apiError(check.errors![0]!), eventId, type };
}
