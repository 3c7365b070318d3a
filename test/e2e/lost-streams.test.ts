// The campaign of lost streams in short: what `npm run chaos -- --resume N` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runBreaks } from '../../scripts/chaos/breaks.ts';
import { HEARD_AGAIN, streamBreaker } from '../../scripts/chaos/streams.ts';

const STREAMS = 6;

t.test('streams lost at random moments: every talk goes on at the last heard word', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-lost-streams-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const report = await runBreaks(
    { times: 2, lines: 4, seed: 11, minutes: 5, folder, betweenMs: [6_000, 8_000], short: true },
    streamBreaker(STREAMS),
  );
  t.comment(`seed ${report.seed}: ${report.rows.map(([name, value]) => `${name} ${value}`).join('; ')}`);
  const rows = new Map(report.rows);
  t.equal(rows.get('streams lost'), String(STREAMS));
  t.match(rows.get('gone on'), /^6, 100\.0 %/);
  t.ok(report.checks.some(({ name }) => name === HEARD_AGAIN));
  for (const check of report.checks)
    if (check.name !== HEARD_AGAIN) t.same(check.violations, [], `${check.name}: ${check.value}`);
});
