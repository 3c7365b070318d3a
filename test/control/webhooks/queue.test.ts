// Delivery through BullMQ on a real Redis, and what happens to it when that Redis dies, forgets, hangs or fills up.
import { connect } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { openQueueLink } from '../../../control/webhooks/queue.ts';
import { openRedisChild } from '../../../control/webhooks/redis-child.ts';
import type { Webhooks, WebhooksOptions } from '../../../control/webhooks/webhooks.ts';
import { openReceiver, type Receiver } from '../receiver.ts';
import { noRedis, openRig, type Rig, silent, temporaryFolder, until } from './webhook-rig.ts';

const skip = noRedis();

/** Short periods, so that what takes half a minute in service takes a moment here. */
const QUICK = {
  watchMs: 50,
  silentKillMs: 300,
  lostAfterMs: 100,
  heartbeatMs: 100,
  heartbeatLateMs: 1500,
  graceMs: 500,
};

interface Setting {
  rig: Rig;
  receiver: Receiver;
  dataDir: string;
  socketPath: string;
  /** A connection of the test's own. */
  redis: Redis;
  webhooks: Webhooks;
}

/** A rig that delivers through a Redis child. */
async function setUp(
  t: Test,
  o: Partial<WebhooksOptions> = {},
  answer: Parameters<typeof openReceiver>[0] = 200,
) {
  const receiver = await openReceiver(answer);
  t.teardown(() => receiver.close());
  const dataDir = temporaryFolder(t);
  const rig = await openRig(t);
  await rig.endpoint(receiver.url);
  const webhooks = await rig.deliver({ redisMode: 'auto', dataDir, ...o, tuning: { ...QUICK, ...o.tuning } });
  await until(() => webhooks.mode() === 'child');
  const socketPath = join(dataDir, 'redis', 'q.sock');
  const redis = new Redis({ path: socketPath, retryStrategy: () => 20, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  t.teardown(() => redis.disconnect());
  return { rig, receiver, dataDir, socketPath, redis, webhooks } satisfies Setting;
}

const allDelivered = (rig: Rig) => async () =>
  (await rig.deliveries()).every((delivery) => delivery.status === 'delivered');

/** Which keys of jobs there are. */
async function jobKeys(redis: Redis): Promise<string[]> {
  const keys = await redis.keys('*:webhooks:*');
  return keys.filter((key) => /:webhooks:[0-9a-f-]{36}_/.test(key));
}

t.test('events travel through the queue, which keeps nothing of them', { skip }, async (t) => {
  const { rig, receiver, redis, socketPath } = await setUp(t);
  const calls = new Set<string>();
  let seen = '';
  // A bare socket: every command that reaches the server comes back on it as a line.
  const monitor = connect(socketPath).setEncoding('utf8');
  t.teardown(() => monitor.destroy());
  monitor.on('data', (text: string) => {
    seen += text;
  });
  monitor.write('MONITOR\r\n');
  await until(() => seen.includes('OK'));
  for (let i = 0; i < 50; i++) calls.add((await rig.event()).id);
  await until(allDelivered(rig));
  t.equal(receiver.requests.length, 50);
  await until(async () => (await jobKeys(redis)).length === 0);
  const [delivery] = await rig.deliveries();
  await until(() => seen.includes(`${delivery?.id}_0_`));
  t.notMatch(seen, /\+1415555|whsec_|127\.0\.0\.1:\d+\/hook/, 'only ids are in the jobs');
  for (const call of calls) t.notOk(seen.includes(call));
});

t.test('retries wait in the queue for their time', { skip }, async (t) => {
  const { rig, receiver, redis, webhooks } = await setUp(t, { retryScale: 0.02 }, (request, response) => {
    response.writeHead(request.headers['service-delivery-attempt'] === '3' ? 200 : 500).end();
  });
  await rig.event();
  await receiver.got(1);
  await until(async () => (await jobKeys(redis)).some((key) => /_1_\d+$/.test(key)));
  t.equal(webhooks.health().planned, 0);
  await until(allDelivered(rig));
  t.same(
    receiver.requests.map((request) => request.headers['service-delivery-attempt']),
    ['1', '2', '3'],
  );
});

t.test('a Redis that forgets everything costs nothing but time', { skip }, async (t) => {
  const { rig, receiver, redis } = await setUp(
    t,
    { tuning: { sweepMs: 200 }, retryScale: 0.01 },
    (r, response) => {
      response.writeHead(r.headers['service-delivery-attempt'] === '1' ? 500 : 200).end();
    },
  );
  for (let i = 0; i < 20; i++) {
    await rig.event();
    await redis.flushall();
  }
  await until(allDelivered(rig));
  t.equal(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size, 20);
});

t.test('a Redis that is killed under load loses no event', { skip }, async (t) => {
  const { rig, receiver, webhooks } = await setUp(t, { tuning: { sweepMs: 200 } });
  for (let i = 0; i < 150; i++) {
    await rig.event();
    if (i % 50 === 25) {
      const pid = webhooks.health().redis?.childPid;
      if (pid != null) process.kill(pid, 'SIGKILL');
      await rig.event();
      await until(() => webhooks.health().redis?.connected === false);
    }
  }
  await until(allDelivered(rig));
  t.equal(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size, 153);
  await until(() => webhooks.mode() === 'child');
});

t.test('Redis away for longer: direct; Redis back: through the queue again', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await openRedisChild({ dataDir, log: silent, watchMs: 50 });
  t.teardown(() => server?.close());
  const receiver = await openReceiver();
  t.teardown(() => receiver.close());
  const rig = await openRig(t);
  await rig.endpoint(receiver.url);
  const webhooks = await rig.deliver({
    redisMode: 'auto',
    redisUrl: server?.socketPath ?? '',
    tuning: QUICK,
  });
  await until(() => webhooks.mode() === 'redis');
  await rig.event();
  await until(allDelivered(rig));

  await server?.close();
  await until(() => webhooks.mode() === 'direct');
  await rig.event();
  await until(allDelivered(rig));

  const again = await openRedisChild({ dataDir, log: silent, watchMs: 50 });
  t.teardown(() => again?.close());
  await until(() => webhooks.mode() === 'redis');
  await rig.event();
  await until(allDelivered(rig));
  t.equal(receiver.requests.length, 3);
});

t.test('a Redis that hangs delays nobody, and is worked around', { skip }, async (t) => {
  const { rig, receiver, webhooks } = await setUp(t, { tuning: { silentKillMs: 3_600_000, sweepMs: 200 } });
  const pid = webhooks.health().redis?.childPid ?? 0;
  process.kill(pid, 'SIGSTOP');
  t.teardown(() => {
    try {
      process.kill(pid, 'SIGCONT');
    } catch {
      // It has been ended already.
    }
  });
  await rig.event();
  await until(allDelivered(rig));
  await until(() => webhooks.mode() === 'direct');
  await rig.event();
  await until(allDelivered(rig));
  t.equal(receiver.requests.length, 2);
  process.kill(pid, 'SIGCONT');
  await until(() => webhooks.mode() === 'child');
});

t.test('a full Redis takes no jobs, and deliveries go on', { skip }, async (t) => {
  const { rig, receiver, redis } = await setUp(t);
  await redis.config('SET', 'maxmemory', '1');
  for (let i = 0; i < 5; i++) await rig.event();
  await until(allDelivered(rig));
  t.equal(receiver.requests.length, 5);
});

t.test('a worker that stops working is started anew', { skip }, async (t) => {
  const { rig, redis, webhooks } = await setUp(t);
  // Without its connection for blocking reads a worker sits there, connected and idle.
  await redis.call('CLIENT', 'PAUSE', '2500', 'WRITE');
  await until(() => webhooks.mode() === 'direct');
  await until(() => webhooks.mode() === 'child');
  await rig.event();
  await until(allDelivered(rig));
});

t.test('closing is prompt with Redis there, gone, or never there', { skip }, async (t) => {
  const there = await setUp(t);
  await there.webhooks.close();

  const gone = await setUp(t, { tuning: { watchMs: 3_600_000 } });
  process.kill(gone.webhooks.health().redis?.childPid ?? 0, 'SIGKILL');
  await until(() => gone.webhooks.health().redis?.connected === false);
  await gone.webhooks.close();

  const rig = await openRig(t);
  const never = await rig.deliver({ redisMode: 'auto', redisUrl: 'redis://127.0.0.1:1', tuning: QUICK });
  await never.close();
  t.pass('all have closed');
});

t.test(
  'jobs come at their time, may come again, and are refused while there is no Redis',
  { skip },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const server = await openRedisChild({ dataDir, log: silent, watchMs: 50 });
    t.teardown(() => server?.close());
    const target = { socketPath: server?.socketPath ?? '' };
    const worked: string[] = [];
    let healthy = 0;
    const link = openQueueLink({
      target,
      prefix: '{test}',
      log: silent,
      now: () => new Date(),
      work: async (id, attempt) => {
        worked.push(`${id}#${attempt}`);
      },
      onChange: (now) => {
        if (now) healthy++;
      },
      onReady: () => {},
      heartbeatMs: 100,
    });
    t.teardown(() => link.close());
    t.equal(
      await link.add({ id: 'early', attempt: 0, atMs: Date.now() }),
      false,
      'before Redis is there: not queued',
    );
    await until(() => healthy >= 1);
    const atMs = Date.now();
    t.equal(await link.add({ id: 'a', attempt: 0, atMs }), true);
    t.equal(await link.add({ id: 'b', attempt: 3, atMs: atMs + 200 }), true);
    await until(() => worked.length >= 2);
    t.same(worked, ['a#0', 'b#3']);
    t.ok(Date.now() >= atMs + 200, 'not before its time');
    t.equal(await link.add({ id: 'a', attempt: 0, atMs, again: 's1' }), true);
    await until(() => worked.length >= 3);
    await link.close();
    t.equal(await link.add({ id: 'late', attempt: 0, atMs }), false);
  },
);

