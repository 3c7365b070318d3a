// The daemon is killed in the middle of calls and started again: nothing ends a call but the people on it. Talks go on where they
// were, what rings goes on ringing, and nobody is called twice.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { ENDED, openRig, until } from './rig.ts';

t.test('killed and started again: the calls go on', async (t) => {
  const rig = await openRig(t, {
    carrier: {
      defaultCallee: { ringMs: 200 },
      callees: { '+15550400003': { ringMs: 60_000 } },
    },
    env: { RECORD_CALLS: 'true', CALLER_IDLE_SECONDS: '120' },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-LONG', returns: { answer: 'string' } });
  const talking = [await rig.dial(agent.id, '+15550400001'), await rig.dial(agent.id, '+15550400002')];
  const ringing = await rig.dial(agent.id, '+15550400003');
  const states = async () =>
    (await Promise.all([...talking, ringing].map(async (call) => (await rig.call(call.id)).status))).join();
  await until(
    'two talks and one ringing',
    async () => (await states()) === 'in_progress,in_progress,ringing',
  );
  const folder = join(rig.folder, 'data', 'recordings');
  const recorded = join(folder, `${talking[0]?.id}.wav`);
  // Written in blocks: killed before the first one, there is none to be read.
  await until(
    'a piece of the recording',
    () => (statSync(recorded, { throwIfNoEntry: false })?.size ?? 0) > 1_000,
  );
  const told = await until('words of both talks', async () => {
    const words = await Promise.all(talking.map((call) => rig.transcript(call.id)));
    return words.every((items) => items.some(({ heard_text }) => heard_text !== '')) ? words : null;
  });
  const killedAt = performance.now();
  await lab.daemon.stop('SIGKILL');
  await lab.restartDaemon();

  const atCarrier = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  await until(
    'the sound of both to be back',
    async () => (await atCarrier()).filter(({ streams }) => streams.length > 1).length === 2,
  );
  t.comment(`note: sound again ${Math.round(performance.now() - killedAt)} ms after the kill`);
  t.equal(await states(), 'in_progress,in_progress,ringing', 'nobody was hung up');
  for (const [at, items] of told.entries()) {
    const { id } = talking[at] ?? { id: '' };
    const before = new Set(items.map((item) => item.id));
    const kept = await until('words after it', async () => {
      const now = await rig.transcript(id);
      return now.some((item) => !before.has(item.id) && item.heard_text !== '') ? now : null;
    });
    const texts = new Map(kept.map((item) => [item.id, item.text]));
    for (const item of items)
      t.ok(texts.get(item.id)?.startsWith(item.text), 'what was told of a talk is not lost');
    for (const item of kept.filter(({ role }) => role === 'agent').slice(0, -1))
      if (before.has(item.id))
        t.equal(item.interrupted, item.heard_text !== item.text, 'what was not heard was cut');
    const { gaps } = (await rig.call(id)) as {
      gaps?: { why: string; from_ms: number; to_ms: number | null }[];
    };
    t.match(gaps, [{ why: 'daemon_restart', from_ms: Number, to_ms: Number }]);
    const [gap] = gaps ?? [];
    t.ok((gap?.to_ms ?? 0) > (gap?.from_ms ?? 0));
  }

  for (const { id } of talking) {
    t.equal((await lab.api('POST', `/v1/calls/${id}/hangup`)).status, 200);
    t.match(await rig.ended(id), {
      status: 'completed',
      hangup_cause: 'hangup_requested',
      error_code: null,
      reservation_status: 'settled',
    });
  }
  t.equal((await lab.api('POST', `/v1/calls/${ringing.id}/cancel`)).status, 200);
  t.match(await rig.ended(ringing.id), {
    status: 'canceled',
    answered_at: null,
    reservation_status: 'released',
  });
  const legs = await until('the carrier to be rid of them', async () => {
    const found = await atCarrier();
    return found.every((call) => call.endedAtMs !== null) ? found : null;
  });
  t.equal(legs.length, 3, 'nobody was called twice');
  for (const leg of legs) t.same(leg.violations, []);
  for (const { id } of [...talking, ringing]) {
    await until('its last webhook', () => rig.events(id).some((event) => ENDED.includes(event.body.status)));
    const events = rig.events(id);
    t.equal(events.filter((event) => ENDED.includes(event.body.status)).length, 1, 'one terminal event');
    t.same(
      events.map((event) => event.sequence),
      events.map((_, index) => index + 1),
    );
  }
  const recording = await until('the recording of both', async () => {
    const answer = await fetch(`${lab.daemon.url}/v1/calls/${talking[0]?.id}/recording`, {
      headers: { authorization: `Bearer ${lab.apiKey}` },
    });
    const parts = readdirSync(folder).filter((name) => name.includes('.part-'));
    return answer.status === 200 && parts.length === 0 ? Buffer.from(await answer.arrayBuffer()) : null;
  });
  t.ok(existsSync(recorded));
  const call = await rig.call(talking[0]?.id ?? '');
  const seconds = (recording.length - 44) / 4 / 8_000;
  t.ok(Math.abs(seconds - (call.billed_duration_seconds ?? 0)) < 3, `${seconds} s, of all of it`);
  const next = await rig.dial(agent.id, '+15550400009');
  await until('the next call', async () => (await rig.call(next.id)).status === 'in_progress');
});
