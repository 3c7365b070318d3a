// More calls than lines, and media threads that run late: who is refused, how, and what the calls on the line feel of it.
import t from 'tap';
import type { z } from 'zod';
import type { callTurns } from '../../control/api/call-activity-schemas.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { burdenMediaThread, INSPECTABLE, relieveMediaThread } from './inspector.ts';
import { openRig, type Rig, until } from './rig.ts';

type Turns = z.infer<typeof callTurns>;

function logged(rig: Rig, event: string): Record<string, unknown>[] {
  return rig.lab.daemon.lines
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const metrics = async (rig: Rig) => (await rig.lab.api<string>('GET', '/metrics')).body;
const atCarrier = async (rig: Rig) => (await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls;

/** One call that comes in and is refused at once. */
async function refusedInbound(rig: Rig, to: string, from: string): Promise<CallReport> {
  await rig.lab.ask('carrier', '/inbound-calls', { to, from, callee: {} });
  return until('the refusal', async () =>
    (await atCarrier(rig)).find((call) => call.from === from && call.endedAtMs !== null),
  );
}

t.test('threads that run late take no new calls, and take them again', async (t) => {
  const rig = await openRig(t, {
    env: { ...INSPECTABLE, MEDIA_THREADS: '2', MEDIA_LATE_MS: '150', CALLER_IDLE_SECONDS: '100' },
    carrier: { defaultCallee: { ringMs: 200 } },
  });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const inbound = await rig.agent({ type: 'inbound', instructions: 'TEST-BRIEF' });
  const threadOf = (id: string) => logged(rig, 'call.dispatched').find((line) => line.call_id === id)?.thread;
  const first = await Promise.all([1, 2].map((n) => rig.dial(agent.id, `+1555060000${n}`)));
  t.same(first.map(({ id }) => threadOf(id)).sort(), [1, 2]);

  await burdenMediaThread(lab, 1, { busyMs: 400, everyMs: 450 });
  await until('thread 1 to be late', () => logged(rig, 'media_thread.late').length > 0);
  t.match(logged(rig, 'media_thread.late'), [{ thread: 1, calls: 1, why: String }]);
  t.match(await metrics(rig), /^offhook_media_thread_late\{thread="1"\} 1$/m);
  const next = await Promise.all([3, 4, 5].map((n) => rig.dial(agent.id, `+1555060000${n}`)));
  t.same(
    next.map(({ id }) => threadOf(id)),
    [2, 2, 2],
    'the other one takes all of them',
  );

  await burdenMediaThread(lab, 2, { busyMs: 400, everyMs: 450 });
  await until('both to be late', () => logged(rig, 'media_thread.late').length > 1);
  for (let n = 0; n < 3; n++) {
    const answer = await lab.api('POST', '/v1/calls', { agent_id: agent.id, to: '+15550600009' });
    t.match(answer, { status: 503, body: { error: { code: 'at_capacity', message: /run late/ } } });
    t.match(answer.headers.get('retry-after'), /^[1-9]\d*$/);
  }
  const turnedAway = await refusedInbound(rig, inbound.number, '+15550600008');
  t.equal(turnedAway.status, 'busy', 'whoever calls hears the line busy');
  t.notOk(
    (await atCarrier(rig)).some(({ to }) => to === '+15550600009'),
    'nobody was called',
  );
  t.match(await metrics(rig), /^offhook_calls_refused_total\{reason="late"\} 4$/m);
  t.match(logged(rig, 'calls.refused'), [{ why: 'late', live: 5 }], 'told once');
  t.equal(logged(rig, 'media_thread.late').length, 2, 'once a change');

  await relieveMediaThread(lab, 1);
  await relieveMediaThread(lab, 2);
  await until('both to keep time again', () => logged(rig, 'media_thread.on_time').length === 2, 90_000);
  const last = await rig.dial(agent.id, '+15550600007');
  t.equal(logged(rig, 'calls.taken_again').length, 1);
  t.notMatch(await metrics(rig), /^offhook_media_thread_late\{thread="\d"\} 1$/m);
  for (const { id } of [...first, ...next, last]) {
    await until('the talk', async () => (await rig.call(id)).status === 'in_progress');
    const ended = await lab.api('POST', `/v1/calls/${id}/hangup`);
    t.match(ended, { status: 200, body: { status: 'completed', error_code: null } }, 'no call was lost');
  }
});

const LINES = 8;
/** A carrier that stands still for so long while somebody speaks is not waited for. */
const STALL_MS = 700;

t.test(
  `${3 * LINES} calls for ${LINES} lines, again and again: those on the line are as good as alone`,
  async (t) => {
    const rig = await openRig(t, { env: { MAX_CONCURRENT_CALLS: String(LINES), MEDIA_THREADS: '2' } });
    const { lab } = rig;
    const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
    const inbound = await rig.agent({ type: 'inbound', instructions: 'TEST-BRIEF' });

    /** What eight calls were like, by the carrier's account and their own. */
    async function look(ids: readonly string[]) {
      const calls = await Promise.all(ids.map((id) => rig.ended(id)));
      const carried = await atCarrier(rig);
      const released = new Map(logged(rig, 'media.released').map((line) => [line.call_id, line]));
      const waits: number[] = [];
      for (const call of calls) {
        t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
        const stream = carried.find(({ to }) => to === call.to_number)?.streams[0];
        const stats = released.get(call.id) as Record<string, number> | undefined;
        // The last frames may be on their way when our side closes the socket.
        const missing = (stream?.sent.media ?? 0) - (stats?.framesIn ?? 0);
        const lateMs = await rig.lateMs();
        t.ok(missing >= 0 && missing <= 25 + lateMs / 20, `${missing} frames in flight at the end`);
        t.match(stats, { duplicateFrames: 0, lateFrames: 0, malformedMessages: 0 });
        t.ok(stats?.filledMs === 0 || lateMs > STALL_MS, `${stats?.filledMs} ms of silence for frames`);
        t.equal(stream?.received.bytes, (stats?.framesOut ?? 0) * 160, 'every frame sent arrived');
        const turns = (await lab.api<Turns>('GET', `/v1/calls/${call.id}/turns`)).body;
        // The daemon's own part: what lies between the model and the line.
        for (const { parts } of turns.data) if (parts.send_ms !== null) waits.push(parts.send_ms);
      }
      return waits.sort((a, b) => a - b)[Math.floor(waits.length / 2)] ?? Number.NaN;
    }
    const numbers = (wave: number) =>
      Array.from({ length: LINES }, (_, i) => `+1555061${wave}${String(i).padStart(3, '0')}`);

    const alone = await Promise.all(numbers(1).map((to) => rig.dial(agent.id, to)));
    const aloneMs = await look(alone.map(({ id }) => id));
    await until('all lines to be free', async () =>
      /^offhook_calls_live\{.*\} [1-9]/m.test(await metrics(rig)) ? null : true,
    );

    const crowded = await Promise.all(numbers(2).map((to) => rig.dial(agent.id, to)));
    let over = false;
    let refused = 0;
    let busy = 0;
    const outside = (async () => {
      while (!over) {
        const answers = await Promise.all(
          Array.from({ length: 2 * LINES }, () =>
            lab.api<{ id?: string }>('POST', '/v1/calls', { agent_id: agent.id, to: '+15550619999' }),
          ),
        );
        for (const { status, body } of answers) {
          if (status === 503) refused++;
          else if (over && status === 201) await lab.api('POST', `/v1/calls/${body.id}/hangup`);
          else if (status !== 201) t.fail(`answered ${status}`);
        }
        if (!over && answers.every(({ status }) => status === 503)) {
          await refusedInbound(rig, inbound.number, `+1555062${String(busy).padStart(4, '0')}`);
          busy++;
        }
        await new Promise((later) => setTimeout(later, 250));
      }
    })();
    // As soon as one has ended, its line is taken by one from outside: the crowd stays until the last of the eight.
    const crowdedMs = await look(crowded.map(({ id }) => id));
    over = true;
    await outside;
    t.ok(refused >= 2 * LINES, `${refused} refused while all lines were in use`);
    t.ok(busy > 0, `${busy} callers heard the line busy`);
    const live = logged(rig, 'calls.refused');
    t.ok(
      live.every((line) => line.live === LINES && line.why === 'at_capacity'),
      'exactly at the last line',
    );
    t.ok(
      crowdedMs <= aloneMs * 3 + 20,
      `between model and line ${crowdedMs} ms in the crowd, ${aloneMs} ms alone`,
    );
  },
);
