// A media thread dies of an error that nobody caught, or hangs: its calls go on at another, and nothing else happens to anybody.
// An error of the same kind on the control thread ends the process, its calls first.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { Lab } from '../../scripts/lab.ts';
import {
  breakDaemon,
  breakListeningThread,
  breakMediaThread,
  hangListeningThread,
  hangMediaThread,
  INSPECTABLE,
} from './inspector.ts';
import { ENDED, openRig, POLITE, until } from './rig.ts';

// Each has a daemon of its own, and none of them measures.
t.jobs = 3;

/** Events of the daemon's log, in order. */
function logged(lab: Lab, event: string): Record<string, unknown>[] {
  return lab.daemon.lines
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const terminal = (events: { type: string }[]) =>
  events.filter(({ type }) => ENDED.includes(type.replace('call.', '')));

t.test('a media thread dies', async (t) => {
  const rig = await openRig(t, {
    env: { ...INSPECTABLE, MEDIA_THREADS: '2', CALLER_IDLE_SECONDS: '60', RECORD_CALLS: 'true' },
    carrier: { defaultCallee: { ringMs: 200 }, callees: { '+15550500009': POLITE } },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF', returns: { caller_words: 'string' } });
  const dialled = await Promise.all(
    [1, 2, 3, 4].map((n) => rig.dial(agent.id, `+1555050000${n}`, { metadata: { n } })),
  );
  await until('four talks', async () =>
    (await Promise.all(dialled.map((call) => rig.call(call.id)))).every(
      (call) => call.status === 'in_progress',
    ),
  );
  const threadOf = new Map(logged(lab, 'call.dispatched').map((line) => [line.call_id, line.thread]));
  const [onLost, others] = [1, 2].map((thread) => dialled.filter(({ id }) => threadOf.get(id) === thread));
  if (onLost === undefined || others === undefined) throw new Error('no calls');
  t.equal(onLost.length, 2, 'two calls on each thread');
  t.equal(others.length, 2);

  await breakMediaThread(lab, 1);

  const atCarrier = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
  const isLost = (leg: CallReport) => onLost.some((call) => call.to_number === leg.to);
  await until('their sound to be back', async () =>
    (await atCarrier()).filter(isLost).every((leg) => leg.streams.length === 2 && leg.endedAtMs === null),
  );
  for (const { id } of onLost) {
    const before = new Set((await rig.transcript(id)).map((line) => line.id));
    const data = await until('words after it', async () => {
      const now = await rig.transcript(id);
      return now.some((line) => !before.has(line.id) && line.heard_text !== '') ? now : null;
    });
    for (const line of data.filter((one) => one.role === 'agent' && before.has(one.id)).slice(0, -1))
      t.equal(line.interrupted, line.heard_text !== line.text, 'what was not heard was cut');
    t.match(await rig.call(id), {
      status: 'in_progress',
      gaps: [{ why: 'thread_lost', from_ms: Number, to_ms: Number }],
    });
  }
  t.match(logged(lab, 'media_thread.died'), [{ thread: 1, err: { message: 'broken on purpose' } }]);
  t.equal(logged(lab, 'daemon.crashed').length, 0);
  for (const { id } of others) t.match(await rig.call(id), { status: 'in_progress', gaps: [] });

  // A thread that lives reports its load.
  await until('a new thread', async () =>
    (await lab.api<string>('GET', '/metrics')).body.includes('offhook_media_frames_in{thread="1"}'),
  );
  const next = await rig.dial(agent.id, '+15550500009');
  t.match(await rig.ended(next.id), {
    status: 'completed',
    hangup_cause: 'agent_ended',
    error_code: null,
    result: { caller_words: /Goodbye/i },
  });

  // All end as they would have.
  for (const { id } of dialled) {
    const answer = await lab.api('POST', `/v1/calls/${id}/hangup`);
    t.match(answer, { status: 200, body: { status: 'completed', error_code: null } });
  }
  for (const { id } of dialled) {
    await until('its last webhook', () => terminal(rig.events(id)).length > 0);
    t.equal(terminal(rig.events(id)).length, 1, 'one end');
    t.same(
      rig.events(id).map((event) => event.sequence),
      rig.events(id).map((_, index) => index + 1),
    );
  }
  t.equal((await atCarrier()).length, 5, 'nobody was called twice');
  for (const leg of await atCarrier()) {
    t.equal(leg.streams.length, isLost(leg) ? 2 : 1);
    t.same(leg.violations, []);
  }
});

t.test(
  'a media thread hangs: its calls go on at another, the others notice nothing, and it is replaced',
  async (t) => {
    const rig = await openRig(t, {
      env: { ...INSPECTABLE, MEDIA_THREADS: '2', CALLER_IDLE_SECONDS: '120' },
      carrier: { defaultCallee: { ringMs: 200 }, callees: { '+15550500039': POLITE } },
    });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
    const dialled = await Promise.all([1, 2].map((n) => rig.dial(agent.id, `+1555050003${n}`)));
    await until('two talks', async () =>
      (await Promise.all(dialled.map(({ id }) => rig.call(id)))).every(
        ({ status }) => status === 'in_progress',
      ),
    );
    const threadOf = new Map(logged(lab, 'call.dispatched').map((line) => [line.call_id, line.thread]));
    const [stuck] = dialled.filter(({ id }) => threadOf.get(id) === 1);
    const [other] = dialled.filter(({ id }) => threadOf.get(id) === 2);
    if (stuck === undefined || other === undefined) throw new Error('both calls are on one thread');

    await hangMediaThread(lab, 1);

    const back = await until(
      'its sound to be back',
      async () => {
        const call = await rig.call(stuck.id);
        return call.gaps.at(-1)?.to_ms == null ? null : call;
      },
      60_000,
    );
    t.match(back, { status: 'in_progress', gaps: [{ why: /thread_lost|stream_lost/ }] });
    t.match(logged(lab, 'media_thread.hung'), [{ thread: 1, calls: 1 }]);
    t.match(await rig.call(other.id), { status: 'in_progress', gaps: [] });
    await until('a new thread', async () =>
      (await lab.api<string>('GET', '/metrics')).body.includes('offhook_media_frames_in{thread="1"}'),
    );
    t.match(await rig.ended((await rig.dial(agent.id, '+15550500039')).id), { status: 'completed' });
  },
);

t.test('the only media thread dies: the daemon answers on, and a new one takes the port again', async (t) => {
  const rig = await openRig(t, {
    env: { ...INSPECTABLE, MEDIA_THREADS: '1', CALLER_IDLE_SECONDS: '60' },
    carrier: { defaultCallee: { ringMs: 200 }, callees: { '+15550500049': POLITE } },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const lost = await rig.dial(agent.id, '+15550500041');
  await until('a talk', async () => (await rig.call(lost.id)).status === 'in_progress');

  await breakMediaThread(lab, 1);

  // Until the control thread listens there is nobody, for a moment.
  const back = await until('its sound to be back', () =>
    rig.call(lost.id).then(
      (call) => (call.gaps.at(-1)?.to_ms == null ? null : call),
      () => null,
    ),
  );
  t.match(back, { status: 'in_progress', gaps: [{ why: 'thread_lost' }] });
  t.equal((await lab.api('GET', '/healthz')).status, 200);
  await until('a new thread', async () =>
    (await lab.api<string>('GET', '/metrics')).body.includes('offhook_media_frames_in{thread="1"}'),
  );
  t.match(await rig.ended((await rig.dial(agent.id, '+15550500049')).id), { status: 'completed' });
  t.same(logged(lab, 'listener.failed'), []);
});

for (const how of ['dies', 'hangs'] as const)
  t.test(`the listening thread ${how}: the streams that came by it are lost, and nothing else`, async (t) => {
    const rig = await openRig(t, {
      env: { ...INSPECTABLE, MEDIA_THREADS: '2', CALLER_IDLE_SECONDS: '120' },
      carrier: {
        defaultCallee: { ringMs: 200 },
        callees: { '+15550500052': { ringMs: 60_000 }, '+15550500059': POLITE },
      },
    });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
    const talking = await rig.dial(agent.id, '+15550500051');
    const ringing = await rig.dial(agent.id, '+15550500052');
    const streams = async () =>
      /^offhook_listening_streams (\d+)$/m.exec((await lab.api<string>('GET', '/metrics')).body)?.[1];
    await until('a talk, by the listening thread', async () => (await streams()) === '1');

    await (how === 'dies' ? breakListeningThread(lab) : hangListeningThread(lab));

    // Until the control thread listens there is nobody, for a moment; while it hangs, it takes no one in.
    const after = await until(
      'what comes of it',
      () =>
        rig.call(talking.id).then(
          (call) => (call.status === 'in_progress' && call.gaps[0]?.to_ms == null ? null : call),
          () => null,
        ),
      60_000,
    );
    // One that hangs is ended after 20 s: until then the line is one that carries nothing, and is given up.
    t.match(after, { status: 'in_progress', gaps: [{ why: 'stream_lost', to_ms: Number }] });
    t.equal((await lab.api('GET', '/healthz')).status, 200);
    await until('another in its place', async () => (await streams()) !== undefined);
    t.match(await rig.call(ringing.id), { status: 'ringing' }, 'a call without a stream rings on');
    t.match(await rig.ended((await rig.dial(agent.id, '+15550500059')).id), {
      status: 'completed',
      error_code: null,
    });
    t.equal(logged(lab, `listening_thread.${how === 'dies' ? 'died' : 'hung'}`).length, 1);
    t.same(logged(lab, 'media_thread.died'), []);
    t.same(logged(lab, 'listener.failed'), []);
    await lab.api('POST', `/v1/calls/${ringing.id}/cancel`);
    await rig.ended(ringing.id);
  });

for (const how of ['throw', 'reject'] as const) {
  const what = how === 'throw' ? 'an uncaught error' : 'an unhandled rejection';
  t.test(
    `${what} on the control thread: the process ends with exit code 1, and the calls go on at the next start`,
    async (t) => {
      const rig = await openRig(t, {
        env: { ...INSPECTABLE, CALLER_IDLE_SECONDS: '60' },
        carrier: {
          defaultCallee: { ringMs: 200 },
          callees: { '+15550500022': { ringMs: 60_000 }, '+15550500029': POLITE },
        },
      });
      const { lab } = rig;
      const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
      const talking = await rig.dial(agent.id, '+15550500021');
      const ringing = await rig.dial(agent.id, '+15550500022');
      await until('a talk and a ringing', async () => {
        const states = await Promise.all(
          [talking, ringing].map(async ({ id }) => (await rig.call(id)).status),
        );
        return states.join() === 'in_progress,ringing';
      });
      await breakDaemon(lab, how);
      t.equal(await lab.daemon.ended, 1);
      t.match(logged(lab, 'daemon.crashed'), [
        { level: 'error', live: 2, err: { message: 'broken on purpose', stack: /at / } },
      ]);
      t.same(logged(lab, 'call.ended'), [], 'nobody is hung up');

      await lab.restartDaemon();
      const atCarrier = async () => (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;
      await until('the talk to have its sound back', async () =>
        (await atCarrier()).some(({ streams }) => streams.length > 1),
      );
      t.match(await rig.call(talking.id), { status: 'in_progress', gaps: [{ why: 'daemon_restart' }] });
      t.match(await rig.call(ringing.id), { status: 'ringing' }, 'and what rings rings on');
      await lab.api('POST', `/v1/calls/${talking.id}/hangup`);
      await lab.api('POST', `/v1/calls/${ringing.id}/cancel`);
      t.match(await rig.ended(talking.id), {
        status: 'completed',
        hangup_cause: 'hangup_requested',
        reservation_status: 'settled',
      });
      t.match(await rig.ended(ringing.id), { answered_at: null, reservation_status: 'released' });
      for (const { id } of [talking, ringing]) {
        await until('its last webhook', () => terminal(rig.events(id)).length > 0);
        t.equal(terminal(rig.events(id)).length, 1);
      }
      t.same((await atCarrier()).length, 2, 'nobody was dialled again');
      t.match(await rig.ended((await rig.dial(agent.id, '+15550500029')).id), { status: 'completed' });
    },
  );
}
