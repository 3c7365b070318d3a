// Evidence of calls that went right, made by hand from recorded speech: what the checks and the picture are tested on.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openClips, readClip } from '../../scripts/simulate/clips.ts';
import type { CallObject, Evidence, ModelSession, ReceivedEvent } from '../../scripts/simulate/evidence.ts';
import { makeScenario } from '../../scripts/simulate/scenarios.ts';

const MS = 8;
const SPEECH = join(import.meta.dirname, '../fixtures/audio/voicemail-greeting-with-beep.wav');
const CREATED = Date.parse('2026-03-02T10:00:00.000Z');
const ANSWERED_MS = 1500;
const STREAM_MS = 1510;

interface Line {
  say: string;
  /** Where it lies in the recording that stands for the agent's voice, ms. */
  from: number;
  to: number;
  /** When it was heard, ms since the answer. */
  at: number;
  /** How much of it was heard, ms, and its words; all of it when left out. */
  cut?: { ms: number; text: string };
  /** The line broke after so much of it and was back after so long, with so much said again; ms. */
  lost?: { afterMs: number; goneMs: number; againMs: number };
}

const time = (ms: number) => new Date(CREATED + ms).toISOString();

/** The sound of the line: a copy, as coarse as mu-law makes it, with its idle noise. */
function line(lengthMs: number, parts: { samples: Float32Array; atMs: number }[]): Float32Array {
  const out = Float32Array.from({ length: lengthMs * MS }, (_, i) => ((i * 7919) % 5) - 2);
  for (const { samples, atMs } of parts) {
    for (const [i, sample] of samples.entries()) {
      const step = Math.max(4, Math.abs(sample) / 32);
      out[atMs * MS + i] = Math.round(sample / step) * step;
    }
  }
  return out;
}

