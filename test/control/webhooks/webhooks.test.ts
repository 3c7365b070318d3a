// Delivery end to end without Redis: commit to receiver, over the schedule, through stops and restarts.
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { openClock } from '../../../clock.ts';
import { RETRY_SECONDS } from '../../../control/webhooks/schedule.ts';
import type { DeliveryRecord } from '../../../storage/records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import type { Store } from '../../../storage/store.ts';
import { addOrganization, makeCall, makeEndpoint } from '../../storage/makers.ts';
import { openReceiver } from '../receiver.ts';
import { ENDPOINT_SECRET, openRig, temporaryFolder, until } from './webhook-rig.ts';

t.test('a committed event is delivered at once, inline and to endpoints', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  const webhooks = await rig.deliver();
  t.equal(webhooks.mode(), 'direct');
  const endpoint = await rig.endpoint(receiver.url);
  const call = await rig.event({ webhook_url: `${receiver.url}/inline` });
  await until(async () => (await rig.deliveries()).every((delivery) => delivery.status === 'delivered'));
  t.same(receiver.requests.map((request) => request.path).sort(), ['/hook', '/hook/inline']);
  t.equal((await rig.deliveries({ endpointId: endpoint.id })).length, 1);
  t.equal((await rig.deliveries({ callId: call.id })).length, 2);
});

t.test('what was due before the start is swept up, leases of the dead included', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const path = join(temporaryFolder(t), 'offhook.db');
  const before = await openStore({ path });
  const org = await addOrganization(before);
  await before.createEndpoint(makeEndpoint(org, { url: receiver.url }));
  for (let i = 0; i < 3; i++) await before.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 });
  const [taken] = await before.listDeliveries(org, {}, { limit: 1 });
  await before.claimDelivery(taken?.id ?? '', 0, new Date().toISOString(), 3_600_000);
  // The process ends here, with one of them in hand.
  await before.close();

  const store = await openStore({ path });
  await store.takeOver();
  const rig = await openRig(t, { store });
  await rig.deliver();
  await until(async () =>
    (await store.listDeliveries(org, {}, { limit: 10 })).every(({ status }) => status === 'delivered'),
  );
  t.equal(receiver.requests.length, 3);
});

t.test(
  'an endpoint deleted just before a crash gets nothing after the start, and what it was owed is ended',
  async (t) => {
    const receiver = await openReceiver();
    t.teardown(() => receiver.close());
    const path = join(temporaryFolder(t), 'offhook.db');
    const before = await openStore({ path });
    const org = await addOrganization(before);
    const [gone, kept] = [
      makeEndpoint(org, { url: `${receiver.url}/gone` }),
      makeEndpoint(org, { url: receiver.url }),
    ];
    await before.createEndpoint(gone);
    const due = 350;
    for (let i = 0; i < due; i++)
      await before.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 });
    await before.createEndpoint(kept);
    await before.createCall(makeCall(org), { events: ['call.queued'], reserve: 0 });
    await before.deleteEndpoint(org, gone.id);
    // The process ends here: nobody goes on with it.
    await before.close();

    const store = await openStore({ path });
    const rig = await openRig(t, { store });
    const of = async (endpointId: string, status: DeliveryRecord['status']) =>
      (await store.listDeliveries(org, { endpointId, status }, { limit: 1000 })).length;
    t.ok((await of(gone.id, 'pending')) > 0, 'more than one transaction ends');
    await rig.deliver({ tuning: { sweepMs: 20 } });
    await until(async () => (await of(gone.id, 'pending')) === 0 && (await of(kept.id, 'delivered')) === 1);
    t.equal(await of(gone.id, 'exhausted'), due + 1);
    t.same(
      receiver.requests.map((request) => request.path),
      ['/hook'],
    );
  },
);

