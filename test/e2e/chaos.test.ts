// The kill campaign in short: what `npm run chaos` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { runCampaign } from '../../scripts/chaos/campaign.ts';
import { findRedis } from '../../scripts/chaos/redis.ts';
import { openRig, until } from './rig.ts';

const SEED = 7;

// Each has a lab of its own, and waits for calls most of its time.
t.jobs = 3;

t.test(
  'killed in the middle of calls and deliveries: nothing lost, nothing twice, all money accounted for',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-chaos-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const hasRedis = findRedis() !== null;
    const report = await runCampaign({
      kills: 6,
      redisFlushes: 2,
      redisKills: 1,
      seed: SEED,
      minutes: 10,
      lines: 7,
      folder,
      short: true,
    });
    t.comment(`seed ${report.seed}, ${report.seconds} s, killed at ${JSON.stringify(report.killsAt)}`);
    // A failpoint may strike once more while the campaign winds up.
    t.ok(report.kills >= 6, `${report.kills} kills`);
    t.equal(report.redisFlushes, hasRedis ? 2 : 0);
    for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
    const counted = Object.fromEntries(report.checks.map((check) => [check.name, check.value]));
    t.ok(Number(counted['calls ended']) >= 10, 'there were calls to lose');
    t.ok(Number(String(counted['deliveries invented']).split(' of ')[1]) >= 40, 'and deliveries');
  },
);

t.test(
  'callbacks doubled and late, so that they overtake each other: the same events, once each',
  async (t) => {
    const people: Record<string, CalleeInput> = {
      '+15550300001': { ringMs: 300, steps: [{ do: 'wait', ms: 1_500 }, { do: 'hang_up' }] },
      '+15550300002': { ringMs: 100, outcome: 'hangup_at_once', hangUpAfterMs: 300 },
      '+15550300003': { ringMs: 200, outcome: 'busy' },
      '+15550300004': { ringMs: 200, outcome: 'no_answer' },
      '+15550300005': { outcome: 'invalid' },
    } as const;
    const rig = await openRig(t, {
      carrier: {
        callees: people,
        network: {
          profile: 'clean',
          hookDelayMs: [0, 2_000],
          hookDuplicateRate: 1,
          completedDelayMs: [0, 100],
        },
        faults: [{ do: 'hook_delay', path: '/status', ms: [0, 1_000], times: 0 }],
        seed: SEED,
      },
      env: { RING_SECONDS: '5', PRICE_PER_MINUTE_MILLI_CENTS: '6000' },
    });
    const agent = await rig.agent({ instructions: 'TEST-LONG' });
    const told = {
      '+15550300001': ['call.queued', 'call.ringing', 'call.answered', 'call.completed'],
      '+15550300002': ['call.queued', 'call.ringing', 'call.answered', 'call.completed'],
      '+15550300003': ['call.queued', 'call.ringing', 'call.busy'],
      '+15550300004': ['call.queued', 'call.ringing', 'call.no_answer'],
      '+15550300005': ['call.queued', 'call.failed'],
    };
    const calls = await Promise.all(
      Object.keys(told).flatMap((to) => [1, 2, 3].map(() => rig.dial(agent.id, to))),
    );
    const ended = await Promise.all(calls.map((call) => rig.ended(call.id)));
    const { calls: atCarrier } = await until('the last callback', async () => {
      const found = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
      const done = found.calls.every((call) =>
        call.hooks
          .filter((hook) => hook.kind === 'status')
          .every((hook) => hook.status !== null || hook.error !== null),
      );
      const lasts = found.calls.filter((call) => call.hooks.filter((hook) => hook.duplicate).length > 0);
      return done && lasts.length === calls.length ? found : null;
    });
    for (const call of ended) {
      const expected = told[call.to_number as keyof typeof told];
      const events = await until(`the webhooks of ${call.to_number}`, () => {
        const found = rig.events(call.id);
        return found.length >= expected.length ? found : null;
      });
      t.same(
        events.map((event) => `${event.sequence} ${event.type}`),
        expected.map((type, index) => `${index + 1} ${type}`),
        call.to_number,
      );
      const now = await rig.call(call.id);
      const carrier = atCarrier.find((report) => report.to === call.to_number);
      t.equal(now.status, call.status, 'no late callback changes the end');
      t.not(now.reservation_status, 'reserved');
      t.ok((now.billed_duration_seconds ?? 0) <= (carrier?.durationSeconds ?? 0) + 2);
    }
  },
);

t.test(
  'a fast stop while a receiver holds back its answers: calls ended, exit 0, the events kept',
  async (t) => {
    const held: ServerResponse[] = [];
    const slow = createServer((_request, response) => held.push(response));
    await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
    t.teardown(() => {
      slow.closeAllConnections();
      slow.close();
    });
    const rig = await openRig(t);
    const agent = await rig.agent({
      instructions: 'TEST-LONG',
      webhook_url: `http://127.0.0.1:${(slow.address() as AddressInfo).port}/`,
    });
    const call = await rig.dial(agent.id, '+15550300009');
    await until('the talk', async () => (await rig.call(call.id)).status === 'in_progress');
    t.equal(await rig.lab.daemon.stop('SIGINT'), 0);
    t.ok(held.length > 0, 'deliveries were under way');
    await rig.lab.restartDaemon();
    t.match(await rig.call(call.id), { status: 'failed', error_code: 'daemon_stopped' });
    const listed = await rig.lab.api<{ data: { event_type: string; attempt_count: number }[] }>(
      'GET',
      `/v1/webhook_deliveries?call_id=${call.id}&status=pending`,
    );
    t.same(
      listed.body.data.map((delivery) => delivery.event_type).sort(),
      ['call.answered', 'call.failed', 'call.queued', 'call.ringing'],
      'none is lost, and a stop of ours costs no attempt',
    );
  },
);
