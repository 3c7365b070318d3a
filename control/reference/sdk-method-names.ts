// Which method of the SDK is which operation, and what it takes, read out of the client's own code: `npm run sdk:types` writes it
// to sdk-methods.ts, for the examples of the reference. No part of the running daemon.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { type AnyNode, parse } from 'acorn';

const CLIENT = new URL('../sdk/client.ts', import.meta.url);
export const METHODS_FILE = new URL('./sdk-methods.ts', import.meta.url);
/** How a resource of the client is made: `callsOf` makes `calls`. */
const MAKER = /^(\w+)Of$/;

interface Method {
  operation: string;
  name: string;
  takes: string[];
}

/** The operation that a method asks for: the name within the first `ask('…')` or `list('…')` in it. */
function operationOf(node: unknown): string | null {
  if (Array.isArray(node)) return first(node);
  if (typeof node !== 'object' || node === null) return null;
  const one = node as AnyNode;
  if (one.type === 'CallExpression' && one.callee.type === 'Identifier') {
    const [asked] = one.arguments;
    const asks = one.callee.name === 'ask' || one.callee.name === 'list';
    if (asks && asked?.type === 'Literal' && typeof asked.value === 'string') return asked.value;
  }
  return first(Object.values(one));
}

function first(nodes: readonly unknown[]): string | null {
  for (const node of nodes) {
    const found = operationOf(node);
    if (found !== null) return found;
  }
  return null;
}

function methodsOf(resource: string, object: AnyNode): Method[] {
  if (object.type !== 'ObjectExpression') return [];
  return object.properties.flatMap((property): Method[] => {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') return [];
    const { value } = property;
    if (value.type !== 'ArrowFunctionExpression' && value.type !== 'FunctionExpression') return [];
    const operation = operationOf(value.body);
    if (operation === null) return [];
    const takes = value.params.flatMap((param) => (param.type === 'Identifier' ? [param.name] : []));
    return [
      { operation, name: `${resource}.${property.key.name}`, takes: takes.filter((one) => one !== 'o') },
    ];
  });
}

/** The module that sdk-methods.ts is to be. */
export function sdkMethods(): string {
  const code = stripTypeScriptTypes(readFileSync(CLIENT, 'utf8'));
  const found = new Map<string, Method>();
  for (const node of parse(code, { ecmaVersion: 'latest', sourceType: 'module' }).body) {
    if (node.type !== 'VariableDeclaration') continue;
    for (const { id, init } of node.declarations) {
      const resource = id.type === 'Identifier' ? MAKER.exec(id.name)?.[1] : undefined;
      if (resource === undefined || init?.type !== 'ArrowFunctionExpression') continue;
      for (const method of methodsOf(resource, init.body)) {
        // What asks for several things in turn is a convenience of the client, and comes later in it.
        if (!found.has(method.operation)) found.set(method.operation, method);
      }
    }
  }
  const rows = [...found.values()].map(
    ({ operation, name, takes }) =>
      `  ${operation}: { name: '${name}', takes: [${takes.map((one) => `'${one}'`).join(', ')}] },`,
  );
  return [
    '// Made by `npm run sdk:types` from the SDK itself: not to be edited by hand.',
    '',
    '/** The SDK method of each operation that has one, and the names of what it takes. */',
    'export const SDK_METHODS: Readonly<Record<string, { name: string; takes: readonly string[] }>> = {',
    ...rows,
    '};',
    '',
  ].join('\n');
}

/** What stands in sdk-methods.ts now. */
export const writtenMethods = () => readFileSync(METHODS_FILE, 'utf8');
