// A daemon that stands still in short: what `npm run chaos -- --frozen` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runBreaks } from '../../scripts/chaos/breaks.ts';
import { freezer } from '../../scripts/chaos/frozen.ts';

t.test('a daemon stands still until another has its calls, wakes, touches nothing and ends', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-frozen-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runBreaks(
    { times: 1, lines: 3, seed: 7, minutes: 5, folder, betweenMs: [2_000, 3_000], short: true },
    // As soon as its calls are taken.
    freezer({ folder, frozenMs: 0 }),
  );
  for (const [name, value] of report.rows) t.comment(`${name}: ${value}`);
  t.equal(report.breaks, 1);
  for (const check of report.checks) {
    // How soon is for a machine that does nothing else.
    if (/within \d+ ms/.test(check.name)) continue;
    t.same(check.violations, [], `${check.name}: ${check.value}`);
  }
});
