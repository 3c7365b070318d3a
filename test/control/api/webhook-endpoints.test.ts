// Webhook endpoints and deliveries over HTTP.
import t from 'tap';
import { SPECIFIED_FIELDS } from '../../specified-fields.ts';
import { makeCall } from '../../storage/makers.ts';
import { openRig, type Rig } from '../rig.ts';

const EVENTS = [
  ...['call.queued', 'call.ringing', 'call.answered', 'call.completed', 'call.failed', 'call.no_answer'],
  ...['call.busy', 'call.canceled'],
];

async function endpoint(rig: Rig, fields: Record<string, unknown> = {}) {
  const answer = await rig.api('POST', '/v1/webhook_endpoints', {
    body: { url: 'https://example.com/a', ...fields },
  });
  return answer.body as { id: string; secret: string };
}

t.test('the event types are those of the specification', async (t) => {
  const rig = await openRig(t);
  t.same((await rig.api('GET', '/v1/webhook_events')).body, { data: EVENTS });
});

t.test('an endpoint shows its secret when it is made and never again', async (t) => {
  const rig = await openRig(t);
  const { status, body } = await rig.api('POST', '/v1/webhook_endpoints', {
    body: { url: 'https://example.com/a' },
  });
  t.equal(status, 201);
  const { secret, ...shown } = body;
  t.match(secret, /^whsec_[A-Za-z0-9+/=]{32,}$/);
  t.match(shown, {
    org_id: rig.orgId,
    url: 'https://example.com/a',
    description: null,
    enabled_events: ['*'],
    status: 'enabled',
    disabled_reason: null,
    disabled_at: null,
    consecutive_failures: 0,
    created_at: '2026-03-01T12:00:00.000Z',
    updated_at: '2026-03-01T12:00:00.000Z',
  });
  t.same(Object.keys(shown), SPECIFIED_FIELDS.endpoint, 'and nothing else');
  t.same((await rig.api('GET', `/v1/webhook_endpoints/${body.id}`)).body, shown);
  t.same((await rig.api('GET', '/v1/webhook_endpoints')).body, { data: [shown] });
  t.not((await endpoint(rig)).secret, secret, 'each endpoint has its own');
});

