// The rules of webhook deliveries, as a receiver and /v1 see them. Calls that the carrier refuses make the events: each has
// a call.queued and a call.failed, and no sound.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import type { PublicCall } from '../../storage/call-view.ts';
import type { PublicAttempt, PublicDelivery, PublicEndpoint } from '../../storage/views.ts';
import { openRig, until } from './rig.ts';

const DELIVERY_FIELDS = [
  ...['id', 'org_id', 'endpoint_id', 'call_id', 'event_type', 'url', 'status', 'attempt_count'],
  ...['manual_retry_count', 'next_attempt_at', 'last_error', 'last_response_status', 'delivered_at'],
  ...['created_at', 'updated_at'],
];
const ENDPOINT_FIELDS = [
  ...['id', 'org_id', 'url', 'description', 'enabled_events', 'status', 'disabled_reason', 'disabled_at'],
  ...['consecutive_failures', 'created_at', 'updated_at'],
];
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** The promised waits, seconds. */
const WAITS = [5, 30, 120, 600, 1_800, 7_200, 18_000, 36_000, 36_000];
const FAST = 0.00001;

interface Got {
  path: string;
  headers: Record<string, string>;
  text: string;
}

t.test('webhook rules', async (t) => {
  const got: Got[] = [];
  /** What a path answers: a status, with headers and a body; 204 by itself. */
  const answers = new Map<string, { status: number; headers?: Record<string, string>; body?: string }>();
  const receiver = createServer((request, response) => {
    let text = '';
    request.on('data', (data) => {
      text += data;
    });
    request.on('end', () => {
      const path = request.url ?? '';
      got.push({ path, headers: request.headers as Record<string, string>, text });
      // Once, so that nothing is under way when the daemon stops.
      if (path === '/hangs' && cameTo(path).length === 1) return;
      const { status, headers, body } = answers.get(path) ?? { status: 204 };
      response.writeHead(status, headers).end(body);
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    receiver.close();
    receiver.closeAllConnections();
  });
  const at = (path: string) => `http://127.0.0.1:${(receiver.address() as AddressInfo).port}${path}`;
  const rig = await openRig(t, { carrier: { geoBlockedPrefixes: ['+1415777'] } });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF', webhook_url: null });
  let serial = 1_000;
  /** A call that fails at once; answers its id. */
  async function failedCall(more: Record<string, unknown> = {}): Promise<string> {
    serial += 1;
    const to = `+1415777${serial}`;
    const { status } = await lab.api('POST', '/v1/calls', { agent_id: agent.id, to, ...more });
    if (status !== 502) throw new Error(`not refused: ${status}`);
    const { body } = await lab.api<PublicCall[]>('GET', `/v1/calls?to_number=%2B${to.slice(1)}`);
    return body[0]?.id ?? '';
  }
  const list = async (query: string) =>
    (await lab.api<{ data: PublicDelivery[] }>('GET', `/v1/webhook_deliveries?${query}`)).body.data;
  const detail = async (id: string) =>
    (await lab.api<PublicDelivery & { attempts: PublicAttempt[] }>('GET', `/v1/webhook_deliveries/${id}`))
      .body;
  const redeliver = (id: string) => lab.api<PublicDelivery>('POST', `/v1/webhook_deliveries/${id}/redeliver`);
  const register = async (path: string, more: Record<string, unknown> = {}) =>
    (
      await lab.api<PublicEndpoint & { secret: string }>('POST', '/v1/webhook_endpoints', {
        url: at(path),
        enabled_events: ['call.failed'],
        ...more,
      })
    ).body;
  const endpoint = async (id: string) =>
    (await lab.api<PublicEndpoint>('GET', `/v1/webhook_endpoints/${id}`)).body;
  const patch = async (id: string, body: unknown) =>
    (await lab.api<PublicEndpoint>('PATCH', `/v1/webhook_endpoints/${id}`, body)).body;
  const cameTo = (path: string) => got.filter((one) => one.path === path);
  /** The delivery of a call's event to its own webhook_url, once an attempt of it is over. */
  const attempted = async (path: string, event = 'call.failed') => {
    const callId = await failedCall({ webhook_url: at(path) });
    const found = await until(`an attempt at ${path}`, async () =>
      (await list(`call_id=${callId}&event_type=${event}`)).find(
        (one) => one.endpoint_id === null && one.last_error !== null,
      ),
    );
    return detail(found.id);
  };
  /** Seconds from an attempt's record to the next attempt. */
  const waitOf = (delivery: PublicDelivery) =>
    (Date.parse(delivery.next_attempt_at) - Date.parse(delivery.updated_at)) / 1_000;
  // Between the decision and its record lie some milliseconds, more on a busy machine.
  const within = (seconds: number, from: number, to: number) => seconds > from - 1 && seconds <= to + 0.01;

  await t.test('an attempt that fails', async (t) => {
    t.jobs = 8;
    t.test(
      'is tried again after five seconds, give or take a fifth; 500 is kept with its answer',
      async (t) => {
        answers.set('/500', { status: 500, body: `${'x'.repeat(2_047)}é and more` });
        const delivery = await attempted('/500');
        t.same(Object.keys(delivery), [...DELIVERY_FIELDS, 'attempts']);
        t.match(delivery, {
          endpoint_id: null,
          event_type: 'call.failed',
          url: at('/500'),
          status: 'pending',
          attempt_count: 1,
          manual_retry_count: 0,
          last_error: 'http_status_500',
          last_response_status: 500,
          delivered_at: null,
          created_at: TIME,
          updated_at: TIME,
        });
        t.ok(within(waitOf(delivery), 4, 6), `${waitOf(delivery)} s`);
        t.equal(delivery.attempts.length, 1);
        t.match(delivery.attempts[0], {
          attempt: 1,
          started_at: TIME,
          response_status: 500,
          error: 'http_status_500',
        });
        t.equal(
          delivery.attempts[0]?.response_excerpt,
          'x'.repeat(2_047),
          'the first 2 KiB, in whole characters',
        );
        t.ok((delivery.attempts[0]?.latency_ms ?? -1) >= 0);
      },
    );
    t.test('waits as long as Retry-After says, up to twice the wait', async (t) => {
      answers.set('/later', { status: 503, headers: { 'retry-after': '8' } });
      answers.set('/much-later', { status: 503, headers: { 'retry-after': '86400' } });
      const [later, muchLater] = await Promise.all([attempted('/later'), attempted('/much-later')]);
      t.ok(within(waitOf(later), 8, 10), `${waitOf(later)} s`);
      t.ok(within(waitOf(muchLater), 10, 10), `${waitOf(muchLater)} s`);
    });
    t.test('with 429 leaves the receiver alone for a minute', async (t) => {
      answers.set('/429', { status: 429 });
      t.ok(waitOf(await attempted('/429')) > 59);
    });
    t.test('by a redirect is not followed', async (t) => {
      answers.set('/redirect', { status: 307, headers: { location: at('/elsewhere') } });
      t.match(await attempted('/redirect'), {
        status: 'pending',
        last_error: 'redirect_not_followed',
        last_response_status: 307,
      });
      t.same(cameTo('/elsewhere'), []);
    });
    t.test('with 410 is the last', async (t) => {
      answers.set('/410', { status: 410 });
      t.match(await attempted('/410'), {
        status: 'exhausted',
        attempt_count: 1,
        last_error: 'http_status_410',
      });
    });
    t.test('without an answer ends after 15 seconds', async (t) => {
      const delivery = await attempted('/hangs', 'call.queued');
      t.match(delivery, { status: 'pending', last_error: 'timeout', last_response_status: null });
      t.ok((delivery.attempts[0]?.latency_ms ?? 0) >= 14_900, 'and not before');
      t.ok(waitOf(delivery) > 59);
    });
    t.test('where nobody listens says so', async (t) => {
      const closed = createServer().listen(0, '127.0.0.1');
      await once(closed, 'listening');
      const { port } = closed.address() as AddressInfo;
      await new Promise((done) => closed.close(done));
      const callId = await failedCall({ webhook_url: `http://127.0.0.1:${port}/` });
      const found = await until('the attempt', async () =>
        (await list(`call_id=${callId}`)).find((one) => one.last_error !== null),
      );
      t.match(found, { last_error: 'connection_failed', last_response_status: null });
    });
  });

  // From here on the schedule of 28 hours takes one second.
  await lab.daemon.stop('SIGINT');
  await lab.restartDaemon({ WEBHOOK_RETRY_SCALE: String(FAST) });

  await t.test('ten attempts, each after its wait, then exhausted', async (t) => {
    answers.set('/never', { status: 500 });
    const callId = await failedCall({ webhook_url: at('/never') });
    const done = await until('the last attempt', async () =>
      (await list(`call_id=${callId}&event_type=call.failed&status=exhausted`)).at(0),
    );
    t.match(done, { attempt_count: 10, last_error: 'http_status_500', delivered_at: null });
    const { attempts } = await detail(done.id);
    t.same(
      attempts.map(({ attempt }) => attempt),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    );
    for (const [i, wait] of WAITS.entries()) {
      const gap = Date.parse(attempts[i + 1]?.started_at ?? '') - Date.parse(attempts[i]?.started_at ?? '');
      t.ok(gap >= wait * 1_000 * FAST * 0.8 - 2, `attempt ${i + 2} not before its time: ${gap} ms`);
    }
    const sent = cameTo('/never').filter(({ headers }) => headers['service-event-type'] === 'call.failed');
    t.same(
      sent.map(({ headers }) => headers['service-delivery-attempt']),
      ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'],
    );
    t.equal(
      new Set(sent.map(({ headers, text }) => headers['service-event-id'] + text)).size,
      1,
      'same id, same bytes',
    );
    t.match(await rig.call(callId), { webhook_status: 'none' }, 'it was no call.completed');
  });

  await t.test('a delivery: the Call object, signed, with its id, type and number', async (t) => {
    const made = await register('/well', { description: 'CRM' });
    t.match(made.secret, /^whsec_/);
    const callId = await failedCall();
    const delivery = await until('the delivery', async () =>
      (await list(`endpoint_id=${made.id}&status=delivered`)).at(0),
    );
    t.same(Object.keys(delivery), DELIVERY_FIELDS);
    t.match(delivery, {
      org_id: made.org_id,
      endpoint_id: made.id,
      call_id: callId,
      event_type: 'call.failed',
      url: at('/well'),
      attempt_count: 1,
      manual_retry_count: 0,
      last_error: null,
      last_response_status: 204,
      delivered_at: TIME,
    });
    const [first] = cameTo('/well') as [Got];
    t.match(first.headers, {
      'content-type': /^application\/json/,
      'user-agent': /^Offhook/,
      'service-event-id': delivery.id,
      'webhook-id': delivery.id,
      'service-event-type': 'call.failed',
      'service-event-sequence': '2',
      'service-delivery-attempt': '1',
    });
    t.notOk('service-replay' in first.headers);
    t.match(new Webhook(made.secret).verify(first.text, first.headers), { id: callId, status: 'failed' });
    t.throws(() => new Webhook(made.secret).verify(first.text.replace('failed', 'busy'), first.headers));

    const replay = await redeliver(delivery.id);
    t.match(replay, {
      status: 200,
      body: {
        id: delivery.id,
        status: 'pending',
        manual_retry_count: 1,
        attempt_count: 1,
        delivered_at: null,
      },
    });
    const second = await until('the replay', () => cameTo('/well')[1]);
    t.equal(second.headers['service-replay'], 'true');
    t.equal(second.headers['service-event-id'], delivery.id, 'the same id');
    t.equal(second.text, first.text, 'the same bytes');
    await until('its record', async () => (await detail(delivery.id)).status === 'delivered');
    const twice = await detail(delivery.id);
    t.same([twice.attempt_count, twice.attempts.map(({ attempt }) => attempt)], [2, [1, 2]]);
    t.equal(second.headers['service-delivery-attempt'], '2', 'the count goes on');

    const rotated = (
      await lab.api<{ secret: string }>('POST', `/v1/webhook_endpoints/${made.id}/rotate_secret`)
    ).body.secret;
    await redeliver(delivery.id);
    const third = await until('the next replay', () => cameTo('/well')[2]);
    for (const secret of [made.secret, rotated]) {
      t.doesNotThrow(() => new Webhook(secret).verify(third.text, third.headers));
    }
    t.equal((await lab.api('DELETE', `/v1/webhook_endpoints/${made.id}`)).status, 204);
    t.match(
      await redeliver(delivery.id),
      { status: 409, body: { error: { code: 'endpoint_deleted' } } },
      'there is nobody left to send to, and the delivery itself can still be read',
    );
    t.equal((await detail(delivery.id)).id, delivery.id);
  });

  await t.test(
    'ten exhausted deliveries in a row disable an endpoint; a success starts the count anew',
    async (t) => {
      const made = await register('/flaky');
      const { secret: _secret, ...shown } = made;
      t.same(Object.keys(shown), ENDPOINT_FIELDS);
      t.match(shown, {
        status: 'enabled',
        consecutive_failures: 0,
        disabled_reason: null,
        disabled_at: null,
      });
      const failures = (count: number) =>
        until(`${count} failures`, async () => {
          const now = await endpoint(made.id);
          return now.consecutive_failures === count ? now : null;
        });
      const fail = async (times: number) => {
        answers.set('/flaky', { status: 410 });
        for (let i = 0; i < times; i++) await failedCall();
      };
      await fail(3);
      await failures(3);
      answers.set('/flaky', { status: 200 });
      await failedCall();
      await failures(0);
      await fail(9);
      t.match(await failures(9), { status: 'enabled', disabled_reason: null });
      await fail(1);
      const disabled = await failures(10);
      t.match(disabled, { status: 'disabled', disabled_reason: 'too_many_failures', disabled_at: TIME });

      const before = cameTo('/flaky').length;
      answers.set('/flaky', { status: 200 });
      const missed = await failedCall();
      const listed = await until('what it missed', async () =>
        (await list(`endpoint_id=${made.id}&call_id=${missed}`)).at(0),
      );
      t.match(listed, { status: 'exhausted', attempt_count: 0, last_error: 'endpoint_disabled' });
      t.match(
        await redeliver(listed.id),
        { status: 409, body: { error: { code: 'endpoint_disabled' } } },
        'it would wait for ever',
      );
      // Something else goes out meanwhile: what is refused is not sent all the same.
      const other = await failedCall({ webhook_url: at('/other') });
      await until('the other', async () => (await list(`call_id=${other}&status=delivered`)).length === 2);
      t.equal(cameTo('/flaky').length, before, 'a disabled endpoint is sent nothing');

      t.match(await patch(made.id, { status: 'enabled' }), {
        status: 'enabled',
        consecutive_failures: 0,
        disabled_reason: null,
        disabled_at: null,
      });
      t.match((await redeliver(listed.id)).body, { status: 'pending', manual_retry_count: 1 });
      await until('what it missed', async () => (await detail(listed.id)).status === 'delivered');
      t.equal(cameTo('/flaky').at(-1)?.headers['service-replay'], 'true');

      t.match(await patch(made.id, { status: 'disabled' }), {
        status: 'disabled',
        disabled_reason: 'manual',
        disabled_at: TIME,
      });
      const after = cameTo('/flaky').length;
      const last = await failedCall({ webhook_url: at('/other') });
      await until('the other', async () => (await list(`call_id=${last}&status=delivered`)).length === 2);
      t.equal(cameTo('/flaky').length, after);
      t.equal((await endpoint(made.id)).status, 'disabled', 'it is kept');
    },
  );

  await t.test('a PATCH of url and events holds for what comes', async (t) => {
    const made = await register('/old', { enabled_events: ['*'] });
    t.match(
      await patch(made.id, { url: at('/new'), enabled_events: ['call.queued'], description: 'moved' }),
      { url: at('/new'), enabled_events: ['call.queued'], description: 'moved' },
    );
    const callId = await failedCall();
    await until('the delivery', async () => (await list(`call_id=${callId}&status=delivered`)).length === 1);
    t.same(
      cameTo('/new').map(({ headers }) => headers['service-event-type']),
      ['call.queued'],
    );
    t.same(cameTo('/old'), []);
  });
});
