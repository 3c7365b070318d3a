// One attempt: what the receiver gets, and what is recorded for each answer.
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { type Egress, EgressError } from '../../../control/egress/egress.ts';
import { openDelivery } from '../../../control/webhooks/delivery.ts';
import type { DeliveryRecord } from '../../../storage/records.ts';
import { openReceiver, type Receiver } from '../receiver.ts';
import { ENDPOINT_SECRET, ORGANIZATION_SECRET, openRig, type Rig, silent } from './webhook-rig.ts';

const never = new AbortController().signal;

async function deliveryFor(rig: Rig, egress: Pick<Egress, 'request'> = rig.egress, retryScale = 1) {
  const delivery = openDelivery({ store: rig.store, egress, log: silent, retryScale, version: '1.2.3' });
  return async (id: string, stop = never): Promise<DeliveryRecord> => {
    const before = await rig.store.getDelivery(rig.org, id);
    // Its time has come: nothing is attempted before that.
    const dueInMs = Date.parse(before?.delivery.next_attempt_at ?? '') - Date.now();
    if (dueInMs > 0) await rig.store.moveTimes(-dueInMs);
    const claimed = await delivery.claim(id, before?.delivery.attempt_count ?? 0);
    if (claimed === null) throw new Error('nothing to claim');
    await delivery.attempt(claimed, stop);
    const after = await rig.store.getDelivery(rig.org, id);
    if (after === null) throw new Error('it is gone');
    return after.delivery;
  };
}

/** A rig with one pending delivery to a receiver that answers so. */
async function one(t: Test, answer: Parameters<typeof openReceiver>[0]) {
  const receiver = await openReceiver(answer);
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  await rig.endpoint(receiver.url);
  const call = await rig.event();
  const [delivery] = await rig.deliveries();
  return { rig, call, receiver, id: delivery?.id ?? '', attempt: await deliveryFor(rig) };
}

function lastOf(receiver: Receiver) {
  const request = receiver.requests.at(-1);
  if (request === undefined) throw new Error('no request came');
  return request;
}

t.test('a delivery carries the stored call, its headers, and a signature that verifies', async (t) => {
  const { rig, call, receiver, id, attempt } = await one(t, (_request, response) => {
    response.writeHead(200).end('thanks');
  });
  const done = await attempt(id);
  const { method, path, headers, body } = lastOf(receiver);
  t.match([method, path], ['POST', '/hook']);
  t.match(headers, {
    'content-type': 'application/json; charset=utf-8',
    'user-agent': 'Offhook-Webhooks/1.2.3',
    'service-event-id': id,
    'service-event-type': 'call.queued',
    'service-event-sequence': '1',
    'service-delivery-attempt': '1',
    'webhook-id': id,
  });
  t.notOk(headers['service-replay']);
  t.equal((new Webhook(ENDPOINT_SECRET).verify(body, headers) as { id: string }).id, call.id);
  t.equal(body, (await rig.store.listEvents(call.id))[0]?.body);
  t.match(done, { status: 'delivered', attempt_count: 1, last_error: null, last_response_status: 200 });
  const [recorded] = await rig.attempts(id);
  t.match(recorded, { attempt: 1, response_status: 200, error: null, response_excerpt: 'thanks' });
  t.ok((recorded?.latency_ms ?? -1) >= 0);
});

t.test('an inline delivery is signed with the organization’s secret', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  await rig.event({ webhook_url: receiver.url });
  const [delivery] = await rig.deliveries();
  await (await deliveryFor(rig))(delivery?.id ?? '');
  const { body, headers } = lastOf(receiver);
  new Webhook(ORGANIZATION_SECRET).verify(body, headers);
  t.throws(() => new Webhook(ENDPOINT_SECRET).verify(body, headers));
});

