// The OpenAPI 3.1 document of /v1: made from the routes and from the very schemas that parse requests and describe
// answers, so that it cannot fall behind them. PURE. Who serves it, and the page made from it, are others' (reference.ts).
import { z } from 'zod';
import { ERROR_STATUS, type ErrorCode } from '../../errors.ts';
import { EVENT_TYPES } from '../../storage/records.ts';
import { tool } from '../agents/tools.ts';
import { call } from '../api/call-schemas.ts';
import { HTTP_TOOL } from '../api/examples.ts';
import { permissionFor } from '../http/actor.ts';
import { ERROR_MEANING } from '../http/error-meanings.ts';
import type { Route } from '../http/route.ts';
import { errorAnswer } from '../http/schemas.ts';
import { EVENT_MEANING, INTRODUCTION, TAG_MEANING } from './reference-text.ts';

export interface JsonSchema {
  [keyword: string]: unknown;
  $ref?: string;
  type?: string | string[];
  title?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  oneOf?: JsonSchema[];
  examples?: unknown[];
}

export interface Reference {
  $ref: string;
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description: string;
  schema: JsonSchema;
}

export interface Header {
  description: string;
  required?: boolean;
  schema: JsonSchema;
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, Header | Reference>;
  content?: Record<string, { schema: JsonSchema }>;
}

export interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  description?: string;
  security?: Record<string, string[]>[];
  parameters?: (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Record<string, { schema: JsonSchema }> };
  responses: Record<string, ResponseObject | Reference>;
}

export type PathItem = Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete', Operation>>;

export interface OpenApi {
  openapi: string;
  info: Record<string, unknown> & { title: string; version: string; description: string };
  jsonSchemaDialect: string;
  servers: { url: string; description: string }[];
  security: Record<string, string[]>[];
  tags: { name: string; description: string }[];
  paths: Record<string, PathItem>;
  webhooks: Record<string, PathItem>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, ResponseObject>;
    parameters: Record<string, Parameter>;
    headers: Record<string, Header>;
    securitySchemes: Record<string, Record<string, string>>;
  };
}

type Schemas = Record<string, JsonSchema>;

const isNode = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Every subschema of a schema's own keywords, replaced by what `change` makes of it. */
function mapSubschemas(node: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const mapped: JsonSchema = { ...node };
  for (const key of ['properties', '$defs'] as const) {
    const inner = node[key];
    if (isNode(inner)) {
      mapped[key] = Object.fromEntries(
        Object.entries(inner).map(([name, one]) => [name, change(one as JsonSchema)]),
      );
    }
  }
  for (const key of ['items', 'additionalProperties', 'propertyNames']) {
    const inner = node[key];
    if (isNode(inner)) mapped[key] = change(inner);
  }
  for (const key of ['anyOf', 'oneOf', 'allOf']) {
    const inner = node[key];
    if (Array.isArray(inner)) mapped[key] = inner.map((one) => change(one as JsonSchema));
  }
  return mapped;
}

/** Brings what zod writes to what people and generators read most easily; it means the same. */
function tidy(node: JsonSchema, io: 'input' | 'output'): JsonSchema {
  const tidied = mapSubschemas(node, (inner) => tidy(inner, io));
  delete tidied.$schema;
  if (typeof tidied.$ref === 'string') tidied.$ref = tidied.$ref.replace('#/$defs/', '#/components/schemas/');
  // The formats say it already.
  if (tidied.format === 'uuid' || tidied.format === 'date-time') delete tidied.pattern;
  if (tidied.maximum === Number.MAX_SAFE_INTEGER) delete tidied.maximum;
  if (tidied.minimum === Number.MIN_SAFE_INTEGER) delete tidied.minimum;
  if (isNode(tidied.propertyNames) && tidied.propertyNames.pattern === undefined) delete tidied.propertyNames;
  if (isNode(tidied.additionalProperties) && Object.keys(tidied.additionalProperties).length === 0) {
    delete tidied.additionalProperties;
  }
  // Fields are added to answers one day: nobody should generate a client that breaks then.
  if (io === 'output' && tidied.additionalProperties === false) delete tidied.additionalProperties;
  const [first, second] = tidied.anyOf ?? [];
  const nullable = tidied.anyOf?.length === 2 && second?.type === 'null' && typeof first?.type === 'string';
  if (nullable && first.enum === undefined && first.const === undefined) {
    const { anyOf: _anyOf, ...rest } = tidied;
    return { ...first, ...rest, type: [first.type as string, 'null'] };
  }
  return tidied;
}