t.test('registering refuses what could not be delivered to, and names the field', async (t) => {
  const rig = await openRig(t);
  const url = 'https://example.com/a';
  const cases: [unknown, string, string][] = [
    [{}, 'missing_parameter', 'url'],
    [{ url: '' }, 'invalid_request', 'url'],
    [{ url: 5 }, 'invalid_request', 'url'],
    [{ url: 'example.com' }, 'invalid_url', 'url'],
    [{ url: 'http://example.com/' }, 'invalid_url', 'url'],
    [{ url: 'https://user:pass@example.com/' }, 'invalid_url', 'url'],
    [{ url: `https://example.com/${'x'.repeat(2048)}` }, 'invalid_request', 'url'],
    [{ url: 'https://192.168.1.1/' }, 'blocked_address', 'url'],
    [{ url: 'https://[::ffff:127.0.0.1]/' }, 'blocked_address', 'url'],
    [{ url, enabled_events: [] }, 'invalid_request', 'enabled_events'],
    [{ url, enabled_events: ['call.started'] }, 'invalid_request', 'enabled_events[0]'],
    [{ url, enabled_events: '*' }, 'invalid_request', 'enabled_events'],
    [{ url, secret: 'whsec_mine' }, 'unknown_parameter', 'secret'],
    [{ url, status: 'disabled' }, 'unknown_parameter', 'status'],
  ];
  for (const [body, code, param] of cases) {
    const answer = await rig.api('POST', '/v1/webhook_endpoints', { body });
    t.same(
      [answer.status, answer.body.error.code, answer.body.error.param],
      [400, code, param],
      JSON.stringify(body),
    );
  }
  const opened = await openRig(t, { env: { WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8' } });
  const local = await opened.api('POST', '/v1/webhook_endpoints', {
    body: { url: 'http://127.0.0.1:9999/x' },
  });
  t.equal(local.status, 201, 'unless the operator has opened the range');
});

t.test('PATCH changes, disables by hand, and enabling clears the count of failures', async (t) => {
  const rig = await openRig(t);
  const { id } = await endpoint(rig);
  const patch = (body: unknown) => rig.api('PATCH', `/v1/webhook_endpoints/${id}`, { body });
  rig.advance(1000);
  const changed = await patch({
    url: 'https://example.com/b',
    description: 'CRM',
    enabled_events: ['call.completed', 'call.completed'],
  });
  t.equal(changed.status, 200);
  t.match(changed.body, {
    url: 'https://example.com/b',
    description: 'CRM',
    updated_at: '2026-03-01T12:00:01.000Z',
  });
  t.same(changed.body.enabled_events, ['call.completed']);
  t.equal((await patch({ description: null })).body.description, null);

  const disabled = (await patch({ status: 'disabled' })).body;
  t.match(disabled, {
    status: 'disabled',
    disabled_reason: 'manual',
    disabled_at: '2026-03-01T12:00:01.000Z',
  });
  rig.advance(1000);
  t.match(
    (await patch({ status: 'disabled' })).body,
    { disabled_at: '2026-03-01T12:00:01.000Z' },
    'since when it was',
  );
  t.match((await patch({ status: 'enabled' })).body, {
    status: 'enabled',
    disabled_reason: null,
    disabled_at: null,
    consecutive_failures: 0,
  });
  for (const [body, code, param] of [
    [{ url: 'https://10.1.2.3/' }, 'blocked_address', 'url'],
    [{ url: null }, 'invalid_request', 'url'],
    [{ enabled_events: ['x'] }, 'invalid_request', 'enabled_events[0]'],
    [{ status: 'paused' }, 'invalid_request', 'status'],
    [{ consecutive_failures: 0 }, 'unknown_parameter', 'consecutive_failures'],
  ] as const) {
    const answer = await patch(body);
    t.same([answer.status, answer.body.error.code, answer.body.error.param], [400, code, param]);
  }
});

t.test('a new secret is shown once, and the one before signs for 24 hours more', async (t) => {
  const rig = await openRig(t);
  const { id, secret } = await endpoint(rig);
  const rotated = await rig.api('POST', `/v1/webhook_endpoints/${id}/rotate_secret`);
  t.equal(rotated.status, 200);
  t.match(rotated.body.secret, /^whsec_/);
  t.not(rotated.body.secret, secret);
  t.match(await rig.store.getEndpoint(rig.orgId, id), {
    secret: rotated.body.secret,
    previous_secret: secret,
    previous_secret_expires_at: '2026-03-02T12:00:00.000Z',
  });
});

t.test('a removed endpoint is gone', async (t) => {
  const rig = await openRig(t);
  const { id } = await endpoint(rig);
  const removed = await rig.api('DELETE', `/v1/webhook_endpoints/${id}`);
  t.same([removed.status, removed.text], [204, '']);
  t.equal((await rig.api('GET', `/v1/webhook_endpoints/${id}`)).status, 404);
  t.equal((await rig.api('DELETE', `/v1/webhook_endpoints/${id}`)).status, 404);
  t.same((await rig.api('GET', '/v1/webhook_endpoints')).body, { data: [] });
});

t.test('deliveries are listed by filter, read with their attempts, and sent again', async (t) => {
  const rig = await openRig(t);
  const agent = await rig.agent({ webhook_url: 'https://example.com/inline' });
  const { id: endpointId } = await endpoint(rig);
  const call = (await rig.api('POST', '/v1/calls', { body: { agent_id: agent.id, to: '+14155550123' } }))
    .body;
  rig.advance(1000);
  await rig.store.saveCall(call.id, {
    from: ['initiated'],
    change: { status: 'ringing' },
    events: ['call.ringing'],
  });
  const list = async (query = '') => (await rig.api('GET', `/v1/webhook_deliveries${query}`)).body.data;
  const all = await list();
  t.equal(all.length, 4, 'two events to two receivers');
  t.equal((await list(`?endpoint_id=${endpointId}`)).length, 2);
  t.equal((await list(`?call_id=${call.id}`)).length, 4);
  t.equal((await list('?event_type=call.ringing')).length, 2);
  t.equal((await list('?status=delivered')).length, 0);
  t.equal((await list(`?endpoint_id=${endpointId}&event_type=call.ringing&status=pending`)).length, 1);
  const page = await rig.api('GET', '/v1/webhook_deliveries?limit=3');
  const next = /<(.*)>/.exec(page.headers.get('link') ?? '')?.[1] ?? '';
  const rest = await rig.api('GET', next);
  t.same([...page.body.data, ...rest.body.data], all);
  for (const query of ['?status=x', '?event_type=call.x', '?endpoint_id=x', '?state=pending']) {
    t.equal((await rig.api('GET', `/v1/webhook_deliveries${query}`)).status, 400, query);
  }

  const [delivery] = await list(`?endpoint_id=${endpointId}&event_type=call.queued`);
  t.match(delivery, {
    endpoint_id: endpointId,
    call_id: call.id,
    url: 'https://example.com/a',
    attempt_count: 0,
  });
  await rig.store.claimDelivery(delivery.id, 0, rig.now().toISOString(), 30_000);
  await rig.store.recordAttempt(delivery.id, {
    attempt: {
      started_at: rig.now().toISOString(),
      latency_ms: 12,
      response_status: 200,
      error: null,
      response_excerpt: 'thanks',
    },
    status: 'delivered',
  });
  const detail = (await rig.api('GET', `/v1/webhook_deliveries/${delivery.id}`)).body;
  t.match(detail, { status: 'delivered', attempt_count: 1, last_response_status: 200 });
  t.equal(detail.attempts.length, 1);
  t.match(detail.attempts[0], {
    attempt: 1,
    latency_ms: 12,
    response_status: 200,
    response_excerpt: 'thanks',
  });

  const again = await rig.api('POST', `/v1/webhook_deliveries/${delivery.id}/redeliver`);
  t.equal(again.status, 200);
  t.match(again.body, { id: delivery.id, status: 'pending', manual_retry_count: 1 });
});

t.test(
  'a delivery is sent again with its attempts counted on, and never where it could not arrive',
  async (t) => {
    const rig = await openRig(t);
    const made = (
      await rig.api('POST', '/v1/webhook_endpoints', {
        body: { url: 'https://example.com/a', enabled_events: ['call.queued'] },
      })
    ).body;
    await rig.store.createCall(makeCall(rig.orgId), { events: ['call.queued'], reserve: 0 });
    const [delivery] = (await rig.api('GET', '/v1/webhook_deliveries')).body.data;
    const path = `/v1/webhook_deliveries/${delivery.id}`;
    const attempt = async (made: number, status: 'pending' | 'exhausted') => {
      t.ok(await rig.store.claimDelivery(delivery.id, made, rig.now().toISOString(), 30_000));
      await rig.store.recordAttempt(delivery.id, {
        attempt: {
          started_at: rig.now().toISOString(),
          latency_ms: 1,
          response_status: 500,
          error: 'http_status_500',
          response_excerpt: null,
        },
        status,
        nextAttemptAt: rig.now().toISOString(),
      });
    };
    for (let i = 0; i < 10; i++) await attempt(i, i === 9 ? 'exhausted' : 'pending');
    const again = await rig.api('POST', `${path}/redeliver`);
    t.match(again, { status: 200, body: { status: 'pending', attempt_count: 10, manual_retry_count: 1 } });
    await attempt(10, 'exhausted');
    const eleven = (await rig.api('GET', path)).body;
    t.same([eleven.attempt_count, eleven.attempts.length], [11, 11]);

    await rig.api('PATCH', `/v1/webhook_endpoints/${made.id}`, { body: { status: 'disabled' } });
    const held = await rig.api('POST', `${path}/redeliver`);
    t.same([held.status, held.body.error.code], [409, 'endpoint_disabled']);
    t.match(held.body.error.message, /PATCH/, 'with what to do');
    t.same((await rig.api('GET', path)).body, eleven, 'nothing was queued');

    await rig.api('DELETE', `/v1/webhook_endpoints/${made.id}`);
    const gone = await rig.api('POST', `${path}/redeliver`);
    t.same([gone.status, gone.body.error.code], [409, 'endpoint_deleted']);
    t.notMatch(gone.body.error.message, /no webhook delivery/, 'the delivery is there');
    t.same((await rig.api('GET', path)).body, eleven);
  },
);
