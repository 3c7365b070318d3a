// The carrier's side goes wrong in every way a line does, many calls side by side: each call reaches one right end, says
// no more than was played, leaves nothing behind, and disturbs no other.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { CalleeInput, FaultInput, SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { readWav } from '../../scripts/simulate/sound.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { openRig, POLITE, type Rig, type TranscriptLine, until } from './rig.ts';

type NetworkInput = NonNullable<CalleeInput['network']>;

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const GOODBYE = 'Thank you. Goodbye.';
const LOST = { status: 'failed', hangup_cause: 'stream_lost', error_code: 'stream_lost' };
const WELL = { status: 'completed', hangup_cause: 'agent_ended', error_code: null };
const SILENT = { status: 'completed', hangup_cause: 'caller_silent', error_code: null };
const REMOTE = { status: 'completed', hangup_cause: 'remote_hangup', error_code: null };
/** A line that sends nothing for half a second counts as silent, whoever it is that has no time. */
const STANDSTILL_MS = 400;
/** When the caller has spoken for a second. */
const CALLER_SPEAKS = { stage: 'callee_speech', count: 50 } as const;
/** Picks up and says nothing. */
const QUIET: CalleeInput = { ringMs: 200 };

interface Case {
  name: string;
  callee?: CalleeInput;
  faults?: Omit<FaultInput, 'number'>[];
  agent?: 'brief' | 'late' | 'long' | 'lookup' | 'voicemail';
  end: Record<string, unknown>;
  /** Whole conversations: greeting, the caller's words, goodbye, all heard. */
  whole?: boolean;
  /** Codes of the carrier's complaints that belong to the fault. */
  complaints?: number[];
  /** Hooks of this call that the carrier never sends. */
  mute?: string[];
  /** Hooks that it sends late, after so many milliseconds. */
  late?: { hook: string; ms: number };
  /** So many times the line breaks, and the call goes on by another stream. */
  breaks?: number;
  /** What becomes of the greeting has another cause beside: a key, a machine. */
  cutsGreeting?: true;
  check?: (t: Test, seen: Seen) => void;
}

interface Seen {
  call: PublicCall;
  carrier: CallReport;
  lines: TranscriptLine[];
  stats: Record<string, number> | undefined;
}

/** A person, as the carrier sees it: on a bad line long words soon sound like a machine's. */
const person = ({ callee = POLITE }: Case): CalleeInput =>
  callee.voicemail ? callee : { amd: { verdict: 'human', afterMs: 1_000 }, ...callee };
const on = (network: NetworkInput): CalleeInput => ({ ...POLITE, network });
const abort = (stage: NonNullable<FaultInput['at']>['stage'], count = 1): Omit<FaultInput, 'number'>[] => [
  { do: 'stream_abort', at: { stage, count } },
];
/** Frames of caller-thanks.wav in which there is a voice. */
const THANKS_FRAMES = 186;
const THANKS = POLITE.steps ?? [];
/** A person who makes a sound behind all else that he says: at the first of it, the line breaks. */
const breaksAt = (
  steps: NonNullable<CalleeInput['steps']>,
  when: Extract<NonNullable<CalleeInput['steps']>[number], { do: 'say' }>['when'],
): Pick<Case, 'callee' | 'faults'> => ({
  callee: { ...POLITE, steps: [...steps, { do: 'say', tone: { hz: 1_000, ms: 1_000 }, when }] },
  faults: abort('callee_speech', steps.some((step) => step.do === 'say') ? THANKS_FRAMES + 1 : 1),
});
const noGaps = (t: Test, { carrier, stats }: Seen) => {
  // A hole within speech; between two lines the buffer may run dry as it likes. A busy machine may miss a few frames, and
  // where a program stood still by its own clock, more.
  const mostMs = 400 + (carrier.streams[0]?.standstillMs ?? 0) + (stats?.lateTickMs ?? 0);
  t.same(
    (carrier.streams[0]?.gaps ?? []).filter((gap) => !gap.afterMark && gap.ms > mostMs),
    [],
    'what was heard has no hole',
  );
};
const filled =
  (least: number) =>
  (t: Test, { stats }: Seen) =>
    t.ok((stats?.filledMs ?? 0) >= least, `${stats?.filledMs} ms were filled with silence`);

