// The daemon is killed in the middle of calls and started again: every call reaches one end, the carrier's legs are
// hung up, and nobody is called twice.
import { statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { ENDED, openRig, until } from './rig.ts';

t.test('killed and started again', async (t) => {
  const rig = await openRig(t, {
    carrier: {
      defaultCallee: { ringMs: 200 },
      callees: { '+15550400003': { ringMs: 60_000 } },
    },
    env: { RECORD_CALLS: 'true' },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-LONG', returns: { answer: 'string' } });
  const talking = [await rig.dial(agent.id, '+15550400001'), await rig.dial(agent.id, '+15550400002')];
  const ringing = await rig.dial(agent.id, '+15550400003');
  await until('two talks and one ringing', async () => {
    const states = await Promise.all(
      [...talking, ringing].map(async (call) => (await rig.call(call.id)).status),
    );
    return states.join() === 'in_progress,in_progress,ringing';
  });
  // Written in blocks: killed before the first one, there is none to be read.
  const recorded = join(rig.folder, 'data', 'recordings', `${talking[0]?.id}.wav`);
  await until(
    'a piece of the recording',
    () => (statSync(recorded, { throwIfNoEntry: false })?.size ?? 0) > 1_000,
  );
  const told = await until('words of both talks', async () => {
    const words = await Promise.all(talking.map((call) => rig.transcript(call.id)));
    return words.every((items) => items.length > 0) ? words : null;
  });
  await lab.daemon.stop('SIGKILL');
  await lab.restartDaemon();

  const calls = await Promise.all([...talking, ringing].map((call) => rig.call(call.id)));
  t.ok(
    calls.every((call) => ENDED.includes(call.status)),
    'over before anything new begins',
  );
  for (const call of calls.slice(0, 2)) {
    t.match(call, {
      status: 'failed',
      error_code: 'daemon_restart',
      reservation_status: 'settled',
      result_status: 'failed',
    });
    t.ok((call.billed_duration_seconds ?? 0) >= 1);
  }
  for (const [at, items] of told.entries()) {
    const kept = new Map((await rig.transcript(talking[at]?.id ?? '')).map(({ id, text }) => [id, text]));
    for (const { id, text } of items)
      t.ok(kept.get(id)?.startsWith(text), 'what was told of a talk is not lost');
  }
  t.match(calls[2], { answered_at: null, billed_duration_seconds: null, reservation_status: 'released' });
  const atCarrier = await until('the carrier to be rid of them', async () => {
    const { calls: found } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    return found.every((call) => call.endedAtMs !== null) ? found : null;
  });
  t.equal(atCarrier.length, 3, 'nobody was called twice');
  await until('the webhooks', () =>
    calls.every((call) => rig.events(call.id).some((event) => ENDED.includes(event.body.status))),
  );
  for (const call of calls) {
    const events = rig.events(call.id);
    t.equal(events.filter((event) => ENDED.includes(event.body.status)).length, 1, 'one terminal event');
    t.same(
      events.map((event) => event.sequence),
      events.map((_, index) => index + 1),
    );
  }
  const recording = await fetch(`${lab.daemon.url}/v1/calls/${calls[0]?.id}/recording`, {
    headers: { authorization: `Bearer ${lab.apiKey}` },
  });
  t.equal(recording.status, 200, 'the recording up to the crash can be read');
  const next = await rig.dial(agent.id, '+15550400009');
  await until('the next call', async () => (await rig.call(next.id)).status === 'in_progress');
});