function build(o: {
  name: 'reminder' | 'barge-in' | 'line-lost' | 'killed' | 'disclosure' | 'opt-out';
  lines: Line[];
  /** When each recording of the person begins, ms since the answer. */
  clipsAt: number[];
  endMs: number;
  caller: { text: string; startMs: number; endMs: number }[];
  result: Record<string, unknown>;
  cause: string;
}): Evidence {
  const available = openClips(null, '');
  const scenario = makeScenario(o.name, 'outbound', available);
  const clips = Object.fromEntries(scenario.speaks.map(({ file }) => [file, readClip(file)]));
  const person = scenario.speaks.map(({ file }, i) => ({ samples: clips[file]!, atMs: o.clipsAt[i]! }));
  const speech = readClip(SPEECH);
  const heard = o.lines.flatMap(({ from, to, at, cut, lost }) => {
    const part = (fromMs: number, toMs: number, atMs: number) => ({
      samples: speech.subarray(fromMs * MS, toMs * MS),
      atMs,
    });
    if (lost === undefined) return [part(from, cut === undefined ? to : from + cut.ms, at)];
    const { afterMs, goneMs, againMs } = lost;
    return [part(from, from + afterMs, at), part(from + afterMs - againMs, to, at + afterMs + goneMs)];
  });
  const phone = { caller: line(o.endMs, person), agent: line(o.endMs, heard) };
  const shifted = (parts: typeof person) =>
    line(
      o.endMs + 20,
      parts.map(({ samples, atMs }) => ({ samples, atMs: atMs - (STREAM_MS - ANSWERED_MS) + 5 })),
    );
  let at = 200;
  const received = line(
    30_000,
    person.map((part) => {
      const placed = { ...part, atMs: at };
      at += part.samples.length / MS + 250;
      return placed;
    }),
  );
  const sent = new Float32Array(o.lines.reduce((sum, { from, to }) => sum + (to - from) * MS, 0));
  let used = 0;
  for (const { from, to } of o.lines) {
    sent.set(speech.subarray(from * MS, to * MS), used);
    used += (to - from) * MS;
  }

  const id = '01950000-0000-7000-8000-000000000001';
  const call: CallObject = {
    id,
    status: 'completed',
    direction: 'outbound',
    to_number: '+14155550100',
    from_number: '+14155550199',
    created_at: time(0),
    started_at: time(100),
    answered_at: time(STREAM_MS),
    ended_at: time(ANSWERED_MS + o.endMs),
    returns: { any: 'string' },
    result: o.result,
    result_status: 'completed',
    result_error: null,
    error_code: null,
    error_message: null,
    gaps: [],
    disclosure: null,
    opted_out: null,
    hangup_cause: o.cause,
  };
  const events = scenario.expected.events.map(
    (type, i): ReceivedEvent => ({
      received_at: time(i * 100),
      id: `01950000-0000-7000-8000-00000000010${i}`,
      type,
      sequence: i + 1,
      attempt: 1,
      replay: false,
      signature_error: null,
      body: {
        ...call,
        status: type === 'call.completed' ? 'completed' : 'queued',
        result_status: type === 'call.completed' ? 'completed' : 'pending',
      },
    }),
  );
  const session: ModelSession = {
    id: 'sess_1',
    age_ms: o.endMs,
    config: { instructions: 'SIM-0001', audio: { output: { format: { type: 'audio/pcmu' } } } },
    received_wav: null,
    sent_wav: null,
    items: o.lines.map(({ say, cut }, i) => ({
      id: `item_${i}`,
      type: 'message',
      role: 'assistant',
      believed_text: cut?.text ?? say,
      truncated_ms: cut?.ms ?? null,
    })),
    responses: o.lines.map(({ say, cut }, i) => ({
      id: `resp_${i}`,
      status: cut === undefined ? 'completed' : 'cancelled',
      occasion: 'caller',
      say,
    })),
    violations: [],
    // A response's sound comes in several events, with others between them.
    events: o.lines.flatMap(({ from, to }, i) =>
      [0.4, 0.6].map((share) => ({
        at_ms: 0,
        from: 'server',
        type: 'response.output_audio.delta',
        response_id: `resp_${i}`,
        item_id: `item_${i}`,
        audio_bytes: Math.round((to - from) * MS * share),
      })),
    ),
  };
  const heardMs = o.lines.reduce(
    (sum, { from, to, cut, lost }) => sum + (cut?.ms ?? to - from) + (lost?.againMs ?? 0),
    0,
  );
  const carrier: CallReport = {
    sid: 'CA1',
    direction: 'outbound-api',
    to: call.to_number,
    from: call.from_number,
    parentSid: null,
    status: 'completed',
    createdAt: time(0),
    timeline: [
      { status: 'ringing', atMs: 200 },
      { status: 'in-progress', atMs: ANSWERED_MS },
      { status: 'completed', atMs: ANSWERED_MS + o.endMs },
    ],
    answeredAtMs: ANSWERED_MS,
    endedAtMs: ANSWERED_MS + o.endMs,
    endedBy: 'application',
    endedWhy: null,
    sipResponseCode: null,
    durationSeconds: Math.ceil(o.endMs / 1000),
    hooks: [],
    documents: [],
    updates: [],
    errors: [],
    violations: [],
    spoken: [],
    digitsHeard: '',
    streams: [
      {
        streamSid: 'MZ1',
        url: 'ws://127.0.0.1/media',
        parameters: {},
        tracks: ['inbound'],
        connectMs: ANSWERED_MS,
        startedMs: STREAM_MS,
        endedMs: ANSWERED_MS + o.endMs,
        end: null,
        sent: { media: o.endMs / 20, marks: 0, digits: 0, firstTimestamp: 80, lost: 0 },
        standstillMs: 20,
        received: { media: 10, bytes: heardMs * MS, marks: 0, clears: 0, firstMediaMs: STREAM_MS },
        marks: [],
        clears: [],
        pauses: [],
        gaps: [],
        partialFrames: 0,
        playedBytes: heardMs * MS,
        maxBufferedMs: 240,
        violations: [],
      },
    ],
    conversation: {
      firstAgentAudioMs: o.lines[0]!.at,
      agentSpurts: o.lines.map(({ at: startMs, from, to, cut }) => ({
        startMs,
        endMs: startMs + (cut?.ms ?? to - from),
      })),
      calleeSpurts: [],
      bargeIns: [],
      responseMs: [],
      overlapMs: 0,
      longestSilenceMs: 1000,
    },
    clippedSamples: 0,
    steps: person.map(({ samples, atMs }, i) => ({
      do: (o.name === 'barge-in' && i === 1) || (o.name === 'disclosure' && i === 0) ? 'barge_in' : 'say',
      startedMs: atMs,
      endedMs: atMs + samples.length / MS,
      skipped: false,
    })),
    voicemail: null,
    amd: null,
    recordingPath: null,
    wirePath: null,
  };
  return {
    scenario,
    call,
    transcript: {
      status: 'final',
      data: [
        ...o.lines.map(({ say, at: startMs, from, to, cut, lost }) => ({
          id: randomUUID(),
          role: 'agent' as const,
          text: say,
          heard_text: cut?.text ?? say,
          interrupted: cut !== undefined,
          started_at: time(startMs),
          start_ms: startMs - 10,
          end_ms:
            startMs - 10 + (cut?.ms ?? to - from) + (lost === undefined ? 0 : lost.goneMs + lost.againMs),
        })),
        ...o.caller.map(({ text, startMs, endMs }) => ({
          id: randomUUID(),
          role: 'caller' as const,
          text,
          heard_text: text,
          interrupted: false,
          started_at: time(startMs),
          start_ms: startMs - 10,
          end_ms: endMs - 10,
        })),
      ].sort((a, b) => a.start_ms - b.start_ms),
    },
    turns: [],
    interruptions: [],
    events,
    deliveries: events.map(({ id: delivery, type }) => ({
      id: delivery,
      event_type: type,
      status: 'delivered',
      attempt_count: 1,
      last_error: null,
    })),
    carrier,
    sessions: [session],
    killed: null,
    doNotCall: null,
    refusedExtractions: [],
    machineLateMs: 0,
    media: {
      framesIn: o.endMs / 20,
      framesOut: heardMs / 20,
      filledMs: 0,
      duplicateFrames: 0,
      lateFrames: 0,
      malformedMessages: 0,
      bargeIns: o.lines.filter(({ cut }) => cut !== undefined).length,
      recordingFrames: o.endMs / 20,
      recordingDropped: 0,
    },
    logErrors: [],
    toolRequests: [],
    sounds: {
      clips,
      phone,
      recording: { caller: shifted(person), agent: shifted(heard) },
      modelReceived: received,
      modelSent: sent,
    },
  };
}

