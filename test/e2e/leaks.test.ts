// Recognizable values are planted wherever a secret, a number or speech can enter, calls go well and badly, the process
// is killed; then everything the daemon shows to others than their owner is searched for them.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHmac, randomBytes, randomInt } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { findRedis } from '../../scripts/chaos/redis.ts';
import { freePort } from '../../scripts/free-port.ts';
import { ENDED, openRig, until } from './rig.ts';

/** Numbers that occur nowhere else: of a range no carrier of the lab sells. */
const newNumber = () => `+1555${String(randomInt(2_000_000, 9_999_999))}`;

interface Plant {
  name: string;
  value: string;
}

/** The plants a text holds, in any of the spellings in which a value travels; numbers also without their plus. */
function find(text: string, plants: readonly Plant[]): string[] {
  const lower = text.toLowerCase();
  return plants.flatMap(({ name, value }) => {
    const spellings = [
      value,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      Buffer.from(value).toString('base64').replace(/=+$/, ''),
      ...(/^\+\d+$/.test(value) ? [value.slice(1)] : []),
    ];
    return spellings.some((spelling) => lower.includes(spelling.toLowerCase())) ? [name] : [];
  });
}

/** A Redis with a password, and everything that was ever said to it. */
async function openRedis(t: Test, server: string, password: string) {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'offhook-redis-'));
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', ''];
  const child: ChildProcess = spawn(server, [...args, '--requirepass', password], { stdio: 'ignore' });
  const url = `redis://:${password}@127.0.0.1:${port}`;
  const client = new Redis(url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
  client.on('error', () => {});
  await client.ping();
  const monitor = await client.monitor();
  const said: string[] = [];
  monitor.on('monitor', (_time: string, command: string[]) => said.push(command.join(' ')));
  t.teardown(async () => {
    monitor.disconnect();
    client.disconnect();
    const ended = new Promise<void>((done) => child.once('exit', () => done()));
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  return { url, client, said };
}

/** Every key with its value, as text. */
async function dump(client: Redis): Promise<string[]> {
  const found: string[] = [];
  for await (const page of client.scanStream({ count: 500 })) {
    for (const key of page as string[]) {
      const type = await client.type(key);
      let value: unknown = null;
      if (type === 'string') value = await client.get(key);
      else if (type === 'hash') value = await client.hgetall(key);
      else if (type === 'list') value = await client.lrange(key, 0, -1);
      else if (type === 'set') value = await client.smembers(key);
      else if (type === 'zset') value = await client.zrange(key, 0, -1, 'WITHSCORES');
      else if (type === 'stream') value = await client.xrange(key, '-', '+');
      else if (type !== 'none') throw new Error(`a key of type ${type}`);
      found.push(`${key} ${type} ${JSON.stringify(value)}`);
    }
  }
  return found;
}

/** How other processes see one: its command line and its name. Empty where the system has no /proc. */
function shown(pid: number): string[] {
  return ['cmdline', 'comm'].flatMap((file) => {
    const path = `/proc/${pid}/${file}`;
    return existsSync(path) ? [readFileSync(path, 'latin1').replaceAll('\0', ' ')] : [];
  });
}

function sign(token: string, url: string, fields: Record<string, string>): string {
  const text = Object.keys(fields)
    .sort()
    .reduce((all, name) => all + name + fields[name], url);
  return createHmac('sha1', token).update(text).digest('base64');
}

t.test('planted values', async (t) => {
  const server = findRedis();
  const redisPassword = 'plantedRedisPassword71';
  const redis = server === null ? null : await openRedis(t, server, redisPassword);

  // What tools and webhooks reach: it fails, and says back whatever it was sent.
  const reached: string[] = [];
  const peer = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += data;
    });
    request.on('end', () => {
      const all = `${request.url} ${JSON.stringify(request.headers)} ${body}`;
      reached.push(all);
      if (request.url?.startsWith('/cut')) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain' }).end(`Cannot do: ${all}`);
    });
  });
  await new Promise<void>((done) => peer.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    peer.closeAllConnections();
    peer.close();
  });
  const peerUrl = `http://127.0.0.1:${(peer.address() as AddressInfo).port}`;
  const nobody = `http://127.0.0.1:${await freePort()}`;

  const to = {
    good: newNumber(),
    keys: newNumber(),
    refused: newNumber(),
    unreachable: newNumber(),
    live: newNumber(),
    transfer: newNumber(),
    malformed: newNumber(),
    forged: newNumber(),
  };
  const inboundFrom = newNumber();
  const digits = '9021073';
  const modelKey = 'plantedModelKeyWithoutAnyShape42';
  const operatorKey = 'plantedOperatorKey99';
  const secretKey = randomBytes(32).toString('base64');
  const password = 'plantedDashboardPassword33';
  const secretInPath = 'sk_plantedKeyInAPath000000';

  const rig = await openRig(t, {
    env: {
      LOG_LEVEL: 'debug',
      RECORD_CALLS: 'true',
      MEDIA_THREADS: '2',
      OPENAI_API_KEY: modelKey,
      OPERATOR_KEY: operatorKey,
      SECRET_KEY: secretKey,
      ...(redis === null ? {} : { REDIS_MODE: 'auto', REDIS_URL: redis.url }),
    },
    carrier: {
      callees: {
        [to.keys]: {
          ringMs: 200,
          steps: [{ do: 'dtmf', digits, when: { afterAgentSilenceMs: 500, timeoutMs: 20_000 } }],
        },
        [to.unreachable]: { ringMs: 200, outcome: 'rejected' },
        [to.live]: { ringMs: 200 },
      },
    },
  });
  const { lab } = rig;
  const lines = [lab.daemon.lines];
  /** Error bodies, with their status. */
  const errors: string[] = [];
  const refusals: number[] = [];

  async function ask(
    method: string,
    path: string,
    o: { body?: string; headers?: Record<string, string>; key?: string | null } = {},
  ): Promise<Record<string, unknown>> {
    const key = o.key === undefined ? lab.apiKey : o.key;
    const response = await fetch(`${lab.daemon.url}${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(o.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...o.headers,
      },
      ...(o.body === undefined ? {} : { body: o.body }),
    });
    const text = await response.text();
    if (!response.ok) {
      refusals.push(response.status);
      errors.push(`${method} ${response.status} ${text} ${JSON.stringify([...response.headers])}`);
    }
    return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : {};
  }

  // ---- values everywhere ----
  const hookUrl = `${peerUrl}/hooks/planted-hook-path?token=plantedHookToken55`;
  const toolUrl = `${peerUrl}/orders?api_token=plantedToolQuery66&shop=planted-shop-query`;
  const agent = await rig.agent({
    type: 'inbound',
    name: 'planted agent name',
    persona: 'TEST-LOOKUP You are the planted persona Zorblatt.',
    instructions: 'Guard the planted instruction quuxword.',
    returns: { status: 'string', planted_field: 'string' },
    webhook_url: hookUrl,
    tools: [
      {
        type: 'http',
        name: 'lookup_order',
        description: 'Planted tool description xyzzy.',
        parameters: {
          type: 'object',
          properties: { order_number: { type: 'string' } },
          required: ['order_number'],
        },
        url: toolUrl,
        method: 'POST',
        headers: { 'X-Shop-Key': 'plantedToolHeader77', Authorization: 'Bearer plantedToolBearer88' },
        speak_first: 'One planted moment, frobnicate.',
      },
      { type: 'transfer_call', targets: [{ name: 'planted-desk', number: to.transfer }] },
    ],
  });
  const outbound = await rig.agent({
    instructions: 'TEST-BRIEF planted instruction gargle.',
    returns: { caller_words: 'string' },
    webhook_url: hookUrl,
  });
  const long = await rig.agent({
    instructions: 'TEST-LONG planted',
    webhook_url: `${peerUrl}/cut?t=plantedCut`,
  });
  const endpoint = await lab.api<{ id: string; secret: string }>('POST', '/v1/webhook_endpoints', {
    url: `${nobody}/planted-endpoint?key=plantedEndpointKey`,
    description: 'planted endpoint description',
  });
  const rotated = await lab.api<{ secret: string }>('POST', '/v1/webhook_secret/rotate');
  // As often as they can be stored: with an answer kept for a repeat, and the one before beside the one now.
  const again = await ask('POST', '/v1/webhook_endpoints', {
    body: JSON.stringify({ url: `${nobody}/other` }),
    headers: { 'Idempotency-Key': 'planted-registration' },
  });
  const endpointNow = await lab.api<{ secret: string }>(
    'POST',
    `/v1/webhook_endpoints/${endpoint.body.id}/rotate_secret`,
  );
  const rotatedNow = await lab.api<{ secret: string }>('POST', '/v1/webhook_secret/rotate');
  t.match([again.secret, endpointNow.body.secret, rotatedNow.body.secret], [/^whsec_/, /^whsec_/, /^whsec_/]);
  const link = lab.daemon.lines.find((line) => line.includes('/setup#')) ?? '';
  const signedIn = await fetch(`${lab.daemon.url}/dashboard/api/setup`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: lab.daemon.url },
    body: JSON.stringify({ token: link.split('#')[1]?.trim(), password }),
  });
  const cookie = /=([^;]+)/.exec(signedIn.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
  const { csrf_token: csrfToken } = (await signedIn.json()) as { csrf_token: string };
  t.match([cookie, csrfToken], [/^[\w-]{43}$/, /^[\w-]{43}$/]);
  const secretWords = {
    context: { note: 'planted context plugh', phone: to.malformed },
    metadata: { ref: 'planted metadata wibble' },
  };
  t.equal(endpoint.status, 201);
  t.match(rotated.body.secret, /^whsec_/);

  // ---- calls: well, with keys, refused by the carrier, turned away, inbound with a tool that fails ----
  const idempotencyKey = 'planted-idempotency-key-flurb';
  const once = { 'Idempotency-Key': idempotencyKey };
  const goodBody = JSON.stringify({ agent_id: outbound.id, to: to.good, ...secretWords });
  const good = await ask('POST', '/v1/calls', { body: goodBody, headers: once });
  const other = JSON.stringify({ agent_id: outbound.id, to: to.malformed });
  await ask('POST', '/v1/calls', { body: other, headers: once });
  const keys = await rig.dial(outbound.id, to.keys, secretWords);
  const away = await rig.dial(outbound.id, to.unreachable);
  await lab.ask('carrier', '/faults', {
    do: 'status',
    method: 'POST',
    path: 'Calls.json',
    status: 400,
    code: 21999,
    message: `The number ${to.refused} (that is ${to.refused.slice(1)}) of ${lab.carrierToken} is refused`,
  });
  const refused = JSON.stringify({ agent_id: outbound.id, to: to.refused, ...secretWords });
  await ask('POST', '/v1/calls', { body: refused });
  t.match(
    errors.at(-1),
    /502[\s\S]*The carrier refused/,
    'the refusal tells the carrier’s own words, masked',
  );
  await lab.ask('carrier', '/inbound-calls', {
    to: agent.number,
    from: inboundFrom,
    callee: {
      steps: [
        { do: 'say', file: 'caller-more-info.wav', when: { afterAgentSilenceMs: 700, timeoutMs: 20_000 } },
      ],
    },
  });
  const inbound = await until('the inbound call', async () => {
    const { body } = await lab.api<{ id: string }[]>('GET', `/v1/calls?agent_id=${agent.id}`);
    return body[0];
  });

  // ---- requests that are wrong, and hold what must not be told back ----
  const n = to.malformed;
  for (const body of [
    `{"to": "${n}", planted-word}`,
    `{"to": ${n}, "agent_id": "plantedJsonWord"}`,
    `plantedJsonWord ${n}`,
    `["${lab.apiKey}"]`,
    JSON.stringify({ agent_id: outbound.id, to: `${n}x` }),
    JSON.stringify({ agent_id: n, to: n }),
    JSON.stringify({ agent_id: outbound.id, to: n, from_number: to.forged }),
    JSON.stringify({ agent_id: outbound.id, to: n, [n]: 1 }),
    JSON.stringify({ agent_id: outbound.id, to: n, [lab.apiKey]: 1 }),
    JSON.stringify({ agent_id: outbound.id, to: n, metadata: { [n]: 'x'.repeat(600) } }),
    JSON.stringify({ agent_id: outbound.id, to: n, context: 'planted context plugh' }),
    JSON.stringify({ agent_id: outbound.id, to: n, webhook_url: `ftp://u:plantedUrlPassword@${n}/` }),
    JSON.stringify({ agent_id: outbound.id, to: n, webhook_url: 'http://u:plantedUrlPassword@10.0.0.1/' }),
    JSON.stringify({ to: n, instructions: ['planted instruction gargle'], language: `xx-${n}` }),
  ]) {
    await ask('POST', '/v1/calls', { body });
  }
  const tool = { type: 'http', name: 'a', description: 'b', url: `${toolUrl}&x={y}`, method: 'POST' };
  const parameters = { type: 'object', properties: { [n]: { type: 'planted-type-word' } } };
  for (const wrong of [
    { tools: [tool] },
    { tools: [{ ...tool, url: toolUrl, parameters }] },
    { tools: [{ ...tool, url: toolUrl, headers: { 'X-Key': 'plantedToolHeader77\n' } }] },
    { tools: [{ ...tool, url: toolUrl, headers: { [lab.apiKey]: 'é' } }] },
    { tools: [{ type: 'transfer_call', targets: [{ name: 'planted-desk', number: `${n}#` }] }] },
    { returns: { [n]: 'boolean' } },
    { returns: { a: `enum(${n}` } },
    { voice: n },
    { language: secretInPath },
    { persona: [n] },
    { number_ids: [n] },
    { [secretInPath]: 1 },
  ]) {
    await ask('POST', '/v1/agents', { body: JSON.stringify({ name: 'x', type: 'outbound', ...wrong }) });
  }
  await ask('POST', '/v1/agents', { body: JSON.stringify({ name: 'x', type: n }) });
  const events = { enabled_events: [n] };
  await ask('POST', '/v1/webhook_endpoints', { body: JSON.stringify({ url: hookUrl, ...events }) });
  await ask('POST', '/v1/webhook_endpoints', { body: JSON.stringify({ url: `javascript:${secretInPath}` }) });
  await ask('POST', '/v1/numbers/purchase', { body: JSON.stringify({ e164: to.forged }) });
  await ask('PUT', '/v1/balance', {
    body: JSON.stringify({ balance: n }),
    headers: { 'Operator-Key': 'plantedWrongOperatorKey' },
  });
  for (const path of [
    `/v1/calls/${n}`,
    `/v1/calls/${secretInPath}`,
    `/v1/${secretInPath}/${n}`,
    `/${lab.apiKey}`,
    `/v1/calls/%E0%A4%A${n}`,
    `/v1/calls?to_number=${encodeURIComponent(`${n}x`)}`,
    `/v1/calls?${n}=${secretInPath}`,
    `/v1/calls?status=${secretInPath}`,
    `/v1/calls?limit=${n}`,
    `/v1/numbers/available?contains=${'planted-number-word'.repeat(5)}&country=${n}`,
  ]) {
    await ask('GET', path);
  }
  await ask('GET', '/v1/calls', { key: 'sk_plantedWrongKey00000000' });
  await ask('GET', '/v1/calls', { key: null, headers: { authorization: `Basic ${btoa(lab.apiKey)}` } });
  await ask('POST', '/v1/calls', {
    body: goodBody,
    headers: { 'Idempotency-Key': 'planted key \u00e9'.repeat(30) },
  });
  await ask('POST', '/v1/calls', { body: goodBody, headers: { 'content-type': `text/${secretInPath}` } });
  await ask('POST', '/v1/calls', { body: `{"x":"${n.repeat(30_000)}"}` });

  // Hooks: forged ones, and a rightly signed one with words of its own.
  const hook = async (path: string, fields: Record<string, string>, token: string) => {
    const url = `${lab.daemon.url}${path}`;
    const response = await fetch(url, {
      method: 'POST',
      body: new URLSearchParams(fields),
      headers: { 'x-twilio-signature': sign(token, url, fields) },
    });
    const text = await response.text();
    if (!response.ok) errors.push(text);
    return response.status;
  };
  const call = {
    AccountSid: lab.accountSid,
    CallSid: `CA${'0'.repeat(32)}`,
    To: agent.number,
    From: to.forged,
  };
  t.equal(await hook('/carriers/twilio/voice', call, 'plantedWrongToken'), 403);
  t.equal(await hook(`/carriers/twilio/${n}/${secretInPath}`, call, 'plantedWrongToken'), 403);
  await hook(`/carriers/twilio/calls/${n}/status`, call, lab.carrierToken);
  await hook('/carriers/twilio/status', { ...call, CallStatus: `odd ${n}` }, lab.carrierToken);
  await hook(
    `/carriers/twilio/calls/${keys.id}/stream`,
    { ...call, StreamEvent: 'stream-error', StreamError: `no way to ${n}?token=${secretInPath}` },
    lab.carrierToken,
  );
  // A media socket that was never asked for.
  await new Promise<void>((done) => {
    const socket = new WebSocket(`${lab.daemon.url.replace('http', 'ws')}/media/1/1/${secretInPath}?n=${n}`);
    socket.on('error', () => {});
    socket.on('close', () => done());
  });

  // ---- everything takes its course; then the process dies in the middle of a call ----
  const goodId = String(good.id);
  const done = await Promise.all([goodId, keys.id, away.id, inbound.id].map((id) => rig.ended(id, 90_000)));
  const metrics = [await lab.api<string>('GET', '/metrics')];
  const live = await rig.dial(long.id, to.live, secretWords);
  await until('a live call', async () => (await rig.call(live.id)).status === 'in_progress');
  await until('a webhook that fails on its way', () => reached.some((one) => one.startsWith('/cut')));
  const processes = shown(lab.daemon.pid);
  const stored = redis === null ? [] : await dump(redis.client);
  await lab.daemon.stop('SIGKILL');
  // Again, now with a Redis of the daemon's own: it is started by the daemon, whose environment holds keys.
  await lab.restartDaemon({ REDIS_URL: '' });
  lines.push(lab.daemon.lines);
  const killed = await rig.ended(live.id);
  t.ok(ENDED.includes(killed.status));
  if (redis !== null) {
    const checks = await until('a Redis of the daemon’s own', async () => {
      const { body } = await lab.api<{ checks: { webhooks: { redis: { childPid: number | null } | null } } }>(
        'GET',
        '/readyz',
      );
      return body.checks.webhooks.redis?.childPid;
    });
    processes.push(...shown(checks));
    const environment = `/proc/${checks}/environ`;
    if (existsSync(environment)) processes.push(readFileSync(environment, 'latin1'));
  }
  metrics.push(await lab.api<string>('GET', '/metrics'));
  const ready = JSON.stringify((await lab.api('GET', '/readyz')).body);
  processes.push(...shown(lab.daemon.pid));

  // ---- the search ----
  const spoken = [
    ...['Asterisk', 'trying out', 'full featured', 'operating system'].map((value) => ({
      name: `the caller's "${value}"`,
      value,
    })),
    ...['automated assistant', 'Thank you. Goodbye', 'order line', 'look that up', 'found your order'].map(
      (value) => ({ name: `the agent's "${value}"`, value }),
    ),
  ];
  const secrets: Plant[] = [
    { name: 'API key', value: lab.apiKey },
    { name: 'carrier token', value: lab.carrierToken },
    { name: 'model key', value: modelKey },
    { name: 'operator key', value: operatorKey },
    { name: 'key of the secrets', value: secretKey },
    { name: 'key of the secrets, in hex', value: Buffer.from(secretKey, 'base64').toString('hex') },
    { name: 'Redis password', value: redisPassword },
    { name: 'password', value: password },
    { name: 'session', value: cookie },
    { name: 'CSRF token', value: csrfToken },
    { name: 'endpoint secret, before', value: endpoint.body.secret },
    { name: 'endpoint secret', value: endpointNow.body.secret },
    { name: 'secret of another endpoint', value: String(again.secret) },
    { name: 'default secret, before', value: rotated.body.secret },
    { name: 'default secret', value: rotatedNow.body.secret },
    { name: 'header of a tool', value: 'plantedToolHeader77' },
    { name: 'Authorization of a tool', value: 'plantedToolBearer88' },
  ];
  const plants: Plant[] = [
    ...secrets,
    { name: 'keys pressed', value: digits },
    { name: 'Idempotency-Key', value: idempotencyKey },
    ...Object.entries(to).map(([name, value]) => ({ name: `number ${name}`, value })),
    { name: 'number of the caller', value: inboundFrom },
    ...[agent, outbound, long].map(({ number }) => ({ name: 'number of ours', value: number })),
    // All the others begin with the same word; some of them name what they are in.
    { name: 'planted text', value: 'planted' },
    ...['Zorblatt', 'quuxword', 'xyzzy', 'frobnicate', 'gargle', 'plugh', 'wibble', 'flurb'].map((value) => ({
      name: value,
      value,
    })),
    ...spoken,
  ];

  t.test('the plants are where they belong, and the search would see them', async (t) => {
    const { body: record } = await lab.api<Record<string, unknown>>('GET', `/v1/calls/${goodId}`);
    const said = JSON.stringify(await Promise.all(done.map((one) => rig.transcript(one.id))));
    const all = `${JSON.stringify([record, done])} ${said} ${reached.join(' ')}`;
    const missing = [
      'number good',
      'number of the caller',
      'planted text',
      'Zorblatt',
      'gargle',
      'plugh',
      'wibble',
    ];
    t.same(
      missing.filter((name) => !find(all, plants).includes(name)),
      [],
    );
    for (const { name, value } of spoken) {
      if (!/full featured|operating/.test(value)) t.ok(said.includes(value), name);
    }
    t.match(reached.join(' '), /plantedHookToken55/);
    t.match(reached.join(' '), /plantedToolHeader77/);
    t.match(
      done.map((one) => one.status),
      ['completed', 'completed', /./, 'completed'],
    );
    t.match(find(`x ${btoa(lab.carrierToken)} ${encodeURIComponent(to.good)}`, plants), [
      'carrier token',
      /good/,
    ]);
  });

  t.test('the log, standard error too, of both processes', async (t) => {
    const all = lines.flat();
    t.ok(all.length > 100, `${all.length} lines`);
    for (const event of [
      'http.request',
      'call.dispatched',
      'call.ended',
      'tool.called',
      'delivery.attempted',
    ]) {
      t.ok(
        all.some((line) => line.includes(`"event":"${event}"`)),
        event,
      );
    }
    t.ok(
      all.some((line) => line.includes('"level":"debug"')),
      'at its most talkative',
    );
    t.ok(
      all.some((line) => line.includes(`${to.good.slice(0, 3)}***${to.good.slice(-2)}`)),
      'a number is there as it may be',
    );
    const leaks = all.filter((line) => find(line, plants).length > 0);
    t.same(leaks, [], [...new Set(leaks.flatMap((line) => find(line, plants)))].join(', '));
    t.same(
      all.filter((line) => /"digits?"/.test(line)),
      [],
      'no key of a phone in a field of its own',
    );
  });

  t.test('/metrics and /readyz', async (t) => {
    for (const { status, body } of metrics) {
      t.equal(status, 200);
      t.match(body, /offhook_calls_ended|offhook_http_request_seconds/);
      t.same(find(body, plants), []);
    }
    t.same(find(ready, plants), []);
  });

  t.test('error bodies and their headers', async (t) => {
    t.ok(errors.length > 45, `${errors.length} errors`);
    t.same(
      [...new Set(refusals)].sort(),
      [400, 401, 403, 404, 409, 413, 415, 502].filter((one) => refusals.includes(one)),
    );
    for (const status of [400, 401, 404, 409, 413, 415, 502]) t.ok(refusals.includes(status), String(status));
    const leaks = errors.filter((text) => find(text, plants).length > 0);
    t.same(leaks, [], [...new Set(leaks.flatMap((text) => find(text, plants)))].join(', '));
  });

  t.test(
    'what other processes see of ours',
    { skip: processes.length === 0 && 'no /proc here' },
    async (t) => {
      t.match(processes[0], /main\.js/);
      t.same(
        processes.filter((text) => find(text, plants).length > 0),
        [],
      );
    },
  );

  t.test('the data folder and a backup of it', async (t) => {
    const data = join(rig.folder, 'data');
    const backup = spawnSync(
      process.execPath,
      ['control/cli/main.ts', 'backup', join(rig.folder, 'backup'), '--data-dir', data, '--recordings'],
      { encoding: 'utf8', env: { PATH: process.env.PATH ?? '' } },
    );
    t.match(backup, { status: 0, stderr: /sealed under key/ });
    t.same(find(backup.stdout + backup.stderr, secrets), []);
    const files = [data, join(rig.folder, 'backup')].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((name) => join(folder, name))
        .filter((path) => statSync(path).isFile()),
    );
    const texts = new Map(files.map((path) => [path, readFileSync(path, 'latin1')]));
    for (const end of ['offhook.db', '.db-wal', '.wav']) {
      t.ok(
        files.some((path) => path.endsWith(end)),
        end,
      );
    }
    const databases = [...texts].filter(([path]) => /\.db(-wal)?$/.test(path)).map(([, text]) => text);
    t.ok(
      databases.some((text) => text.includes('X-Shop-Key') && text.includes('quuxword')),
      'it would be seen',
    );
    for (const [path, text] of texts) t.same(find(text, secrets), [], path);
  });

  t.test('what the API tells of agents and endpoints', async (t) => {
    const paths = [
      'agents',
      `agents/${agent.id}`,
      'webhook_endpoints',
      'webhook_secret',
      'webhook_deliveries',
      'events',
    ];
    for (const path of paths) {
      const { status, body } = await lab.api('GET', `/v1/${path}`);
      t.equal(status, 200, path);
      t.same(find(JSON.stringify(body), secrets), [], path);
    }
  });

  t.test(
    'Redis: every key and value, and every command that was ever sent',
    { skip: redis === null && 'no redis-server or valkey-server on the path' },
    async (t) => {
      t.ok(stored.length > 0, `${stored.length} keys`);
      const said = redis?.said ?? [];
      t.ok(
        said.some((command) => command.includes('delivery')),
        'deliveries went through it',
      );
      t.same(
        stored.filter((text) => find(text, plants).length > 0),
        [],
      );
      t.same(said.filter((command) => find(command, plants).length > 0).slice(0, 5), []);
    },
  );
});
