// Two organizations on one daemon, seen from outside: the second one is made on its host, beside it, while it runs. Every
// operation of the OpenAPI document with the first one's ids, every list, stream, webhook, call and balance.
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Operation } from '../../control/reference/openapi.ts';
import { openRig, type Rig, until } from './rig.ts';

t.setTimeout(170_000);

const OPERATOR_KEY = 'operator-key-of-the-test';
const PASSWORD = 'a quiet line of bluebirds';
const THANKS = {
  steps: [{ do: 'say', file: 'caller-thanks.wav', when: { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 } }],
};

interface Answer {
  status: number;
  text: string;
  headers: Headers;
  body: ReturnType<typeof JSON.parse>;
}

type Ask = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<Answer>;

function asker(url: string, given: Record<string, string>): Ask {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...given,
        ...headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = /json/.test(response.headers.get('content-type') ?? '');
    return { status: response.status, text, headers: response.headers, body: json ? JSON.parse(text) : null };
  };
}

/** Somebody at the dashboard, by a link; and what its live view was told so far. */
async function openDashboard(t: Test, rig: Rig, link: string) {
  const { url } = rig.lab.daemon;
  const page = asker(`${url}/dashboard/api`, { origin: url, 'sec-fetch-site': 'same-origin' });
  const signedIn = await page('POST', '/setup', { token: link.split('#')[1], password: PASSWORD });
  t.equal(signedIn.status, 200, signedIn.text);
  const cookie = signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const closing = new AbortController();
  const live = { told: '' };
  const stream = await fetch(`${url}/dashboard/api/live`, { headers: { cookie }, signal: closing.signal });
  t.equal(stream.status, 200);
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of stream.body ?? []) live.told += decoder.decode(chunk, { stream: true });
  })().catch(() => {});
  t.teardown(async () => {
    closing.abort();
    await reading;
  });
  return {
    ask: asker(`${url}/dashboard/api`, { cookie }),
    live,
    organization: signedIn.body.organization,
    page,
  };
}

