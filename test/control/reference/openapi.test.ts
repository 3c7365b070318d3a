// The OpenAPI document: valid by the specification, complete both ways, described throughout, and true of what is answered.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Express } from 'express';
import t from 'tap';
import type { JsonSchema } from '../../../control/reference/openapi.ts';
import { ERROR_STATUS } from '../../../errors.ts';
import { CALL_FIELDS } from '../../../storage/call-view.ts';
import { EVENT_TYPES } from '../../../storage/records.ts';
import { makeInterruption, makeTurn } from '../../storage/makers.ts';
import { document, faultOfAnswer, faultOfBody, inWords, validatorAt } from '../document.ts';
import { openReceiver } from '../receiver.ts';
import { openRig } from '../rig.ts';
import { openRig as openWebhookRig } from '../webhooks/webhook-rig.ts';

const meta = JSON.parse(
  readFileSync(new URL('../../fixtures/openapi/openapi-3.1.schema.json', import.meta.url), 'utf8'),
);
const isOpenApi = new Ajv2020({ strict: false }).compile(meta);

/** Every object in the document with the way to it, but what is only an example or a default. */
function* nodes(at: unknown, way: string[] = []): Generator<[string[], Record<string, unknown>]> {
  if (typeof at !== 'object' || at === null) return;
  if (!Array.isArray(at)) yield [way, at as Record<string, unknown>];
  for (const [key, inner] of Object.entries(at)) {
    if (key !== 'examples' && key !== 'default') yield* nodes(inner, [...way, key]);
  }
}

/** Every schema that stands by itself: a component, a parameter's, a body's. */
function* schemas(): Generator<[string[], JsonSchema]> {
  for (const [way, node] of nodes(document)) {
    if (way.at(-1) === 'schema') yield [way, node as JsonSchema];
    if (way.length === 3 && way[1] === 'schemas') yield [way, node as JsonSchema];
  }
}

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
);

t.test('the document is OpenAPI 3.1, and its schemas are JSON Schema 2020-12', async (t) => {
  t.ok(isOpenApi(document), inWords(isOpenApi.errors));
  const ajv = new Ajv2020({ strict: false });
  let checked = 0;
  for (const [way, schema] of schemas()) {
    checked += 1;
    if (ajv.validateSchema(schema) !== true) t.fail(`${way.join('/')}: ${inWords(ajv.errors)}`);
  }
  t.ok(checked > 200, `${checked} schemas`);
  const damages: [string, (copy: typeof document) => void][] = [
    ['another version', (copy) => Object.assign(copy, { openapi: '3.0.3' })],
    ['no title', (copy) => Reflect.deleteProperty(copy.info, 'title')],
    ['an unknown field', (copy) => Object.assign(copy, { path: {} })],
    ['a path without its slash', (copy) => Object.assign(copy.paths, { 'v1/x': {} })],
    ['an unknown method', (copy) => Object.assign(copy.paths['/v1/calls'] ?? {}, { call: {} })],
    [
      'a status that is none',
      (copy) => Object.assign(copy.paths['/v1/calls']?.get?.responses ?? {}, { 99: {} }),
    ],
    [
      'an answer without description',
      (copy) => Reflect.deleteProperty(copy.paths['/v1/calls']?.get?.responses['200'] ?? {}, 'description'),
    ],
    [
      'a path parameter that may be missing',
      (copy) => Object.assign(copy.paths['/v1/calls/{id}']?.get?.parameters?.[0] ?? {}, { required: false }),
    ],
    [
      'a security scheme without its kind',
      (copy) => Reflect.deleteProperty(copy.components.securitySchemes.apiKey ?? {}, 'scheme'),
    ],
  ];
  for (const [name, damage] of damages) {
    const copy = structuredClone(document);
    damage(copy);
    t.notOk(isOpenApi(copy), `the check notices ${name}`);
  }
});

