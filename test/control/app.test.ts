// The application around the routes: ids, headers, bodies of every hostile kind, errors, hooks, health, metrics.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import express, { Router } from 'express';
import t from 'tap';
import { ROUTES } from '../../control/api/routes.ts';
import { AppError } from '../../errors.ts';
import { openRig } from './rig.ts';

t.test('every answer has its own request id and the security headers', async (t) => {
  const rig = await openRig(t);
  const ids = new Set<string>();
  for (const path of ['/healthz', '/readyz', '/metrics', '/v1/agents', '/v1/nothing', '/nothing', '/']) {
    const { headers } = await rig.api('GET', path);
    ids.add(headers.get('x-request-id') ?? '');
    t.equal(headers.get('x-content-type-options'), 'nosniff', path);
    t.equal(headers.get('cache-control'), 'no-store', path);
    t.match(headers.get('content-security-policy'), "default-src 'none'", path);
    t.equal(headers.get('x-powered-by'), null, path);
  }
  t.equal(ids.size, 7);
});

t.test('an unknown path is 404 and a wrong method 405 with Allow, both as JSON', async (t) => {
  const rig = await openRig(t);
  for (const path of ['/v1', '/v1/', '/v1/nothing', '/v1/calls/x/y', '/v1/Agents', '/nothing', '/v2/calls']) {
    const { status, body } = await rig.api('GET', path);
    t.same([status, body?.error.code], [404, 'not_found'], path);
  }
  for (const [method, path, allow] of [
    ['DELETE', '/v1/agents', 'POST, GET, HEAD'],
    ['PUT', '/v1/calls', 'POST, GET, HEAD'],
    ['OPTIONS', '/v1/calls', 'POST, GET, HEAD'],
    ['GET', '/v1/numbers/purchase', 'POST'],
    ['POST', '/v1/calls/x', 'GET, HEAD'],
    ['GET', '/v1/calls/x/cancel', 'POST'],
  ] as const) {
    const { status, body, headers } = await rig.api(method, path);
    t.same(
      [status, body.error.code, headers.get('allow')],
      [405, 'method_not_allowed', allow],
      `${method} ${path}`,
    );
  }
  const head = await rig.api('HEAD', '/v1/agents');
  t.same([head.status, head.text], [200, '']);
  const broken = await rig.api('GET', '/v1/calls/%ff');
  t.equal(broken.status, 400, 'a path that cannot be decoded');
});

