// A test event to an endpoint, and the replay of what an endpoint has missed.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { EVENT_TYPES } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';
import { openReceiver } from '../receiver.ts';
import { openRig } from '../rig.ts';

const OPEN = { env: { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' } };

t.test('a test event is signed like a delivery, and its outcome is the answer', async (t) => {
  let answer = 200;
  const receiver = await openReceiver((_request, response) => {
    response.writeHead(answer, answer === 302 ? { location: '/elsewhere' } : {}).end('thanks');
  });
  t.teardown(() => receiver.close());
  const rig = await openRig(t, OPEN);
  const { body: endpoint } = await rig.api('POST', '/v1/webhook_endpoints', { body: { url: receiver.url } });
  const test = (id = endpoint.id, key = rig.key) =>
    rig.api('POST', `/v1/webhook_endpoints/${id}/test`, { key });

  const good = await test();
  t.match(good.body, { status: 'delivered', status_code: 200, error: null });
  t.ok(Number.isInteger(good.body.latency_ms) && good.body.latency_ms >= 0);
  const [request] = receiver.requests;
  t.equal(request?.headers['service-event-type'], 'endpoint.test');
  t.notOk((EVENT_TYPES as readonly string[]).includes('endpoint.test'), 'no type of a real event');
  t.equal(JSON.parse(request?.body ?? '').endpoint_id, endpoint.id);
  const signed = (secret: string, got = request) => {
    const own = new Webhook(secret);
    const headers = got?.headers ?? {};
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    return headers['webhook-signature']
      ?.split(' ')
      .includes(own.sign(headers['webhook-id'] ?? '', at, got?.body ?? ''));
  };
  t.ok(signed(endpoint.secret), 'by the library of Standard Webhooks');
  const rotated = await rig.api('POST', `/v1/webhook_endpoints/${endpoint.id}/rotate_secret`);
  await test();
  t.ok(
    signed(endpoint.secret, receiver.requests[1]) && signed(rotated.body.secret, receiver.requests[1]),
    'by both',
  );

  for (const [status, error] of [
    [500, 'http_status_500'],
    [410, 'http_status_410'],
    [302, 'redirect_not_followed'],
  ] as const) {
    answer = status;
    t.match((await test()).body, { status: 'failed', status_code: status, error });
  }
  t.equal(receiver.requests.length, 5, 'the redirect was not followed');
  await receiver.close();
  t.match((await test()).body, { status: 'failed', status_code: null, error: 'connection_failed' });

  const shown = await rig.api('GET', `/v1/webhook_endpoints/${endpoint.id}`);
  t.match(shown.body, { status: 'enabled', consecutive_failures: 0 });
  t.same((await rig.api('GET', '/v1/webhook_deliveries')).body.data, [], 'nothing of it is stored');
  t.equal((await test(endpoint.id, rig.other.key)).status, 404);
  t.equal((await test(rig.orgId)).status, 404);
});

t.test('a test goes nowhere that a webhook may not go', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const open = await openRig(t, { ...OPEN, path: `${t.testdir({})}/a.db` });
  const { body } = await open.api('POST', '/v1/webhook_endpoints', { body: { url: receiver.url } });
  // Saved while it was allowed; the operator has closed the range since.
  const closed = await openRig(t);
  const endpoint = await open.store.getEndpoint(open.orgId, body.id);
  if (endpoint === null) throw new Error('no endpoint');
  await closed.store.createEndpoint({ ...endpoint, org_id: closed.orgId });
  const answer = await closed.api('POST', `/v1/webhook_endpoints/${body.id}/test`);
  t.match(answer.body, { status: 'failed', status_code: null, error: 'blocked_address' });
  t.equal(receiver.connections, 0);
});

t.test('five tests of an organization at once, and one more is 429 with Retry-After', async (t) => {
  const held: (() => void)[] = [];
  const receiver = await openReceiver((_request, response) => {
    held.push(() => response.writeHead(200).end());
  });
  t.teardown(() => receiver.close());
  const rig = await openRig(t, OPEN);
  const endpointOf = async (key: string) =>
    (await rig.api('POST', '/v1/webhook_endpoints', { key, body: { url: receiver.url } })).body.id;
  const [own, others] = [await endpointOf(rig.key), await endpointOf(rig.other.key)];
  const test = (id = own, key = rig.key) => rig.api('POST', `/v1/webhook_endpoints/${id}/test`, { key });
  const reached = async (count: number) => {
    while (held.length < count) await new Promise((later) => setTimeout(later, 5));
  };
  const first = Array.from({ length: 5 }, () => test());
  await reached(5);
  const sixth = await test();
  t.same([sixth.status, sixth.body.error.code], [429, 'rate_limited']);
  t.equal(sixth.headers.get('retry-after'), '5');
  t.equal(held.length, 5, 'nothing was sent for it');
  const other = test(others, rig.other.key);
  await reached(6);
  for (const answer of held) answer();
  for (const { body } of await Promise.all([...first, other])) t.equal(body.status, 'delivered');
  const next = test();
  await reached(7);
  held[6]?.();
  t.equal((await next).status, 200, 'when they have ended, another one may');
});

t.test('a replay queues again what was given up or missed, or all of it', async (t) => {
  const rig = await openRig(t);
  const make = async (org = rig.orgId) => {
    const call = makeCall(org, { agent_id: null, carrier_call_id: null });
    await rig.store.createCall(call, { events: ['call.queued'], reserve: 0 });
    return call.id;
  };
  const { body: endpoint } = await rig.api('POST', '/v1/webhook_endpoints', {
    body: { url: 'https://example.com/a' },
  });
  const { body: second } = await rig.api('POST', '/v1/webhook_endpoints', {
    body: { url: 'https://example.com/b' },
  });
  const deliveries = async (id = endpoint.id) =>
    (await rig.store.listDeliveries(rig.orgId, { endpointId: id }, { limit: 100 })).reverse();
  const settle = async (id: string, status: 'delivered' | 'exhausted') => {
    await rig.store.claimDelivery(id, 0, rig.now().toISOString(), 1000);
    const attempt = {
      started_at: rig.now().toISOString(),
      latency_ms: 1,
      response_status: null,
      error: 'timeout',
      response_excerpt: null,
    };
    await rig.store.recordAttempt(id, { attempt, status });
  };
  const replay = (body: Record<string, unknown>, key = rig.key) =>
    rig.api('POST', `/v1/webhook_endpoints/${endpoint.id}/replay`, { key, body });
  const start = rig.now().toISOString();
  for (let i = 0; i < 4; i++) {
    await make();
    rig.advance(60_000);
  }
  for (const [i, { id }] of (await deliveries()).entries()) {
    if (i < 3) await settle(id, i === 1 ? 'delivered' : 'exhausted');
  }
  for (const { id } of await deliveries(second.id)) await settle(id, 'exhausted');
  const statuses = async () => (await deliveries()).map(({ status }) => status);
  t.same(await statuses(), ['exhausted', 'delivered', 'exhausted', 'pending']);

  const told: string[] = [];
  rig.store.subscribe({ deliveries: (due) => told.push(...due.map(({ id }) => id)) });
  const later = new Date(rig.now().getTime() - 3 * 60_000).toISOString();
  t.same((await replay({ since: later })).body, { count: 1 }, 'since a time');
  t.same(await statuses(), ['exhausted', 'delivered', 'pending', 'pending']);
  t.same((await replay({ since: start, until: start })).body, { count: 0 }, 'an empty time');
  t.same((await replay({ since: start })).body, { count: 1 }, 'and the rest of what failed');
  t.same(await statuses(), ['pending', 'delivered', 'pending', 'pending']);
  t.same(
    (await replay({ since: start, only: 'all' })).body,
    { count: 1 },
    'what was delivered too; what waits is left alone',
  );
  const [first, ...rest] = await deliveries();
  t.same([first?.manual_retry_count, first?.attempt_count], [1, 1]);
  t.equal(rest.at(-1)?.manual_retry_count, 0);
  t.equal(told.length, 3, 'the queue hears of each');
  t.ok(
    (await deliveries(second.id)).every(({ status }) => status === 'exhausted'),
    "another endpoint's stay",
  );

  await rig.api('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'disabled' } });
  await make();
  const held = await replay({ since: start });
  t.same([held.status, held.body.error.code], [409, 'endpoint_disabled'], 'enable it first');
  await rig.api('PATCH', `/v1/webhook_endpoints/${endpoint.id}`, { body: { status: 'enabled' } });
  t.same((await replay({ since: start })).body, { count: 1 }, 'what came while it was disabled');

  for (const body of [{}, { since: 'yesterday' }, { since: start, only: 'some' }, { since: start, odd: 1 }]) {
    t.equal((await replay(body)).status, 400, JSON.stringify(body));
  }
  t.equal((await replay({ since: start }, rig.other.key)).status, 404);
  const many = await rig.store.replayDeliveries(rig.orgId, second.id, {
    since: start,
    until: null,
    only: 'failed',
    at: start,
    limit: 3,
  });
  t.same(many, { conflict: 'too_many' });
  const kept = (await deliveries(second.id)).filter(({ status }) => status === 'exhausted');
  t.equal(kept.length, 4, 'then none is');
});