/** The same evidence again, to be changed by itself. */
function copyOf(evidence: Evidence): Evidence {
  const { scenario, sounds, ...rest } = evidence;
  const voices = (both: Evidence['sounds']['phone']) =>
    both === null ? null : { caller: both.caller.slice(), agent: both.agent.slice() };
  return {
    ...structuredClone(rest),
    scenario,
    sounds: {
      clips: sounds.clips,
      phone: voices(sounds.phone),
      recording: voices(sounds.recording),
      modelReceived: sounds.modelReceived?.slice() ?? null,
      modelSent: sounds.modelSent?.slice() ?? null,
    },
  };
}

let reminder: Evidence | null = null;
let lineLost: Evidence | null = null;
let killed: Evidence | null = null;
let bargeIn: Evidence | null = null;

const reminderCall = (name: 'reminder' | 'line-lost', lost?: Line['lost']) =>
  build({
    name,
    lines: [
      { say: 'Will you be there on Tuesday at ten thirty?', from: 100, to: 3600, at: 700 },
      {
        say: 'Thank you, your appointment on Tuesday at ten thirty is confirmed.',
        from: 3600,
        to: 7100,
        at: 18_000,
        ...(lost === undefined ? {} : { lost }),
      },
      { say: 'Thank you. Goodbye.', from: 7100, to: 10_300, at: 29_500 },
    ],
    clipsAt: [5500, 23_000],
    endMs: 34_000,
    caller: [
      { text: 'And so my fellow Americans,', startMs: 5800, endMs: 7690 },
      { text: 'ask not', startMs: 8800, endMs: 9840 },
      {
        text: 'what your country can do for you, ask what you can do for your country.',
        startMs: 10_860,
        endMs: 15_960,
      },
      {
        text: 'Goodbye. Thank you for trying out the Asterisk open source PBX.',
        startMs: 23_310,
        endMs: 28_170,
      },
    ],
    result: { confirmed: true, day: 'Tuesday', time: '10:30' },
    cause: 'agent_ended',
  });

/** An appointment reminder that went right: three lines of the agent, two recordings of the person. */
export function reminderEvidence(): Evidence {
  reminder ??= reminderCall('reminder');
  return copyOf(reminder);
}