/** Bad lines, over which a conversation comes to its end all the same. */
const LINES: Case[] = [
  { name: 'clean', callee: POLITE, end: WELL, whole: true, check: noGaps },
  { name: 'jitter of 40 ms', callee: on({ jitterSdMs: 40 }), end: WELL, whole: true, check: noGaps },
  {
    name: 'runs of 20 to 100 ms missing, 3 %',
    callee: on({ lossRate: 0.03, lossRunMs: [20, 100] }),
    end: WELL,
    whole: true,
    check(t, seen) {
      noGaps(t, seen);
      filled(20)(t, seen);
    },
  },
  {
    name: 'a clock 200 ppm off',
    callee: on({ clockSkewPpm: 200 }),
    end: WELL,
    whole: true,
    check: noGaps,
  },
  // The same drift in a call of seconds that 200 ppm is in one of minutes.
  {
    name: 'a clock 5000 ppm off',
    callee: on({ clockSkewPpm: 5_000 }),
    end: WELL,
    whole: true,
    check: noGaps,
  },
  {
    name: 'frames twice and out of order',
    callee: on({ duplicateRate: 0.05, reorderRate: 0.05 }),
    end: WELL,
    whole: true,
    check(t, seen) {
      noGaps(t, seen);
      t.ok((seen.stats?.duplicateFrames ?? 0) > 0);
      // It comes a frame later than it should, and is waited for three: longer than that, a busy machine may stand still.
      const stillMs = Math.max(seen.carrier.streams[0]?.standstillMs ?? 0, seen.stats?.lateTickMs ?? 0);
      const late = seen.stats?.lateFrames ?? 0;
      t.ok(
        late === 0 || stillMs > 40,
        `${late} frames that changed places came too late, and nothing stood still`,
      );
    },
  },
  {
    name: 'a stall of 1 s while the agent speaks, then a burst',
    // Waits longer than the line stalls, so that it does not take the stall for the end of the line.
    callee: {
      ringMs: 300,
      steps: [
        { do: 'say', file: 'caller-thanks.wav', when: { afterAgentSilenceMs: 1_500, timeoutMs: 20_000 } },
      ],
    },
    faults: [{ do: 'stream_stall', ms: 1_000, at: { stage: 'app_media', count: 20 } }],
    end: WELL,
    whole: true,
    check(t, { stats, carrier }) {
      t.match(stats, { lateFrames: 0, filledMs: 0 }, 'every frame of the burst found its place');
      t.ok((carrier.streams[0]?.gaps ?? []).filter((gap) => !gap.afterMark && gap.ms > 400).length <= 1);
    },
  },
  {
    name: 'a stall of 1 s while the caller speaks, then a burst',
    callee: POLITE,
    faults: [{ do: 'stream_stall', ms: 1_000, at: CALLER_SPEAKS }],
    end: WELL,
    check: (t, { stats }) => t.match(stats, { lateFrames: 0 }),
  },
  {
    name: 'no frames for 5 s while the agent speaks',
    callee: POLITE,
    faults: [{ do: 'stream_mute', ms: 5_000, at: { stage: 'media', count: 60 } }],
    end: WELL,
    check: noGaps,
  },
  {
    name: 'no frames for 5 s while the caller speaks',
    callee: POLITE,
    faults: [{ do: 'stream_mute', ms: 5_000, at: CALLER_SPEAKS }],
    end: WELL,
    check: filled(700),
  },
  {
    name: 'a slow start',
    callee: on({ connectDelayMs: 2_000, firstMediaDelayMs: 2_000 }),
    end: WELL,
    whole: true,
    check: noGaps,
  },
  { name: 'all of it at once', callee: on({ profile: 'bad', abortsPerMinute: 0, dtxChance: 0 }), end: WELL },
  {
    name: '900 messages of garbage in the middle of the greeting',
    callee: POLITE,
    faults: [{ do: 'stream_garbage', count: 900, at: { stage: 'app_media', count: 20 } }],
    end: WELL,
    whole: true,
    check(t, seen) {
      noGaps(t, seen);
      t.ok((seen.stats?.malformedMessages ?? 0) > 300, `${seen.stats?.malformedMessages} were counted`);
    },
  },
];

