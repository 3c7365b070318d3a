// Kills in mid-talk in short: what `npm run chaos -- --kills` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runBreaks } from '../../scripts/chaos/breaks.ts';
import { killer } from '../../scripts/chaos/kills.ts';

t.test('killed with people in talk, and started again: every talk goes on, nothing twice', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-kills-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runBreaks(
    { times: 2, lines: 4, seed: 7, minutes: 5, folder, betweenMs: [3_000, 4_000], short: true },
    killer(),
  );
  for (const [name, value] of report.rows) t.comment(`${name}: ${value}`);
  t.equal(report.breaks, 2);
  for (const check of report.checks) {
    // How soon is for a machine that does nothing else.
    if (/within \d+ ms/.test(check.name)) continue;
    t.same(check.violations, [], `${check.name}: ${check.value}`);
  }
  const counted = Object.fromEntries(report.checks.map((check) => [check.name, check.value]));
  t.ok(
    Number(String(counted['talks that went on']).split(' of ')[0]) >= 6,
    counted['talks that went on'] as string,
  );
});
