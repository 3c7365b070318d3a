// Organizations made and listed over the API, by the operator alone.
import t from 'tap';
import { openRig } from '../rig.ts';

const OPERATOR = { 'Operator-Key': 'operator-key-of-the-test' };
const env = { OPERATOR_KEY: OPERATOR['Operator-Key'] };

t.test('the operator makes an organization, which opens with what was told this once', async (t) => {
  const rig = await openRig(t, {
    env: { ...env, PUBLIC_URL: 'https://phone.example.com', DATA_DIR: t.testdir({}) },
  });
  const once = { ...OPERATOR, 'Idempotency-Key': 'one clinic' };
  const made = await rig.api('POST', '/v1/organizations', {
    body: { name: ' Harbour Clinic ' },
    headers: once,
  });
  t.equal(made.status, 201, made.text);
  t.match(made.body, {
    name: 'Harbour Clinic',
    api_key: /^sk_[A-Za-z0-9]{49}$/,
    password_url: /^https:\/\/phone\.example\.com\/setup#[\w-]{43}$/,
  });
  const again = await rig.api('POST', '/v1/organizations', {
    body: { name: ' Harbour Clinic ' },
    headers: once,
  });
  t.same(
    [again.body, again.headers.get('idempotent-replayed')],
    [made.body, 'true'],
    'a repeat makes no other',
  );

  const agent = await rig.api('POST', '/v1/agents', {
    key: made.body.api_key,
    body: { name: 'A', type: 'inbound' },
  });
  t.same([agent.status, agent.body.org_id], [201, made.body.id]);
  t.same((await rig.api('GET', '/v1/agents')).body.data, []);
  const [newest, ...others] = (await rig.api('GET', '/v1/organizations', { headers: OPERATOR })).body.data;
  t.same(newest, { id: made.body.id, name: 'Harbour Clinic', created_at: made.body.created_at });
  t.same(
    others.map(({ id }: { id: string }) => id),
    [rig.other.orgId, rig.orgId],
    'newest first',
  );
  const page = await rig.api('GET', '/v1/organizations?limit=2', { headers: OPERATOR });
  t.match(page.headers.get('link'), `starting_after=${rig.other.orgId}`);
  const rest = await rig.api('GET', `/v1/organizations?starting_after=${rig.other.orgId}`, {
    headers: OPERATOR,
  });
  t.same(
    rest.body.data.map(({ id }: { id: string }) => id),
    [rig.orgId],
  );
  t.notMatch(JSON.stringify(rig.lines), made.body.api_key, 'no log holds it');

  for (const name of ['harbour clinic', 'HARBOUR CLINIC']) {
    const taken = await rig.api('POST', '/v1/organizations', { body: { name }, headers: OPERATOR });
    t.same([taken.status, taken.body.error.code, taken.body.error.param], [409, 'conflict', 'name']);
  }
  for (const name of ['', '  ', 'x'.repeat(101), 'a\nb', 'a\u202eb', 7, null]) {
    const wrong = await rig.api('POST', '/v1/organizations', { body: { name }, headers: OPERATOR });
    t.same([wrong.status, wrong.body.error.param], [400, 'name'], JSON.stringify(name));
  }
});

t.test('without the operator’s key there are none to see or make', async (t) => {
  const rig = await openRig(t, { env });
  const none = await openRig(t);
  for (const [who, headers] of [
    [rig, {}],
    [rig, { 'Operator-Key': 'something else of it' }],
    [none, OPERATOR],
  ] as const) {
    for (const [method, body] of [
      ['GET', undefined],
      ['POST', { name: 'Harbour Clinic' }],
    ] as const) {
      const answer = await who.api(method, '/v1/organizations', { body, headers: { ...headers } });
      t.same([answer.status, answer.body.error.code], [403, 'forbidden'], method);
    }
  }
  const nobody = await rig.api('POST', '/v1/organizations', {
    key: null,
    body: { name: 'x' },
    headers: OPERATOR,
  });
  t.equal(nobody.status, 401, 'and the operator’s key alone is no key');
  t.equal((await rig.store.listOrganizations({ limit: 10 })).length, 2);
});
