// The control thread stands still for half of every second, as in a slow fsync, a heavy query or a flood of hooks: calls on
// the one public port have not a gap, whether there are several media threads, as by default, or one.
import t, { type Test } from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, until } from './rig.ts';

const CALLS = 6;
/** What a thread may stand still for by itself, on a machine that has other work: each stall of the control thread is longer. */
const GAP_MS = 400;

async function talk(t: Test, mediaThreads: number): Promise<void> {
  const rig = await openRig(t, {
    env: { MEDIA_THREADS: String(mediaThreads), FAILPOINTS: 'second:500ms' },
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const calls = await Promise.all(
    Array.from({ length: CALLS }, (_none, i) => rig.dial(agent.id, `+1555060000${i}`)),
  );
  for (const { id } of calls)
    t.match(await rig.ended(id), { status: 'completed', error_code: null, hangup_cause: 'agent_ended' });

  const { calls: reports } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
  t.equal(reports.length, CALLS);
  for (const { streams, violations } of reports) {
    t.same(violations, []);
    t.equal(streams.length, 1);
    t.ok((streams[0]?.playedBytes ?? 0) > 8 * 5_000, 'seconds of speech');
    const long = (streams[0]?.gaps ?? []).filter(({ ms, afterMark }) => !afterMark && ms >= GAP_MS);
    t.same(long, [], 'the caller heard every word without a gap');
  }

  const metric = (text: string, name: string) =>
    [...text.matchAll(new RegExp(`^${name}\\{thread="\\d"\\} (\\d+)$`, 'gm'))]
      .map(([, value]) => Number(value))
      .reduce((sum, value) => sum + value, 0);
  const text = await until('the last load of the threads', async () => {
    const { body } = await rig.lab.api<string>('GET', '/metrics');
    return metric(body, 'offhook_media_calls') === 0 ? body : null;
  });
  const [came, late] = [metric(text, 'offhook_media_frames_in'), metric(text, 'offhook_media_frames_late')];
  t.ok(came > CALLS * 50 * 5 && late < came / 4, `${late} of ${came} of the caller's frames were late`);
  for (const stats of rig.lab.daemon.lines
    .filter((one) => one.includes('"media.released"'))
    .map((one) => JSON.parse(one) as Record<string, number>))
    t.match(stats, { duplicateFrames: 0, malformedMessages: 0 });
}

t.test('calls have no gap while the control thread stands still', (t) => talk(t, 2));
t.test('the same with one media thread', (t) => talk(t, 1));