/** Lines that break, by the stage they break at: another stream is brought, and the talk comes to its end. */
const BREAKS: Case[] = [
  {
    name: 'refused at the handshake',
    callee: QUIET,
    faults: [{ do: 'stream_refuse' }],
    end: { ...LOST, error_code: 'stream_never_started' },
  },
  ...(['open', 'connected'] as const).map(
    (stage): Case => ({
      name: `broken after ${stage}`,
      callee: QUIET,
      faults: abort(stage),
      end: { ...LOST, error_code: 'stream_never_started' },
    }),
  ),
  {
    name: 'broken after start',
    callee: QUIET,
    faults: abort('start'),
    end: SILENT,
    breaks: 1,
  },
  { name: 'broken at the first frame', callee: QUIET, faults: abort('media'), end: SILENT, breaks: 1 },
  {
    name: 'broken before the model has spoken',
    callee: QUIET,
    faults: abort('media', 5),
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken at the first sound of the agent',
    callee: QUIET,
    faults: abort('app_media'),
    end: SILENT,
    breaks: 1,
  },
  { name: 'broken at the first mark', callee: QUIET, faults: abort('app_mark'), end: SILENT, breaks: 1 },
  {
    name: 'broken at the first mark played',
    callee: QUIET,
    faults: abort('mark_echo'),
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken in the middle of the greeting',
    callee: QUIET,
    faults: abort('app_media', 40),
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken late in the greeting',
    callee: QUIET,
    faults: abort('mark_echo', 25),
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken while nobody speaks',
    ...breaksAt([], { afterAgentSilenceMs: 500 }),
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken while the caller speaks',
    callee: POLITE,
    faults: [{ do: 'stream_abort', at: CALLER_SPEAKS }],
    end: WELL,
    breaks: 1,
  },
  {
    name: 'broken between a turn and its answer',
    agent: 'late',
    ...breaksAt([...THANKS, { do: 'wait', ms: 1_000 }], 'at_once'),
    end: WELL,
    breaks: 1,
  },
  {
    name: 'broken at a barge-in',
    agent: 'long',
    callee: { ringMs: 200, steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 2_000 }] },
    faults: abort('app_clear'),
    end: WELL,
    breaks: 1,
  },
  {
    name: 'broken after a key',
    callee: {
      ringMs: 200,
      steps: [{ do: 'dtmf', digits: '4', when: { afterAgentSilenceMs: 300 } }],
    },
    faults: abort('dtmf'),
    end: WELL,
    breaks: 1,
    cutsGreeting: true,
  },
  {
    name: 'broken in the middle of a message on a voicemail',
    agent: 'voicemail',
    callee: {
      ringMs: 200,
      voicemail: { greeting: { file: 'voicemail-greeting-with-beep.wav' }, beep: null },
    },
    // The message is the first long stretch the agent says there.
    faults: abort('mark_echo', 30),
    end: { status: 'completed', hangup_cause: 'voicemail', error_code: null },
    breaks: 1,
    cutsGreeting: true,
  },
  {
    name: 'broken while a tool runs',
    agent: 'lookup',
    ...breaksAt(THANKS, { afterAgentMs: 500 }),
    end: WELL,
    breaks: 1,
    check: (t, { lines }) =>
      t.ok(
        lines.some(({ text }) => text.startsWith('One moment')),
        'it broke in the answer that calls it, or after',
      ),
  },
  {
    name: 'broken at the first sound of the goodbye',
    ...breaksAt(THANKS, { afterAgentMs: 0 }),
    end: WELL,
    breaks: 1,
  },
  { name: 'broken late in the goodbye', ...breaksAt(THANKS, { afterAgentMs: 700 }), end: WELL, breaks: 1 },
  {
    name: 'broken, and the carrier asks late what comes next: it is told before',
    callee: QUIET,
    faults: abort('mark_echo', 25),
    late: { hook: 'after', ms: 4_000 },
    end: SILENT,
    breaks: 1,
  },
  {
    name: 'broken twice',
    callee: POLITE,
    faults: [...abort('mark_echo', 5), ...abort('callee_speech', 20)],
    end: WELL,
    breaks: 2,
    // A polite caller takes a gap for the end of what the agent says.
    cutsGreeting: true,
  },
  {
    name: 'broken as often as it is brought anew',
    callee: QUIET,
    faults: [{ do: 'stream_abort', at: { stage: 'media', count: 50 }, times: 0 }],
    end: LOST,
    check(t, { call, carrier }) {
      t.equal(carrier.streams.length, 6, 'five were brought after the first');
      t.equal(call.gaps.length, 6);
      t.match(call.gaps.at(-1), { to_ms: null }, 'it ended in the last gap');
    },
  },
  {
    name: 'broken, and the carrier says nothing more about the call',
    callee: { ringMs: 2_500 },
    faults: abort('media', 50),
    mute: ['after', 'status'],
    // By the carrier's own account, when it is asked.
    end: REMOTE,
  },
  ...(['stop_then_close', 'close_without_stop', 'completed_before_stop', 'abort'] as const).map(
    (variant): Case => ({
      name: `the caller hangs up: ${variant}`,
      callee: {
        ringMs: 200,
        network: { closeVariants: [variant] },
        steps: [{ do: 'wait', ms: 2_000 }, { do: 'hang_up' }],
      },
      end: REMOTE,
    }),
  ),
  {
    name: 'a carrier that reads nothing for 30 s',
    callee: QUIET,
    faults: [{ do: 'stream_deaf', ms: 30_000, at: { stage: 'app_media', count: 20 } }],
    end: SILENT,
    breaks: 1,
    check(t, { carrier }) {
      const { received } = carrier.streams[0] ?? {};
      t.ok((received?.bytes ?? 0) < 12 * 8_000, 'nothing was piled up for it');
    },
  },
  {
    name: 'no frames any more',
    callee: QUIET,
    faults: [{ do: 'stream_mute', ms: 60_000, at: { stage: 'media', count: 50 } }],
    end: SILENT,
    breaks: 1,
  },
  {
    name: '10,000 messages of garbage',
    callee: QUIET,
    faults: [{ do: 'stream_garbage', count: 10_000, at: { stage: 'media', count: 50 } }],
    end: SILENT,
    breaks: 1,
    // Our side stops reading when it has read enough of it.
    complaints: [31930],
  },
];

