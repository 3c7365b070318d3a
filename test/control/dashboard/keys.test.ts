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
  t.same(Object.keys(shown), ['id', 'name', 'prefix', 'last4', 'created_at', 'last_used_at', 'revoked_at']);
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
