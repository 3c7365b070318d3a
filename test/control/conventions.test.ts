// What holds for all of /v1 alike: keys, lists, ids and times, unknown fields, error answers.
import t from 'tap';
import { readConfig } from '../../config.ts';
import { ROUTES } from '../../control/api/routes.ts';
import { openRig, type Rig } from './rig.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const NOBODY = '0199c000-0000-7000-8000-000000000000';
const LISTS = [
  '/v1/agents',
  '/v1/numbers',
  '/v1/calls',
  '/v1/webhook_endpoints',
  '/v1/webhook_deliveries',
  '/v1/events',
  '/v1/campaigns',
];

const pathOf = (path: string) => path.replaceAll(/:[a-z_]+/g, NOBODY);
const items = (body: unknown) =>
  (Array.isArray(body) ? body : (body as { data: unknown[] }).data) as { id: string }[];

/** Three endpoints, and 60 of everything else. */
async function fill(rig: Rig): Promise<void> {
  const agent = await rig.agent();
  for (let i = 0; i < 3; i++) {
    rig.advance(1);
    await rig.api('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/a' } });
  }
  for (let i = 0; i < 60; i++) {
    rig.advance(1);
    const e164 = `+141555501${String(i).padStart(2, '0')}`;
    await rig.api('POST', '/v1/agents', { body: { name: `Agent ${i}`, type: 'outbound' } });
    await rig.api('POST', '/v1/numbers/purchase', { body: { e164 } });
    await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: e164 } });
    await rig.api('POST', '/v1/campaigns', { body: { agent_id: agent.id, name: `Campaign ${i}` } });
  }
}

