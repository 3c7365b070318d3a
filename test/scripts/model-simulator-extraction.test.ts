// The HTTP endpoints of the simulated model, as the unchanged openai client sees them.
import OpenAI from 'openai';
import {
  APIConnectionError,
  APIConnectionTimeoutError,
  BadRequestError,
  ContentFilterFinishReasonError,
  InternalServerError,
  LengthFinishReasonError,
  NotFoundError,
  RateLimitError,
} from 'openai/core/error';
import { zodResponseFormat, zodTextFormat } from 'openai/helpers/zod';
import t from 'tap';
import { z } from 'zod';
import type { Fault } from '../../scripts/model-simulator/faults.ts';
import { startModelSimulator } from '../../scripts/model-simulator/simulator.ts';
import { generate, strictSchemaError } from '../../scripts/model-simulator/strict-schema.ts';

const Result = z.object({
  order_number: z.string().nullable(),
  status: z.enum(['shipped', 'lost']).nullable(),
  found: z.boolean().nullable(),
  mood: z.string().nullable(),
});
const TRANSCRIPT = [
  '1 agent: I have found your order. The order number is 7731. The status is shipped.',
  '2 caller: thank you',
].join('\n');
const EXPECTED = { order_number: '7731', status: 'shipped', found: true, mood: null };

const simulator = await startModelSimulator({ pacing: 'fast', scenario: 'order-line' });
t.teardown(() => simulator.close());
const client = (maxRetries = 0, timeout = 5000) =>
  new OpenAI({ apiKey: 'sk-test', baseURL: simulator.url, maxRetries, timeout });
const respond = (from: OpenAI, transcript = TRANSCRIPT) =>
  from.responses.parse({
    model: 'gpt-5.6-luna',
    input: [
      { role: 'developer', content: 'Extract. An example: the order number is 1111.' },
      { role: 'user', content: transcript },
    ],
    text: { format: zodTextFormat(Result, 'call_result') },
    store: false,
  });
const complete = (from: OpenAI, transcript = TRANSCRIPT) =>
  from.chat.completions.parse({
    model: 'gpt-5.6-luna',
    messages: [
      { role: 'system', content: 'Extract.' },
      { role: 'user', content: transcript },
    ],
    response_format: zodResponseFormat(Result, 'call_result'),
  });
/** What a request fails with. */
const failure = (request: Promise<unknown>): Promise<unknown> =>
  request.then(
    () => 'it did not fail',
    (error: unknown) => error,
  );
const extraction = (mode: string, more: Partial<Fault> = {}) =>
  simulator.arm({ kind: 'extraction', mode, ...more });

t.test('values come from the transcript in the request, and null where it says nothing', async (t) => {
  const response = await respond(client());
  t.same(response.output_parsed, EXPECTED);
  t.ok(response.usage!.total_tokens > 0);
  t.match(response._request_id, /^req_/);
  t.same((await complete(client())).choices[0]!.message.parsed, EXPECTED);
  const other = await respond(client(), 'agent: The order number is 42.\ncaller: bye');
  t.same(other.output_parsed, { order_number: '42', status: null, found: null, mood: null });
});

t.test('a reasoning item may come first', async (t) => {
  extraction('reasoning');
  const response = await respond(client());
  t.same(
    response.output.map(({ type }) => type),
    ['reasoning', 'message'],
  );
  t.same(response.output_parsed, EXPECTED);
});

t.test('a refusal has no result', async (t) => {
  extraction('refusal', { times: 2 });
  const response = await respond(client());
  t.equal(response.output_parsed, null);
  t.equal(response.status, 'completed');
  t.match(response.output[0], { content: [{ type: 'refusal' }] });
  const completion = await complete(client());
  t.match(completion.choices[0]!.message, { parsed: null, refusal: /sorry/ });
});

t.test('an answer cut by its length or a filter', async (t) => {
  extraction('incomplete');
  t.match(await respond(client()), {
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output_parsed: null,
  });
  extraction('incomplete');
  t.ok((await failure(complete(client()))) instanceof LengthFinishReasonError, 'LengthFinishReasonError');
  extraction('content_filter');
  t.match(await respond(client()), { incomplete_details: { reason: 'content_filter' } });
  extraction('content_filter');
  t.ok(
    (await failure(complete(client()))) instanceof ContentFilterFinishReasonError,
    'ContentFilterFinishReasonError',
  );
});

t.test('rate limits and server errors pass when they are retried', async (t) => {
  extraction('rate_limited', { times: 2, retry_after_ms: 5 });
  t.same((await respond(client(2))).output_parsed, EXPECTED);
  extraction('server_error', { retry_after_ms: 5 });
  t.same((await complete(client(1))).choices[0]!.message.parsed, EXPECTED);
  extraction('rate_limited');
  t.match(await failure(respond(client())), { constructor: RateLimitError, code: 'rate_limit_exceeded' });
  extraction('server_error');
  t.match(await failure(respond(client())), { constructor: InternalServerError, status: 500 });
});

t.test('a request can hang or be reset', async (t) => {
  extraction('timeout');
  t.ok(
    (await failure(respond(client(0, 150)))) instanceof APIConnectionTimeoutError,
    'APIConnectionTimeoutError',
  );
  extraction('reset');
  t.ok((await failure(respond(client()))) instanceof APIConnectionError, 'APIConnectionError');
});