/** A zod schema as JSON Schema; schemas with an id go to `schemas` and are referred to. */
function jsonSchema(schema: z.ZodType, io: 'input' | 'output', schemas: Schemas): JsonSchema {
  const written = tidy(z.toJSONSchema(schema, { io, target: 'draft-2020-12' }) as JsonSchema, io);
  const { $defs, ...own } = written;
  for (const [name, definition] of Object.entries(($defs ?? {}) as Schemas)) {
    const { id: _id, ...rest } = definition;
    const known = schemas[name];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
      throw new Error(`two schemas are called ${name}`);
    }
    schemas[name] = rest as JsonSchema;
  }
  return own as JsonSchema;
}

const HEADERS: Record<string, Header> = {
  'X-Request-Id': {
    description: "The request's own id: in errors as `request_id`, and in the service's log.",
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  'RateLimit-Limit': {
    description: 'Requests that are possible at once with this key.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'RateLimit-Remaining': {
    description: 'Requests left now.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'RateLimit-Reset': {
    description: 'Seconds until all of them are there again.',
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  'RateLimit-Policy': {
    description: 'Requests a second, and at once: `60;w=1;burst=120`.',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Seconds to wait before trying again.',
    required: true,
    schema: { type: 'string', pattern: '^\\d+$' },
  },
  Link: {
    description: 'The next page, `<…>; rel="next"`, relative to this host. Absent on the last page.',
    schema: { type: 'string' },
  },
  'Idempotent-Replayed': {
    description: '`true` when the answer is that of an earlier request with the same Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
  'WWW-Authenticate': {
    description: 'What is asked for: `Bearer`.',
    required: true,
    schema: { type: 'string' },
  },
  'Content-Disposition': { description: 'A file name for the download.', schema: { type: 'string' } },
  'Content-Range': {
    description: 'Which bytes these are, or how many there are.',
    schema: { type: 'string' },
  },
};

const ON_EVERY_ANSWER = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
  'RateLimit-Policy',
];

function headers(...more: string[]): Record<string, Reference> {
  return Object.fromEntries(
    [...ON_EVERY_ANSWER, ...more].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
}

const ERROR = { $ref: '#/components/schemas/Error' };

/** The answer of one status with the codes it may carry. */
function errorResponse(status: number, codes: readonly ErrorCode[], more: string[] = []): ResponseObject {
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_MEANING[code]}`).join('\n\n'),
    headers: headers(
      ...(status === 429 || status === 503 ? ['Retry-After'] : []),
      ...(status === 401 ? ['WWW-Authenticate'] : []),
      ...more,
    ),
    content: {
      'application/json': {
        schema: {
          allOf: [ERROR, { properties: { error: { properties: { code: { enum: [...codes] } } } } }],
        },
      },
    },
  };
}

/** Codes that every request of a kind may be refused with; those of its own rules are the route's to name. */
function codesOf(route: Route): ErrorCode[] {
  const writes = route.method !== 'get';
  return [
    'invalid_request',
    'unknown_parameter',
    ...(writes ? (['invalid_json'] as const) : []),
    ...(route.body === undefined ? [] : (['missing_parameter'] as const)),
    ...(route.errors ?? []),
    'unauthorized',
    'forbidden',
    ...(route.path.includes(':') ? (['not_found'] as const) : []),
    ...(route.once ? (['idempotency_key_reused', 'idempotency_in_progress'] as const) : []),
    ...(writes ? (['body_too_large', 'unsupported_media_type'] as const) : []),
    'rate_limited',
    'internal',
    ...(writes ? (['storage_low'] as const) : []),
  ];
}

const pascal = (name: string) =>
  name.replace(/(^|_)(\w)/g, (_all, _mark, letter: string) => letter.toUpperCase());

/** Error answers by status; one that has a single code, and so is the same everywhere, is shared. */
function errorResponses(
  route: Route,
  shared: Record<string, ResponseObject>,
): Record<string, ResponseObject | Reference> {
  const byStatus = new Map<number, Set<ErrorCode>>();
  for (const code of codesOf(route)) {
    const status = ERROR_STATUS[code];
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  // RFC 9110, 15.5.17.
  if (route.ranges === true) byStatus.set(416, new Set(['invalid_request']));
  const responses: Record<string, ResponseObject | Reference> = {};
  for (const [status, set] of [...byStatus].sort(([a], [b]) => a - b)) {
    const codes = [...set];
    const [only] = codes;
    if (codes.length === 1 && only !== undefined && status !== 416) {
      const name = pascal(only);
      shared[name] ??= errorResponse(status, codes);
      responses[String(status)] = { $ref: `#/components/responses/${name}` };
    } else {
      responses[String(status)] = errorResponse(status, codes, status === 416 ? ['Content-Range'] : []);
    }
  }
  return responses;
}

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes the request once: a repeat with the same key and the same body within 24 hours is answered what the first was, and does nothing. A refusal (4xx) is not kept.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x20-\\x7e]*$' },
};

