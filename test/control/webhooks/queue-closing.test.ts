// What the queue leaves running where it is closed at a bad moment: nothing. In a process that runs nothing else.
import { Redis } from 'ioredis';
import t from 'tap';
import { openQueueLink } from '../../../control/webhooks/queue.ts';
import { openRedisChild } from '../../../control/webhooks/redis-child.ts';
import { noRedis, silent, temporaryFolder, until } from './webhook-rig.ts';

t.test('closed while a connection of the worker is away', { skip: noRedis() }, async (t) => {
  const active = (kind: string) => process.getActiveResourcesInfo().filter((name) => name === kind).length;
  const server = await openRedisChild({ dataDir: temporaryFolder(t), log: silent, watchMs: 3_600_000 });
  t.teardown(() => server?.close());
  const path = server?.socketPath ?? '';
  const redis = new Redis({ path });
  t.teardown(() => redis.disconnect());
  await redis.ping();
  // The one that looks after the server, and none of a connection that is being made.
  await until(() => active('Timeout') === 1);
  let healthy = false;
  const link = openQueueLink({
    target: { socketPath: path },
    prefix: '{test}',
    log: silent,
    now: () => new Date(),
    work: async () => {},
    onChange(now) {
      healthy = now;
    },
    onReady() {},
  });
  await until(() => healthy);
  const blocked = async () => /^id=(\d+) .*flags=b/m.exec(String(await redis.call('CLIENT', 'LIST')))?.[1];
  await until(async () => (await blocked()) !== undefined);
  const connections = active('PipeWrap');
  await redis.call('CLIENT', 'KILL', 'ID', (await blocked()) ?? '');
  await until(() => active('PipeWrap') < connections);
  await link.close();
  await until(() => active('Timeout') === 1);
  t.pass('not even a timer');
});
