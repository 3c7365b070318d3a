// Who is let in: Bearer keys and nothing else, and how their use is written down.
import t from 'tap';
import { openRig } from '../rig.ts';

t.test('a missing, malformed, unknown or revoked key is 401 with WWW-Authenticate', async (t) => {
  const rig = await openRig(t);
  const revoked = (await rig.store.listKeys(rig.other.orgId))[0];
  await rig.store.revokeKey(rig.other.orgId, revoked?.id ?? '', rig.now().toISOString());
  const cases: [string, Record<string, string>][] = [
    ['nothing', {}],
    ['another scheme', { authorization: `Basic ${Buffer.from(`${rig.key}:`).toString('base64')}` }],
    ['the key alone', { authorization: rig.key }],
    ['no key', { authorization: 'Bearer' }],
    ['an empty key', { authorization: 'Bearer ' }],
    ['an unknown key', { authorization: `Bearer sk_${'a'.repeat(49)}` }],
    [
      'a changed key',
      { authorization: `Bearer ${rig.key.slice(0, -1)}${rig.key.endsWith('a') ? 'b' : 'a'}` },
    ],
    ['a longer key', { authorization: `Bearer ${rig.key}a` }],
    ['two keys', { authorization: `Bearer ${rig.key} ${rig.key}` }],
    ['another beginning', { authorization: `Bearer pk_${rig.key.slice(3)}` }],
    ['a revoked key', { authorization: `Bearer ${rig.other.key}` }],
    ['a cookie', { cookie: `api_key=${rig.key}; sk=${rig.key}; Authorization=Bearer ${rig.key}` }],
    ['an own header', { 'x-api-key': rig.key }],
    ['10,000 characters', { authorization: `Bearer sk_${'a'.repeat(10_000)}` }],
  ];
  for (const [name, headers] of cases) {
    const answer = await rig.api('GET', '/v1/agents', { key: null, headers });
    t.same([answer.status, answer.body.error.code], [401, 'unauthorized'], name);
    t.match(answer.headers.get('www-authenticate'), /^Bearer/, name);
    t.notMatch(answer.text, rig.key);
  }
  for (const query of [`api_key=${rig.key}`, `access_token=${rig.key}`, `key=${rig.key}`]) {
    t.equal((await rig.api('GET', `/v1/agents?${query}`, { key: null })).status, 401, 'a key in the query');
  }
  t.equal(
    (await rig.api('GET', '/v1/agents', { key: null, headers: { authorization: `bearer ${rig.key}` } }))
      .status,
    200,
  );
});

t.test('a key is asked for before the body is read and before a path is known', async (t) => {
  const rig = await openRig(t);
  t.equal((await rig.api('POST', '/v1/agents', { key: null, raw: '{broken' })).status, 401);
  t.equal((await rig.api('POST', '/v1/agents', { key: null, raw: Buffer.alloc(1_000_000) })).status, 401);
  t.equal((await rig.api('GET', '/v1/nothing', { key: null })).status, 401);
  t.equal((await rig.api('DELETE', '/v1/webhook_events', { key: null })).status, 401);
});

t.test('a revoked key stops working at once', async (t) => {
  const rig = await openRig(t);
  t.equal((await rig.api('GET', '/v1/agents')).status, 200);
  const [key] = await rig.store.listKeys(rig.orgId);
  await rig.store.revokeKey(rig.orgId, key?.id ?? '', rig.now().toISOString());
  t.equal((await rig.api('GET', '/v1/agents')).status, 401);
});

t.test('the last use of a key is written once a minute at most', async (t) => {
  const rig = await openRig(t);
  let writes = 0;
  const touch = rig.store.touchKey;
  rig.store.touchKey = (id, at) => {
    writes += 1;
    return touch(id, at);
  };
  const used = async () => (await rig.store.listKeys(rig.orgId))[0]?.last_used_at;
  for (let i = 0; i < 5; i++) await rig.api('GET', '/v1/agents');
  t.same([writes, await used()], [1, '2026-03-01T12:00:00.000Z']);
  rig.advance(59_999);
  await rig.api('GET', '/v1/agents');
  t.equal(writes, 1);
  rig.advance(1);
  await rig.api('GET', '/v1/agents');
  t.same([writes, await used()], [2, '2026-03-01T12:01:00.000Z']);

  const [key] = await rig.store.listKeys(rig.orgId);
  rig.advance(60_000);
  await touch(key?.id ?? '', rig.now().toISOString());
  rig.advance(59_999);
  await rig.api('GET', '/v1/agents');
  t.equal(writes, 2, 'nor where another daemon has just written it');

  rig.advance(60_000);
  rig.store.touchKey = async () => {
    throw new Error('disk full');
  };
  t.equal((await rig.api('GET', '/v1/agents')).status, 200, 'a full disk refuses no reader');
});