for (const [what, byMs] of [
  ['an hour forth', 3_600_000],
  ['an hour back', -3_600_000],
  ['a day forth', 86_400_000],
  ['a day back', -86_400_000],
] as const) {
  t.test(`the wall clock is set ${what} between two attempts: the second comes at its time`, async (t) => {
    const at: number[] = [];
    const receiver = await openReceiver((_request, response) => {
      at.push(performance.now());
      response.writeHead(at.length === 1 ? 500 : 204).end();
    });
    t.teardown(() => receiver.close());
    const rig = await openRig(t);
    await rig.endpoint(receiver.url);
    let set = 0;
    const clock = openClock({ wallMs: () => Date.now() + set });
    t.teardown(() => clock.close());
    clock.onSet((ms) => void rig.store.moveTimes(ms));
    // The first wait is 5 s, here 1 s, and spread by a fifth.
    await rig.deliver({ clock, retryScale: 0.2, tuning: { sweepMs: 50 } });
    await rig.event();
    await until(async () => (await rig.deliveries())[0]?.attempt_count === 1);
    set = byMs;
    await until(async () => (await rig.deliveries())[0]?.status === 'delivered');
    t.ok((at[1] ?? 0) - (at[0] ?? 0) > 750, `after ${Math.round((at[1] ?? 0) - (at[0] ?? 0))} ms`);
    const [request] = receiver.requests.slice(-1);
    const signedAgoMs = Date.now() + set - Number(request?.headers['webhook-timestamp']) * 1000;
    t.ok(Math.abs(signedAgoMs) < 60_000, 'signed with the wall clock');
  });
}

t.test('the clock is set: the queue is told anew once storage has moved what waits', async (t) => {
  const hour = 3_600_000;
  const receiver = await openReceiver(500);
  t.teardown(() => receiver.close());
  const prompt = await openStore({ path: ':memory:' });
  const { promise: asked, resolve: wasAsked } = Promise.withResolvers<void>();
  const { promise: may, resolve: go } = Promise.withResolvers<void>();
  const store: Store = {
    ...prompt,
    async moveTimes(byMs) {
      wasAsked();
      await may;
      await prompt.moveTimes(byMs);
    },
  };
  const rig = await openRig(t, { store });
  await rig.endpoint(receiver.url);
  let set = 0;
  const clock = openClock({ wallMs: () => Date.now() + set });
  t.teardown(() => clock.close());
  clock.onSet((ms) => void store.moveTimes(ms));
  const retries: number[] = [];
  await rig.deliver({
    clock,
    redisMode: 'auto',
    redisUrl: 'redis://127.0.0.1:1',
    tuning: {
      openQueue: ({ work }) => ({
        healthy: () => true,
        health: () => ({ connected: true, heartbeatAgeMs: 0 }),
        async add({ id, attempt, atMs }) {
          if (attempt === 0) void work(id, attempt);
          else retries.push(atMs);
          return true;
        },
        close: async () => {},
      }),
    },
  });
  await rig.event();
  await until(() => retries.length === 1);
  set = hour;
  clock.now();
  await asked;
  for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
  t.equal(retries.length, 1, 'not of times that are wrong by now');
  go();
  await until(() => retries.length === 2);
  // The wall's clock is read in whole milliseconds, the other not.
  const movedMs = (retries[1] ?? 0) - (retries[0] ?? 0);
  t.ok(Math.abs(movedMs - hour) <= 2, `${movedMs} ms`);
});