t.test('after a rotation both secrets sign until the old one ends', async (t) => {
  const { rig, receiver, id, attempt } = await one(t, 500);
  const [endpoint] = await rig.store.listEndpoints(rig.org, { limit: 1 });
  const newer = 'whsec_bmV3LXNlY3JldC1uZXctc2VjcmV0LW5ldw==';
  const rotate = (expires: string) =>
    rig.store.updateEndpoint(rig.org, endpoint?.id ?? '', {
      secret: newer,
      previous_secret: ENDPOINT_SECRET,
      previous_secret_expires_at: expires,
    });
  await rotate(new Date(Date.now() + 60_000).toISOString());
  await attempt(id);
  let { body, headers } = lastOf(receiver);
  new Webhook(newer).verify(body, headers);
  new Webhook(ENDPOINT_SECRET).verify(body, headers);
  await rotate(new Date(Date.now() - 1).toISOString());
  await attempt(id);
  ({ body, headers } = lastOf(receiver));
  new Webhook(newer).verify(body, headers);
  t.throws(() => new Webhook(ENDPOINT_SECRET).verify(body, headers));
});

t.test(
  'a failure is tried again with the same id and bytes, the next attempt number and a fresh time',
  async (t) => {
    const { receiver, id, attempt } = await one(t, 503);
    const after = await attempt(id);
    t.match(after, {
      status: 'pending',
      attempt_count: 1,
      last_error: 'http_status_503',
      last_response_status: 503,
    });
    const waitMs = Date.parse(after.next_attempt_at) - Date.parse(after.updated_at);
    t.ok(waitMs > 3500 && waitMs <= 6001, `the first wait is 5 s, spread by a fifth: ${waitMs}`);
    await attempt(id);
    const [first, second] = receiver.requests;
    t.equal(second?.headers['service-delivery-attempt'], '2');
    t.equal(second?.headers['webhook-id'], first?.headers['webhook-id']);
    t.equal(second?.body, first?.body);
    new Webhook(ENDPOINT_SECRET).verify(second?.body ?? '', second?.headers ?? {});
  },
);

t.test('a replay says so, with the same id and bytes', async (t) => {
  const { rig, receiver, id, attempt } = await one(t, 200);
  await attempt(id);
  await rig.store.redeliver(rig.org, id, new Date().toISOString());
  t.match(await attempt(id), { status: 'delivered', manual_retry_count: 1 });
  const [first, second] = receiver.requests;
  t.equal(second?.headers['service-replay'], 'true');
  t.equal(second?.headers['service-event-id'], id);
  t.equal(second?.body, first?.body);
});

t.test('a replay has the whole schedule again, however many attempts were made before', async (t) => {
  const { rig, id, attempt } = await one(t, 500);
  for (let i = 1; i < 10; i++) t.match(await attempt(id), { status: 'pending', attempt_count: i });
  t.match(await attempt(id), { status: 'exhausted', attempt_count: 10 });
  await rig.store.redeliver(rig.org, id, new Date().toISOString());
  const eleventh = await attempt(id);
  t.match(eleventh, { status: 'pending', attempt_count: 11 });
  const waitMs = Date.parse(eleventh?.next_attempt_at ?? '') - Date.parse(eleventh?.updated_at ?? '');
  t.ok(waitMs > 3500 && waitMs <= 6001, `the first wait of a schedule: ${waitMs}`);
});

t.test('a redirect is a failure with a name', async (t) => {
  const { id, attempt } = await one(t, (_request, response) => {
    response.writeHead(302, { location: 'https://example.com/' }).end();
  });
  t.match(await attempt(id), {
    status: 'pending',
    last_error: 'redirect_not_followed',
    last_response_status: 302,
  });
});

t.test('410 exhausts at once', async (t) => {
  const { id, attempt } = await one(t, 410);
  t.match(await attempt(id), { status: 'exhausted', attempt_count: 1, last_error: 'http_status_410' });
});

t.test('Retry-After puts the next attempt off, up to twice the base', async (t) => {
  const { id, attempt } = await one(t, (_request, response) => {
    response.writeHead(503, { 'retry-after': '3600' }).end();
  });
  const after = await attempt(id);
  const waitMs = Date.parse(after.next_attempt_at) - Date.parse(after.updated_at);
  t.ok(waitMs > 9000 && waitMs <= 10_001, `${waitMs}`);
});