t.test('hostile bodies are 4xx with the right code, never 5xx', async (t) => {
  const rig = await openRig(t);
  const json = { 'content-type': 'application/json' };
  const nested = (depth: number) => `{"context":${'['.repeat(depth)}${']'.repeat(depth)}}`;
  const good = '{"name":"A","type":"outbound"}';
  const cases: [string, string | Buffer, Record<string, string>, number, string][] = [
    ['cut JSON', '{"name":', json, 400, 'invalid_json'],
    ['no JSON', 'name=A', json, 400, 'invalid_json'],
    ['two documents', `${good}${good}`, json, 400, 'invalid_json'],
    ['NaN', '{"name":NaN}', json, 400, 'invalid_json'],
    ['a byte order mark and text', '\ufeffhello', json, 400, 'invalid_json'],
    ['a lone NUL', '\0', json, 400, 'invalid_json'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), json, 400, 'invalid_json'],
    ['UTF-16', Buffer.from(good, 'utf16le'), json, 400, 'invalid_json'],
    ['white space', '   ', json, 400, 'invalid_json'],
    ['a list', '[]', json, 400, 'invalid_request'],
    ['a text', '"x"', json, 400, 'invalid_request'],
    ['null', 'null', json, 400, 'invalid_request'],
    ['a number', '5', json, 400, 'invalid_request'],
    ['33 deep', nested(32), json, 400, 'invalid_request'],
    ['10,000 deep', nested(10_000), json, 400, 'invalid_request'],
    ['100,000 deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, json, 400, 'invalid_request'],
    ['__proto__', '{"__proto__":{"admin":true},"name":"A","type":"outbound"}', json, 400, 'invalid_request'],
    ['__proto__ deep inside', '{"a":[{"b":{"__proto__":1}}]}', json, 400, 'invalid_request'],
    [
      'constructor',
      '{"constructor":{"prototype":{"x":1}},"name":"A","type":"outbound"}',
      json,
      400,
      'unknown_parameter',
    ],
    ['hasOwnProperty', '{"hasOwnProperty":1,"name":"A","type":"outbound"}', json, 400, 'unknown_parameter'],
    ['a number beyond all', '{"name":1e999,"type":"outbound"}', json, 400, 'invalid_request'],
    ['256 KB and one byte', `{"name":"${'x'.repeat(262_144 - 11 + 1)}"}`, json, 413, 'body_too_large'],
    ['5 MB', Buffer.alloc(5_000_000, 0x20), json, 413, 'body_too_large'],
    [
      'a form',
      'name=A',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      'unsupported_media_type',
    ],
    ['text', good, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    ['a look-alike', good, { 'content-type': 'application/jsonp' }, 415, 'unsupported_media_type'],
    ['latin-1', good, { 'content-type': 'application/json; charset=latin1' }, 415, 'unsupported_media_type'],
    ['gzip', gzipSync(good), { ...json, 'content-encoding': 'gzip' }, 415, 'unsupported_media_type'],
    ['an unknown encoding', good, { ...json, 'content-encoding': 'zip' }, 415, 'unsupported_media_type'],
  ];
  for (const [name, raw, headers, status, code] of cases) {
    const answer = await rig.api('POST', '/v1/agents', { raw, headers });
    t.same([answer.status, answer.body?.error.code], [status, code], name);
  }
  t.equal(({} as Record<string, unknown>).admin, undefined, 'no prototype was touched');
  t.same((await rig.api('GET', '/v1/agents')).body.data, []);
  t.same(
    rig.lines.filter((line) => line.level === 'error'),
    [],
  );
  for (const type of [
    'application/json',
    'Application/JSON; charset=UTF-8',
    'application/json;charset="utf-8"',
  ]) {
    const answer = await rig.api('POST', '/v1/agents', { raw: good, headers: { 'content-type': type } });
    t.equal(answer.status, 201, type);
  }
  const marked = await rig.api('POST', '/v1/agents', { raw: `\ufeff${good}`, headers: json });
  t.equal(marked.status, 201, 'a byte order mark alone does no harm');
  const edge = await rig.api('POST', '/v1/agents', { raw: good.padEnd(262_144), headers: json });
  t.equal(edge.status, 201, '256 KB are allowed');
});

t.test('random bodies on every route give no 5xx', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  // A small generator with a fixed seed: the same bodies each time (Park and Miller, 1988).
  let seed = 20_260_301;
  const random = (n: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % n;
  };
  const names = [
    'name',
    'type',
    'to',
    'agent_id',
    'instructions',
    'returns',
    'tools',
    'url',
    'context',
    'metadata',
  ];
  names.push(
    'number_id',
    'number_ids',
    'e164',
    'status',
    'enabled_events',
    'webhook_url',
    'language',
    'constructor',
  );
  const value = (depth: number): unknown => {
    const flat = [
      null,
      true,
      -1,
      1.5e300,
      '',
      '\ud800',
      '\0',
      'x'.repeat(300),
      '+14155550123',
      agent.id,
      'outbound',
    ];
    const kind = random(depth > 3 ? flat.length : flat.length + 4);
    if (kind < flat.length) return flat[kind];
    if (kind % 2) return Array.from({ length: random(4) }, () => value(depth + 1));
    return Object.fromEntries(
      Array.from({ length: random(4) }, () => [names[random(names.length)] ?? 'a', value(depth + 1)]),
    );
  };
  const seen = new Map<number, number>();
  for (const route of ROUTES) {
    if (route.body === undefined) continue;
    const path = route.path.replace(/:\w+/g, agent.id);
    for (let i = 0; i < 60; i++) {
      const body = Object.fromEntries(
        Array.from({ length: 1 + random(5) }, () => [names[random(names.length)] ?? 'a', value(0)]),
      );
      const answer = await rig.api(route.method.toUpperCase(), path, { body });
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      if (answer.status >= 500) t.fail(`${route.method} ${path} ${JSON.stringify(body)}: ${answer.text}`);
    }
  }
  t.ok((seen.get(400) ?? 0) > 300, 'most were refused');
});

