// The disk full to its last byte under calls, and freed again; `npm run faults` does the same with more of them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { fullDisk, whyNoVolume } from '../../scripts/faults/full-disk.ts';

t.setTimeout(180_000);

t.test(
  'full to the last byte under twelve calls: lines end all the same, and once there is space every record is right',
  { skip: whyNoVolume() ?? false },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-full-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const report = await fullDisk({ calls: 12, megabytes: 64, folder });
    t.comment(
      `full for ${report.fullSeconds.toFixed(1)} s, right ${report.recoveredSeconds.toFixed(1)} s after`,
    );
    for (const check of report.checks) t.same(check.violations, [], `${check.name}: ${check.value}`);
    const counted = Object.fromEntries(report.checks.map((check) => [check.name, check.value]));
    t.equal(counted['calls ended'], 13);
    t.ok(Number(counted['words, turns and use of each talk']) >= 4, 'there was something to lose');
  },
);