t.test('ten attempts over the schedule, each gap within a fifth, then exhausted', async (t) => {
  const scale = 0.000_03;
  const receiver = await openReceiver(500);
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  const planned: { atMs: number; inMs: number }[] = [];
  rig.store.subscribe({
    deliveries: (due) => {
      for (const { attempt, at } of due) {
        const atMs = Date.parse(at);
        if (attempt > 0) planned.push({ atMs, inMs: atMs - Date.now() });
      }
    },
  });
  await rig.endpoint(receiver.url);
  await rig.deliver({ retryScale: scale });
  await rig.event();
  await until(async () => (await rig.deliveries())[0]?.status === 'exhausted');
  const [delivery] = await rig.deliveries();
  t.match(delivery, { attempt_count: 10, last_error: 'http_status_500' });
  t.equal(receiver.requests.length, 10);
  t.same(
    receiver.requests.map((request) => request.headers['service-delivery-attempt']),
    ['1', '2', '3', '4', '5', '6', '7', '8', '9', '10'],
  );
  const attempts = await rig.attempts(delivery?.id ?? '');
  RETRY_SECONDS.forEach((seconds, index) => {
    const made = attempts[index];
    const endedMs = Date.parse(made?.started_at ?? '') + (made?.latency_ms ?? 0);
    const { atMs, inMs } = planned[index] ?? { atMs: Number.NaN, inMs: Number.NaN };
    const promisedMs = seconds * 1000 * scale;
    // A busy machine plans later than the answer came and says so later yet: each bound by the moment that it cannot push.
    t.ok(atMs - endedMs >= promisedMs * 0.8 - 2, `gap ${index + 1} is not shorter: ${atMs - endedMs}`);
    t.ok(inMs <= promisedMs * 1.2 + 1, `gap ${index + 1} is not longer: ${inMs}`);
    t.ok(Date.parse(attempts[index + 1]?.started_at ?? '') >= atMs, 'none comes early');
  });
});

t.test(
  'nine exhausted, a success, nine exhausted: enabled; a tenth in a row: disabled, and the rest is held',
  async (t) => {
    let answer = 410;
    const receiver = await openReceiver((_request, response) => response.writeHead(answer).end());
    t.teardown(() => receiver.close());
    const rig = await openRig(t);
    const { id } = await rig.endpoint(receiver.url);
    await rig.deliver();
    const endpoint = () => rig.store.getEndpoint(rig.org, id);
    const send = async (count: number, status: number) => {
      answer = status;
      for (let i = 0; i < count; i++) {
        const call = await rig.event();
        await until(async () => (await rig.deliveries({ callId: call.id }))[0]?.status !== 'pending');
      }
    };
    await send(9, 410);
    t.match(await endpoint(), { status: 'enabled', consecutive_failures: 9 });
    await send(1, 200);
    t.match(await endpoint(), { status: 'enabled', consecutive_failures: 0 });
    await send(9, 410);
    t.match(await endpoint(), { status: 'enabled', consecutive_failures: 9 });
    await send(1, 410);
    t.match(await endpoint(), { status: 'disabled', disabled_reason: 'too_many_failures' });

    const before = receiver.requests.length;
    const missed = await rig.event();
    const [held] = await rig.deliveries({ callId: missed.id });
    t.ok(held, 'what it misses is listed');
    answer = 200;
    await rig.store.updateEndpoint(rig.org, id, { status: 'enabled' });
    await rig.store.redeliver(rig.org, held?.id ?? '', new Date().toISOString());
    await until(async () => (await rig.deliveries({ callId: missed.id }))[0]?.status === 'delivered');
    t.equal(receiver.requests.length, before + 1);
  },
);

t.test('a tarpit holds up its own deliveries only', async (t) => {
  let open = 0;
  let most = 0;
  const tarpit = await openReceiver((_request, response) => {
    most = Math.max(most, ++open);
    response.on('close', () => {
      open--;
    });
    response.writeHead(200);
    const drip = setInterval(() => response.write('.'), 50);
    response.on('close', () => clearInterval(drip));
  });
  const good = await openReceiver();
  t.teardown(() => Promise.all([tarpit.close(), good.close()]));
  const rig = await openRig(t);
  await rig.endpoint(tarpit.url);
  const { id } = await rig.endpoint(good.url);
  const webhooks = await rig.deliver();
  for (let i = 0; i < 300; i++) await rig.event();
  await until(async () => (await rig.deliveries({ endpointId: id })).every((d) => d.status === 'delivered'));
  t.equal(good.requests.length, 300);
  t.ok(most <= 5, `the tarpit has ${most} connections`);
  t.ok(webhooks.health().inFlight <= 5);
});