t.test('what nobody foresaw is "internal" to the client and logged once, with its stack', async (t) => {
  const rig = await openRig(t);
  rig.store.listAgents = async () => {
    throw new TypeError('secret detail');
  };
  const answer = await rig.api('GET', '/v1/agents');
  t.equal(answer.status, 500);
  t.equal(answer.body.error.code, 'internal');
  t.notMatch(answer.text, 'secret detail');
  t.notMatch(answer.text, 'at ', 'no stack');
  const logged = () => rig.lines.filter((line) => line.level === 'error');
  // The line is written when the answer's connection is done with it: another request comes after that.
  await rig.api('GET', '/healthz');
  t.equal(logged().length, 1);
  t.match(logged()[0]?.fields, {
    route: '/v1/agents',
    status: 500,
    request_id: answer.body.error.request_id,
  });
  t.match(logged()[0]?.fields.err, { stack: /secret detail\s+at / });

  rig.store.listAgents = async () => {
    throw new AppError('internal', 'table agents is locked');
  };
  t.notMatch((await rig.api('GET', '/v1/agents')).text, 'locked', 'also when it was thrown by name');
});

t.test('the log has one line per request, with ids and without what was sent', async (t) => {
  const rig = await openRig(t);
  await rig.api('POST', '/v1/agents?secret=1', { body: { name: 'Canary', type: 'outbound' } });
  await rig.api('GET', '/v1/canary-path');
  await rig.api('GET', '/healthz');
  t.same(
    rig.lines.map((line) => [line.message, line.fields.route, line.fields.status, line.fields.code]),
    [
      ['http.request', '/v1/agents', 400, 'unknown_parameter'],
      ['http.request', null, 404, 'not_found'],
    ],
  );
  const all = JSON.stringify(rig.lines);
  t.match(all, rig.orgId);
  t.notMatch(all, /canary/i);
  t.notMatch(all, rig.key);
});

t.test(
  'what strangers ask fills no log; who has a key has a line each, and so has the carrier',
  async (t) => {
    const hooks = Router();
    hooks.post('/signed', (_req, res) => void res.status(204).end());
    hooks.post('/forged', (_req, res) => void res.status(403).end());
    const rig = await openRig(t, { hooks });
    const lines = (level?: string) =>
      rig.lines.filter(
        (line) => line.message === 'http.request' && (level === undefined || line.level === level),
      );
    for (let i = 0; i < 60; i++) {
      await rig.api('GET', '/v1/agents', { key: null });
      await rig.api('GET', '/nowhere', { key: null });
      await rig.api('GET', '/docs', { key: null });
      await rig.api('POST', '/carriers/twilio/forged', { key: null });
    }
    t.equal(lines().length, 20);
    t.match(lines()[0], {
      level: 'info',
      fields: { status: 401, code: 'unauthorized', address: '127.0.0.1' },
    });
    for (let i = 0; i < 30; i++) {
      await rig.api('GET', '/v1/agents');
      await rig.api('POST', '/carriers/twilio/signed', { key: null });
    }
    t.equal(lines().length, 20 + 60);
    rig.strangers.close();
    t.match(rig.lines.at(-1), {
      message: 'strangers.unwritten',
      fields: { of: 'http.request', count: 220, why: { unauthorized: 55, not_found: 55, 200: 55, 403: 55 } },
    });
  },
);

