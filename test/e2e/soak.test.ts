// The soak in short: what `npm run soak` does for hours, with its own checks of the calls. What grows in hours and how a quiet
// machine keeps time is not for a run of half a minute.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runSoak } from '../../scripts/soak/campaign.ts';

t.test('calls come and go, all of them explained, and every thread says what it holds', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-soak-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runSoak({
    minutes: 0.5,
    lines: 6,
    settleMinutes: 0,
    longestSeconds: 10,
    sampleSeconds: 2,
    seed: 3,
    folder: join(folder, 'run'),
    out: join(folder, 'out'),
    env: { MEDIA_LATE_MS: '0', MEDIA_THREADS: '2', REDIS_MODE: 'none' },
  });
  for (const check of report.checks)
    if (check.of === 'calls') t.same(check.violations, [], `${check.name}: ${check.value}`);
  t.comment(JSON.stringify(report.ends));
  t.ok(report.samples.length >= 4, `${report.samples.length} samples`);
  for (const { memory } of report.samples.slice(-1)) {
    t.same(Object.keys(memory).sort(), ['1', '2', 'control']);
    for (const kinds of Object.values(memory)) {
      t.same(Object.keys(kinds).sort(), ['array_buffers', 'external', 'heap_total', 'heap_used']);
      t.ok(Object.values(kinds).every((bytes) => bytes > 0));
    }
    // Each thread's own: no two hold the same to the byte.
    t.equal(new Set(Object.values(memory).map((kinds) => kinds.heap_used)).size, 3);
  }
  t.ok(
    report.checks.some(({ of }) => of === 'memory'),
    'halves were compared',
  );
  for (const name of ['soak.csv', 'soak.svg', 'verdict.json'])
    t.ok(existsSync(join(folder, 'out', name)), name);
  t.equal(
    readFileSync(join(folder, 'out', 'soak.csv'), 'utf8')
      .trim()
      .split('\n').length,
    report.samples.length + 1,
  );
});
