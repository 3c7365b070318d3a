// The campaign of calls under kills in short: what `npm run chaos -- --campaign` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runCallList } from '../../scripts/chaos/call-list.ts';

t.test(
  'killed in the middle of a campaign: everybody has one outcome, and nobody is called twice',
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-call-list-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const report = await runCallList({
      contacts: 24,
      kills: 3,
      perMinute: 240,
      atOnce: 12,
      seed: 14,
      minutes: 10,
      folder,
      // Nobody has to wait for his hours: of these the step has tables.
      laterMinutes: 0,
    });
    t.comment(`${report.seconds} s: ${JSON.stringify(report.rows)}`);
    t.ok(report.kills >= 1, `${report.kills} kills`);
    for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
    t.match(String(report.rows), /answered \d+.*busy|busy \d+.*answered/, 'some talked, some were busy');
  },
);

t.test('upgraded in the middle of a campaign: the next process goes on with it', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-call-list-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runCallList({
    contacts: 24,
    kills: 0,
    upgrades: 2,
    perMinute: 120,
    atOnce: 12,
    seed: 15,
    minutes: 10,
    folder,
    laterMinutes: 0,
  });
  t.comment(`${report.seconds} s: ${JSON.stringify(report.rows)}`);
  for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
});