t.test('hooks come before keys and bodies, and pages after everything', async (t) => {
  const hooks = Router();
  hooks.post('/voice', express.text({ type: () => true }), (req, res) => {
    res.type('text/xml').send(`<Response>${req.body}</Response>`);
  });
  const pages = Router();
  pages.get('/', (_req, res) => {
    res.set('Content-Security-Policy', "default-src 'self'").send('dashboard');
  });
  const rig = await openRig(t, { hooks, pages });
  const hook = await rig.api('POST', '/carriers/twilio/voice', {
    key: null,
    raw: 'CallSid=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  t.same([hook.status, hook.text], [200, '<Response>CallSid=1</Response>']);
  const page = await rig.api('GET', '/', { key: null });
  t.same([page.text, page.headers.get('content-security-policy')], ['dashboard', "default-src 'self'"]);
  const lost = await rig.api('GET', '/carriers/twilio/other', { key: null });
  t.same([lost.status, lost.body.error.code], [404, 'not_found']);
});

t.test('health is open, readiness says which part is not ready', async (t) => {
  const rig = await openRig(t);
  const health = await rig.api('GET', '/healthz', { key: null });
  t.same([health.status, health.body], [200, { status: 'ok' }]);
  const ready = await rig.api('GET', '/readyz', { key: null });
  t.same([ready.status, ready.body], [200, { status: 'ready', checks: { storage: 'ok' } }]);
  rig.behaviour.ready = () => ({ ok: false, checks: { accepting: false } });
  const draining = await rig.api('GET', '/readyz', { key: null });
  t.same([draining.status, draining.body], [503, { status: 'not_ready', checks: { accepting: false } }]);
  t.match(draining.headers.get('retry-after'), /^\d+$/);
});

t.test('metrics count requests by route pattern and show what the store and the bridge hold', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent();
  await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } });
  await rig.api('GET', `/v1/agents/${agent.id}`);
  await rig.api('GET', '/v1/invented/by/client');
  rig.behaviour.live = () => [
    { callId: 'a', thread: 1, floor: 'none' },
    { callId: 'b', thread: 1, floor: 'none' },
  ];
  const { status, text: metrics, headers } = await rig.api('GET', '/metrics', { key: null });
  t.equal(status, 200);
  t.match(headers.get('content-type'), 'text/plain');
  for (const line of [
    'offhook_http_request_seconds_count{method="GET",route="/v1/agents/:id",status="200"} 1',
    'offhook_http_request_seconds_count{method="POST",route="/v1/calls",status="201"} 1',
    'offhook_http_request_seconds_count{method="GET",route="none",status="404"} 1',
    'offhook_calls_live{thread="1"} 2',
    'offhook_calls_unfinished 1',
    'offhook_calls_accepting 1',
    'offhook_deliveries_pending 0',
    'offhook_storage_kept_writes 0',
  ]) {
    t.ok(metrics.includes(`${line}\n`), line);
  }
  t.match(metrics, 'process_cpu_user_seconds_total');
  t.notMatch(metrics, agent.id);

  rig.store.stats = async () => {
    throw new Error('disk');
  };
  const failing = await rig.api('GET', '/metrics', { key: null });
  t.equal(failing.status, 200, 'storage that fails takes no other metric along');
  t.match(failing.text, 'offhook_deliveries_pending Nan');
});

t.test('behind a proxy /metrics takes a key', async (t) => {
  const rig = await openRig(t);
  const headers = { 'x-forwarded-for': '203.0.113.9' };
  const closed = await rig.api('GET', '/metrics', { key: null, headers });
  t.same([closed.status, closed.body.error.code], [401, 'unauthorized']);
  t.equal((await rig.api('GET', '/metrics', { key: 'sk_wrongwrongwrongwrong', headers })).status, 401);
  t.equal((await rig.api('GET', '/metrics', { headers })).status, 200);
});

t.test('what is not HTTP is answered in the same shape, and the connection ends', async (t) => {
  const rig = await openRig(t);
  const port = Number(new URL(rig.url).port);
  for (const [sent, status] of [
    ['NONSENSE\r\n\r\n', '400'],
    [`GET / HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(20_000)}\r\n\r\n`, '431'],
    ['POST /v1/agents HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n', '400'],
  ] as const) {
    const socket = connect(port, '127.0.0.1');
    socket.write(sent);
    const answer = await text(socket);
    t.match(answer, `HTTP/1.1 ${status}`);
    t.match(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))), {
      error: { code: String, message: String, request_id: String },
    });
  }
});
