// Processes killed at each named point of a delivery: nothing is lost, and what comes twice comes with the same id.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { failpoint, setFailpoints } from '../failpoints.ts';
import { openStore } from '../storage/sqlite/store.ts';
import { openReceiver } from './control/receiver.ts';
import type { DaemonOrder } from './control/webhooks/webhook-daemon.ts';
import { ENDPOINT_SECRET, noRedis, silent, temporaryFolder } from './control/webhooks/webhook-rig.ts';
import { addOrganization, makeEndpoint } from './storage/makers.ts';

/** Runs a daemon until it is killed by a failpoint, or until `done` resolves; then stops it. Resolves to the signal that ended it. */
async function run(
  order: DaemonOrder,
  done: Promise<unknown> = new Promise(() => {}),
): Promise<string | null> {
  const daemon = spawn(
    process.execPath,
    [join(import.meta.dirname, './control/webhooks/webhook-daemon.ts'), JSON.stringify(order)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = once(daemon, 'exit');
  const running = once(daemon.stdout, 'data');
  await Promise.race([exited, Promise.all([done, running])]);
  if (daemon.exitCode === null && daemon.signalCode === null) daemon.kill('SIGTERM');
  await exited;
  return daemon.signalCode;
}

async function setUp(t: Test) {
  const dataDir = temporaryFolder(t);
  // The Redis child of a daemon that was killed lives on; the last daemon ends it, unless the test fails before.
  t.teardown(() => {
    const pidFile = join(dataDir, 'redis', 'redis.pid');
    if (existsSync(pidFile)) process.kill(Number.parseInt(readFileSync(pidFile, 'latin1'), 10), 'SIGKILL');
  });
  const failing = new Set<string>();
  const receiver = await openReceiver((request, response) => {
    const id = request.headers['webhook-id'] ?? '';
    // The first attempt of each fails, so that a retry is planned.
    response.writeHead(failing.has(id) ? 200 : 500).end();
    failing.add(id);
  });
  t.teardown(() => receiver.close());
  const path = join(dataDir, 'test.db');
  const store = await openStore({ path, log: silent });
  const org = await addOrganization(store);
  await store.createEndpoint(makeEndpoint(org, { url: receiver.url, secret: ENDPOINT_SECRET }));
  await store.close();
  return {
    receiver,
    order: { dataDir, org, failpoints: [], events: 0, redisMode: 'none' } satisfies DaemonOrder,
    async deliveries() {
      const opened = await openStore({ path, log: silent });
      const found = await opened.listDeliveries(org, {}, { limit: 100 });
      await opened.close();
      return found;
    },
  };
}

const POINTS = [
  'commit_before_enqueue',
  'claimed_before_post',
  'posted_before_record',
  'recorded_before_requeue',
];

// Each has daemons of its own, and waits for them most of its time.
t.jobs = 3;

for (const redisMode of ['none', 'auto'] as const) {
  const points = redisMode === 'none' ? POINTS : [...POINTS, 'after_enqueue'];
  const skip = redisMode === 'auto' && noRedis();
  for (const point of points) {
    t.test(`killed twice at ${point}, Redis ${redisMode}: delivered under one id`, { skip }, async (t) => {
      const { receiver, order, deliveries } = await setUp(t);
      const armed = { ...order, redisMode, failpoints: [`${point}:1`], events: 1 };
      t.equal(await run(armed), 'SIGKILL');
      t.equal((await deliveries()).length, 1, 'what was committed is there');
      // It dies of the first event again, or of one more.
      t.equal(await run(armed), 'SIGKILL');
      const { length } = await deliveries();
      t.equal(await run({ ...order, redisMode }, delivered(length)), null);
      const after = await deliveries();
      t.equal(after.length, length);
      t.same([...new Set(after.map((delivery) => delivery.status))], ['delivered']);
      const ids = new Set(receiver.requests.map((request) => request.headers['webhook-id']));
      t.same([...ids].sort(), after.map((delivery) => delivery.id).sort());

      /** Resolves once the receiver has acknowledged so many deliveries. */
      async function delivered(count: number): Promise<void> {
        for (;;) {
          const seen = new Map<string, number>();
          for (const { headers } of receiver.requests) {
            seen.set(headers['webhook-id'] ?? '', (seen.get(headers['webhook-id'] ?? '') ?? 0) + 1);
          }
          if ([...seen.values()].filter((times) => times > 1).length >= count) return;
          await receiver.got(receiver.requests.length + 1);
        }
      }
    });
  }
}

t.test('points do nothing unless armed, and an entry that cannot be read is refused', async (t) => {
  failpoint('claimed_before_post');
  setFailpoints(['claimed_before_post:0', 'after_enqueue:0.0']);
  for (let i = 0; i < 1000; i++) failpoint('claimed_before_post');
  for (const entry of [
    'claimed_before_post',
    'x:2',
    'x:-1',
    ':1',
    'x:',
    'x:0.5:1',
    'x:ms',
    'x:1.5ms',
    'x:999999ms',
    '',
  ]) {
    t.throws(() => setFailpoints([entry]), { message: /^FAILPOINTS/ }, entry);
  }
  setFailpoints(['commit:30ms']);
  const begun = performance.now();
  failpoint('commit');
  t.ok(performance.now() - begun >= 29, 'armed with a time, it stands still');
  setFailpoints([]);
});
