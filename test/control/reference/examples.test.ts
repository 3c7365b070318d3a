// The examples of the reference by the SDK: the compiler takes each of them for the SDK as it is.
import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import t from 'tap';
import { curl, SDK_SETUP, sdkExample } from '../../../control/reference/reference-examples.ts';
import { SDK_METHODS } from '../../../control/reference/sdk-methods.ts';
import { document } from '../document.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** As the page has them: the body is the schema's own example. */
function examples(): Map<string, string> {
  const all = new Map<string, string>();
  for (const item of Object.values(document.paths)) {
    for (const operation of Object.values(item)) {
      const schema = operation.requestBody?.content['application/json']?.schema;
      const code = sdkExample(document, operation, schema === undefined ? undefined : exampleOf(schema));
      if (code !== null) all.set(operation.operationId, code);
    }
  }
  return all;
}

function exampleOf(schema: { [key: string]: unknown }): unknown {
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (typeof schema.$ref === 'string')
    return exampleOf(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const [first] = (schema.anyOf ?? schema.oneOf ?? []) as { [key: string]: unknown }[];
  return first === undefined ? undefined : exampleOf(first);
}

t.test('every example by the SDK is one that the compiler takes', async (t) => {
  const found = examples();
  t.equal(found.size, Object.keys(SDK_METHODS).filter((id) => found.has(id)).length);
  t.ok(found.size > 40, `${found.size} examples`);
  const ids = new Set([...found.values()].flatMap((code) => code.match(/\b\w+(?:Id|Key)\b(?=[,)])/g) ?? []));
  const folder = t.testdir({
    'examples.ts': [
      SDK_SETUP,
      ...[...ids].map((id) => `declare const ${id}: string;`),
      ...[...found].map(([id, code]) => `export async function ${id}() {\n${code}\n}`),
    ].join('\n'),
    'tsconfig.json': JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        paths: { offhook: [join(ROOT, 'control/sdk/index.ts')] },
        typeRoots: [join(ROOT, 'node_modules/@types')],
        noUnusedLocals: false,
      },
      include: ['examples.ts'],
    }),
  });
  try {
    execFileSync(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder], { encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    t.fail((error as { stdout: string }).stdout);
  }
});

t.test(
  'what has a list is walked through, what has no body answers nothing, and ids have names',
  async (t) => {
    const found = examples();
    t.equal(
      found.get('listCalls'),
      'for await (const call of offhook.calls.list({ limit: 20 })) {\n  console.log(call);\n}',
    );
    t.equal(found.get('deleteWebhookEndpoint'), 'await offhook.webhookEndpoints.delete(webhookEndpointId);');
    t.equal(found.get('hangUpCall'), 'const answer = await offhook.calls.hangup(callId);');
    t.equal(
      found.get('redeliverWebhook'),
      'const answer = await offhook.webhookDeliveries.redeliver(webhookDeliveryId);',
    );
    t.match(found.get('createCall'), /^const answer = await offhook\.calls\.create\(\{\n {2}agent_id: '/);
    t.equal(
      curl('post', '/v1/calls/{id}/cancel', undefined, false),
      'curl -s -X POST "$URL/v1/calls/$id/cancel" \\\n  -H "Authorization: Bearer $KEY"',
    );
  },
);
