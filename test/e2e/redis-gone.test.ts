// A Redis that is not there: at the start, in the middle of calls, at the end. It may cost latency; the daemon comes up, calls
// and webhooks go on, and a stop ends by itself.
import { join } from 'node:path';
import t from 'tap';
import { findRedis, openChaosRedis } from '../../scripts/chaos/redis.ts';
import { openRig, type Rig, until } from './rig.ts';

const SERVER = findRedis();
const NO_REDIS = SERVER === null ? 'redis-server or valkey-server is not installed' : false;
/** Where nobody listens: the discard port. */
const NOBODY = 'redis://127.0.0.1:9';

/** Starts the daemon again, and answers how long that took, in milliseconds. */
async function restart(rig: Rig, env: Record<string, string>): Promise<number> {
  await rig.lab.daemon.stop('SIGINT');
  const from = performance.now();
  await rig.lab.restartDaemon(env);
  return performance.now() - from;
}

const modeOf = async (rig: Rig) =>
  (await rig.lab.api<{ checks: { webhooks: { mode: string } } }>('GET', '/readyz')).body.checks.webhooks.mode;

async function callIsTold(rig: Rig, agentId: string, to: string): Promise<void> {
  const { id } = await rig.dial(agentId, to);
  await rig.ended(id);
  await until(`the webhooks of ${to}`, () => rig.events(id).some(({ type }) => type === 'call.busy'));
}

const BUSY = { '+15550660001': { outcome: 'busy' as const }, '+15550660002': { outcome: 'busy' as const } };

t.test('a Redis that is not there at the start', async (t) => {
  const rig = await openRig(t, { carrier: { callees: BUSY } });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const took = { none: 0, nobody: 0 };
  // The quicker of two each: the machine may be busy.
  for (const round of [1, 2]) {
    for (const how of ['none', 'nobody'] as const) {
      const env = how === 'none' ? { REDIS_MODE: 'none' } : { REDIS_MODE: 'auto', REDIS_URL: NOBODY };
      const ms = await restart(rig, env);
      took[how] = round === 1 ? ms : Math.min(took[how], ms);
    }
  }
  t.ok(
    took.nobody < 2 * took.none,
    `up in ${Math.round(took.nobody)} ms, without any in ${Math.round(took.none)} ms`,
  );
  t.equal(await modeOf(rig), 'direct');
  await callIsTold(rig, agent.id, '+15550660001');
  t.equal(await rig.lab.daemon.stop('SIGTERM'), 0, 'an idle one ends at once');
});

t.test('a Redis that vanishes', { skip: NO_REDIS }, async (t) => {
  const folder = t.testdir();
  const redis = await openChaosRedis(SERVER ?? '', join(folder, 'redis'));
  t.teardown(() => redis.close());
  const rig = await openRig(t, {
    carrier: { callees: BUSY },
    env: { REDIS_MODE: 'auto', REDIS_URL: redis.url, DRAIN_SECONDS: '10' },
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  await until('its queue', async () => (await modeOf(rig)) === 'redis');
  await callIsTold(rig, agent.id, '+15550660001');
  const talk = await rig.dial(agent.id, '+15550660009');
  await until('the talk', async () => (await rig.call(talk.id)).status === 'in_progress');
  await redis.close();
  await callIsTold(rig, agent.id, '+15550660002');

  // The talk goes on, or is ended at the cap; nothing waits for Redis.
  const from = performance.now();
  t.equal(await rig.lab.daemon.stop('SIGTERM'), 0);
  const seconds = (performance.now() - from) / 1000;
  const stopped = rig.lab.daemon.lines.find((line) => line.includes('"daemon.stopped"'));
  t.ok(stopped !== undefined, `it ended in order, after ${seconds.toFixed(1)} s`);
  await rig.lab.restartDaemon({ REDIS_MODE: 'none', REDIS_URL: '' });
  const ended = await rig.ended(talk.id);
  t.match(ended.status, /^completed$/);
  await until('its last webhook', () => rig.events(talk.id).some(({ type }) => type === 'call.completed'));
});
