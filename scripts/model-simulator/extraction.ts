// The HTTP side of the model: /v1/responses and /v1/chat/completions with structured outputs, taken from the text that
// is in the request by the scenario's patterns; and the ways in which such a request goes wrong.
import { randomUUID } from 'node:crypto';
import type { Request, Response, Router } from 'express';
import express from 'express';
import type { Clock } from './clock.ts';
import type { Faults } from './faults.ts';
import { EXTRACTION_MODES, type ExtractionMode, type Scenario } from './scenario.ts';
import { generate, strictSchemaError } from './strict-schema.ts';
import { textTokens } from './usage.ts';

export interface ExtractionOptions {
  clock: Clock;
  faults: Faults;
  scenarioFor: (instructions: string) => Scenario;
  publish: (event: Record<string, unknown> & { type: string }) => void;
}

type Json = Record<string, unknown>;

interface Asked {
  schema: Json | null;
  name: string;
  strict: boolean;
  /** Where the schema stands, for the error. */
  param: string;
  /** All text of the request, and that of the user's messages, where the transcript is. */
  all: string;
  said: string;
  model: string;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join('\n');
}

function messagesText(messages: unknown): { all: string; said: string } {
  if (typeof messages === 'string') return { all: messages, said: messages };
  const list = Array.isArray(messages) ? messages.filter(isObject) : [];
  const all = list.map((message) => textOf(message.content)).join('\n');
  const said = list.filter((message) => message.role === 'user').map((message) => textOf(message.content));
  return { all, said: said.length === 0 ? all : said.join('\n') };
}

interface Refusal {
  status: number;
  code: string | null;
  message: string;
  param: string | null;
  type?: string;
}

const refusal = (
  code: string | null,
  message: string,
  param: string | null = null,
  status = 400,
): Refusal => ({
  status,
  code,
  message,
  param,
});

function formatOf(
  format: unknown,
  param: string,
): Pick<Asked, 'schema' | 'name' | 'strict' | 'param'> | Refusal {
  if (format === undefined || (isObject(format) && format.type !== 'json_schema'))
    return { schema: null, name: '', strict: false, param };
  const inner = isObject(format) ? (param === 'response_format' ? format.json_schema : format) : null;
  if (!isObject(inner)) return refusal('invalid_type', `Invalid type for '${param}'.`, param);
  const at = param === 'response_format' ? 'response_format.json_schema' : param;
  const { name, schema, strict } = inner;
  if (typeof name !== 'string')
    return refusal('missing_required_parameter', `Missing required parameter: '${at}.name'.`, `${at}.name`);
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    return refusal(
      'invalid_value',
      `Invalid '${at}.name': string does not match pattern '^[a-zA-Z0-9_-]+$'.`,
      `${at}.name`,
    );
  if (!isObject(schema))
    return refusal(
      'missing_required_parameter',
      `Missing required parameter: '${at}.schema'.`,
      `${at}.schema`,
    );
  const wrong = strict === true ? strictSchemaError(schema) : null;
  if (wrong !== null)
    return refusal(
      'invalid_json_schema',
      `Invalid schema for response_format '${name}': ${wrong}`,
      param === 'response_format' ? 'response_format' : `${param}.schema`,
    );
  return { schema, name, strict: strict === true, param };
}

function read(body: unknown, endpoint: 'responses' | 'chat'): Asked | Refusal {
  if (!isObject(body)) return refusal(null, 'We could not parse the JSON body of your request.');
  if (typeof body.model !== 'string')
    return refusal('missing_required_parameter', "Missing required parameter: 'model'.", 'model');
  if (body.stream === true) return refusal('unsupported_value', 'Streaming is not simulated.', 'stream');
  const field = endpoint === 'responses' ? 'input' : 'messages';
  if (body[field] === undefined)
    return refusal('missing_required_parameter', `Missing required parameter: '${field}'.`, field);
  const format =
    endpoint === 'responses'
      ? formatOf(isObject(body.text) ? body.text.format : undefined, 'text.format')
      : formatOf(body.response_format, 'response_format');
  if ('status' in format) return format;
  const { all, said } = messagesText(body[field]);
  const instructions = typeof body.instructions === 'string' ? `${body.instructions}\n` : '';
  return { ...format, all: instructions + all, said, model: body.model };
}

