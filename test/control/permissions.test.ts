// Who may what: every route with every role, every scope of a key, and somebody of another organization. What each route asks
// for stands here once more, so that nobody loosens it by accident, and a route that is new fails until it has its line.
import type { Router } from 'express';
import t from 'tap';
import { ROUTES } from '../../control/api/routes.ts';
import { EVERYTHING, PERMISSIONS, type Permission } from '../../control/http/actor.ts';
import { hashKey, keyRecord, newApiKey } from '../../control/http/keys.ts';
import type { Route } from '../../control/http/route.ts';
import { type Browser, openDashboardRig } from './dashboard/rig.ts';
import type { ApiAnswer } from './rig.ts';

/** What whoever asks must be allowed. */
const NEEDS: Record<Permission, string[]> = {
  read: [
    'get /v1/agents',
    'get /v1/agents/:id',
    'get /v1/models',
    'get /v1/numbers',
    'get /v1/numbers/available',
    'get /v1/calls',
    'get /v1/calls.csv',
    'get /v1/calls/:id',
    'get /v1/calls/:id/transcript',
    'get /v1/calls/:id/turns',
    'get /v1/calls/:id/events',
    'get /v1/events',
    'get /v1/events/follow',
    'get /v1/webhook_events',
    'get /v1/webhook_endpoints',
    'get /v1/webhook_endpoints/:id',
    'get /v1/webhook_deliveries',
    'get /v1/webhook_deliveries/:id',
    'get /v1/webhook_secret',
    'get /v1/balance',
    'get /v1/health',
    'get /v1/outbound_rules',
    'post /v1/outbound_check',
    'get /v1/refused_calls',
    'get /v1/do_not_call',
    'get /v1/consents',
    'get /v1/alerts',
    'get /dashboard/api/account',
    'patch /dashboard/api/account',
    'post /dashboard/api/account/second_factor',
    'post /dashboard/api/account/second_factor/confirm',
    'post /dashboard/api/account/second_factor/remove',
    'post /dashboard/api/account/recovery_codes',
    'delete /dashboard/api/account/sessions/:id',
    'post /dashboard/api/account/sessions/end_others',
    'get /v1/campaigns',
    'get /v1/campaigns/:id',
    'get /v1/campaigns/:id/report',
    'get /v1/campaigns/:id/contacts',
    'get /v1/campaigns/:id/contacts/:contact_id',
    'get /v1/campaigns/:id/contacts.csv',
    'get /v1/retention',
    'get /v1/erasures',
    'get /v1/erasures/:id',
    'get /v1/legal_holds',
    'get /v1/legal_holds/:id',
    'get /v1/organization',
  ],
  listen: ['get /v1/calls/:id/recording'],
  operate: [
    'post /v1/agents',
    'patch /v1/agents/:id',
    'delete /v1/agents/:id',
    'post /v1/agents/:id/numbers',
    'delete /v1/agents/:id/numbers/:number_id',
    'put /v1/agents/:id/primary-number',
    'post /v1/numbers/purchase',
    'delete /v1/numbers/:id',
    'post /v1/calls',
    'post /v1/calls/:id/cancel',
    'post /v1/calls/:id/hangup',
    'post /v1/webhook_endpoints',
    'patch /v1/webhook_endpoints/:id',
    'delete /v1/webhook_endpoints/:id',
    'post /v1/webhook_endpoints/:id/rotate_secret',
    'post /v1/webhook_endpoints/:id/test',
    'post /v1/webhook_endpoints/:id/replay',
    'post /v1/webhook_deliveries/:id/redeliver',
    'post /v1/webhook_secret/rotate',
    'post /dashboard/api/browser_calls',
    'post /v1/do_not_call',
    'post /v1/do_not_call/import',
    'post /v1/consents',
    'delete /v1/consents/:id',
    'post /v1/campaigns',
    'patch /v1/campaigns/:id',
    'delete /v1/campaigns/:id',
    'post /v1/campaigns/:id/start',
    'post /v1/campaigns/:id/pause',
    'post /v1/campaigns/:id/resume',
    'post /v1/campaigns/:id/stop',
    'post /v1/campaigns/:id/contacts',
    'post /v1/campaigns/:id/contacts/import',
  ],
  admin: [
    'patch /v1/outbound_rules',
    'delete /v1/do_not_call/:id',
    'patch /v1/alerts',
    'post /v1/alerts/test',
    'get /v1/logs',
    'put /v1/balance',
    'post /v1/balance/credits',
    'post /v1/organizations',
    'get /v1/organizations',
    'get /v1/audit_log',
    'get /v1/audit_log.csv',
    'get /dashboard/api/people',
    'patch /dashboard/api/people/:id',
    'post /dashboard/api/people/:id/password_link',
    'post /dashboard/api/people/:id/remove_second_factor',
    'post /dashboard/api/people/:id/sign_out',
    'post /dashboard/api/invitations',
    'delete /dashboard/api/invitations/:id',
    'get /dashboard/api/keys',
    'post /dashboard/api/keys',
    'delete /dashboard/api/keys/:id',
    'patch /v1/retention',
    'delete /v1/retention/:agent_id',
    'post /v1/erasures',
    'post /v1/legal_holds',
    'delete /v1/legal_holds/:id',
    'patch /v1/organization',
  ],
};
/** The dashboard's own, for whoever is signed in, without a role. */
const SIGNED_IN = [
  'get /overview',
  'get /health',
  'get /live',
  'get /recordings/:id',
  'get /call_totals',
  'post /password',
  'post /logout',
];
/** For whoever is not. */
const OPEN = [
  'get /session',
  'post /setup',
  'post /login',
  'post /invitation',
  'post /invitation/look',
  'get /oidc/start',
];