t.test('the first 2 KiB of the answer are kept, whole characters only', async (t) => {
  const { rig, id, attempt } = await one(t, (_request, response) => {
    response.writeHead(500).end(`x${'é'.repeat(50_000)}`);
  });
  await attempt(id);
  const [recorded] = await rig.attempts(id);
  t.equal(recorded?.response_excerpt, `x${'é'.repeat(1023)}`);
});

t.test('a URL that leads to a closed address exhausts at once', async (t) => {
  const rig = await openRig(t);
  await rig.event({ webhook_url: 'https://10.0.0.1/hook' });
  const [delivery] = await rig.deliveries();
  t.match(await (await deliveryFor(rig))(delivery?.id ?? ''), {
    status: 'exhausted',
    last_error: 'blocked_address',
    last_response_status: null,
  });
});

t.test('failures without an answer are recorded by name; refused and closed alike', async (t) => {
  const cases = [
    ['dns', 'dns_error'],
    ['connect', 'connection_failed'],
    ['reset', 'connection_failed'],
    ['tls', 'tls_error'],
    ['protocol', 'protocol_error'],
    ['timeout', 'timeout'],
  ] as const;
  for (const [kind, name] of cases) {
    const rig = await openRig(t);
    await rig.event({ webhook_url: 'https://receiver.example.com/' });
    const [delivery] = await rig.deliveries();
    const failing = { request: () => Promise.reject(new EgressError(kind, { connected: true })) };
    const after = await (await deliveryFor(rig, failing))(delivery?.id ?? '');
    t.match(
      after,
      { status: 'pending', attempt_count: 1, last_error: name, last_response_status: null },
      kind,
    );
    const waitMs = Date.parse(after.next_attempt_at) - Date.parse(after.updated_at);
    t.equal(waitMs >= 59_000, kind === 'timeout', 'a timeout waits a minute at least');
  }
});

t.test('our own stop is not charged to the receiver', async (t) => {
  const { rig, receiver, id, attempt } = await one(t, () => {});
  const stop = new AbortController();
  const attempted = attempt(id, stop.signal);
  await receiver.got(1);
  stop.abort();
  t.match(await attempted, { status: 'pending', attempt_count: 0, last_error: null });
  t.same(await rig.attempts(id), []);
});

t.test('our own broken network is not charged, a receiver that is down is', async (t) => {
  const rig = await openRig(t);
  let error = new EgressError('dns', { ours: true });
  const now = new Date().toISOString();
  for (let i = 0; i < 4; i++) {
    await rig.event({ webhook_url: `https://receiver-${i}.example.com/`, created_at: now });
  }
  const ids = (await rig.deliveries()).map((delivery) => delivery.id);
  const attempt = await deliveryFor(rig, { request: () => Promise.reject(error) });
  t.match(await attempt(ids[0] ?? ''), { status: 'pending', attempt_count: 0 }, 'the resolver is down');

  error = new EgressError('connect');
  t.match(await attempt(ids[1] ?? ''), { attempt_count: 1 }, 'one or two unreachable receivers are down');
  t.match(await attempt(ids[2] ?? ''), { attempt_count: 0 }, 'a third one at the same time: it is us');

  error = new EgressError('reset', { connected: true });
  t.match(await attempt(ids[3] ?? ''), { attempt_count: 1 }, 'a peer that was reached is charged');
});

t.test('an outage longer than the whole schedule is charged in the end', async (t) => {
  const rig = await openRig(t);
  await rig.event({ webhook_url: 'https://receiver.example.com/' });
  const [delivery] = await rig.deliveries();
  const failing = { request: () => Promise.reject(new EgressError('dns', { ours: true })) };
  const attempt = await deliveryFor(rig, failing, 1e-9);
  await new Promise((next) => setTimeout(next, 2));
  t.match(await attempt(delivery?.id ?? ''), { attempt_count: 1, last_error: 'dns_error' });
});