/**
 * The values a scenario finds in a text, by field name. Each is told once: where a name comes back in a second object of
 * the schema (remarks on the fields, say), it is about something else.
 */
function lookupIn(scenario: Scenario, said: string): (field: string) => unknown {
  const told = new Set<string>();
  return (field) => {
    if (told.has(field)) return undefined;
    for (const { field: names, pattern, value } of scenario.extraction.values) {
      if (!names.test(field)) continue;
      const match = pattern.exec(said);
      if (match === null) continue;
      told.add(field);
      return typeof value === 'string'
        ? value.replaceAll(/\$(\d)/g, (_, group: string) => match[Number(group)] ?? '').trim()
        : value;
    }
    // Who is asked for a summary writes one, whatever was said.
    return field === 'summary' ? `A talk of ${said.split('\n').length} lines.` : undefined;
  };
}

const REFUSAL = "I'm sorry, but I can't assist with that request.";

/** What the model writes in a mode, and how its answer ends. */
function written(asked: Asked, scenario: Scenario, mode: ExtractionMode) {
  const value =
    asked.schema === null
      ? 'I have read the text.'
      : JSON.stringify(generate(asked.schema, asked.schema, '', lookupIn(scenario, asked.said)));
  const broken =
    mode === 'truncated_json'
      ? value.slice(0, Math.max(1, Math.floor(value.length * 0.6)))
      : mode === 'schema_violation'
        ? JSON.stringify({ unexpected: true, values: [1, 'two'] })
        : value;
  const cut = mode === 'incomplete' || mode === 'content_filter';
  return {
    text: mode === 'refusal' ? '' : cut ? broken.slice(0, Math.floor(broken.length / 2)) : broken,
    refusal: mode === 'refusal' ? REFUSAL : null,
    cutReason:
      mode === 'incomplete' ? 'max_output_tokens' : mode === 'content_filter' ? 'content_filter' : null,
  };
}

function asResponse(asked: Asked, answer: ReturnType<typeof written>, mode: ExtractionMode): Json {
  const input = textTokens(asked.all + JSON.stringify(asked.schema ?? ''));
  const output = textTokens(answer.text + (answer.refusal ?? ''));
  const reasoning = mode === 'reasoning' ? 64 : 0;
  const message = {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    status: answer.cutReason === null ? 'completed' : 'incomplete',
    content: [
      answer.refusal === null
        ? { type: 'output_text', text: answer.text, annotations: [], logprobs: [] }
        : { type: 'refusal', refusal: answer.refusal },
    ],
  };
  return {
    id: `resp_${randomUUID().replaceAll('-', '')}`,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: answer.cutReason === null ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: answer.cutReason === null ? null : { reason: answer.cutReason },
    model: asked.model,
    output: [
      ...(mode === 'reasoning'
        ? [{ id: `rs_${randomUUID().replaceAll('-', '')}`, type: 'reasoning', summary: [] }]
        : []),
      message,
    ],
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: output + reasoning,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output + reasoning,
    },
  };
}

function asCompletion(asked: Asked, answer: ReturnType<typeof written>, mode: ExtractionMode): Json {
  const input = textTokens(asked.all + JSON.stringify(asked.schema ?? ''));
  const output = textTokens(answer.text + (answer.refusal ?? ''));
  const finish =
    answer.cutReason === 'max_output_tokens'
      ? 'length'
      : answer.cutReason === 'content_filter'
        ? 'content_filter'
        : 'stop';
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    object: 'chat.completion',
    created: Math.floor(Date.now() / 1000),
    model: asked.model,
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.refusal === null ? answer.text : null,
          refusal: answer.refusal,
        },
        logprobs: null,
        // Some self-hosted servers end a whole answer with a reason of their own.
        finish_reason: mode === 'wrong_finish_reason' ? 'eos' : finish,
      },
    ],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

