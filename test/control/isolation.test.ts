// What belongs to one organization is not there for another: every route with a foreign id, every list, every filter.
import t from 'tap';
import { ROUTES } from '../../control/api/routes.ts';
import { openRig } from './rig.ts';

const CONTACTS = { contacts: [{ to: '+14155550124' }] };

t.test('every route with a foreign id in its path answers 404 and changes nothing', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ webhook_url: 'https://example.com/hook' });
  const call = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  const endpoint = (
    await rig.api('POST', '/v1/webhook_endpoints', { body: { url: 'https://example.com/a' } })
  ).body;
  const [delivery] = (await rig.api('GET', '/v1/webhook_deliveries')).body.data;
  const campaign = (await rig.api('POST', '/v1/campaigns', { body: { name: 'C', agent_id: agent.id } })).body;
  await rig.api('POST', `/v1/campaigns/${campaign.id}/contacts`, { body: CONTACTS });
  const [contact] = (await rig.api('GET', `/v1/campaigns/${campaign.id}/contacts`)).body.data;
  const listed = (await rig.api('POST', '/v1/do_not_call', { body: { numbers: ['+14155550198'] } })).body;
  const agreed = { numbers: ['+14155550123'], purpose: 'p', source: 's', given_at: '2026-01-01T00:00:00Z' };
  const entered = (await rig.api('POST', '/v1/consents', { body: agreed })).body;
  const ids: Record<string, string> = {
    do_not_call: listed.data[0].id,
    consents: entered.data[0].id,
    agents: agent.id,
    numbers: agent.number_id,
    calls: call.id,
    webhook_endpoints: endpoint.id,
    webhook_deliveries: delivery.id,
    campaigns: campaign.id,
  };
  const foreignNumber = await rig.number('+15550009999', rig.other.orgId);
  const bodies: Record<string, unknown> = {
    'post /v1/agents/:id/numbers': { number_id: foreignNumber },
    'put /v1/agents/:id/primary-number': { number_id: foreignNumber },
    'patch /v1/agents/:id': { name: 'taken over' },
    'post /v1/webhook_endpoints/:id/replay': { since: '2026-01-01T00:00:00Z' },
    'patch /v1/webhook_endpoints/:id': { url: 'https://example.org/' },
    'patch /v1/campaigns/:id': { name: 'taken over' },
    'post /v1/campaigns/:id/contacts': CONTACTS,
  };
  const paths = [
    '/v1/agents',
    '/v1/numbers',
    '/v1/calls',
    '/v1/webhook_endpoints',
    '/v1/webhook_deliveries',
    '/v1/campaigns',
    '/v1/do_not_call',
    '/v1/consents',
  ];
  const before = await Promise.all(paths.map(async (path) => (await rig.api('GET', path)).text));
  let asked = 0;
  for (const route of ROUTES) {
    if (!route.path.includes(':')) continue;
    asked += 1;
    const resource = route.path.split('/')[2] ?? '';
    const path = route.path
      .replace(':id', ids[resource] ?? 'none')
      .replace(':number_id', agent.number_id)
      .replace(':contact_id', contact.id);
    const body = bodies[`${route.method} ${route.path}`];
    const given = route.takes
      ? { raw: 'to\n+14155550123\n', headers: { 'content-type': 'text/csv' } }
      : { body };
    const foreign = await rig.api(route.method.toUpperCase(), path, { key: rig.other.key, ...given });
    t.same([foreign.status, foreign.body?.error.code], [404, 'not_found'], `${route.method} ${route.path}`);
    const nobody = path.replaceAll(/[0-9a-f-]{36}/g, '0199c000-0000-7000-8000-000000000000');
    const unknown = await rig.api(route.method.toUpperCase(), nobody, { key: rig.other.key, ...given });
    t.equal(
      unknown.body?.error.message,
      foreign.body?.error.message,
      'and reads as if it were not there at all',
    );
  }
  t.ok(asked >= 35, `${asked} routes`);
  t.same(await Promise.all(paths.map(async (path) => (await rig.api('GET', path)).text)), before);
  t.same(rig.released, []);

  for (const path of paths) {
    const list = await rig.api('GET', path, { key: rig.other.key });
    const items = Array.isArray(list.body) ? list.body : list.body.data;
    t.notMatch(JSON.stringify(items), rig.orgId, path);
    t.equal(items.length, path === '/v1/numbers' ? 1 : 0, `${path}: its own only`);
    const resource = path.split('/')[2] ?? '';
    const cursor = await rig.api('GET', `${path}?starting_after=${ids[resource]}`, { key: rig.other.key });
    t.same([cursor.status, cursor.body.error.param], [400, 'starting_after'], `${path} after a foreign id`);
  }
  for (const query of [`/v1/calls?agent_id=${agent.id}`, `/v1/webhook_deliveries?call_id=${call.id}`]) {
    const list = await rig.api('GET', query, { key: rig.other.key });
    t.equal((Array.isArray(list.body) ? list.body : list.body.data).length, 0, query);
  }
});
