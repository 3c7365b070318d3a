// A disk that takes half a second for each commit while calls are on: the callers hear nothing of it, and nothing is lost.
// The same calls are made with and without it in turns, so that what the machine does is done to both.
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, until } from './rig.ts';

const CALLS = 4;
const ROUNDS = 2;
/** How much later the 99th of a hundred frames may come on a slow disk. */
const LATER_MS = 5;

interface Heard {
  /** The pause before a frame that 99 of a hundred do not exceed, within a stretch of sound. */
  p99Ms: number;
  frames: number;
  /** Times that the caller heard nothing in the middle of a word. */
  holes: number;
  /** What the machine does to a thread that only waits. */
  machineMs: number;
}

function heard(reports: readonly CallReport[], machineMs: number): Heard {
  const streams = reports.flatMap((report) => report.streams);
  const length = (streams[0]?.pauses.length ?? 1) - 1;
  const pauses = Array.from({ length }, (_none, ms) =>
    streams.reduce((sum, stream) => sum + (stream.pauses[ms] ?? 0), 0),
  );
  const frames = pauses.reduce((sum, count) => sum + count, 0);
  let seen = 0;
  const p99Ms = pauses.findIndex((count) => {
    seen += count;
    return seen >= 0.99 * frames;
  });
  const holes = streams.flatMap(({ gaps }) => gaps).filter(({ afterMark }) => !afterMark).length;
  return { p99Ms, frames, holes, machineMs };
}

t.test('each commit takes half a second: audio keeps its time, and nothing is lost', async (t) => {
  const rig = await openRig(t, {
    env: { MEDIA_THREADS: '2', NODE_OPTIONS: `--import=${join(import.meta.dirname, 'slow-disk-switch.ts')}` },
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const rounds: Record<'calm' | 'slow', Heard[]> = { calm: [], slow: [] };
  let serial = 0;

  for (let at = 0; at < 2 * ROUNDS; at++) {
    const phase = at % 2 === 0 ? 'calm' : 'slow';
    const calls = await Promise.all(
      Array.from({ length: CALLS }, () =>
        rig.dial(agent.id, `+1555030${String(serial++).padStart(4, '0')}`, { metadata: { phase } }),
      ),
    );
    const numbers = new Set(calls.map((call) => call.to_number));
    const reports = async () =>
      (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.filter(({ to }) =>
        numbers.has(to),
      );
    await until('all agents to speak', async () =>
      (await reports()).every(({ streams }) => (streams[0]?.received.media ?? 0) > 0),
    );
    const waiting = monitorEventLoopDelay({ resolution: 20 });
    waiting.enable();
    if (phase === 'slow') process.kill(rig.lab.daemon.pid, 'SIGUSR2');
    await until('all talks to end', async () =>
      (await reports()).every(({ streams }) => streams[0]?.endedMs !== null),
    );
    waiting.disable();
    if (phase === 'slow') process.kill(rig.lab.daemon.pid, 'SIGUSR2');
    for (const { id } of calls) {
      const call = await rig.ended(id);
      t.match(call, { status: 'completed', error_code: null, hangup_cause: 'agent_ended' }, phase);
      const roles = (await rig.transcript(id)).map(({ role }) => role);
      t.ok(roles.includes('caller'), `${phase}: the caller's words are there`);
      t.match([roles[0], roles.at(-1)], ['agent', 'agent'], `${phase}: and the agent's, to the last`);
      const path = `/v1/events?call_id=${id}`;
      t.same(
        (await rig.lab.api<{ data: { type: string }[] }>('GET', path)).body.data.map(({ type }) => type),
        ['call.completed', 'call.answered', 'call.ringing', 'call.queued'],
        `${phase}: its events`,
      );
    }
    rounds[phase].push(heard(await reports(), waiting.percentile(99) / 1e6));
  }

  const values = (of: readonly Heard[], key: keyof Heard) => of.map((one) => one[key]);
  const spread = (numbers: readonly number[]) => Math.max(...numbers) - Math.min(...numbers);
  const mean = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0) / numbers.length;
  const all = [...rounds.calm, ...rounds.slow];
  // On a quiet machine next to nothing: how much alike rounds differ, and a thread that only waits.
  const noiseMs = spread(values(rounds.calm, 'p99Ms')) + spread(values(all, 'machineMs'));
  const laterMs = mean(values(rounds.slow, 'p99Ms')) - mean(values(rounds.calm, 'p99Ms'));
  const said = `p99 of pauses ${values(rounds.calm, 'p99Ms').join(', ')} ms, on a slow disk ${values(rounds.slow, 'p99Ms').join(', ')} ms; holes ${values(rounds.calm, 'holes').join(', ')} and ${values(rounds.slow, 'holes').join(', ')}; the machine's own ${noiseMs.toFixed(1)} ms`;
  t.comment(`note: ${said}`);
  t.ok(Math.min(...values(all, 'frames')) > 500, said);
  t.ok(laterMs < LATER_MS + noiseMs, said);
  // Each of very many commits would make one, were the audio to wait for it.
  t.ok(mean(values(rounds.slow, 'holes')) <= mean(values(rounds.calm, 'holes')) + 1 + noiseMs / 20, said);
});