function refuse(response: Response, { status, code, message, param, type }: Refusal): void {
  response.status(status).json({
    error: { message, type: type ?? (status >= 500 ? 'server_error' : 'invalid_request_error'), param, code },
  });
}

/** The models that a listing shows; the shut-down dates are those announced. */
const MODELS: readonly (readonly [string, string | null])[] = [
  ['gpt-realtime-2.1', null],
  ['gpt-realtime-2.1-mini', null],
  ['gpt-realtime-2', null],
  ['gpt-realtime-1.5', null],
  ['gpt-realtime', '2027-01-20'],
  ['gpt-realtime-mini', '2027-01-20'],
  ['gpt-transcribe', null],
  ['whisper-1', '2027-02-26'],
  ['gpt-5.6-luna', null],
];

const modelOf = ([id, shutdown_date]: (typeof MODELS)[number]) => ({
  id,
  object: 'model',
  created: 1_767_225_600,
  owned_by: 'simulator',
  shutdown_date,
});

/** The routes below /v1 that are no socket. Authentication is the caller's. */
export function extractionRoutes(options: ExtractionOptions): Router {
  const router = express.Router();

  const answer = async (
    endpoint: 'responses' | 'chat',
    request: Request,
    response: Response,
  ): Promise<void> => {
    const asked = read(request.body, endpoint);
    const retry = request.get('x-stainless-retry-count') ?? null;
    if ('status' in asked) {
      options.publish({ type: `extraction.${endpoint}`, refused: asked.code, message: asked.message, retry });
      refuse(response, asked);
      return;
    }
    const scenario = options.scenarioFor(asked.all);
    const fault = options.faults.take(['extraction'], null);
    const named = EXTRACTION_MODES.find((mode) => mode === fault?.mode);
    const mode = named ?? scenario.extraction.mode;
    options.publish({
      type: `extraction.${endpoint}`,
      model: asked.model,
      mode,
      retry,
      name: asked.name,
      said: asked.said,
    });
    const latencyMs = scenario.extraction.latencyMs + (mode === 'timeout' ? 0 : (fault?.ms ?? 0));
    if (latencyMs > 0) await new Promise<void>((resolve) => options.clock.after(latencyMs, resolve));
    if (mode === 'timeout') return; // never answered; the client gives up, or close() ends it
    if (mode === 'reset') {
      request.socket.resetAndDestroy();
      return;
    }
    if (mode === 'rate_limited') {
      const ms = fault?.retry_after_ms ?? 20;
      response.set('retry-after-ms', String(ms)).set('retry-after', String(Math.ceil(ms / 1000)));
      refuse(response, {
        ...refusal('rate_limit_exceeded', 'Rate limit reached for requests.', null, 429),
        type: 'requests',
      });
      return;
    }
    if (mode === 'server_error') {
      refuse(
        response,
        refusal(null, 'The server had an error while processing your request.', null, fault?.status ?? 500),
      );
      return;
    }
    const text = written(asked, scenario, mode);
    response.json(endpoint === 'responses' ? asResponse(asked, text, mode) : asCompletion(asked, text, mode));
  };

  router.post('/responses', (request, response) => answer('responses', request, response));
  router.post('/chat/completions', (request, response) => answer('chat', request, response));
  router.get('/models', (_, response) => {
    response.json({ object: 'list', data: MODELS.map(modelOf) });
  });
  router.get('/models/:id', (request, response) => {
    const model = MODELS.find(([id]) => id === request.params.id);
    if (model === undefined)
      refuse(
        response,
        refusal(
          'model_not_found',
          `The model '${request.params.id}' does not exist or you do not have access to it.`,
          'model',
          404,
        ),
      );
    else response.json(modelOf(model));
  });
  return router;
}