t.test('every reference leads somewhere, every component is used, every name is there once', async (t) => {
  const used = new Set<string>();
  for (const [way, node] of nodes(document)) {
    if (typeof node.$ref !== 'string') continue;
    used.add(node.$ref);
    let at: unknown = document;
    for (const step of node.$ref.slice(2).split('/'))
      at = (at as Record<string, unknown> | undefined)?.[step];
    t.type(at, 'object', `${way.join('/')} -> ${node.$ref}`);
  }
  for (const kind of ['schemas', 'responses', 'parameters', 'headers'] as const) {
    for (const name of Object.keys(document.components[kind])) {
      t.ok(used.has(`#/components/${kind}/${name}`), `${kind}/${name} is used`);
    }
  }
  const ids = operations.map(({ operation }) => operation.operationId);
  t.equal(new Set(ids).size, ids.length, 'operation ids');
  for (const id of ids) t.match(id, /^[a-z][A-Za-z]+$/);
  const tags = new Set(document.tags.map((tag) => tag.name));
  for (const { operation } of operations) t.ok(operation.tags.every((tag) => tags.has(tag)));
  for (const tag of document.tags) t.not(tag.description, tag.name, `${tag.name} says what it holds`);
});

/** Routes that Express itself would serve, by its own stack: "GET /v1/agents/{id}". */
function served(app: Express): string[] {
  interface Layer {
    rawPath?: string;
    slash?: boolean;
    route?: { path: string; methods: Record<string, boolean> };
    handle: { stack?: Layer[] };
  }
  const walk = (layers: Layer[], prefix: string): string[] =>
    layers.flatMap((layer) => {
      if (layer.route !== undefined) {
        const { path, methods } = layer.route;
        return (
          Object.keys(methods)
            // `all` stands for those that are refused.
            .filter((method) => method !== '_all')
            .map((method) => `${method.toUpperCase()} ${prefix}${path.replace(/:(\w+)/g, '{$1}')}`)
        );
      }
      if (layer.handle.stack === undefined) return [];
      if (layer.slash !== true && layer.rawPath === undefined)
        throw new Error('a router without a known path');
      return walk(layer.handle.stack, prefix + (layer.slash === true ? '' : layer.rawPath));
    });
  return walk((app as unknown as { router: { stack: Layer[] } }).router.stack, '');
}

t.test('what Express serves under /v1 is in the document, and the reverse', async (t) => {
  const rig = await openRig(t);
  const routes = served(rig.app);
  const documented = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
  t.same(routes.filter((route) => route.includes(' /v1')).sort(), documented.sort());
  t.same(
    routes
      .filter((route) => !route.includes(' /v1'))
      .map((route) => route.replace(/-[0-9a-f]{12}(?=\.woff2$)/, ''))
      .sort(),
    ['GET /docs', 'GET /docs/inter.woff2', 'GET /healthz', 'GET /metrics', 'GET /readyz'],
    'and nothing else is served that nobody knows of',
  );
  // Over HTTP too: the methods a path takes are those of the document.
  for (const [path, item] of Object.entries(document.paths)) {
    const asked = path.replaceAll(/\{\w+\}/g, '0199c000-0000-7000-8000-000000000000');
    const { status, headers } = await rig.api('OPTIONS', asked);
    const expected = Object.keys(item).flatMap((method) =>
      method === 'get' ? ['GET', 'HEAD'] : method.toUpperCase(),
    );
    t.same([status, (headers.get('allow') ?? '').split(', ').sort()], [405, expected.sort()], path);
  }
});

