// The SDK against the control plane on a real socket, and against a peer that fails in every way a network does.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { sdkMethods, writtenMethods } from '../../../control/reference/sdk-method-names.ts';
import { sdkTypes, writtenTypes } from '../../../control/reference/sdk-types.ts';
import { OPERATIONS } from '../../../control/sdk/api.ts';
import { Offhook, OffhookConnectionError, OffhookError } from '../../../control/sdk/index.ts';
import { openRig } from '../rig.ts';

interface Asked {
  method: string;
  url: string;
  headers: IncomingMessage['headers'];
  body: string;
}

/** A server that answers what the test says, request by request. */
async function openPeer(t: Test, answer: (asked: Asked, count: number, res: ServerResponse) => void) {
  const asked: Asked[] = [];
  const server = createServer(async (req, res) => {
    let body = '';
    for await (const part of req) body += part;
    const one = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body };
    asked.push(one);
    answer(one, asked.length, res);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const json = (res: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) =>
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const refusal = (code: string) => ({ error: { code, message: 'No.', request_id: 'r-1', param: 'to' } });

t.test('the types and the table of operations are what the OpenAPI document says now', async (t) => {
  t.equal(writtenTypes(), await sdkTypes(), 'npm run sdk:types writes control/sdk/api.ts anew');
  t.equal(writtenMethods(), sdkMethods(), 'and control/reference/sdk-methods.ts');
});

t.test('each try is told before it is made and when it is over, without the key', async (t) => {
  const { asked, url } = await openPeer(t, (_one, count, res) => {
    if (count === 1) return void res.destroy();
    if (count === 2) return void json(res, 503, refusal('storage_low'), { 'x-request-id': 'r-2' });
    json(res, count === 3 ? 200 : 404, count === 3 ? { data: [] } : refusal('not_found'));
  });
  const told: unknown[][] = [];
  const offhook = new Offhook({
    apiKey: 'sk_x',
    baseUrl: url,
    onRequest(request) {
      request.headers.traceparent = `00-trace-${request.attempt}`;
      told.push(['asks', request.operation, request.attempt]);
    },
    onResponse({ status, requestId, error, attempt, tookMs, url }) {
      told.push(['answered', attempt, status, requestId, error?.code ?? null]);
      t.ok(tookMs >= 0 && url.endsWith('/v1/models'));
    },
  });
  await offhook.models.list();
  t.same(told, [
    ['asks', 'listModels', 1],
    ['answered', 1, null, null, 'connection_failed'],
    ['asks', 'listModels', 2],
    ['answered', 2, 503, 'r-1', 'storage_low'],
    ['asks', 'listModels', 3],
    ['answered', 3, 200, null, null],
  ]);
  t.match(
    asked.map(({ headers }) => [headers.traceparent, headers.authorization]),
    [1, 2, 3].map((attempt) => [`00-trace-${attempt}`, 'Bearer sk_x']),
  );
  const refusing = new Offhook({
    apiKey: 'sk_x',
    baseUrl: url,
    onRequest(request) {
      t.notMatch(JSON.stringify(request), /sk_x/);
      throw new Error('not now');
    },
  });
  await t.rejects(refusing.models.list(), { message: 'not now' });
  t.equal(asked.length, 3);
});

t.test('every operation has its method, and asks just that', async (t) => {
  const { asked, url } = await openPeer(t, (one, _count, res) =>
    json(res, 200, { data: one.url.startsWith('/v1/events') ? [{ id: 'e' }] : [] }),
  );
  const offhook = new Offhook({ apiKey: 'sk_x', baseUrl: url });
  const templates = new Map(
    Object.entries(OPERATIONS).map(([id, { method, path }]) => [
      `${method} ${path.replaceAll(/\{(id|agent_id)\}/g, 'a').replaceAll(/\{(number|contact)_id\}/g, 'b')}`,
      id,
    ]),
  );
  const called = new Set<string>();
  for (const [name, resource] of Object.entries(offhook)) {
    if (name === 'webhooks') continue;
    const methods: [string, unknown][] =
      typeof resource === 'function' ? [[name, resource]] : Object.entries(resource as object);
    for (const [method, run] of methods) {
      if (name === 'calls' && method === 'wait') continue;
      const before = asked.length;
      // Ids where ids belong; a body or a query is whatever comes.
      const argument =
        (name === 'campaigns'
          ? !/^(create|list)$/.test(method)
          : /^(attachNumber|detachNumber|setPrimaryNumber|update|get|archive|release|delete|transcript|turns|events|recording|cancel|hangup|rotateSecret|redeliver|test|replay|lift|removeAgent|remove|revoke)$/.test(
              method,
            )) &&
        resource !== offhook.webhookSecret &&
        resource !== offhook.balance;
      // Whatever the operator alone may do.
      const args = argument ? ['a', method === 'detachNumber' || method === 'contact' ? 'b' : {}] : [{}];
      if (name === 'balance' || name === 'organizations') args.push('operator');
      const answer = (run as (...given: unknown[]) => unknown)(...args);
      // A stream asks when it is read.
      await (method === 'follow' ? (answer as AsyncGenerator).next() : answer);
      for (const one of asked.slice(before)) {
        called.add(
          templates.get(`${one.method} ${one.url.replace(/\?.*/, '')}`) ?? `${one.method} ${one.url}`,
        );
      }
    }
  }
  t.same([...called].sort(), Object.keys(OPERATIONS).sort());
  t.ok(asked.every(({ headers }) => headers.authorization === 'Bearer sk_x'));
  const keyed = asked.filter(({ headers }) => headers['idempotency-key'] !== undefined);
  t.same(
    new Set(keyed.map(({ method, url: path }) => templates.get(`${method} ${path}`))),
    new Set(Object.entries(OPERATIONS).flatMap(([id, one]) => ('once' in one ? [id] : []))),
    'what creates, dials or buys carries an idempotency key, and nothing else does',
  );
});

t.test('against the API itself: an agent, a list over pages, a refusal with all it says', async (t) => {
  const rig = await openRig(t);
  const offhook = new Offhook({ apiKey: rig.key, baseUrl: `${rig.url}/` });
  const numberId = await rig.number('+14155550100');
  const made = await offhook.agents.create({ name: 'One', type: 'outbound', number_ids: [numberId] });
  t.equal((await offhook.agents.get(made.id)).name, 'One');
  for (const name of ['Two', 'Three', 'Four', 'Five']) await offhook.agents.create({ name, type: 'inbound' });

  const first = await offhook.agents.list({ limit: 2 });
  t.same(
    first.data.map(({ name }) => name),
    ['Five', 'Four'],
  );
  t.equal(first.next, first.data.at(-1)?.id);
  const names: string[] = [];
  for await (const agent of offhook.agents.list({ limit: 2 })) names.push(agent.name);
  t.same(names, ['Five', 'Four', 'Three', 'Two', 'One'], 'all pages, newest first');
  t.same(
    (await offhook.agents.list({ limit: 2 }).all(3)).map(({ name }) => name),
    ['Five', 'Four', 'Three'],
  );
  t.equal((await offhook.numbers.get(numberId))?.e164, '+14155550100');
  t.equal(await offhook.numbers.get(made.id), undefined);

  const calls = await offhook.calls.list();
  t.same(calls, { data: [], next: null }, 'the bare array is a page like the others');

  await t.rejects(offhook.calls.create({ agent_id: made.id, to: 'nobody' }), {
    name: 'OffhookError',
    status: 400,
    code: 'invalid_number',
    param: 'to',
  });
  const error = await offhook.agents.get('0192f5a0-0000-7000-8000-000000000000').catch((e: unknown) => e);
  t.ok(error instanceof OffhookError);
  t.match(error, { status: 404, code: 'not_found', requestId: /^[0-9a-f-]{36}$/ });
  const read = await offhook.agents.get(made.id);
  const held = { ifUpdatedAt: read.updated_at };
  t.equal((await offhook.agents.update(made.id, { name: 'Mine' }, held)).name, 'Mine');
  await t.rejects(offhook.agents.update(made.id, { name: 'Late' }, held), {
    status: 412,
    code: 'changed_meanwhile',
  });
  t.equal((await offhook.agents.update(made.id, { name: 'Later stands' })).name, 'Later stands');
  await t.rejects(new Offhook({ apiKey: 'sk_wrong', baseUrl: rig.url }).balance.get(), {
    code: 'unauthorized',
  });
});

t.test('what failed on its way is tried again, with the same idempotency key', async (t) => {
  const { asked, url } = await openPeer(t, (_one, count, res) => {
    if (count === 1) return res.destroy();
    if (count === 2) return json(res, 503, refusal('at_capacity'), { 'retry-after': '0' });
    return json(res, 201, { id: 'c1', status: 'initiated' });
  });
  const offhook = new Offhook({ baseUrl: url });
  const call = await offhook.calls.create({ to: '+14155550123', instructions: 'Hello.' });
  t.equal(call.id, 'c1');
  t.equal(asked.length, 3);
  t.equal(
    new Set(asked.map(({ headers }) => headers['idempotency-key'])).size,
    1,
    'so that nothing is dialled twice',
  );
  t.notOk(asked[0]?.headers.authorization, 'no key, no header');
});

t.test('what may have had its effect, and knows no repeat, is not sent again', async (t) => {
  const { asked, url } = await openPeer(t, (_one, _count, res) => res.destroy());
  const offhook = new Offhook({ baseUrl: url });
  await t.rejects(offhook.webhookDeliveries.redeliver('d1'), { code: 'connection_failed', status: 0 });
  t.equal(asked.length, 1);
  await t.rejects(offhook.calls.get('c1', { maxRetries: 1 }), OffhookConnectionError);
  t.equal(asked.length, 3, 'a read is');
});

t.test('a refusal is not tried again, nor a patience beyond measure', async (t) => {
  const { asked, url } = await openPeer(t, (one, _count, res) =>
    one.url === '/v1/agents/a'
      ? json(res, 429, refusal('rate_limited'), { 'retry-after': '3600' })
      : res.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
  );
  const offhook = new Offhook({ baseUrl: url });
  await t.rejects(offhook.agents.get('a'), { code: 'rate_limited', retryAfterSeconds: 3600 });
  await t.rejects(offhook.calls.get('c'), { code: 'http_502', status: 502 }, 'a proxy has no error body');
  t.equal(asked.length, 2);
});

t.test('a try has its time, a signal ends it at once', async (t) => {
  const { asked, url } = await openPeer(t, () => {});
  const offhook = new Offhook({ baseUrl: url, maxRetries: 0 });
  await t.rejects(offhook.calls.get('c', { timeoutMs: 30 }), { code: 'timeout' });
  const stop = new AbortController();
  const asking = offhook.calls.get('c', { signal: stop.signal });
  stop.abort(new Error('enough'));
  await t.rejects(asking, { message: 'enough' });
  t.ok(asked.length <= 2);
});

t.test('an answer that breaks off is tried again; a recording takes as long as it takes', async (t) => {
  const { asked, url } = await openPeer(t, (one, count, res) => {
    if (one.url.endsWith('/recording')) {
      res.writeHead(200, { 'content-type': 'audio/wav' }).write('RI');
      setTimeout(() => res.end('FF'), 300);
    } else if (count === 1) {
      res.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
      setTimeout(() => res.destroy(), 20);
    } else if (count === 2) json(res, 200, { id: 'a' });
    else res.writeHead(200, { 'content-type': 'application/json' }).write('{"id":');
  });
  const offhook = new Offhook({ baseUrl: url, maxRetries: 1 });
  t.match(await offhook.agents.get('a'), { id: 'a' });
  t.equal(asked.length, 2);
  await t.rejects(offhook.agents.get('a', { timeoutMs: 50, maxRetries: 0 }), { code: 'timeout' });
  const recording = await offhook.calls.recording('c', { timeoutMs: 150, maxRetries: 0 });
  t.equal(await recording.text(), 'RIFF');
});

t.test('wait follows a call to its result', async (t) => {
  const states = [
    { status: 'ringing', result_status: 'pending' },
    { status: 'in_progress', result_status: 'pending' },
    { status: 'completed', result_status: 'pending' },
    { status: 'completed', result_status: 'completed', result: { will_come: true } },
  ];
  const { url } = await openPeer(t, (_one, count, res) =>
    json(res, 200, { id: 'c', ...states[Math.min(count, 4) - 1] }),
  );
  const offhook = new Offhook({ baseUrl: url });
  const seen: string[] = [];
  const call = await offhook.calls.wait('c', { onChange: ({ status }) => seen.push(status) });
  t.same(call.result, { will_come: true });
  t.same(seen, ['ringing', 'in_progress', 'completed']);
  await t.rejects(
    new Offhook({
      fetch: async () => Response.json({ id: 'c', status: 'in_progress', result_status: 'pending' }),
    }).calls.wait('c', { withinMs: 0 }),
    { code: 'timeout', message: /goes on/ },
  );
});

t.test('follow goes on after the last event, from the latest one on', async (t) => {
  const pages = [[{ id: 'e5' }], [{ id: 'e6' }, { id: 'e7' }], [], [{ id: 'e8' }]];
  const { asked, url } = await openPeer(t, (_one, count, res) =>
    json(res, 200, { data: pages[count - 1] ?? [] }),
  );
  const seen: string[] = [];
  for await (const event of new Offhook({ baseUrl: url }).events.follow()) {
    seen.push(event.id);
    if (event.id === 'e8') break;
  }
  t.same(seen, ['e6', 'e7', 'e8']);
  t.same(
    asked.map((one) => new URL(one.url, url).searchParams.get('after')),
    [null, 'e5', 'e7', 'e7'],
  );
});

t.test('an id that is missing asks nothing', async (t) => {
  const { asked, url } = await openPeer(t, (_one, _count, res) => json(res, 200, {}));
  await t.rejects(new Offhook({ baseUrl: url }).agents.get(''), { message: /id is missing/ });
  t.equal(asked.length, 0);
});