const IF_MATCH: Parameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'The `updated_at` of what the change was made on, in double quotes, as `ETag` gives it. When it has changed since, the request is refused with 412 `changed_meanwhile`. Left out: the later change stands.',
  schema: { type: 'string', pattern: '^(\\*|(W/)?"[^"]+")$' },
};

const RESOURCE: Record<string, string> = {
  agents: 'agent',
  numbers: 'number',
  calls: 'call',
  webhook_endpoints: 'webhook endpoint',
  webhook_deliveries: 'webhook delivery',
};

function pathParameters(route: Route): Parameter[] {
  const resource = RESOURCE[route.path.split('/')[2] ?? ''] ?? 'resource';
  return [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    description:
      name === 'id' ? `Id of the ${resource}.` : `Id of the ${name.replace(/_id$/, '').replace('_', ' ')}.`,
    schema: { type: 'string', format: 'uuid' },
  }));
}

function queryParameters(route: Route, schemas: Schemas): Parameter[] {
  if (route.query === undefined) return [];
  const { properties = {}, required = [] } = jsonSchema(route.query, 'input', schemas);
  return Object.entries(properties).map(([name, { description = '', ...schema }]) => ({
    name,
    in: 'query',
    // A default makes a parameter optional, whatever the schema's own list says.
    required: required.includes(name) && schema.default === undefined,
    description,
    schema,
  }));
}

const OUTBOUND: ReadonlySet<string> = new Set([
  'outbound_rules',
  'outbound_check',
  'refused_calls',
  'do_not_call',
  'consents',
]);
const tagOf = (path: string) => {
  const resource = path.split('/')[2]?.replace(/\..*/, '') ?? '';
  if (OUTBOUND.has(resource)) return 'Outbound';
  return resource.startsWith('webhook') || resource === 'events' ? 'Webhooks' : pascal(resource);
};

function goodResponse(route: Route, schemas: Schemas): Record<string, ResponseObject> {
  const pages = route.query instanceof z.ZodObject && 'starting_after' in route.query.shape;
  const good: ResponseObject = {
    description: route.status === 204 ? 'Done; there is no body.' : route.status === 201 ? 'Created.' : 'OK.',
    headers: headers(...(pages ? ['Link'] : []), ...(route.once ? ['Idempotent-Replayed'] : [])),
  };
  if (route.answer !== null) {
    good.content = { 'application/json': { schema: jsonSchema(route.answer, 'output', schemas) } };
  }
  if (route.media === undefined) return { [route.status]: good };
  good.headers = headers('Content-Disposition');
  // In 3.1 an empty schema under a binary media type stands for the bytes themselves.
  good.content = { [route.media]: { schema: route.media.startsWith('text/') ? { type: 'string' } : {} } };
  if (route.ranges !== true) return { [route.status]: good };
  return {
    [route.status]: good,
    206: {
      description: 'The part that the Range header asked for.',
      headers: headers('Content-Disposition', 'Content-Range'),
      content: { [route.media]: { schema: {} } },
    },
    304: { description: 'Not changed since what the request names.', headers: headers() },
  };
}

function operationOf(route: Route, schemas: Schemas, shared: Record<string, ResponseObject>): Operation {
  const parameters: (Parameter | Reference)[] = [
    ...pathParameters(route),
    ...queryParameters(route, schemas),
  ];
  if (route.header) {
    parameters.push({ ...route.header, in: 'header', required: true, schema: { type: 'string' } });
  }
  if (route.once) parameters.push({ $ref: '#/components/parameters/IdempotencyKey' });
  if (route.ifMatch) parameters.push({ $ref: '#/components/parameters/IfMatch' });
  return {
    operationId: route.operation,
    tags: [tagOf(route.path)],
    summary: route.summary,
    // What the key must have among its scopes: of a scheme that is no OAuth, the names of roles stand here.
    security: [{ apiKey: [route.needs ?? permissionFor(route.method)] }],
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.takes === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'text/csv': { schema: { type: 'string', description: route.takes.description } } },
          },
        }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: jsonSchema(route.body, 'input', schemas) } },
          },
        }),
    responses: { ...goodResponse(route, schemas), ...errorResponses(route, shared) },
  };
}

