// An operation as somebody would ask for it: by curl, and by the SDK. PURE.
import type { OpenApi, Operation, Parameter, Reference } from './openapi.ts';
import { SDK_METHODS } from './sdk-methods.ts';

// scripts/check-imports.ts reads text: written out, it would be taken for this file's own code.
const NODE_ENV = ['process', 'env'].join('.');

/** What every example by the SDK stands behind. */
export const SDK_SETUP = `import { Offhook } from 'offhook';

const offhook = new Offhook({ apiKey: ${NODE_ENV}.OFFHOOK_API_KEY, baseUrl: 'https://calls.example.com' });`;

export function curl(method: string, path: string, body: unknown, isPublic: boolean): string {
  const parts = [
    `curl -s ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"$URL${path.replace(/\{(\w+)\}/g, '$$$1')}"`,
  ];
  if (!isPublic) parts.push('-H "Authorization: Bearer $KEY"');
  if (body !== undefined) {
    parts.push(`-H 'Content-Type: application/json'`);
    parts.push(`-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`);
  }
  return parts.join(' \\\n  ');
}

const NAME = /^[A-Za-z_$][\w$]*$/;

const quoted = (text: string) =>
  `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;

/** A value as it is written in code. */
function inCode(value: unknown, indent = ''): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = `${indent}  `;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((one) => inCode(one, inner))
    : Object.entries(value).map(
        ([name, one]) => `${NAME.test(name) ? name : quoted(name)}: ${inCode(one, inner)}`,
      );
  const [open, close] = isList ? '[]' : '{}';
  const line = isList ? `[${parts.join(', ')}]` : `{ ${parts.join(', ')} }`;
  if (parts.length === 0) return `${open}${close}`;
  if (line.length + indent.length <= 64 && !line.includes('\n')) return line;
  return `${open}\n${parts.map((part) => `${inner}${part},`).join('\n')}\n${indent}${close}`;
}

const isReference = (value: object): value is Reference => '$ref' in value;

/** `webhookDeliveries` -> `webhookDelivery`. */
const oneOf = (resource: string) => resource.replace(/ies$/, 'y').replace(/s$/, '');

/** The same by the SDK; null where it has no method of its own. */
export function sdkExample(document: OpenApi, operation: Operation, example: unknown): string | null {
  const method = SDK_METHODS[operation.operationId];
  if (method === undefined) return null;
  const resource = oneOf(method.name.split('.')[0] ?? '');
  const parameters = (operation.parameters ?? []).flatMap((one): Parameter[] => {
    if (!isReference(one)) return [one];
    const named = document.components.parameters[one.$ref.slice(one.$ref.lastIndexOf('/') + 1)];
    return named === undefined ? [] : [named as Parameter];
  });
  const queries = parameters.filter((one) => one.in === 'query');
  const pages = queries.some(({ name }) => name === 'starting_after');
  const needed = queries.filter(({ required }) => required);
  const given = method.takes.flatMap((name) => {
    if (name === 'body') return [inCode(example ?? {})];
    if (name === 'query') {
      if (needed.length > 0)
        return [
          `{ ${needed.map((one) => `${one.name}: ${inCode(one.schema.examples?.[0] ?? '')}`).join(', ')} }`,
        ];
      return pages ? ['{ limit: 20 }'] : method.takes.length > 1 ? ['{}'] : [];
    }
    return [name === 'id' ? `${resource}Id` : name];
  });
  const asked = `offhook.${method.name}(${given.join(', ')})`;
  const [status = '200'] = Object.keys(operation.responses);
  if (pages) return `for await (const ${resource} of ${asked}) {\n  console.log(${resource});\n}`;
  return status === '204' ? `await ${asked};` : `const answer = await ${asked};`;
}