t.test('line faults', async (t) => {
  // A tool that answers late, so that a line can break while it runs.
  const slow = createServer((request, response) => {
    request.resume();
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{}'), 3_000);
  });
  await new Promise<void>((done) => slow.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    slow.closeAllConnections();
    slow.close();
  });
  const all = [...LINES, ...BREAKS];
  const numberOf = (index: number) => `+1555060${String(index).padStart(4, '0')}`;
  const carrier: SimulatorOptions = {
    callees: Object.fromEntries(all.map((one, index) => [numberOf(index), person(one)])),
    faults: all.flatMap((one, index) =>
      (one.faults ?? []).map((fault) => ({ ...fault, number: numberOf(index) })),
    ),
  };
  const rig = await openRig(t, { carrier, env: { RECORD_CALLS: 'true', MEDIA_THREADS: '2' } });
  const { lab } = rig;
  const toolUrl = `http://127.0.0.1:${(slow.address() as AddressInfo).port}/orders`;
  const agents = {
    brief: await rig.agent({ instructions: 'TEST-BRIEF' }),
    late: await rig.agent({ instructions: 'TEST-LATE' }),
    long: await rig.agent({ instructions: 'TEST-LONG' }),
    voicemail: await rig.agent({ instructions: 'TEST-VOICEMAIL', voicemail_action: 'leave_message' }),
    lookup: await rig.agent({
      instructions: 'TEST-LOOKUP',
      tools: [
        {
          type: 'http',
          name: 'lookup_order',
          description: 'Looks up an order.',
          url: toolUrl,
          method: 'POST',
          parameters: {
            type: 'object',
            properties: { order_number: { type: 'string' } },
            required: ['order_number'],
          },
        },
      ],
    }),
  };
  const metrics = async () => (await lab.api<string>('GET', '/metrics')).body;
  const before = gauge(await metrics(), 'process_open_fds');
  const started = performance.now();
  const dialled: PublicCall[] = [];
  for (const [index, one] of all.entries()) {
    const call = await rig.dial(agents[one.agent ?? 'brief'].id, numberOf(index));
    dialled.push(call);
    for (const hook of one.mute ?? []) {
      const path = `/calls/${call.id}/${hook}`;
      await lab.ask('carrier', '/faults', { do: 'hook_drop', path, times: 0 });
    }
    if (one.late !== undefined) {
      const path = `/calls/${call.id}/${one.late.hook}`;
      await lab.ask('carrier', '/faults', { do: 'hook_delay', path, ms: one.late.ms });
    }
    // As calls come: not all in one moment.
    await pause(50);
  }
  const seen = await Promise.all(dialled.map((call) => look(rig, call.id)));
  const spoken = await durations(rig);
  t.comment(`${all.length} calls in ${Math.round((performance.now() - started) / 1000)} s`);

  for (const [index, one] of all.entries()) {
    const found = seen[index];
    if (found === undefined) continue;
    await t.test(one.name, async (t) => {
      await judge(t, rig, found, one, spoken);
    });
  }

  await t.test('nothing is left behind', async (t) => {
    await until('the media threads to hold no call', async () => {
      const text = await metrics();
      return gauge(text, 'offhook_calls_live') === 0 && gauge(text, 'offhook_media_calls') === 0;
    });
    // Sockets that HTTP keeps open for the next request are closed after a few seconds of their own.
    const open = await until('sockets and files to be closed', async () => {
      const now = gauge(await metrics(), 'process_open_fds');
      return now <= before + 4 ? now : null;
    });
    t.ok(open);
    const errors = lab.daemon.lines.filter((line) => line.startsWith('{') && JSON.parse(line).level >= 50);
    t.same(errors, [], 'no error was logged');
  });
});