t.test('every field, parameter, header, operation and answer says what it means', async (t) => {
  const silent: string[] = [];
  for (const [way, node] of nodes(document)) {
    const parent = way.at(-2);
    const isField = parent === 'properties' && !way.includes('responses');
    const isComponent = way.length === 3 && way[0] === 'components' && way[1] !== 'schemas';
    const isParameter = parent === 'parameters' && node.$ref === undefined;
    if (!isField && !isComponent && !isParameter) continue;
    const named = typeof node.$ref === 'string' && way.at(-1) === 'error';
    const text = node.description;
    if (!named && (typeof text !== 'string' || !/^[A-Z`].*[.…)]$/s.test(text)))
      silent.push(`${way.join('/')}: ${text}`);
  }
  t.same(
    silent.filter((one) => !/Error\/properties\/error:/.test(one)),
    [],
  );
  for (const { operation } of operations) t.match(operation.summary, /^[A-Z].+[^.]$/, operation.operationId);
  t.same(
    Object.keys(document.components.schemas.Call?.properties ?? {}),
    CALL_FIELDS,
    'the Call has every field',
  );
});

t.test('every example is what its schema says', async (t) => {
  let checked = 0;
  for (const [way, node] of nodes(document)) {
    if (!Array.isArray(node.examples) || way.at(-1) === 'properties') continue;
    const validate = validatorAt(...way);
    for (const example of node.examples) {
      checked += 1;
      if (!validate(example)) t.fail(`${way.join('/')}: ${inWords(validate.errors)}`);
    }
  }
  t.ok(checked > 40, `${checked} examples`);
  for (const { path, method, operation } of operations) {
    const body = operation.requestBody?.content['application/json']?.schema;
    if (body === undefined) continue;
    const names = [body, ...(body.anyOf ?? [])].flatMap((one) => one.$ref?.split('/').at(-1) ?? []);
    for (const name of names) {
      const examples = document.components.schemas[name]?.examples;
      t.ok(examples?.length, `${method} ${path} shows a body`);
    }
  }
});

t.test('every error code is in the answers of some operation, with its own status', async (t) => {
  const seen = new Map<string, Set<number>>();
  const look = (status: string, response: unknown) => {
    for (const [, node] of nodes(response)) {
      if (!Array.isArray(node.enum)) continue;
      for (const code of node.enum) seen.set(code, (seen.get(code) ?? new Set()).add(Number(status)));
    }
  };
  for (const { operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      if (Number(status) < 400) continue;
      const name = '$ref' in response ? response.$ref.split('/').at(-1) : undefined;
      look(status, name === undefined ? response : document.components.responses[name]);
    }
  }
  // 405 is an answer of a path to other methods, and so of no operation.
  const elsewhere = ['method_not_allowed'];
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    if (elsewhere.includes(code)) continue;
    const statuses = [...(seen.get(code) ?? [])];
    t.ok(statuses.includes(status), code);
    // A range outside of the recording has a status of its own: RFC 9110, 15.5.17.
    t.same(
      statuses.filter((one) => one !== status && one !== 416),
      [],
      code,
    );
  }
});

t.test('a good answer and an error of every operation are as the document says', async (t) => {
  const rig = await openRig(t, {
    env: { OPERATOR_KEY: 'operator-key-of-the-test', DATA_DIR: t.testdir({}) },
  });
  const asOperator = { 'operator-key': 'operator-key-of-the-test' };
  const good = async (method: string, path: string, request: Parameters<typeof rig.api>[2] = {}) => {
    const answer = await rig.api(method, path, request);
    if (answer.status >= 300) t.fail(`${method} ${path}: ${answer.text}`);
    return answer.body;
  };
  rig.behaviour.search = async () => [
    {
      e164: '+14155550199',
      friendly_name: '(415) 555-0199',
      country_code: 'US',
      number_type: 'local',
      locality: null,
      region: 'CA',
      monthly_cost_cents: 115,
    },
  ];
  await good('GET', '/v1/openapi.json', { key: null });
  await good('GET', '/v1/numbers/available?area_code=415&limit=1');
  const number = await good('POST', '/v1/numbers/purchase', { body: { e164: '+14155550199' } });
  const spare = await good('POST', '/v1/numbers/purchase', { body: { e164: '+14155550198' } });
  const tools = [
    { type: 'end_call' },
    { type: 'send_dtmf' },
    { type: 'transfer_call', targets: [{ name: 'desk', number: '+14155550100' }] },
    { type: 'http', name: 'look_up', description: 'Looks up.', url: 'https://example.com/look-up' },
  ];
  const agent = await good('POST', '/v1/agents', {
    body: {
      name: 'A',
      type: 'outbound',
      number_ids: [number.id],
      tools,
      returns: { a: 'enum(x|y)[]', b: { type: 'string', enum: ['q'] } },
    },
  });
  const at = `/v1/agents/${agent.id}`;
  await good('PATCH', at, { body: { language: 'pt-br', webhook_url: 'https://example.com/calls' } });
  await good('POST', `${at}/numbers`, { body: { number_id: spare.id } });
  await good('PUT', `${at}/primary-number`, { body: { number_id: spare.id } });
  await good('DELETE', `${at}/numbers/${spare.id}`);
  await good('DELETE', `/v1/numbers/${spare.id}`);
  await good('GET', at);
  await good('GET', '/v1/agents?limit=1');
  await good('GET', '/v1/numbers?limit=1');

  const endpoint = await good('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/a' } });
  await good('GET', `/v1/webhook_endpoints/${endpoint.id}`);
  await good('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { description: 'B' } });
  await good('POST', `/v1/webhook_endpoints/${endpoint.id}/rotate_secret`);
  // An address that is refused: nothing leaves this machine.
  const closed = await rig.store.getEndpoint(rig.orgId, endpoint.id);
  if (closed === null) throw new Error('no endpoint');
  const inner = { ...closed, id: '0199c000-0000-7000-8000-00000000000e', url: 'https://10.0.0.1/a' };
  await rig.store.createEndpoint(inner);
  await good('POST', `/v1/webhook_endpoints/${inner.id}/test`);
  await good('DELETE', `/v1/webhook_endpoints/${inner.id}`);
  await good('POST', `/v1/webhook_endpoints/${endpoint.id}/replay`, {
    body: { since: '2026-01-01T00:00:00Z' },
  });
  await good('GET', '/v1/webhook_endpoints');
  await good('GET', '/v1/webhook_events');
  await good('GET', '/v1/webhook_secret');
  await good('POST', '/v1/webhook_secret/rotate');

  const order = { agent_id: agent.id, to: '+14155550123', context: { a: [1, null] } };
  const first = await good('POST', '/v1/calls', { body: order, headers: { 'idempotency-key': 'one' } });
  const replayed = await rig.api('POST', '/v1/calls', { body: order, headers: { 'idempotency-key': 'one' } });
  t.same([replayed.headers.get('idempotent-replayed'), replayed.body], ['true', first]);
  const second = await good('POST', '/v1/calls', { body: { to: '+14155550124', instructions: 'Ask.' } });
  await rig.store.saveTranscript([
    {
      id: '0199d000-0000-7000-8000-000000000001',
      call_id: first.id,
      role: 'agent',
      text: 'Hello.',
      heard_text: 'Hello.',
      interrupted: false,
      started_at: rig.now().toISOString(),
      start_ms: 0,
      end_ms: null,
    },
  ]);
  await good('GET', `/v1/calls/${first.id}/transcript`);
  await rig.store.saveTurns({ turns: [makeTurn(first.id)], interruptions: [makeInterruption(first.id)] });
  await good('GET', `/v1/calls/${first.id}/turns`);
  await good('GET', `/v1/calls/${first.id}/events`);
  await good('POST', `/v1/calls/${first.id}/cancel`);
  await good('POST', `/v1/calls/${second.id}/hangup`);
  await good('GET', `/v1/calls/${first.id}`);
  await good('GET', '/v1/calls?limit=1&status=canceled');
  await good('GET', '/v1/calls.csv?status=canceled');

  await good('GET', '/v1/outbound_rules');
  await good('PATCH', '/v1/outbound_rules', { body: { countries: ['CA'] } });
  await good('POST', '/v1/outbound_check', { body: { to: '+14155550199' } });
  await good('GET', '/v1/refused_calls?limit=1&code=do_not_call');
  const listed = await good('POST', '/v1/do_not_call', { body: { numbers: ['+14155550198'] } });
  await good('GET', '/v1/do_not_call?number=%2B14155550198');
  await good('POST', '/v1/do_not_call/import', {
    raw: '+14155550197\n',
    headers: { 'content-type': 'text/csv' },
  });
  await good('DELETE', `/v1/do_not_call/${listed.data[0].id}`);
  const agreed = { numbers: ['+14155550123'], purpose: 'p', source: 's', given_at: '2026-01-01T00:00:00Z' };
  const entered = await good('POST', '/v1/consents', { body: agreed });
  await good('GET', '/v1/consents?limit=1');
  await good('DELETE', `/v1/consents/${entered.data[0].id}`);
  const campaign = await good('POST', '/v1/campaigns', { body: { name: 'C', agent_id: agent.id } });
  const of = `/v1/campaigns/${campaign.id}`;
  await good('PATCH', of, { body: { calls_per_minute: 30 } });
  await good('POST', `${of}/contacts`, { body: { contacts: [{ to: '+14155550130' }] } });
  const file = { raw: 'to,name\n+14155550131,Ann\nx,\n', headers: { 'content-type': 'text/csv' } };
  await good('POST', `${of}/contacts/import`, file);
  const [contact] = (await good('GET', `${of}/contacts?limit=1&status=waiting`)).data;
  await good('GET', `${of}/contacts/${contact.id}`);
  for (const turn of ['start', 'pause', 'resume', 'stop']) await good('POST', `${of}/${turn}`);
  await good('GET', of);
  await good('GET', `${of}/report`);
  await good('GET', `${of}/contacts.csv`);
  await good('GET', '/v1/campaigns?limit=1');
  const dropped = await good('POST', '/v1/campaigns', { body: { name: 'D', agent_id: agent.id } });
  await good('DELETE', `/v1/campaigns/${dropped.id}`);
  const [delivery] = (await good('GET', '/v1/webhook_deliveries')).data;
  await good('GET', `/v1/webhook_deliveries/${delivery.id}`);
  await good('POST', `/v1/webhook_deliveries/${delivery.id}/redeliver`);
  await good('GET', '/v1/events?limit=1');
  await good('GET', '/v1/events/follow');
  await good('GET', '/v1/models');
  await good('GET', '/v1/health');
  await good('GET', '/v1/alerts');
  await good('PATCH', '/v1/alerts', { body: { emails: ['ops@example.com'] } });
  await good('POST', '/v1/alerts/test');
  await good('GET', '/v1/balance');
  await good('PUT', '/v1/balance', { body: { balance_milli_cents: 5 }, headers: asOperator });
  await good('POST', '/v1/balance/credits', { body: { amount_milli_cents: 5 }, headers: asOperator });
  await good('POST', '/v1/organizations', { body: { name: 'Harbour Clinic' }, headers: asOperator });
  await good('GET', '/v1/organizations', { headers: asOperator });
  await good('GET', '/v1/audit_log?limit=2');
  await good('GET', '/v1/audit_log.csv');
  await good('GET', '/v1/organization');
  await good('PATCH', '/v1/organization', { body: { spoken_name: 'the clinic' } });
  await good('GET', '/v1/logs');
  await good('GET', '/v1/retention');
  await good('PATCH', '/v1/retention', { body: { agent_id: agent.id, events_days: 30 } });
  await good('DELETE', `/v1/retention/${agent.id}`);
  const hold = await good('POST', '/v1/legal_holds', {
    body: { number: '+14155550155', reason: 'A claim.' },
  });
  await good('GET', '/v1/legal_holds');
  await good('GET', `/v1/legal_holds/${hold.id}`);
  await good('DELETE', `/v1/legal_holds/${hold.id}`);
  const erasure = await good('POST', '/v1/erasures', { body: { number: '+14155550155' } });
  await good('GET', '/v1/erasures?limit=1');
  await good('GET', `/v1/erasures/${erasure.id}`);
  await good('DELETE', `/v1/webhook_endpoints/${endpoint.id}`);
  await good('DELETE', at);

  for (const { method, path, operation } of operations) {
    const asked = path.replaceAll(/\{\w+\}/g, '0199c000-0000-7000-8000-000000000000');
    if (operation.security?.length !== 0) {
      t.equal((await rig.api(method.toUpperCase(), asked, { key: null })).status, 401, `${method} ${path}`);
      const odd = await rig.api(method.toUpperCase(), `${asked}?odd=1`);
      const takesFile = operation.requestBody?.content['text/csv'] !== undefined;
      t.equal(odd.status, path.includes('{') ? odd.status : takesFile ? 415 : 400, `${method} ${path}`);
      const wrong = method === 'get' ? odd : await rig.api(method.toUpperCase(), asked, { body: { odd: 1 } });
      t.ok([400, 404, takesFile ? 415 : 400].includes(wrong.status), `${method} ${path}: ${wrong.status}`);
    }
    const statuses = [...(rig.answered.get(operation.operationId) ?? [])];
    // The recording, which is a file and no JSON, has tests of its own with the calls.
    if (operation.operationId === 'getRecording') continue;
    t.ok(
      statuses.some((status) => status < 300),
      `${method} ${path} has answered well`,
    );
  }
});

t.test('what a document does not say is noticed', async (t) => {
  const headers = new Headers({
    'x-request-id': '0199c000-0000-7000-8000-000000000000',
    'content-type': 'application/json; charset=utf-8',
  });
  const fault = (status: number, body: unknown, method = 'GET', path = '/v1/calls') =>
    faultOfAnswer(method, path, { status, headers, body, text: JSON.stringify(body) });
  t.equal(fault(200, []), null);
  t.match(fault(200, { data: [] }), /array/);
  t.match(fault(200, [{ id: 'x' }]), /required/);
  t.match(fault(201, []), /no answer 201/);
  t.match(fault(400, { error: 'wrong' }), /object/);
  t.match(fault(400, { error: { code: 'invented', message: '', request_id: '' } }), /allowed values/);
  t.equal(fault(400, { error: { code: 'invalid_number', message: '', request_id: '' } }), null);
  t.match(fault(200, {}, 'GET', '/v1/nothing'), /no such operation/);
  headers.delete('x-request-id');
  t.match(fault(200, []), /X-Request-Id is missing/);
  t.equal(faultOfBody('POST', '/v1/agents', { name: 'A', type: 'outbound' }), null);
  t.match(faultOfBody('POST', '/v1/agents', { name: 'A' }), /type/);
  t.match(faultOfBody('POST', '/v1/agents', { name: 'A', type: 'outbound', odd: 1 }), /additional/);
  t.match(faultOfBody('DELETE', '/v1/agents/0199c000-0000-7000-8000-000000000000', { a: 1 }), /none/);
});

t.test('a webhook arrives with the headers and the body that the document has', async (t) => {
  t.same(Object.keys(document.webhooks), EVENT_TYPES);
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openWebhookRig(t);
  await rig.endpoint(receiver.url);
  await rig.deliver();
  await rig.event();
  await receiver.got(1);
  const [request] = receiver.requests;
  const item = document.webhooks['call.queued']?.post;
  for (const parameter of item?.parameters ?? []) {
    if ('$ref' in parameter) throw new Error('a reference');
    const value = request?.headers[parameter.name.toLowerCase()];
    t.equal(value !== undefined, parameter.required, parameter.name);
    const index = item?.parameters?.indexOf(parameter) ?? 0;
    if (value === undefined) continue;
    const validate = validatorAt('webhooks', 'call.queued', 'post', 'parameters', String(index), 'schema');
    t.ok(validate(value), `${parameter.name}: ${inWords(validate.errors)}`);
  }
  const body = validatorAt(
    'webhooks',
    'call.queued',
    'post',
    'requestBody',
    'content',
    'application/json',
    'schema',
  );
  t.ok(body(JSON.parse(request?.body ?? '')), inWords(body.errors));
});
