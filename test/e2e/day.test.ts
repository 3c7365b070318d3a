// A day's calls in short: what `npm run chaos -- --day` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runCampaign } from '../../scripts/chaos/campaign.ts';

const SEED = 7;

t.test('a day in short: faults on all sides, a stop and a kill, and what is left is what was', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-day-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runCampaign({
    kills: 0,
    day: { calls: 50, faultMs: 1_500, restartMs: 7_000 },
    redisFlushes: 1,
    redisKills: 1,
    seed: SEED,
    minutes: 10,
    lines: 7,
    folder,
    short: true,
  });
  t.comment(
    `seed ${report.seed}, ${report.seconds} s, ${report.day?.restarts} restarts, ${report.day?.faults} faults`,
  );
  t.ok((report.day?.calls ?? 0) >= 50, `${report.day?.calls} calls`);
  t.ok((report.day?.faults ?? 0) >= 5, 'faults');
  t.ok(report.stops + report.kills >= 2, 'restarts');
  for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
});