const NOBODY = '0199c000-0000-7000-8000-000000000000';
const allOf = (rig: { dashboard: { routes: readonly Route[] } }) => [...ROUTES, ...rig.dashboard.routes];
const nameOf = ({ method, path }: { method: string; path: string }) => `${method} ${path}`;
const neededBy = new Map(PERMISSIONS.flatMap((one) => NEEDS[one].map((name) => [name, one] as const)));
const isRefused = ({ status, body }: ApiAnswer) =>
  status === 403 && body?.error.code === 'forbidden' && / does not allow to /.test(body.error.message);

/** Every path that a router has, those of the routers in it too, each as it is written there. */
function* pathsOf(router: Router): Generator<string> {
  for (const layer of router.stack) {
    const inner = layer.handle as unknown as Router;
    if (layer.route !== undefined) {
      for (const { method } of layer.route.stack) if (method) yield `${method} ${layer.route.path}`;
    } else if (Array.isArray(inner.stack)) yield* pathsOf(inner);
  }
}

t.test('every route has its line above, and asks for what stands there', async (t) => {
  const rig = await openDashboardRig(t);
  const ALL = allOf(rig);
  t.same(ALL.map(nameOf).sort(), [...neededBy.keys()].sort());
  t.equal(neededBy.size, Object.values(NEEDS).flat().length, 'once');
  for (const route of ALL) {
    const asked = route.needs ?? (route.method === 'get' ? 'read' : 'operate');
    t.equal(asked, neededBy.get(nameOf(route)), nameOf(route));
  }
  const known = new Set([
    ...ALL.map(({ method, path }) => `${method} ${path.replace(/^\/v1|^\/dashboard\/api/, '')}`),
    ...SIGNED_IN,
    ...OPEN,
  ]);
  const served = [...new Set(pathsOf(rig.dashboard.pages))].filter((one) => !/\/assets\//.test(one));
  t.ok(served.length > 50, `${served.length} paths of the dashboard`);
  t.strictSame(
    served.filter((one) => !known.has(one)),
    [],
    'the dashboard serves nothing that is not listed',
  );
});

type Ask = (method: string, path: string) => Promise<ApiAnswer>;

t.test('every route and every role and scope: what is not allowed is refused, by its name', async (t) => {
  const rig = await openDashboardRig(t);
  const ALL = allOf(rig);
  const subjects: { name: string; may: ReadonlySet<Permission>; ask: Ask; isKey: boolean }[] = [];
  const byBrowser =
    (browser: Browser): Ask =>
    (method, path) =>
      browser.ask(method, path.replace(/^\/dashboard\/api/, ''));
  for (const [name, role, may_listen, ...may] of [
    ['an owner', 'owner', true, ...PERMISSIONS],
    ['an operator', 'operator', true, 'read', 'listen', 'operate'],
    ['a viewer', 'viewer', false, 'read'],
    ['a viewer who may listen', 'viewer', true, 'read', 'listen'],
  ] as [string, 'owner' | 'operator' | 'viewer', boolean, ...Permission[]][]) {
    const email = `${name.replaceAll(' ', '-')}@example.com`;
    const { browser } = await rig.person({ email, role, may_listen });
    subjects.push({ name, may: new Set(may), ask: byBrowser(browser), isKey: false });
  }
  for (const scopes of [null, ...PERMISSIONS.map((one) => [one]), ['read', 'operate'], ['gone']]) {
    const key = newApiKey();
    await rig.store.insertKey(keyRecord(key, { orgId: rig.orgId, name: 'K', now: rig.now(), scopes }));
    const may = scopes === null ? EVERYTHING : new Set(PERMISSIONS.filter((one) => scopes.includes(one)));
    const headers = { 'sec-fetch-site': 'same-origin' };
    const ask: Ask = (method, path) => rig.api(method, path, { key, headers });
    subjects.push({ name: `a key for ${scopes?.join(' and ') ?? 'all'}`, may, ask, isKey: true });
  }
  let asked = 0;
  for (const route of ALL) {
    const name = nameOf(route);
    const needed = neededBy.get(name) ?? 'admin';
    const path = route.path.replaceAll(/:\w+/g, NOBODY);
    for (const { name: who, may, ask, isKey } of subjects) {
      const own = route.path.startsWith('/dashboard/api');
      if (isKey && own) {
        t.equal(
          (await ask(route.method.toUpperCase(), path)).status,
          401,
          `${name} for ${who}: no key opens it`,
        );
        continue;
      }
      const answer = await ask(route.method.toUpperCase(), isKey || own ? path : `/dashboard/api${path}`);
      asked += 1;
      t.equal(isRefused(answer), !may.has(needed), `${name} (${needed}) for ${who}: ${answer.status}`);
      t.not(answer.status, 401, `${name} for ${who}`);
      if (isRefused(answer)) t.match(answer.body.error.message, `(${needed})`);
    }
  }
  t.ok(asked > 400, `${asked} requests`);
});

t.test('what everybody who is signed in may, every role may, and nobody else', async (t) => {
  const rig = await openDashboardRig(t);
  const viewer = await rig.person({ email: 'v@example.com', role: 'viewer', may_listen: false });
  for (const one of SIGNED_IN) {
    const [method = '', path = ''] = one.split(' ');
    const asked = path.replace(':id', NOBODY);
    t.equal((await rig.browser().ask(method.toUpperCase(), asked)).status, 401, `${one}, signed out`);
    // A stream that does not end; who may follow it stands in its own test.
    if (path === '/live' || path === '/logout') continue;
    const answer = await viewer.browser.ask(method.toUpperCase(), asked);
    t.ok([200, 400, 404].includes(answer.status), `${one} for a viewer: ${answer.status}`);
  }
});

t.test('an owner of another organization finds nothing of this one', async (t) => {
  const rig = await openDashboardRig(t);
  const { browser } = await rig.person({ email: 'other@example.com', org_id: rig.other.orgId });
  const agent = await rig.agent({ webhook_url: 'https://example.com/hook' });
  const call = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const endpoint = (
    await rig.api('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/a' } })
  ).body;
  const [delivery] = (await rig.api('GET', '/v1/webhook_deliveries')).body.data;
  const ann = await rig.person({ email: 'ann@example.com' });
  const invited = { email: 'b@example.com', role: 'viewer' };
  const ids: Record<string, string> = {
    agents: agent.id,
    numbers: agent.number_id,
    calls: call.id,
    webhook_endpoints: endpoint.id,
    webhook_deliveries: delivery.id,
    keys: (await rig.store.findKey(hashKey(rig.key)))?.id ?? '',
    people: ann.user.id,
    account: (await rig.store.listSessions(ann.user.id))[0]?.id ?? '',
    invitations: (await ann.browser.ask('POST', '/invitations', { body: invited })).body.id,
  };
  const bodies: Record<string, unknown> = {
    'post /v1/agents/:id/numbers': { number_id: NOBODY },
    'put /v1/agents/:id/primary-number': { number_id: NOBODY },
    'post /v1/webhook_endpoints/:id/replay': { since: '2026-01-01T00:00:00Z' },
    'patch /dashboard/api/people/:id': { role: 'viewer' },
    'post /v1/campaigns/:id/contacts': { contacts: [{ to: '+14155550124' }] },
  };
  /** Those that say it in another way: a body that is no JSON. */
  const otherwise: Record<string, [number, string]> = {
    'post /v1/campaigns/:id/contacts/import': [415, 'unsupported_media_type'],
  };
  const resources = new Set<string>();
  let asked = 0;
  for (const route of allOf(rig).filter(({ path }) => path.includes(':'))) {
    const name = nameOf(route);
    const own = route.path.startsWith('/dashboard/api/');
    const resource = route.path.split('/')[own ? 3 : 2] ?? '';
    if (ids[resource] !== undefined) resources.add(resource);
    const path = route.path
      .replace(':id', ids[resource] ?? NOBODY)
      .replace(':agent_id', agent.id)
      .replace(/:\w+/, agent.number_id);
    const answer = await browser.ask(
      route.method.toUpperCase(),
      own ? path.slice('/dashboard/api'.length) : path,
      {
        body: bodies[name],
      },
    );
    asked += 1;
    t.same([answer.status, answer.body?.error.code], otherwise[name] ?? [404, 'not_found'], name);
  }
  t.ok(asked >= 23, `${asked} routes`);
  t.same([...resources].sort(), Object.keys(ids).sort(), 'each by an id that is there');
  for (const list of [
    '/v1/agents',
    '/v1/numbers',
    '/v1/calls',
    '/v1/webhook_endpoints',
    '/keys',
    '/people',
    '/v1/audit_log',
  ]) {
    const answer = await browser.ask('GET', list);
    t.equal(answer.status, 200, list);
    t.notMatch(answer.text, new RegExp(Object.values(ids).join('|')), list);
  }
});
