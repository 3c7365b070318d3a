// Upgrades under people in talk in short: what `npm run chaos -- --handover` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runBreaks } from '../../scripts/chaos/breaks.ts';
import { handovers } from '../../scripts/chaos/handovers.ts';

t.test('there and back with people in talk: nothing is dropped, lost or refused', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-handovers-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runBreaks(
    { times: 2, lines: 3, seed: 7, minutes: 5, folder, betweenMs: [1_000, 2_000], short: true },
    handovers(),
  );
  for (const [name, value] of report.rows) t.comment(`${name}: ${value}`);
  t.equal(report.breaks, 2);
  for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
});
