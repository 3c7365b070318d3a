// Holds requests and answers against the OpenAPI document itself, by ajv, which knows nothing of the daemon's own schemas.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { ROUTES } from '../../control/api/routes.ts';
import { type OpenApi, type Operation, openApiDocument } from '../../control/reference/openapi.ts';

export const document: OpenApi = JSON.parse(
  JSON.stringify(openApiDocument({ routes: ROUTES, version: '0.0.0' })),
);

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** RFC 3339. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const ajv = new Ajv2020({
  // The document is no schema: what stands around its schemas is unknown to ajv.
  strict: false,
  validateSchema: false,
  allErrors: false,
  formats: {
    uuid: UUID,
    email: /^[^\s@]+@[^\s@]+$/,
    'date-time': (text: string) => TIME.test(text) && !Number.isNaN(Date.parse(text)),
  },
});
ajv.addSchema(document, 'document');

const compiled = new Map<string, ValidateFunction>();

/** The validator of the schema at a JSON Pointer into the document (RFC 6901). */
export function validatorAt(...way: string[]): ValidateFunction {
  const pointer = way.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
  const known = compiled.get(pointer);
  if (known !== undefined) return known;
  const validate = ajv.compile({ $ref: `document#${encodeURI(pointer)}` });
  compiled.set(pointer, validate);
  return validate;
}

export function inWords(errors: ErrorObject[] | null | undefined): string {
  return (errors ?? []).map((error) => `${error.instancePath} ${error.message}`).join('; ');
}

/** Path, item and operation of a request, or null where the document has none. */
export function findOperation(
  method: string,
  path: string,
): { path: string; method: string; operation: Operation } | null {
  const asked = path.replace(/\?.*/, '').split('/');
  const matches = (template: string) => {
    const parts = template.split('/');
    return (
      parts.length === asked.length && parts.every((part, i) => part.startsWith('{') || part === asked[i])
    );
  };
  const templates = Object.keys(document.paths).filter(matches);
  // A literal segment goes before a parameter: /v1/numbers/available.
  const template = templates.sort((a, b) => a.split('{').length - b.split('{').length)[0];
  if (template === undefined) return null;
  const name = method.toLowerCase() as 'get';
  const operation = document.paths[template]?.[name];
  return operation === undefined ? null : { path: template, method: name, operation };
}

function resolve<T extends object>(value: T | { $ref: string }): { value: T; way: string[] | null } {
  if (!('$ref' in value)) return { value, way: null };
  const way = value.$ref.slice(2).split('/');
  let at: unknown = document;
  for (const step of way) at = (at as Record<string, unknown>)[step];
  return { value: at as T, way };
}

/** What an answer has that the document does not promise, in words; null when all is as promised. */
export function faultOfAnswer(
  method: string,
  path: string,
  answer: { status: number; headers: Headers; body: unknown; text: string },
): string | null {
  const found = findOperation(method, path);
  if (found === null) return 'the document has no such operation';
  const status = String(answer.status);
  const listed = found.operation.responses[status];
  if (listed === undefined) return `the document has no answer ${status}: ${answer.text}`;
  const { value: response, way } = resolve(listed);
  const at = way ?? ['paths', found.path, found.method, 'responses', status];
  for (const [name, given] of Object.entries(response.headers ?? {})) {
    const header = resolve(given).value;
    const value = answer.headers.get(name);
    if (value === null) {
      if (header.required === true) return `the header ${name} is missing`;
      continue;
    }
    const validate = validatorAt('components', 'headers', name, 'schema');
    if (!validate(value)) return `the header ${name}: ${inWords(validate.errors)}`;
  }
  const [type] = Object.keys(response.content ?? {});
  const givenType = answer.headers.get('content-type')?.split(';')[0] ?? null;
  if (type === undefined) return answer.text === '' ? null : 'a body, where the document has none';
  if (givenType !== type) return `the type ${givenType}, where the document has ${type}`;
  if (type !== 'application/json') return null;
  const validate = validatorAt(...at, 'content', type, 'schema');
  return validate(answer.body) ? null : inWords(validate.errors);
}

/** Whether a body is valid by the document; an operation without a body takes none but an empty object. */
export function faultOfBody(method: string, path: string, body: unknown): string | null {
  const found = findOperation(method, path);
  if (found === null) return 'the document has no such operation';
  if (found.operation.requestBody === undefined) {
    const empty = typeof body === 'object' && body !== null && !Array.isArray(body);
    return empty && Object.keys(body).length === 0 ? null : 'a body, where the document has none';
  }
  const validate = validatorAt(
    'paths',
    found.path,
    found.method,
    'requestBody',
    'content',
    'application/json',
    'schema',
  );
  return validate(body) ? null : inWords(validate.errors);
}