t.test('a flapping receiver gets everything, and nothing twice that it acknowledged', async (t) => {
  const acknowledged = new Map<string, number>();
  const flapping = await openReceiver((request, response) => {
    const id = request.headers['webhook-id'] ?? '';
    // Up to four failures a delivery, as many as its id says, of one kind or the other.
    const failures = Number.parseInt(id.slice(-1), 16) % 5;
    const attempt = Number(request.headers['service-delivery-attempt']);
    if (attempt <= failures) {
      if ((attempt + failures) % 2 === 0) response.writeHead(500).end();
      else response.destroy();
      return;
    }
    acknowledged.set(id, (acknowledged.get(id) ?? 0) + 1);
    new Webhook(ENDPOINT_SECRET).verify(request.body, request.headers);
    response.writeHead(200).end();
  });
  t.teardown(() => flapping.close());
  const rig = await openRig(t);
  await rig.endpoint(flapping.url);
  await rig.deliver({ retryScale: 0.0005 });
  for (let i = 0; i < 200; i++) await rig.event();
  await until(async () => (await rig.deliveries()).every((delivery) => delivery.status === 'delivered'));
  t.equal(acknowledged.size, 200);
  t.same([...new Set(acknowledged.values())], [1]);
});

t.test('a stop charges nobody, and the next start sends the same id and bytes again', async (t) => {
  let hang = true;
  const receiver = await openReceiver((_request, response) => {
    if (!hang) response.writeHead(200).end();
  });
  t.teardown(() => receiver.close());
  const path = join(temporaryFolder(t), 'offhook.db');
  const before = await openRig(t, { store: await openStore({ path }) });
  await before.endpoint(receiver.url);
  const first = await before.deliver({ tuning: { graceMs: 50 } });
  await before.event();
  await receiver.got(1);
  await first.close();
  const [left] = await before.deliveries();
  t.match(left, { status: 'pending', attempt_count: 0, last_error: null });
  await before.store.close();

  hang = false;
  const store = await openStore({ path });
  await store.takeOver();
  const after = await openRig(t, { store });
  await after.deliver();
  await until(
    async () => (await store.getDelivery(before.org, left?.id ?? ''))?.delivery.status === 'delivered',
  );
  const [one, two] = receiver.requests;
  t.equal(one?.headers['webhook-id'], two?.headers['webhook-id']);
  t.equal(one?.body, two?.body);
});

t.test('a stop lets out what was committed just before', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  await rig.endpoint(receiver.url);
  const webhooks = await rig.deliver({ tuning: { graceMs: 60_000 } });
  for (let i = 0; i < 20; i++) await rig.event();
  await webhooks.close();
  t.equal(receiver.requests.length, 20);
  await webhooks.close();
});

t.test('an unreachable Redis of the operator neither fails nor delays anything', async (t) => {
  const gone = await openReceiver();
  await gone.close();
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  for (const redisUrl of [
    `redis://127.0.0.1:${gone.port}`,
    'redis://redis.invalid:6379',
    'no url at all\u0000',
  ]) {
    const rig = await openRig(t);
    await rig.endpoint(receiver.url);
    const webhooks = await rig.deliver({ redisUrl, redisMode: 'auto' });
    await rig.event();
    await until(async () => (await rig.deliveries()).every((delivery) => delivery.status === 'delivered'));
    t.equal(webhooks.mode(), 'direct');
    await webhooks.close();
  }
});

t.test('without any Redis on the machine it delivers, too', async (t) => {
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  await rig.endpoint(receiver.url);
  const webhooks = await rig.deliver({ redisMode: 'auto', tuning: { servers: ['no-such-server'] } });
  await rig.event();
  await until(async () => (await rig.deliveries()).every((delivery) => delivery.status === 'delivered'));
  t.match(webhooks.health(), { mode: 'direct', redis: null });
});
