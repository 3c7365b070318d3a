// The daemon is told to stop while it is busy: in order, and then in a hurry.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { ENDED, openRig, POLITE, type Rig, until } from './rig.ts';

const ENDLESS = { ringMs: 200 };

async function allTalk(rig: Rig, ids: readonly string[]): Promise<void> {
  await until(`${ids.length} talks`, async () => {
    const calls = await Promise.all(ids.map((id) => rig.call(id)));
    return calls.every(({ status }) => status === 'in_progress');
  });
}

const atCarrier = async (rig: Rig) => (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;

/** What the daemon said of its stop. */
function stopped(rig: Rig): { hurried: boolean; took_ms: number; late: string[] } | null {
  const line = rig.lab.daemon.lines.find((one) => one.includes('"daemon.stopped"'));
  return line === undefined ? null : JSON.parse(line);
}

t.test(
  'SIGTERM with twenty live calls: none more is taken, ten end by themselves, ten with a spoken line, exit 0',
  async (t) => {
    const rig = await openRig(t, {
      carrier: { defaultCallee: ENDLESS },
      env: { DRAIN_SECONDS: '34', CALLER_IDLE_SECONDS: '120' },
    });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF', returns: { said_goodbye: 'boolean' } });
    const own = Array.from({ length: 10 }, (_, i) => `+15550410${String(i).padStart(3, '0')}`);
    const endless = Array.from({ length: 10 }, (_, i) => `+15550420${String(i).padStart(3, '0')}`);
    for (const to of own) {
      await lab.ask('carrier', `/callees/${encodeURIComponent(to)}`, POLITE, 'PUT');
    }
    const dialled = await Promise.all([...own, ...endless].map((to) => rig.dial(agent.id, to)));
    await allTalk(
      rig,
      dialled.map(({ id }) => id),
    );
    const stopping = lab.daemon.stop('SIGTERM');
    await until('the drain', async () => (await fetch(`${lab.daemon.url}/readyz`)).status === 503);
    const refused = await lab.api<{ error: Record<string, string> }>('POST', '/v1/calls', {
      agent_id: agent.id,
      to: '+15550430000',
    });
    t.match(refused, { status: 503, body: { error: { code: 'draining' } } });
    t.ok(Number(refused.headers.get('retry-after')) > 0);
    t.equal(await stopping, 0);
    t.match(stopped(rig), { hurried: false, late: [] });

    const carried = await atCarrier(rig);
    t.equal(carried.length, 20, 'nobody else was called');
    for (const call of carried) {
      t.not(call.endedAtMs, null);
      t.same(call.violations, []);
      t.match(call.updates, [{ asked: 'Status=completed', code: null }], 'asked to hang up once');
      t.equal(call.updates.length, 1);
    }

    await lab.restartDaemon();
    for (const [index, { id, to_number: to }] of dialled.entries()) {
      const call = await rig.ended(id);
      const cause = index < own.length ? 'agent_ended' : 'draining';
      t.match(call, { status: 'completed', hangup_cause: cause, reservation_status: 'settled' }, to);
      t.ok(call.billed_duration_seconds !== null && call.ended_at !== null, to);
      const last = (await rig.transcript(id)).at(-1);
      t.match(last, { role: 'agent', text: /Goodbye/, interrupted: false }, to);
      t.equal(last?.heard_text, last?.text, `${to}: its last line was heard to the end`);
      t.match((await lab.api('GET', `/v1/calls/${id}/turns`)).body, { status: 'final' });
    }
    await until('the webhooks', () => dialled.every(({ id }) => rig.events(id).length === 4));
    for (const { id } of dialled) {
      t.same(
        rig.events(id).map(({ sequence, type }) => [sequence, type]),
        [
          [1, 'call.queued'],
          [2, 'call.ringing'],
          [3, 'call.answered'],
          [4, 'call.completed'],
        ],
      );
    }
  },
);

t.test(
  'a second signal during a drain, with a carrier that answers nothing: over within five seconds, every end recorded',
  async (t) => {
    const rig = await openRig(t, {
      carrier: { defaultCallee: ENDLESS, callees: { '+15550440009': { ringMs: 60_000 } } },
      env: { DRAIN_SECONDS: '300', CALLER_IDLE_SECONDS: '120' },
    });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
    const numbers = Array.from({ length: 9 }, (_, i) => `+1555044000${i}`);
    const dialled = await Promise.all(numbers.map((to) => rig.dial(agent.id, to)));
    await allTalk(
      rig,
      dialled.map(({ id }) => id),
    );
    const ringing = await rig.dial(agent.id, '+15550440009');
    await until('the ringing', async () => (await rig.call(ringing.id)).status === 'ringing');
    // Longer than any stop: whoever waits for the carrier is late.
    await lab.ask('carrier', '/faults', { do: 'latency', path: '/Calls/', ms: 30_000, times: 0 });

    const stopping = lab.daemon.stop('SIGTERM');
    await until('the drain', async () => (await fetch(`${lab.daemon.url}/readyz`)).status === 503);
    process.kill(lab.daemon.pid, 'SIGTERM');
    t.equal(await stopping, 0, 'it closed everything');
    const told = stopped(rig);
    t.equal(told?.hurried, true);
    t.ok((told?.took_ms ?? Number.NaN) < 4_900, `by its own clock ${told?.took_ms} ms`);

    const before = (await atCarrier(rig)).length;
    await lab.ask('carrier', '/faults', undefined, 'DELETE');
    await lab.restartDaemon();
    t.notOk(
      lab.daemon.lines.some((line) => line.includes('"calls.recovering"')),
      'no call was left to the next start',
    );
    for (const { id } of dialled) {
      const call = await rig.call(id);
      t.ok(ENDED.includes(call.status));
      t.match(call, { status: 'failed', error_code: 'daemon_stopped', reservation_status: 'settled' });
      await until('its one end', () => rig.events(id).some(({ type }) => type === 'call.failed'));
      t.equal(rig.events(id).filter(({ body }) => ENDED.includes(body.status)).length, 1);
    }
    t.match(await rig.call(ringing.id), { answered_at: null, reservation_status: 'released' });
    t.equal((await atCarrier(rig)).length, before, 'nobody was called again');
  },
);
