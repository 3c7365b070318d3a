// Fifty calls at once: fifty right records, no lost frame, and media threads that keep time.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { ENDED, openRig, until } from './rig.ts';

const CALLS = 50;
/** A line that sends nothing for half a second counts as silent, whoever it is that has no time. */
const STANDSTILL_MS = 400;

/** One gauge's values by thread, from the text of /metrics. */
function gauge(text: string, name: string): number[] {
  return [...text.matchAll(new RegExp(`^${name}\\{[^}]*\\} (\\S+)$`, 'gm'))].map((match) => Number(match[1]));
}

t.test('50 calls at once', async (t) => {
  const rig = await openRig(t, { env: { MEDIA_THREADS: '2', LOG_LEVEL: 'info' } });
  const agent = await rig.agent({
    instructions: 'TEST-BRIEF Talk shortly.',
    returns: { said_goodbye: 'boolean', caller_words: 'string' },
  });
  const numbers = Array.from({ length: CALLS }, (_, i) => `+1555020${String(i).padStart(4, '0')}`);
  const dialled = await Promise.all(numbers.map((to) => rig.dial(agent.id, to, { metadata: { to } })));
  t.equal(new Set(dialled.map((call) => call.id)).size, CALLS);

  // While they talk: the threads' clocks, read from the metrics as an operator would.
  const delays: number[] = [];
  // Beside them, what the machine does to a thread that only waits.
  const bare: number[] = [];
  const waiting = monitorEventLoopDelay({ resolution: 20 });
  waiting.enable();
  let atOnce = 0;
  const done = await until(
    'all calls to end',
    async () => {
      const metrics = await rig.lab.api<string>('GET', '/metrics');
      delays.push(...gauge(metrics.body, 'offhook_media_loop_delay_p99_seconds'));
      bare.push(waiting.percentile(99) / 1e9);
      waiting.reset();
      atOnce = Math.max(
        atOnce,
        gauge(metrics.body, 'offhook_calls_live').reduce((a, b) => a + b, 0),
      );
      const calls = await Promise.all(dialled.map((call) => rig.call(call.id)));
      return calls.every((call) => ENDED.includes(call.status) && call.result_status !== 'pending')
        ? calls
        : null;
    },
    120_000,
  );
  t.equal(atOnce, CALLS, 'all lived at the same time');
  waiting.disable();
  const middle = (readings: number[]) => readings.sort((a, b) => a - b)[Math.floor(readings.length / 2)] ?? 1;
  const [typical, floor] = [middle(delays), middle(bare)];
  // A frame is 20 ms. The middle of the readings, since a shared machine steals whole slices now and then.
  t.ok(
    typical < 0.02 || typical < 3 * floor,
    `event-loop delay p99, median of readings: ${(typical * 1000).toFixed(1)} ms (a thread that only waits: ${(floor * 1000).toFixed(1)} ms)`,
  );
  const inFlight = 25 + (await rig.lateMs()) / 20;
  const { calls: atCarrier } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
  const sentBy = new Map(atCarrier.map((call) => [call.to, call]));

  for (const call of done) {
    t.match(call, {
      status: 'completed',
      hangup_cause: 'agent_ended',
      error_code: null,
      result_status: 'completed',
      result: { said_goodbye: true },
      metadata: { to: call.to_number },
    });
    const lines = await rig.transcript(call.id);
    const standstillMs = sentBy.get(call.to_number)?.streams[0]?.standstillMs ?? 0;
    // A carrier that stood still itself, in a pause of the caller: his turn may have ended there, and the rest is another one.
    const callers = lines.filter((line) => line.role === 'caller').length;
    const turns = standstillMs >= STANDSTILL_MS ? Math.max(1, callers) : 1;
    t.same(
      lines.map((line) => line.role),
      ['agent', ...Array<string>(turns).fill('caller'), 'agent'],
      `the talk with ${call.to_number}; its carrier stood still for ${standstillMs} ms at most`,
    );
    t.match(lines.at(-2)?.text, /Goodbye/);
    t.ok(lines.every((line) => !line.interrupted && line.heard_text === line.text));
  }

  // What the carrier sent and what the daemon took, frame for frame.
  const taken = new Map<string, Record<string, number>>();
  for (const line of rig.lab.daemon.lines) {
    if (!line.includes('"media.released"')) continue;
    const parsed = JSON.parse(line) as Record<string, number> & { call_id: string };
    taken.set(parsed.call_id, parsed);
  }
  for (const call of done) {
    const carrier = sentBy.get(call.to_number);
    const stream = carrier?.streams[0];
    const stats = taken.get(call.id);
    t.same(carrier?.violations, []);
    // The last frames may be on their way when our side closes the socket.
    const missing = (stream?.sent.media ?? 0) - (stats?.framesIn ?? 0);
    t.ok(missing >= 0 && missing <= inFlight, `${missing} frames in flight at the end`);
    t.match(stats, { filledMs: 0, duplicateFrames: 0, lateFrames: 0, malformedMessages: 0 });
    t.equal(stream?.received.bytes, (stats?.framesOut ?? 0) * 160, 'every frame sent arrived');
    t.equal(carrier?.streams.length, 1);
  }

  await until('all webhooks', () => done.every((call) => rig.events(call.id).length === 4), 30_000);
  for (const call of done) {
    t.same(
      rig.events(call.id).map((event) => [event.sequence, event.type]),
      [
        [1, 'call.queued'],
        [2, 'call.ringing'],
        [3, 'call.answered'],
        [4, 'call.completed'],
      ],
    );
  }
  const { data } = await rig.lab.ask<{ data: { violations: unknown[] }[] }>('model', '/sessions');
  t.equal(data.length, CALLS);
  t.ok(data.every((session) => session.violations.length === 0));
});