/** The sum of a gauge over its labels; 0 when it is not there. */
function gauge(text: string, name: string): number {
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))].reduce(
    (sum, match) => sum + Number(match[1]),
    0,
  );
}

/** A call after its end, from every side. */
async function look(rig: Rig, id: string): Promise<Seen> {
  const call = await rig.ended(id, 120_000);
  const stats = await until('its release', () => {
    const line = rig.lab.daemon.lines.find((one) => one.includes('"media.released"') && one.includes(id));
    return line === undefined ? null : (JSON.parse(line) as Record<string, number>);
  });
  const carrier = await until('the end at the carrier', async () => {
    const { calls } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    const found = calls.find((one) => one.to === call.to_number);
    return found?.endedAtMs == null ? null : found;
  });
  return { call, carrier, lines: await rig.transcript(id), stats };
}

/** Milliseconds of each text that the model has spoken in full. */
async function durations(rig: Rig): Promise<Map<string, number>> {
  const { data } = await rig.lab.ask<{ data: { items: { generated_text?: string; audio_ms?: number }[] }[] }>(
    'model',
    '/sessions',
  );
  const found = new Map<string, number>();
  for (const { generated_text: text, audio_ms: ms } of data.flatMap(({ items }) => items)) {
    if (text !== undefined && ms !== undefined) found.set(text, Math.max(ms, found.get(text) ?? 0));
  }
  return found;
}