t.test('broken answers, as some servers give them', async (t) => {
  extraction('truncated_json', { times: 2 });
  await t.rejects(respond(client()));
  await t.rejects(complete(client()));
  extraction('schema_violation');
  await t.rejects(respond(client()));
  extraction('wrong_finish_reason');
  const completion = await complete(client());
  t.match(completion.choices[0], { finish_reason: 'eos', message: { parsed: EXPECTED } });
});

t.test('a schema that is not strict is refused', async (t) => {
  const bad = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: [],
    additionalProperties: false,
  };
  await t.rejects(
    client().responses.create({
      model: 'm',
      input: 'x',
      text: { format: { type: 'json_schema', name: 'r', strict: true, schema: bad } },
    }),
    { constructor: BadRequestError, code: 'invalid_json_schema', param: 'text.format.schema' },
  );
  await t.rejects(
    client().chat.completions.create({
      model: 'm',
      messages: [{ role: 'user', content: 'x' }],
      response_format: { type: 'json_schema', json_schema: { name: 'r', strict: true, schema: bad } },
    }),
    { code: 'invalid_json_schema' },
  );
});

t.test('models are listed, unknown ones are not found, a key is needed', async (t) => {
  const list = await client().models.list();
  t.ok(list.data.some(({ id }) => id === 'gpt-realtime-2.1'));
  t.match(await client().models.retrieve('gpt-realtime'), { shutdown_date: '2027-01-20' });
  await t.rejects(client().models.retrieve('gpt-none'), {
    constructor: NotFoundError,
    code: 'model_not_found',
  });
  t.equal((await fetch(`${simulator.url}/models`)).status, 401);
});

const strict = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

t.test('the rules of strict schemas', async (t) => {
  const good: [string, unknown][] = [
    ['zod as the client sends it', { ...z.toJSONSchema(Result) }],
    ['nullable by a list of types', strict({ a: { type: ['string', 'null'] } })],
    ['nullable by anyOf', strict({ a: { anyOf: [{ type: 'integer' }, { type: 'null' }] } })],
    [
      'definitions',
      { ...strict({ a: { $ref: '#/$defs/x' } }), $defs: { x: strict({ b: { type: 'boolean' } }) } },
    ],
    ['recursion', strict({ a: { anyOf: [{ $ref: '#' }, { type: 'null' }] } })],
    ['a date', strict({ a: { type: 'string', format: 'date' } })],
  ];
  for (const [name, schema] of good) t.equal(strictSchemaError(schema), null, name);
  const bad: [string, unknown, RegExp][] = [
    ['an array at the root', { type: 'array', items: { type: 'string' } }, /type: "object"/],
    ['a union at the root', { type: 'object', anyOf: [strict({})] }, /type: "object"/],
    ['open objects', { type: 'object', properties: {}, required: [] }, /'additionalProperties' is required/],
    ['open objects inside', strict({ a: { type: 'object', properties: {} } }), /\('properties', 'a'\)/],
    ['an optional field', { ...strict({ a: { type: 'string' } }), required: [] }, /Missing 'a'/],
    ['allOf', strict({ a: { allOf: [{ type: 'string' }] } }), /'allOf' is not permitted/],
    [
      'an unknown format',
      strict({ a: { type: 'string', format: 'phone' } }),
      /'phone' is not a valid format/,
    ],
    ['a reference to nothing', strict({ a: { $ref: '#/$defs/none' } }), /can not be resolved/],
    ['an array of anything', strict({ a: { type: 'array' } }), /missing items/],
    ['no type', strict({ a: { description: 'x' } }), /must have a 'type'/],
  ];
  for (const [name, schema, message] of bad) t.match(strictSchemaError(schema), message, name);
  let deep: Record<string, unknown> = { type: 'string' };
  for (let level = 0; level < 12; level++) deep = strict({ a: deep });
  t.match(strictSchemaError(deep), /levels/);
});

t.test('generated values keep to the schema', async (t) => {
  const schema = strict({
    count: { type: ['integer', 'null'], minimum: 1 },
    day: { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
    kind: { type: 'string', enum: ['a', 'b'] },
    tags: { type: 'array', items: { type: 'string' } },
    person: { anyOf: [strict({ name: { type: ['string', 'null'] } }), { type: 'null' }] },
  });
  t.equal(strictSchemaError(schema), null);
  const known: Record<string, unknown> = {
    count: '3 pieces',
    day: 'Tuesday',
    kind: 'B',
    tags: ['x', 'y'],
    name: 'Ann',
  };
  t.same(
    generate(schema, schema, '', (field) => known[field]),
    {
      count: 3,
      day: null,
      kind: 'b',
      tags: ['x', 'y'],
      person: { name: 'Ann' },
    },
  );
  t.same(
    generate(schema, schema, '', () => undefined),
    { count: null, day: null, kind: 'a', tags: [], person: null },
    'nothing known',
  );
});

t.test('a value is told once where its name comes back in another object', async (t) => {
  const field = { type: ['string', 'null'] };
  const schema = strict({
    fields: strict({ status: field, order_number: field }),
    not_stated: strict({ status: field, order_number: field }),
  });
  const response = await client().responses.create({
    model: 'm',
    input: [{ role: 'user', content: TRANSCRIPT }],
    text: { format: { type: 'json_schema', name: 'r', strict: true, schema } },
  });
  t.same(JSON.parse(response.output_text), {
    fields: { status: 'shipped', order_number: '7731' },
    not_stated: { status: null, order_number: null },
  });
});