t.test(
  'two daemons on one queue: each delivery is worked on once, and both stay well',
  { skip },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const server = await openRedisChild({ dataDir, log: silent, watchMs: 50 });
    t.teardown(() => server?.close());
    const worked: string[] = [];
    const links = [1, 2].map(() =>
      openQueueLink({
        target: { socketPath: server?.socketPath ?? '' },
        prefix: '{test}',
        log: silent,
        now: () => new Date(),
        work: async (id) => void worked.push(id),
        onChange: () => {},
        onReady: () => {},
        heartbeatMs: 50,
      }),
    );
    t.teardown(() => Promise.all(links.map((link) => link.close())));
    await until(() => links.every((link) => link.healthy()));
    const atMs = Date.now();
    const ids = Array.from({ length: 100 }, (_, i) => `d${i}`);
    // Both have found the same ones due.
    const later = atMs + 60_000;
    for (const id of ids) {
      const added = await Promise.all(links.map((link) => link.add({ id, attempt: 0, atMs: later })));
      t.strictSame(added, [true, true]);
    }
    const redis = new Redis({ path: server?.socketPath ?? '' });
    t.teardown(() => redis.disconnect());
    t.equal((await redis.keys('{test}:webhooks:d*_0_*')).length, ids.length, 'one job each');
    for (const id of ids) await links[0]?.add({ id, attempt: 1, atMs });
    await until(() => worked.length >= ids.length);
    for (let round = 0; round < 5; round++) {
      const from = performance.now();
      await until(() =>
        links.every((link) => (link.health().heartbeatAgeMs ?? Infinity) < performance.now() - from),
      );
    }
    t.strictSame(worked.toSorted(), ids.toSorted());
  },
);
