// API keys by the dashboard.
import t from 'tap';
import { openDashboardRig } from './rig.ts';

t.test('a key is made in the dashboard, shown once, and revoked at once', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const made = await browser.ask('POST', '/keys', { body: { name: ' Billing ' } });
  t.equal(made.status, 201);
  const { key, ...shown } = made.body;
  t.match(key, /^sk_[0-9A-Za-z]{49}$/);
  t.match(shown, {
    name: 'Billing',
    prefix: key.slice(0, 8),
    last4: key.slice(-4),
    last_used_at: null,
    revoked_at: null,
  });
  t.same(
    Object.keys(shown).sort(),
    'created_at created_by expires_at id last4 last_used_at name prefix revoked_at scopes'.split(' '),
  );
  t.same([shown.scopes, shown.expires_at, shown.created_by], [null, null, 'Owner']);
  t.equal((await rig.api('GET', '/v1/calls', { key })).status, 200, 'it works');

  const list = await browser.ask('GET', '/keys');
  t.same(
    list.body.data.map(({ name }: { name: string }) => name).sort(),
    ['Billing', 'First key'],
    'with that of the first start, and none of another organization',
  );
  t.notMatch(list.text, key, 'never the key again');
  t.notMatch(list.text, /hash/);
  const used = list.body.data.find(({ id }: { id: string }) => id === shown.id);
  t.equal(used.last_used_at, rig.now().toISOString());

  t.equal((await browser.ask('DELETE', `/keys/${shown.id}`)).status, 204);
  t.equal((await rig.api('GET', '/v1/calls', { key })).status, 401, 'at once');
  t.equal((await browser.ask('DELETE', `/keys/${shown.id}`)).status, 404);
  const others = (await rig.store.listKeys(rig.other.orgId))[0]?.id ?? '';
  t.equal((await browser.ask('DELETE', `/keys/${others}`)).status, 404, "another organization's key");
  t.equal((await rig.api('GET', '/v1/calls', { key: rig.other.key })).status, 200);

  for (const [body, param] of [
    [{}, 'name'],
    [{ name: '  ' }, 'name'],
    [{ name: 'x'.repeat(101) }, 'name'],
    [{ name: 'A', key: 'sk_mine' }, 'key'],
  ] as const) {
    const answer = await browser.ask('POST', '/keys', { body });
    t.same([answer.status, answer.body.error.param], [400, param], JSON.stringify(body));
  }
  t.notMatch(JSON.stringify(rig.lines), key, 'no log holds it');
});

t.test('a key may what it was given, until its time, and then is like any that is not known', async (t) => {
  const rig = await openDashboardRig(t);
  const browser = rig.browser();
  await browser.setUp();
  const expires_at = new Date(rig.now().getTime() + 60_000).toISOString();
  const made = await browser.ask('POST', '/keys', { body: { name: 'Report', scopes: ['read'], expires_at } });
  t.match(made.body, { scopes: ['read'], expires_at, created_by: 'Owner' });
  const { key } = made.body;
  t.equal((await rig.api('GET', '/v1/calls', { key })).status, 200);
  const refused = await rig.api('POST', '/v1/agents', { key, body: { name: 'A', type: 'inbound' } });
  t.same([refused.status, refused.body.error.code], [403, 'forbidden']);
  t.match(refused.body.error.message, /operate/);
  const metrics = () => rig.api('GET', '/metrics', { key, headers: { via: 'a proxy' } });
  t.equal((await metrics()).status, 200);
  rig.advance(59_999);
  t.equal((await rig.api('GET', '/v1/calls', { key })).status, 200);
  rig.advance(1);
  const expired = await rig.api('GET', '/v1/calls', { key });
  const unknown = await rig.api('GET', '/v1/calls', { key: `sk_${'x'.repeat(49)}` });
  t.same([expired.status, expired.body.error.message], [401, unknown.body.error.message]);
  t.equal((await metrics()).status, 401);

  for (const [body, param] of [
    [{ scopes: [] }, 'scopes'],
    [{ scopes: ['everything'] }, 'scopes[0]'],
    [{ expires_at: rig.now().toISOString() }, 'expires_at'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
  ] as const) {
    const answer = await browser.ask('POST', '/keys', { body: { name: 'A', ...body } });
    t.same([answer.status, answer.body.error.param], [400, param], JSON.stringify(body));
  }
});
