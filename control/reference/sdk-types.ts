// Writes control/sdk/api.ts, the SDK's types and its table of operations, from the OpenAPI document: `npm run sdk:types`; and
// which method asks for which, as sdk-method-names.ts finds them.
// A test holds the file to what this makes. No part of the running daemon.
import { readFileSync, writeFileSync } from 'node:fs';
import { compile, type JSONSchema } from 'json-schema-to-typescript';
import { ROUTES } from '../api/routes.ts';
import { type JsonSchema, type OpenApi, openApiDocument, type Parameter, type Reference } from './openapi.ts';
import { METHODS_FILE, sdkMethods } from './sdk-method-names.ts';

/** Names that would hide what JavaScript itself has. */
const RENAMED: Record<string, string> = { Number: 'PhoneNumber', Error: 'ErrorAnswer' };
const POINTER = '#/components/schemas/';

const typeName = (component: string) => RENAMED[component] ?? component;

/** A schema of the document as the generator wants it: references to `definitions`, open objects said to be open. */
function prepared(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(prepared);
  if (typeof node !== 'object' || node === null) return node;
  const schema = Object.fromEntries(
    Object.entries(node).map(([key, inner]) => [key, prepared(inner)]),
  ) as JsonSchema;
  // Written out in every comment, they only lengthen it.
  delete schema.examples;
  if (typeof schema.$ref === 'string') {
    return { $ref: `#/definitions/${typeName(schema.$ref.slice(POINTER.length))}` };
  }
  const isObject = schema.type === 'object' || (Array.isArray(schema.type) && schema.type.includes('object'));
  if (isObject && schema.properties === undefined && schema.additionalProperties === undefined) {
    schema.additionalProperties = true;
  }
  // The generator writes tuples of every length for these.
  delete schema.minItems;
  delete schema.maxItems;
  return schema;
}

const objectOf = (properties: Record<string, unknown>, required: string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

/** `true` and `false` are words in a query, and values in code. */
function typeInCode(schema: JsonSchema): JsonSchema {
  const words = Array.isArray(schema.enum) ? [...schema.enum].sort().join() : '';
  return words === 'false,true' ? { type: 'boolean' } : schema;
}

interface Operation {
  id: string;
  method: string;
  path: string;
  /** Takes an Idempotency-Key. */
  once: boolean;
  /** Its body is a file in CSV. */
  file: boolean;
  types: unknown;
}

function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      const parameters = operation.parameters ?? [];
      const own = parameters.filter((one): one is Parameter => !('$ref' in one));
      const shared = parameters.filter((one): one is Reference => '$ref' in one);
      const query = own.filter((one) => one.in === 'query');
      const body = operation.requestBody?.content['application/json']?.schema;
      const file = operation.requestBody?.content['text/csv'] !== undefined;
      const good = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
      const content = good !== undefined && 'content' in good ? good.content : undefined;
      const answer = content?.['application/json']?.schema;
      const types: Record<string, unknown> = {
        query: objectOf(
          Object.fromEntries(
            query.map((one) => [
              one.name,
              prepared({ ...typeInCode(one.schema), description: one.description }),
            ]),
          ),
          query.filter((one) => one.required).map((one) => one.name),
        ),
        body: body === undefined ? { tsType: file ? 'string' : 'undefined' } : prepared(body),
        answer:
          answer === undefined
            ? { tsType: content === undefined ? 'undefined' : 'Response' }
            : prepared(answer),
      };
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        once: shared.some((one) => one.$ref.endsWith('/IdempotencyKey')),
        file,
        types: objectOf(types, Object.keys(types)),
      };
    }),
  );
}

/** The text of control/sdk/api.ts. */
export async function sdkTypes(): Promise<string> {
  const document = openApiDocument({ routes: ROUTES, version: '0' });
  const operations = operationsOf(document);
  const definitions = Object.fromEntries(
    Object.entries(document.components.schemas).map(([name, schema]) => [
      typeName(name),
      { ...(prepared(schema) as object), title: typeName(name) },
    ]),
  );
  const types = await compile(
    {
      title: 'Operations',
      ...objectOf(
        Object.fromEntries(operations.map(({ id, types }) => [id, types])),
        operations.map(({ id }) => id),
      ),
      definitions,
    } as JSONSchema,
    'Operations',
    {
      additionalProperties: false,
      bannerComment: '',
      unreachableDefinitions: true,
      style: { singleQuote: true, printWidth: 110 },
    },
  );
  const table = operations
    .map(
      ({ id, method, path, once, file }) =>
        `  ${id}: { method: '${method}', path: '${path}'${once ? ', once: true' : ''}${file ? ', file: true' : ''} },`,
    )
    .join('\n');
  return [
    '// Made by `npm run sdk:types` from the OpenAPI document: not to be edited by hand.',
    '',
    // Where a type came from in the generator's input tells a reader nothing.
    types.trim().replace(/^ \*\n \* This interface was referenced by [\s\S]*?"\.\n/gm, ''),
    '',
    '/** Method and path of every operation; `once`: it takes an Idempotency-Key; `file`: its body is CSV. */',
    'export const OPERATIONS = {',
    table,
    '} as const;',
    '',
  ].join('\n');
}

const FILE = new URL('../sdk/api.ts', import.meta.url);

/** What stands in control/sdk/api.ts now. */
export const writtenTypes = () => readFileSync(FILE, 'utf8');

if (process.argv[1] === import.meta.filename) {
  writeFileSync(FILE, await sdkTypes());
  writeFileSync(METHODS_FILE, sdkMethods());
}
