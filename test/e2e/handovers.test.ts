// Upgrades under people in talk in short: what `npm run chaos -- --handover` does at length, with its own checks.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { runBreaks } from '../../scripts/chaos/breaks.ts';
import { handovers } from '../../scripts/chaos/handovers.ts';
import { openRig, until } from './rig.ts';

t.jobs = 2;

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

t.test('who passes a stream on to the daemon before it stays as long as that stream', async (t) => {
  const to = '+15550700001';
  const rig = await openRig(t, {
    carrier: { defaultCallee: { ringMs: 200 }, callees: { [to]: { ringMs: 20_000 } } },
    env: { MEDIA_THREADS: '1', RING_SECONDS: '60' },
  });
  const { lab } = rig;
  const { id: agentId } = await rig.agent({ instructions: 'TEST-LONG' });
  const call = await rig.dial(agentId, to);
  const { before: first } = await lab.upgrade();
  t.not((await rig.call(call.id)).status, 'in_progress', 'its stream comes to the second');
  const heard = async () => (await rig.transcript(call.id)).map(({ heard_text }) => heard_text).join();
  await until('it to talk', async () => (await heard()) !== '');
  const { before: second } = await lab.upgrade();
  const said = await heard();
  await until('the talk to go on', async () => (await heard()).length > said.length + 40);
  t.equal(first.exitCode(), undefined, 'has the call');
  t.equal(second.exitCode(), undefined, 'has its stream');
  await lab.api('POST', `/v1/calls/${call.id}/hangup`);
  t.match(await rig.ended(call.id), { status: 'completed', error_code: null, gaps: [] });
  const { calls } = await lab.ask<{ calls: CallReport[] }>(
    'carrier',
    `/calls?number=${encodeURIComponent(to)}`,
  );
  t.equal(calls[0]?.streams.length, 1);
  await until('both to go', () => first.exitCode() !== undefined && second.exitCode() !== undefined);
});