t.test('every path is under /v1, and every route wants a Bearer key of an organization', async (t) => {
  const rig = await openRig(t, { env: { RATE_LIMIT_BURST: '100000' } });
  for (const { method, path } of ROUTES) {
    t.match(path, /^\/v1\//);
    const name = `${method} ${path}`;
    for (const headers of [
      {},
      { authorization: `Basic ${Buffer.from(rig.key).toString('base64')}` },
      { authorization: rig.key },
      { authorization: 'Bearer sk_unknownunknownunknown' },
      { cookie: `session=${rig.key}; key=${rig.key}` },
    ] as Record<string, string>[]) {
      const answer = await rig.api(method.toUpperCase(), pathOf(path), { key: null, headers });
      t.same([answer.status, answer.body.error.code], [401, 'unauthorized'], name);
    }
    const inQuery = await rig.api(method.toUpperCase(), `${pathOf(path)}?api_key=${rig.key}`, { key: null });
    t.equal(inQuery.status, 401, name);
  }
  t.match(rig.key, /^sk_/);
});

t.test('every route refuses a field that it does not know', async (t) => {
  const rig = await openRig(t);
  // Who takes a file is asked in a query.
  for (const { method, path } of ROUTES.filter((route) => route.method !== 'get' && !route.takes)) {
    const answer = await rig.api(method.toUpperCase(), pathOf(path), { body: { surprise: 1 } });
    t.match(answer.status, 400, `${method} ${path}`);
    t.match(answer.body.error, { code: 'unknown_parameter', param: 'surprise' }, `${method} ${path}`);
  }
});

t.test('every GET refuses a query parameter it does not know', async (t) => {
  const rig = await openRig(t);
  for (const { method, path, takes } of ROUTES.filter((route) => route.method === 'get' || route.takes)) {
    const file = takes === undefined ? {} : { raw: 'to\n', headers: { 'content-type': 'text/csv' } };
    const answer = await rig.api(method.toUpperCase(), `${pathOf(path)}?surprise=1`, file);
    t.match(
      [answer.status, answer.body.error.code, answer.body.error.param],
      [400, 'unknown_parameter', 'surprise'],
      path,
    );
  }
});

t.test(
  'lists: {data} but for calls, 50 unless asked, 1 to 100, newest first, the next page by Link',
  async (t) => {
    const rig = await openRig(t);
    await fill(rig);
    for (const path of LISTS) {
      const first = await rig.api('GET', path);
      t.equal(Array.isArray(first.body), path === '/v1/calls', `${path}: bare or in data`);
      const few = path === '/v1/webhook_endpoints';
      t.equal(items(first.body).length, few ? 3 : 50, path);
      t.equal(first.headers.has('link'), !few, path);
      const all: string[] = [];
      for (let next = `${path}?limit=${few ? 2 : 37}`; next !== ''; ) {
        const page = await rig.api('GET', next);
        all.push(...items(page.body).map(({ id }) => id));
        next = /^<([^>]+)>; rel="next"$/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
      }
      t.ok(all.length >= (few ? 3 : 60), `${path}: ${all.length}`);
      t.equal(new Set(all).size, all.length, `${path}: each once`);
      if (path !== '/v1/numbers' && path !== '/v1/webhook_deliveries')
        t.same(all, [...all].sort().reverse(), `${path}: ids sort by time`);
      const whole = await rig.api('GET', `${path}?limit=100`);
      t.same(
        items(whole.body).map(({ id }) => id),
        all.slice(0, 100),
        `${path}: the pages are the list`,
      );
      const after = await rig.api('GET', `${path}?limit=1&starting_after=${all[1]}`);
      t.same(
        items(after.body).map(({ id }) => id),
        [all[2]],
        path,
      );
      for (const [query, param] of [
        ['limit=0', 'limit'],
        ['limit=101', 'limit'],
        ['limit=ten', 'limit'],
        ['starting_after=x', 'starting_after'],
        [`starting_after=${NOBODY}`, 'starting_after'],
      ] as const) {
        const { status, body } = await rig.api('GET', `${path}?${query}`);
        t.same([status, body.error?.param], [400, param], `${path}?${query}`);
      }
    }
  },
);

t.test('ids are UUIDs of version 7, times ISO 8601 in UTC with milliseconds, numbers E.164', async (t) => {
  const rig = await openRig(t);
  await fill(rig);
  let seen = 0;
  const check = (path: string, value: unknown, key = ''): void => {
    if (Array.isArray(value)) for (const one of value) check(path, one, key);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, one] of Object.entries(value)) check(path, one, name);
    } else if (typeof value === 'string') {
      if (/^id$|_ids?$/.test(key)) t.match(value, UUID_V7, `${path} ${key}`);
      else if (/_at$/.test(key)) t.match(value, TIME, `${path} ${key}`);
      else if (/^e164$|_number$/.test(key)) t.match(value, /^\+[1-9]\d{6,14}$/, `${path} ${key}`);
      else return;
      seen += 1;
    }
  };
  for (const path of LISTS) {
    const { body, headers } = await rig.api('GET', `${path}?limit=2`);
    t.match(headers.get('content-type'), /^application\/json/);
    check(path, body);
    if (path === '/v1/numbers') continue;
    for (const { id } of items(body)) check(path, (await rig.api('GET', `${path}/${id}`)).body);
  }
  t.ok(seen > 80, `${seen} values were looked at`);
});

t.test('nothing is announced to go: no Deprecation, no Sunset', async (t) => {
  const rig = await openRig(t);
  for (const { method, path } of ROUTES) {
    const { headers } = await rig.api(method.toUpperCase(), pathOf(path));
    t.same([headers.get('deprecation'), headers.get('sunset')], [null, null], `${method} ${path}`);
  }
});

t.test('the limits, unless they are set otherwise', async (t) => {
  t.match(readConfig({}), {
    RATE_LIMIT_PER_SECOND: 60,
    RATE_LIMIT_BURST: 120,
    MAX_CALL_SECONDS: 3_600,
    RING_SECONDS: 60,
    PRICE_PER_MINUTE_MILLI_CENTS: 0,
    RECORD_CALLS: false,
  });
  const rig = await openRig(t, { env: { RATE_LIMIT_BURST: '' } });
  const { headers } = await rig.api('GET', '/v1/webhook_events');
  t.equal(headers.get('ratelimit-policy'), '60;w=1;burst=120');
});