/** The same, whose line broke 1.5 s into the second line and was back 500 ms later; the agent was heard again 100 ms after that. */
export function lineLostEvidence(): Evidence {
  if (lineLost === null) {
    const lost = { afterMs: 1_500, goneMs: 600, againMs: 80 };
    lineLost = reminderCall('line-lost', lost);
    const brokeMs = 18_000 + lost.afterMs;
    const carrier = lineLost.carrier!;
    const [first] = carrier.streams;
    const code = 31921;
    const message = '31921 - Stream - WebSocket - Close Error: 1006';
    const before = 3_500 + lost.afterMs;
    const second = structuredClone(first!);
    Object.assign(first!, {
      endedMs: ANSWERED_MS + brokeMs,
      end: { by: 'error', closeCode: 1006, error: message },
      playedBytes: before * MS,
      received: { ...first!.received, bytes: (before + 160) * MS },
      sent: { ...first!.sent, media: brokeMs / 20 },
    });
    Object.assign(second, {
      streamSid: 'MZ2',
      startedMs: ANSWERED_MS + brokeMs + 500,
      playedBytes: second.playedBytes - before * MS,
      sent: { ...second.sent, media: second.sent.media - (brokeMs + 500) / 20 },
    });
    carrier.streams.push(second);
    carrier.errors.push({ atMs: ANSWERED_MS + brokeMs, code, message });
    lineLost.media!.framesIn -= 25;
    const from_ms = brokeMs - (STREAM_MS - ANSWERED_MS);
    lineLost.call.gaps = [{ why: 'stream_lost', from_ms: from_ms - 40, to_ms: from_ms + 510 }];
  }
  return copyOf(lineLost);
}

const CONFIRMED = 'Thank you, your appointment on Tuesday at ten thirty is confirmed.';
/** Into the second line, when its daemon is killed. */
const KILLED_AFTER_MS = 2_500;

/** A reminder whose daemon was killed 2.5 s into the second line: taken up 1.6 s later, heard again 0.6 s after that. */
export function killedEvidence(): Evidence {
  if (killed === null) {
    const killedMs = 18_000 + KILLED_AFTER_MS;
    killed = build({
      name: 'killed',
      lines: [
        { say: 'Will you be there on Tuesday at ten thirty?', from: 100, to: 3600, at: 700 },
        {
          say: `${CONFIRMED} Is there anything else?`,
          from: 3600,
          to: 7100,
          at: 18_000,
          cut: { ms: KILLED_AFTER_MS, text: CONFIRMED },
        },
        { say: 'I am back. Please go on.', from: 7100, to: 8900, at: killedMs + 2_200 },
        { say: 'Thank you. Goodbye.', from: 8900, to: 10_300, at: 35_000 },
      ],
      clipsAt: [5500, 29_000],
      endMs: 38_000,
      caller: [
        { text: 'And so my fellow Americans,', startMs: 5800, endMs: 7690 },
        { text: 'ask not', startMs: 8800, endMs: 9840 },
        {
          text: 'what your country can do for you, ask what you can do for your country.',
          startMs: 10_860,
          endMs: 15_960,
        },
        {
          text: 'Goodbye. Thank you for trying out the Asterisk open source PBX.',
          startMs: 29_310,
          endMs: 34_170,
        },
      ],
      result: { confirmed: true, day: 'Tuesday', time: '10:30' },
      cause: 'agent_ended',
    });
    const carrier = killed.carrier!;
    const [first] = carrier.streams;
    const code = 31921;
    const message = '31921 - Stream - WebSocket - Close Error: 1006';
    const backMs = killedMs + 1_900;
    const heardBytes = (3_500 + KILLED_AFTER_MS) * MS;
    carrier.streams.push({
      ...structuredClone(first!),
      streamSid: 'MZ2',
      startedMs: ANSWERED_MS + backMs,
      playedBytes: first!.playedBytes - heardBytes,
      sent: { ...first!.sent, media: (38_000 - backMs) / 20 },
    });
    Object.assign(first!, {
      endedMs: ANSWERED_MS + killedMs,
      end: { by: 'error', closeCode: 1006, error: message },
      playedBytes: heardBytes,
      sent: { ...first!.sent, media: killedMs / 20 },
    });
    carrier.errors.push({ atMs: ANSWERED_MS + killedMs, code, message });
    killed.media!.framesIn = (38_000 - backMs) / 20;
    const from_ms = killedMs - (STREAM_MS - ANSWERED_MS);
    killed.call.gaps = [{ why: 'daemon_restart', from_ms: from_ms - 150, to_ms: from_ms + 1_910 }];
    const atMs = CREATED + ANSWERED_MS + killedMs;
    killed.killed = { atMs, listeningMs: atMs + 1_600 };
    // The last of what was heard is not written down.
    const cut = killed.transcript.data.find(({ interrupted }) => interrupted);
    cut!.end_ms! -= 200;
    killed.sessions = inTwo(killed.sessions[0]!);
  }
  return copyOf(killed);
}

