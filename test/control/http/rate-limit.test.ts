// Token buckets by table, and the limit over HTTP.
import t from 'tap';
import { tokenBuckets } from '../../../control/http/rate-limit.ts';
import { openRig } from '../rig.ts';

t.test('a bucket gives its burst, then as many a second as it fills', (t) => {
  const buckets = tokenBuckets(10, 3);
  const allowed = (now: number, name = 'a') => buckets.take(name, now).allowed;
  t.same([allowed(0), allowed(0), allowed(0), allowed(0)], [true, true, true, false]);
  t.equal(allowed(0, 'b'), true, 'another bucket');
  t.equal(allowed(99), false);
  t.equal(allowed(100), true, 'a token every 100 ms');
  t.equal(allowed(100), false);
  t.same(
    [allowed(10_000), allowed(10_000), allowed(10_000), allowed(10_000)],
    [true, true, true, false],
    'never more',
  );
  t.equal(allowed(5_000), false, 'a clock that goes back gives nothing');
  t.equal(allowed(5_100), true, 'and goes on from there');
  t.end();
});

t.test('a bucket says what is left and how long to wait', (t) => {
  const buckets = tokenBuckets(2, 2);
  t.same(buckets.take('a', 0), { allowed: true, remaining: 1, resetSeconds: 1, waitSeconds: 0 });
  t.same(buckets.take('a', 0), { allowed: true, remaining: 0, resetSeconds: 1, waitSeconds: 0.5 });
  t.same(buckets.take('a', 0), { allowed: false, remaining: 0, resetSeconds: 1, waitSeconds: 0.5 });
  t.end();
});

t.test('only so many buckets are remembered, and the busy ones are kept', (t) => {
  const buckets = tokenBuckets(1, 1, 2);
  buckets.take('attacker', 0);
  for (let i = 0; i < 100; i++) {
    buckets.take(`address ${i}`, 0);
    t.equal(buckets.take('attacker', 0).allowed, false, `after ${i + 1} others`);
  }
  t.end();
});

t.test('a key over its limit is 429 with Retry-After; other keys go on', async (t) => {
  const rig = await openRig(t, { env: { RATE_LIMIT_PER_SECOND: '2', RATE_LIMIT_BURST: '3' } });
  for (const remaining of ['2', '1', '0']) {
    const { status, headers } = await rig.api('GET', '/v1/webhook_events');
    t.equal(status, 200);
    t.same(
      ['limit', 'remaining', 'policy'].map((name) => headers.get(`ratelimit-${name}`)),
      ['3', remaining, '2;w=1;burst=3'],
    );
    t.match(headers.get('ratelimit-reset'), /^\d+$/);
  }
  const over = await rig.api('POST', '/v1/agents', {
    raw: '{broken',
    headers: { 'content-type': 'text/plain' },
  });
  t.same([over.status, over.body.error.code], [429, 'rate_limited'], 'before the body is looked at');
  t.equal(over.headers.get('retry-after'), '1');
  t.equal(over.headers.get('ratelimit-remaining'), '0');
  t.equal((await rig.api('GET', '/v1/webhook_events', { key: rig.other.key })).status, 200);
  t.equal((await rig.api('GET', '/healthz')).status, 200, 'health is not counted');
  rig.advance(500);
  const errors = await rig.api('GET', '/v1/nothing');
  t.same([errors.status, errors.headers.get('ratelimit-limit')], [404, '3'], 'errors have the headers too');
  t.equal((await rig.api('GET', '/v1/webhook_events')).status, 429);
});

t.test(
  'requests without a good key are limited by their address and take nothing from good keys',
  async (t) => {
    const rig = await openRig(t, { env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' } });
    const bad = () => rig.api('GET', '/v1/agents', { key: 'sk_guessguessguessguess' });
    const first = await bad();
    t.same([first.status, first.headers.get('ratelimit-remaining')], [401, '1']);
    t.equal((await bad()).status, 401);
    const third = await bad();
    t.same([third.status, third.body.error.code], [429, 'rate_limited']);
    t.equal((await rig.api('GET', '/v1/agents')).status, 200);
  },
);

t.test('strangers behind one proxy are counted each by its own address', async (t) => {
  const limits = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' };
  const rig = await openRig(t, { env: { ...limits, TRUSTED_PROXIES: '10.1.0.0/16' } });
  const ask = async (path: string, forwarded: string, key: string | null = null) =>
    (await rig.api('GET', path, { key, headers: { 'x-forwarded-for': forwarded } })).status;

  const stranger = '198.51.100.7';
  t.same(
    [await ask('/v1/agents', stranger), await ask('/v1/agents', stranger), await ask('/v1/agents', stranger)],
    [401, 401, 429],
  );
  t.equal(await ask('/v1/agents', '198.51.100.8'), 401, 'somebody else has a count of his own');
  t.equal(await ask('/v1/openapi.json', '198.51.100.8'), 200, 'the reference too');
  t.equal(await ask('/v1/agents', `203.0.113.1, ${stranger}`), 429, 'what he puts before it is his tale');
  t.equal(
    await ask('/v1/agents', `${stranger}, 10.1.2.3`),
    429,
    'a further proxy that is trusted is passed over',
  );
  t.equal(await ask('/v1/agents', `10.1.2.3, ${stranger}`), 429, 'nobody becomes one by saying so');
  t.equal(await ask('/v1/agents', '2001:db8:1:2::1'), 401);
  t.equal(await ask('/v1/agents', '2001:db8:1:2:ffff::9'), 401);
  t.equal(await ask('/v1/agents', '2001:db8:1:2::7'), 429, 'a network of IPv6 is one');
  t.equal(await ask('/v1/agents', stranger, rig.key), 200, 'a good key is not counted with them');
});

t.test('a proxy that tells nobody apart: strangers take nothing from good keys', async (t) => {
  const rig = await openRig(t, { env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' } });
  for (let i = 0; i < 10; i++) await rig.api('GET', '/v1/agents', { key: null });
  t.equal((await rig.api('GET', '/v1/agents', { key: null })).status, 429);
  t.equal((await rig.api('GET', '/v1/agents')).status, 200);
  t.equal((await rig.api('GET', '/v1/agents')).status, 200);
});