async function judge(t: Test, rig: Rig, found: Seen, one: Case, spoken: Map<string, number>): Promise<void> {
  const { call, carrier, lines } = found;
  t.match(call, { ...one.end, reservation_status: 'settled' });
  const ends = await until('the last webhook', () => {
    const events = rig
      .events(call.id)
      .filter(({ type }) => /completed|failed|busy|no_answer|canceled/.test(type));
    return events.length > 0 ? events : null;
  });
  t.same(
    ends.map(({ type }) => type),
    [`call.${call.status}`],
    'one end was told, and it is the right one',
  );
  t.same(
    carrier.violations.filter(({ code }) => !one.complaints?.includes(code)),
    [],
  );
  const difference = Math.abs((call.billed_duration_seconds ?? 0) - (carrier.durationSeconds ?? 0));
  t.ok(
    difference <= 2,
    `carrier counts ${carrier.durationSeconds} s, daemon ${call.billed_duration_seconds} s`,
  );

  if (one.breaks !== undefined) wentOn(t, found, one);
  const playedMs = carrier.streams.reduce((sum, stream) => sum + stream.playedBytes / 8, 0);
  let claimedMs = 0;
  for (const line of lines.filter(({ role }) => role === 'agent')) {
    t.ok(line.text.startsWith(line.heard_text), 'what was heard is a beginning of what was said');
    t.equal(line.interrupted, line.heard_text !== line.text);
    if (line.text === '') continue;
    claimedMs += ((spoken.get(line.text) ?? 0) * line.heard_text.length) / line.text.length;
  }
  t.ok(claimedMs <= playedMs + 20, `${claimedMs} ms claimed to be heard, ${playedMs} ms played`);
  const standstillMs = Math.max(0, ...carrier.streams.map((stream) => stream.standstillMs));
  // A carrier that stood still itself, in a pause of the caller: his turn may have ended there, and the rest is another one.
  if (one.whole && standstillMs >= STANDSTILL_MS) {
    t.match(lines[0], { role: 'agent', text: GREETING });
    t.ok(lines.some(({ role, text }) => role === 'caller' && /Goodbye/.test(text)));
    t.match(lines.at(-1), { role: 'agent', text: GOODBYE, heard_text: GOODBYE });
  } else if (one.whole) {
    t.match(
      lines.map((line) => [line.role, line.text, line.heard_text]),
      [
        ['agent', GREETING, GREETING],
        ['caller', /Goodbye/, /Goodbye/],
        ['agent', GOODBYE, GOODBYE],
      ],
    );
  }

  const { status, wav } = await recording(rig, call.id);
  if (carrier.streams[0]?.startedMs == null || found.stats?.framesIn === undefined) return;
  if (status !== 200) t.equal(found.stats.framesIn, 0, 'only a call without a frame has no recording');
  else {
    const { rateHz, channels } = readWav(wav);
    const seconds = (channels[0]?.length ?? 0) / rateHz;
    t.equal(channels.length, 2);
    // Where nobody says that the call is over, the recording goes on until we ask.
    const lateSeconds = (await rig.lateMs()) / 1000;
    const most = (call.billed_duration_seconds ?? 0) + (one.mute ? 20 : 2) + lateSeconds;
    t.ok(seconds <= most, `${seconds} s were recorded`);
  }
  one.check?.(t, found);
}

/** Every break is a gap with an end, and of what the agent had to say nothing is missing. */
function wentOn(t: Test, { call, carrier, lines }: Seen, { breaks = 0, cutsGreeting }: Case): void {
  t.equal(carrier.streams.length, breaks + 1, 'a stream for each that broke');
  t.equal(call.gaps.length, breaks);
  for (const gap of call.gaps) {
    t.match(gap, { why: 'stream_lost', from_ms: Number, to_ms: Number });
    t.ok((gap.to_ms ?? -1) >= gap.from_ms);
  }
  const greeting = lines.find(({ role, text }) => role === 'agent' && text === GREETING);
  if (greeting !== undefined && cutsGreeting !== true)
    t.equal(greeting.heard_text, GREETING, 'the greeting was heard to its end');
}

async function recording(rig: Rig, id: string): Promise<{ status: number; wav: Uint8Array }> {
  const answer = await fetch(`${rig.lab.daemon.url}/v1/calls/${id}/recording`, {
    headers: { authorization: `Bearer ${rig.lab.apiKey}` },
  });
  return { status: answer.status, wav: new Uint8Array(await answer.arrayBuffer()) };
}