/** Receives webhooks by path. */
async function openReceiver(t: Test) {
  const received: { path: string; call: { id: string } }[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (data) => {
      body += data;
    });
    request.on('end', () => {
      received.push({ path: request.url ?? '', call: JSON.parse(body) });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

t.test('two organizations on one daemon, each apart', async (t) => {
  const rig = await openRig(t, { env: { OPERATOR_KEY, RECORD_CALLS: 'true' } });
  const { lab } = rig;
  const { url } = lab.daemon;
  const hooks = await openReceiver(t);
  const first = asker(url, { authorization: `Bearer ${lab.apiKey}` });

  // ---- made on the host, while the daemon runs ----
  const run = (...args: string[]) =>
    spawnSync(process.execPath, ['main.js', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH ?? '', DATA_DIR: join(rig.folder, 'data'), PUBLIC_URL: url },
    });
  const made = run('create-organization', 'Harbour', 'Clinic');
  t.equal(made.status, 0, made.stderr);
  const key = /sk_[A-Za-z0-9]{49}/.exec(made.stdout)?.[0] ?? '';
  const link = /\S+\/setup#\S+/.exec(made.stdout)?.[0] ?? '';
  t.match([key, link], [/^sk_/, new RegExp(`^${url}/setup#`)]);
  t.match(run('create-organization', 'harbour clinic'), { status: 1, stderr: /has this name/ });
  t.match(run('create-organization'), { status: 1, stderr: /the name needs a name|needs a name/ });
  const second = asker(url, { authorization: `Bearer ${key}` });
  const listed = await first('GET', '/v1/organizations', undefined, { 'Operator-Key': OPERATOR_KEY });
  t.match(listed.body.data, [{ name: 'Harbour Clinic' }, { name: 'Default' }]);
  const [secondId, firstId] = listed.body.data.map((one: { id: string }) => one.id);

  const setupOfFirst = lab.daemon.lines.find((line) => line.includes('/setup#')) ?? '';
  const dashboards = {
    first: await openDashboard(t, rig, setupOfFirst.trim()),
    second: await openDashboard(t, rig, link),
  };
  t.match(dashboards.first.organization, { id: firstId });
  t.match(dashboards.second.organization, { id: secondId, name: 'Harbour Clinic' });

  // ---- each with a number, an agent that answers it, and an endpoint ----
  async function furnish(ask: Ask, name: string) {
    const found = await ask('GET', '/v1/numbers/available?limit=1');
    const number = (await ask('POST', '/v1/numbers/purchase', { e164: found.body.data[0].e164 })).body;
    const agent = (
      await ask('POST', '/v1/agents', {
        name: `Agent of ${name}`,
        type: 'inbound',
        instructions: 'TEST-BRIEF',
        number_ids: [number.id],
        webhook_url: `${hooks.url}/inline/${name}`,
      })
    ).body;
    const endpoint = (await ask('POST', '/v1/webhook_endpoints', { url: `${hooks.url}/endpoint/${name}` }))
      .body;
    return { number, agent, endpoint };
  }
  const one = await furnish(first, 'first');
  const two = await furnish(second, 'second');
  t.match(two.number.e164, /^\+1/);
  t.not(one.number.e164, two.number.e164);
  const again = await second('POST', '/v1/numbers/purchase', { e164: one.number.e164 });
  t.ok([400, 409].includes(again.status), `a number of the other's is not for sale: ${again.text}`);

  // ---- somebody calls the first one; the second one is asked for its next event meanwhile ----
  const waiting = second('GET', '/v1/events/follow?wait=5');
  const callTo = async (ask: Ask, { number, agent }: typeof one, from: string) => {
    await lab.ask('carrier', '/inbound-calls', { to: number.e164, from, callee: THANKS });
    const call = await until(
      'the call',
      async () => (await ask('GET', `/v1/calls?agent_id=${agent.id}`)).body[0],
    );
    return until(
      'its end',
      async () => {
        const { body } = await ask('GET', `/v1/calls/${call.id}`);
        return body.status === 'completed' && body.webhook_status === 'delivered' ? body : null;
      },
      60_000,
    );
  };
  const callOfFirst = await callTo(first, one, '+14155550171');
  t.equal(
    (await waiting).text,
    (await second('GET', '/v1/events/follow?wait=0')).text,
    'it hears of nothing',
  );
  t.same((await waiting).body.data, []);
  t.match((await first('GET', '/v1/events/follow?wait=0')).body.data, [{ call_id: callOfFirst.id }]);
  await until('the first one’s live view', () => dashboards.first.live.told.includes(callOfFirst.id));
  t.notMatch(dashboards.second.live.told, callOfFirst.id, 'nor does its live view');
  t.match(dashboards.second.live.told, /event: snapshot\ndata: \{"calls":\[\]\}/);

  const delivery = (await first('GET', `/v1/webhook_deliveries?endpoint_id=${one.endpoint.id}`)).body.data[0];
  const event = (await first('GET', '/v1/events?limit=1')).body.data[0];

  /** The second one sends a file. */
  async function file(path: string, body: string) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' };
    const answer = await fetch(url + path, { method: 'POST', headers, body });
    return { status: answer.status, body: (await answer.json()) as { error: { code: string } } };
  }

  /** What the first one has besides. */
  async function rules(): Promise<Record<string, string>> {
    const made = async (path: string, body: unknown) => (await first('POST', `/v1/${path}`, body)).body;
    const number = '+14155550999';
    const { data } = (await first('GET', '/v1/numbers/available?limit=1')).body;
    const line = await made('numbers/purchase', { e164: data[0].e164 });
    const agent = await made('agents', {
      name: 'Agent of first too',
      type: 'outbound',
      number_ids: [line.id],
    });
    const given_at = '2026-02-01T10:00:00Z';
    await made('consents', { numbers: [number], purpose: 'Reminders', source: 'paper', given_at });
    await made('do_not_call', { numbers: [number] });
    const newest = async (path: string) => (await first('GET', `/v1/${path}`)).body.data[0].id;
    return {
      consents: await newest('consents'),
      do_not_call: await newest('do_not_call'),
      campaigns: (await made('campaigns', { name: 'Reminders', agent_id: agent.id })).id,
      erasures: (await made('erasures', { number })).id,
      legal_holds: (await made('legal_holds', { number, reason: 'A case' })).id,
      retention: one.agent.id,
    };
  }

  await t.test('every operation of the document, with ids of the other one', async (t) => {
    const document = (await first('GET', '/v1/openapi.json')).body;
    const ids: Record<string, string> = {
      agents: one.agent.id,
      numbers: one.number.id,
      calls: callOfFirst.id,
      webhook_endpoints: one.endpoint.id,
      webhook_deliveries: delivery.id,
      events: event.id,
      ...(await rules()),
    };
    const bodies: Record<string, unknown> = {
      'POST /v1/agents/{id}/numbers': { number_id: two.number.id },
      'PUT /v1/agents/{id}/primary-number': { number_id: two.number.id },
      'PATCH /v1/agents/{id}': { name: 'taken over' },
      'PATCH /v1/webhook_endpoints/{id}': { url: `${hooks.url}/taken-over` },
      'POST /v1/webhook_endpoints/{id}/replay': { since: '2020-01-01T00:00:00Z' },
      'PATCH /v1/campaigns/{id}': { name: 'taken over' },
      'POST /v1/campaigns/{id}/contacts': { contacts: [{ to: '+14155550171' }] },
      'POST /v1/campaigns/{id}/contacts/import': 'to\n+14155550171\n',
    };
    const all = async () => {
      const paths = [...Object.keys(ids), 'webhook_secret', 'balance', `calls/${callOfFirst.id}`];
      return Promise.all(paths.map(async (path) => (await first('GET', `/v1/${path}`)).text));
    };
    const before = await all();
    const others = [
      one.agent.id,
      one.number.id,
      callOfFirst.id,
      one.endpoint.id,
      delivery.id,
      event.id,
      firstId,
    ];
    const told = [...others, one.number.e164, '+14155550171', 'Agent of first'];
    let [asked, read] = [0, 0];
    for (const [path, operations] of Object.entries(
      document.paths as Record<string, Record<string, Operation>>,
    )) {
      for (const [verb, operation] of Object.entries(operations)) {
        const method = verb.toUpperCase();
        if (path.includes('{')) {
          const resource = path.split('/')[2] ?? '';
          t.ok(ids[resource], `an id of ${resource} to ask with`);
          const concrete = path
            .replace(/\{(id|agent_id|contact_id)\}/g, ids[resource] ?? '')
            .replace('{number_id}', one.number.id);
          const body = operation.requestBody === undefined ? undefined : bodies[`${method} ${path}`];
          t.equal(body === undefined, operation.requestBody === undefined, `a body for ${method} ${path}`);
          const answer =
            typeof body === 'string' ? await file(concrete, body) : await second(method, concrete, body);
          t.same([answer.status, answer.body?.error.code], [404, 'not_found'], `${method} ${path}`);
          asked++;
        } else if (method === 'GET' && path !== '/v1/openapi.json') {
          const answer = await second('GET', path, undefined, { 'Operator-Key': 'a wrong key' });
          for (const word of told) t.notOk(answer.text.includes(word), `GET ${path} tells ${word}`);
          read++;
        }
      }
    }
    t.ok(asked >= 22, `${asked} operations with an id`);
    t.ok(read >= 8, `${read} without`);
    t.same(await all(), before, 'and nothing of it has changed');

    // In bodies and filters.
    const to = '+14155550172';
    for (const [path, body] of [
      ['/v1/calls', { agent_id: one.agent.id, to }],
      ['/v1/calls', { to, instructions: 'x', from_number: one.number.e164 }],
      ['/v1/agents', { name: 'x', type: 'outbound', number_ids: [one.number.id] }],
      [`/v1/agents/${two.agent.id}/numbers`, { number_id: one.number.id }],
    ] as const) {
      const answer = await second('POST', path, body);
      t.ok([400, 404].includes(answer.status), answer.text);
      t.match(
        answer.body.error.code,
        /not_found|not_owned|not_attached|no_active|invalid|agent/,
        answer.text,
      );
    }
    for (const query of [
      `calls?agent_id=${one.agent.id}`,
      `calls?search=${encodeURIComponent('+14155550171')}`,
      'calls?search=first',
      'calls?search=automated',
      `webhook_deliveries?call_id=${callOfFirst.id}`,
      `webhook_deliveries?endpoint_id=${one.endpoint.id}`,
      `events?call_id=${callOfFirst.id}`,
    ]) {
      const { status, body } = await second('GET', `/v1/${query}`);
      t.equal(status, 200, query);
      t.same(Array.isArray(body) ? body : body.data, [], query);
    }
    for (const path of ['calls', 'agents', 'events', 'webhook_deliveries', 'webhook_endpoints', 'numbers']) {
      const answer = await second('GET', `/v1/${path}?starting_after=${ids[path]}`);
      t.equal(answer.status, 400, `${path} after a foreign id`);
    }
    t.equal((await second('GET', `/v1/events/follow?after=${event.id}&wait=0`)).status, 400);
  });

  // ---- the second one's own call ----
  const callOfSecond = await callTo(second, two, '+14155550173');
  t.equal(callOfSecond.agent_id, two.agent.id, 'a call goes to whom its number belongs to');
  await until('the second one’s live view', () => dashboards.second.live.told.includes(callOfSecond.id));
  t.notMatch(dashboards.first.live.told, callOfSecond.id);
  t.same(
    (await first('GET', '/v1/calls')).body.map((call: { id: string }) => call.id),
    [callOfFirst.id],
  );
  t.same(
    (await second('GET', '/v1/calls')).body.map((call: { id: string }) => call.id),
    [callOfSecond.id],
  );
  for (const [mine, { ask }] of [
    [callOfFirst, dashboards.first],
    [callOfSecond, dashboards.second],
  ] as const) {
    t.match(
      (await ask('GET', '/overview?range=24h')).body.totals,
      { calls: 1 },
      'the overview counts its own',
    );
    t.match((await ask('GET', '/keys')).body.data.length, 1);
    const other = mine === callOfFirst ? callOfSecond : callOfFirst;
    t.equal((await ask('GET', `/recordings/${mine.id}`)).status, 200);
    t.equal((await ask('GET', `/recordings/${other.id}`)).status, 404);
    t.equal((await ask('GET', `/v1/calls/${other.id}`)).status, 404);
  }

  await t.test('webhooks go to their own alone', async (t) => {
    await until('all of them', () =>
      ['first', 'second'].every(
        (name) => hooks.received.filter(({ path }) => path.endsWith(name)).length >= 6,
      ),
    );
    for (const { path, call } of hooks.received) {
      t.equal(call.id, path.endsWith('first') ? callOfFirst.id : callOfSecond.id, path);
    }
  });

  await t.test('each its own balance, and its own requests made once', async (t) => {
    const operator = { 'Operator-Key': OPERATOR_KEY };
    t.equal((await second('PUT', '/v1/balance', { balance_milli_cents: 0 }, operator)).status, 200);
    t.match((await first('GET', '/v1/balance')).body, { balance_milli_cents: null });
    t.match((await second('GET', '/v1/balance')).body, { balance_milli_cents: 0 });
    const body = { name: 'The same', type: 'outbound' };
    const once = { 'Idempotency-Key': 'one key for both' };
    const answers = [
      await first('POST', '/v1/agents', body, once),
      await second('POST', '/v1/agents', body, once),
    ];
    t.same(
      answers.map(({ status }) => status),
      [201, 201],
    );
    t.same(
      answers.map(({ headers }) => headers.get('idempotent-replayed')),
      [null, null],
    );
    t.same(
      answers.map(({ body: agent }) => agent.org_id),
      [firstId, secondId],
    );
  });

  await t.test('the dashboard asks which one, and lets each password into its own', async (t) => {
    const { page } = dashboards.first;
    t.match((await page('GET', '/session')).body, { state: 'signed_out', several: true });
    const enter = (organization: string | undefined, password = PASSWORD) =>
      page('POST', '/login', { password, ...(organization === undefined ? {} : { organization }) });
    t.match((await enter(undefined)).body.organization, { id: firstId });
    for (const name of ['Harbour Clinic', ' harbour CLINIC ', secondId]) {
      t.match((await enter(name)).body.organization, { id: secondId }, name);
    }
    const wrong = await enter('Harbour Clinic', 'not the password of it');
    const unknown = await enter('Nobody');
    t.same([wrong.status, unknown.status], [401, 401]);
    t.equal(wrong.body.error.message, unknown.body.error.message, 'which names there are is not told');

    const reset = run('reset-password', '--organization', 'harbour clinic');
    const token = /#(\S+)/.exec(reset.stdout)?.[1];
    t.match(await page('POST', '/setup', { token, password: 'another quiet line' }), {
      status: 200,
      body: { organization: { id: secondId } },
    });
    t.equal((await enter('Harbour Clinic')).status, 401);
    t.match((await enter(undefined)).body.organization, { id: firstId }, 'the other one’s is as it was');
    t.match(run('reset-password', '--organization', 'Nobody'), {
      status: 1,
      stderr: /no organization of that name/,
    });
  });
});