/** Two items each; the second session is told what was heard in the first. */
function inTwo(whole: ModelSession): ModelSession[] {
  const { items, responses, events } = whole;
  const of = (event: { [field: string]: unknown }, from: number, to: number) =>
    items.slice(from, to).some(({ id }) => id === event.item_id);
  return [
    {
      ...whole,
      // Nobody was left to tell it that it was cut.
      items: items.slice(0, 2).map((item) => ({ ...item, truncated_ms: null })),
      responses: responses.slice(0, 2),
      events: events.filter((event) => of(event, 0, 2)),
    },
    {
      ...whole,
      id: 'sess_2',
      items: [
        ...items.slice(0, 2).map((item) => ({ ...item, id: `told_${item.id}`, truncated_ms: null })),
        ...items.slice(2),
      ],
      responses: responses.slice(2),
      events: events.filter((event) => of(event, 2, 4)),
    },
  ];
}

/** A call whose agent was cut after 2 s of a long line. */
export function bargeInEvidence(): Evidence {
  bargeIn ??= build({
    name: 'barge-in',
    lines: [
      { say: 'How can I help you?', from: 100, to: 1700, at: 700 },
      {
        say: 'Let me explain how this works. First, we take your request and write it down.',
        from: 2200,
        to: 7100,
        at: 9500,
        cut: { ms: 2000, text: 'Let me explain how this' },
      },
      { say: 'You stopped me. Please go on.', from: 7100, to: 10_300, at: 23_500 },
    ],
    clipsAt: [2600, 11_000],
    endMs: 28_000,
    caller: [
      { text: 'For more information, visit www dot Asterisk dot org.', startMs: 2930, endMs: 7690 },
      {
        text: 'And so my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
        startMs: 11_300,
        endMs: 21_460,
      },
    ],
    result: { interrupted: true },
    cause: 'remote_hangup',
  });
  return copyOf(bargeIn);
}

/** A call whose person speaks over what is said first, 1.9 s into it, and is answered after it. */
export function saidFirstEvidence(): Evidence {
  const text = makeScenario('disclosure', 'outbound', openClips(null, '')).expected.firstLine!;
  const evidence = build({
    name: 'disclosure',
    lines: [
      { say: text, from: 100, to: 7100, at: 1_000 },
      { say: CONFIRMED, from: 7100, to: 10_300, at: 9_500 },
    ],
    clipsAt: [2_600, 14_000],
    endMs: 20_000,
    caller: [
      { text: 'For more information, visit www dot Asterisk dot org.', startMs: 2930, endMs: 7690 },
      {
        text: 'Goodbye. Thank you for trying out the Asterisk open source PBX.',
        startMs: 14_310,
        endMs: 19_170,
      },
    ],
    result: {},
    cause: 'agent_ended',
  });
  evidence.call.disclosure = {
    text,
    heard_text: text,
    heard_ms: 7_000,
    started_ms: 990,
    ended_ms: 7_990,
    complete: true,
  };
  return evidence;
}

/** A call whose person asks not to be called again: noted, confirmed, and refused when it is tried. */
export function optOutEvidence(): Evidence {
  const text = 'Please do not call me again.';
  const evidence = build({
    name: 'opt-out',
    lines: [
      { say: 'Will you be there on Tuesday at ten thirty?', from: 100, to: 3600, at: 700 },
      {
        say: 'I have noted it: we will not call this number again. Goodbye.',
        from: 3600,
        to: 7100,
        at: 9_000,
      },
    ],
    clipsAt: [5_500],
    endMs: 13_000,
    caller: [{ text, startMs: 5_800, endMs: 7_480 }],
    result: {},
    cause: 'agent_ended',
  });
  const { id: item_id } = evidence.transcript.data.find(({ role }) => role === 'caller')!;
  evidence.call.opted_out = { at_ms: 5_790, text, by: 'words' };
  evidence.doNotCall = {
    entry: { id: 'dnc_1', source: 'said', call_id: evidence.call.id, item_id },
    refused: 'do_not_call',
  };
  return evidence;
}