/** The document itself, which is public: it is the same for everybody and holds nothing of anybody. */
const THIS_DOCUMENT: Operation = {
  operationId: 'getOpenApi',
  tags: ['Reference'],
  summary: 'Read this document',
  description: 'The one request of /v1 that needs no key. Without one, requests are counted by address.',
  security: [],
  responses: {
    200: {
      description: 'The OpenAPI 3.1 document.',
      headers: headers(),
      content: {
        'application/json': {
          schema: { type: 'object', properties: { openapi: { type: 'string' } }, required: ['openapi'] },
        },
      },
    },
    304: { description: 'Not changed since what the request names.', headers: headers() },
    429: { $ref: '#/components/responses/RateLimited' },
  },
};

const WEBHOOK_HEADERS: [name: string, required: boolean, description: string, schema: JsonSchema][] = [
  [
    'Service-Event-Id',
    true,
    'Id of the delivery, the same on every attempt and replay. Use it as an idempotency key.',
    { type: 'string', format: 'uuid' },
  ],
  ['Service-Event-Type', true, 'The event type.', { type: 'string', enum: [...EVENT_TYPES] }],
  [
    'Service-Event-Sequence',
    true,
    'Counts the events of a call from 1: deliveries may arrive in another order.',
    { type: 'string', pattern: '^[1-9]\\d*$' },
  ],
  [
    'Service-Delivery-Attempt',
    true,
    'Counts the attempts from 1, and again from 1 after a replay by hand.',
    { type: 'string', pattern: '^[1-9]\\d*$' },
  ],
  [
    'Service-Replay',
    false,
    '`true` on a delivery that was sent again by hand.',
    { type: 'string', const: 'true' },
  ],
  ['webhook-id', true, 'The same as Service-Event-Id.', { type: 'string', format: 'uuid' }],
  ['webhook-timestamp', true, 'Unix seconds of this attempt; signed.', { type: 'string', pattern: '^\\d+$' }],
  [
    'webhook-signature',
    true,
    '`v1,` and the base64 of the HMAC-SHA256, by Standard Webhooks 1.0; two of them, separated by a space, while a secret is being rotated.',
    { type: 'string' },
  ],
];

function webhook(type: (typeof EVENT_TYPES)[number], schemas: Schemas): PathItem {
  const meaning = EVENT_MEANING[type];
  return {
    post: {
      operationId: `on${pascal(type.replace('.', '_'))}`,
      tags: ['Webhooks'],
      summary: meaning.summary,
      description: meaning.description,
      security: [],
      parameters: WEBHOOK_HEADERS.map(([name, required, description, schema]) => ({
        name,
        in: 'header',
        required,
        description,
        schema: name === 'Service-Event-Type' ? { type: 'string', const: type } : schema,
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: jsonSchema(call, 'output', schemas) } },
      },
      responses: {
        '2XX': { description: 'Delivered. Answer within 15 seconds; the body is not looked at.' },
        410: { description: 'Never send this delivery again.' },
        default: {
          description:
            'Tried again by the schedule, ten attempts over about 28 hours. Redirects are not followed. Retry-After is heeded up to twice the wait that was due.',
        },
      },
    },
  };
}

/**
 * The document.
 * @param o.routes every route of /v1
 * @param o.version of the program
 */
export function openApiDocument(o: { routes: readonly Route[]; version: string }): OpenApi {
  const schemas: Schemas = {};
  const responses: Record<string, ResponseObject> = { RateLimited: errorResponse(429, ['rate_limited']) };
  const paths: Record<string, PathItem> = {};
  for (const route of o.routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, schemas, responses) };
  }
  paths['/v1/openapi.json'] = { get: THIS_DOCUMENT };
  const webhooks = Object.fromEntries(EVENT_TYPES.map((type) => [type, webhook(type, schemas)]));
  jsonSchema(errorAnswer, 'output', schemas);
  schemas.NewTool = {
    ...jsonSchema(tool, 'input', schemas),
    description: 'A tool as requests give it.',
    examples: [
      HTTP_TOOL,
      { type: 'transfer_call', targets: [{ name: 'front desk', number: '+14155550100' }] },
    ],
  };
  schemas.Tool = {
    ...jsonSchema(tool, 'output', schemas),
    description: 'A tool as answers show it, with its defaults.',
    examples: [HTTP_TOOL],
  };
  const used = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ tags }) => tags)),
  );
  return {
    openapi: '3.1.0',
    info: {
      title: 'Offhook API',
      version: o.version,
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    servers: [{ url: '/', description: 'The host that serves this document.' }],
    security: [{ apiKey: [] }],
    tags: [...used].map((name) => ({ name, description: TAG_MEANING[name] ?? name })),
    paths,
    webhooks,
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      responses,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY, IfMatch: IF_MATCH },
      headers: HEADERS,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'Authorization: Bearer sk_… . A key belongs to one organization, and everything is seen from there. Keys in a query or a cookie are not read.',
        },
      },
    },
  };
}
