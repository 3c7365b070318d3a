// The carrier's media socket is destroyed in the middle of a call: while the agent speaks, while the caller does, while nobody
// does. The call goes on by another, from the last word that was heard: listened to at the phone, at the model and in the recording.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { CalleeInput, FaultInput } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { compare, pieces, readWav, speechStretches } from '../../scripts/simulate/sound.ts';
import { openRig, POLITE, type Rig, until } from './rig.ts';

const MS = 8;
const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const GOODBYE = 'Thank you. Goodbye.';
/** As much as a sound reaches that went through two codecs; another sound stays far below. */
const LIKENESS = 0.9;
/** What the carrier had played and no mark had confirmed when its line broke: marks are 100 ms apart, and take their way. */
const MOST_TWICE_MS = 500;
const CALLER = readWav(readFileSync(join(import.meta.dirname, '../fixtures/audio/caller-thanks.wav')))
  .channels[0]!;

interface Case {
  name: string;
  callee: CalleeInput;
  at: FaultInput['at'];
  /** The caller's words are cut in two. */
  cutsCaller?: true;
}

const [THANKS] = POLITE.steps ?? [];
const CASES: Case[] = [
  { name: 'in the middle of the greeting', callee: POLITE, at: { stage: 'mark_echo', count: 15 } },
  { name: 'early in the goodbye', callee: POLITE, at: { stage: 'mark_echo', count: 36 } },
  {
    name: 'in the middle of what the caller says',
    callee: POLITE,
    at: { stage: 'callee_speech', count: 60 },
    cutsCaller: true,
  },
  {
    name: 'while nobody speaks',
    // A click that is no voice says when.
    callee: {
      ...POLITE,
      steps: [
        { do: 'say', tone: { hz: 1_000, ms: 20 }, when: { afterAgentSilenceMs: 700, timeoutMs: 20_000 } },
        { do: 'wait', ms: 2_000 },
        { ...THANKS, when: 'at_once' } as NonNullable<CalleeInput['steps']>[number],
      ],
    },
    at: { stage: 'callee_speech', count: 1 },
  },
];

const mono = (path: string): Float32Array => readWav(readFileSync(path)).channels[0] ?? new Float32Array();

/** Shorter parts are not looked for everywhere. */
const PART_MS = 500;

/** Where each part of a voice's sound lies in another; what is there is there in its order, and as it was. */
function partsIn(
  voice: Float32Array,
  other: Float32Array,
): { fromMs: number; offMs: number; score: number }[] {
  let offset = 0;
  return pieces(speechStretches(voice, { leastMs: PART_MS }), 2 * PART_MS).map(({ from, to }) => {
    const part = voice.subarray(from, to);
    const { at, score } = compare(part, other, from + offset, [{ from: 0, to: part.length }]).found[0]!;
    if (score > LIKENESS) offset = at - from;
    return { fromMs: from / MS, offMs: (at - from) / MS, score };
  });
}

/** But for the one that the line broke in, which has a hole, or is there twice, and one that came late on a busy machine. */
const areThere = (parts: readonly { score: number }[], lateMs: number) =>
  parts.length >= 3 && parts.filter(({ score }) => score <= LIKENESS).length <= (lateMs > 20 ? 2 : 1);
const described = (parts: readonly { score: number }[]) =>
  parts.map(({ score }) => score.toFixed(2)).join(' ');
const isSilent = (voice: Float32Array, fromMs: number, toMs: number) =>
  voice.subarray(Math.max(0, fromMs * MS), Math.max(0, toMs * MS)).every((sample) => sample === 0);

interface ModelSession {
  config: { instructions: string };
  open: boolean;
  received_wav: string | null;
  sent_wav: string | null;
  violations: unknown[];
  items: { generated_text?: string; audio_ms?: number }[];
}

/** The model's side of a call, once its recordings are complete. */
const modelSession = (rig: Rig, instructions: string): Promise<ModelSession> =>
  until('the end of the session', async () => {
    const { data } = await rig.lab.ask<{ data: ModelSession[] }>('model', '/sessions');
    const found = data.filter(({ config }) => config.instructions.includes(instructions));
    return found.length === 1 && found[0]?.open === false ? found[0] : null;
  });

async function recordingOf(rig: Rig, id: string): Promise<Float32Array[]> {
  const answer = await fetch(`${rig.lab.daemon.url}/v1/calls/${id}/recording`, {
    headers: { authorization: `Bearer ${rig.lab.apiKey}` },
  });
  return readWav(new Uint8Array(await answer.arrayBuffer())).channels;
}

async function judge(t: Test, rig: Rig, id: string, one: Case): Promise<void> {
  const call = await rig.ended(id, 120_000);
  const carrier = await until('the end at the carrier', async () => {
    const { calls } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    const found = calls.find(({ to }) => to === call.to_number);
    return found?.endedAtMs == null ? null : found;
  });
  t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
  t.same([carrier.violations, carrier.streams.length], [[], 2], 'by one more stream');

  const [gap] = call.gaps;
  t.equal(call.gaps.length, 1);
  t.match(gap, { why: 'stream_lost', from_ms: Number, to_ms: Number });
  const fromMs = gap?.from_ms ?? 0;
  const toMs = gap?.to_ms ?? 0;
  const [first, second] = carrier.streams;
  const goneMs = (second?.startedMs ?? 0) - (first?.endedMs ?? 0);
  const lateMs = await rig.lateMs();
  t.ok(
    Math.abs(toMs - fromMs - goneMs) <= 100 + lateMs,
    `a gap of ${toMs - fromMs} ms, ${goneMs} at the carrier`,
  );

  const lines = await rig.transcript(id);
  // Who goes on after the gap may do so when the answer to what went before it has come, and nobody has heard it yet.
  const takenBack = (text: string | null) => one.cutsCaller === true && text === '';
  const said = lines.filter(({ role, heard_text }) => role === 'agent' && !takenBack(heard_text));
  t.match(
    said.map(({ text, heard_text, interrupted }) => [text, heard_text, interrupted]),
    [
      [GREETING, GREETING, false],
      [GOODBYE, GOODBYE, false],
    ],
    'all that the agent said was heard, and it said nothing else',
  );
  const words = lines.filter(({ role }) => role === 'caller').map(({ text }) => text);
  t.equal(words.length, one.cutsCaller ? words.length : 1);
  t.match(words.join(' '), one.cutsCaller ? /\w/ : /Goodbye/);

  const session = await modelSession(rig, `TEST-BRIEF ${one.name}`);
  t.same(session.violations, []);
  const toEar = mono(session.sent_wav ?? '');
  const phone = readWav(readFileSync(carrier.recordingPath ?? '')).channels;
  const recording = await recordingOf(rig, id);
  const [caller, agent] = recording as [Float32Array, Float32Array];
  const atPhone = partsIn(toEar, phone[1]!);
  t.ok(areThere(atPhone, lateMs), `all of it at the phone: ${described(atPhone)}`);
  const recorded = partsIn(toEar, agent);
  t.ok(areThere(recorded, lateMs), `and in the recording: ${described(recorded)}`);
  const twiceMs = (first?.playedBytes ?? 0) / MS + (second?.playedBytes ?? 0) / MS - soundMs(said, session);
  t.ok(twiceMs <= MOST_TWICE_MS + lateMs, `${Math.round(twiceMs)} ms were played twice`);
  if (one.cutsCaller !== true) {
    const heard = compare(CALLER, caller, 0, speechStretches(CALLER));
    t.ok(heard.weakest > LIKENESS, `the caller is in it: ${heard.weakest.toFixed(2)}`);
    const toModel = compare(CALLER, mono(session.received_wav ?? ''), 0, speechStretches(CALLER));
    t.ok(toModel.weakest > LIKENESS, `and was given to the model: ${toModel.weakest.toFixed(2)}`);
  }

  // On a busy machine the end is known late.
  const silentFromMs = Math.min(fromMs + 60 + lateMs, toMs - 60);
  t.ok(isSilent(caller, silentFromMs, toMs - 20), 'the caller is silent in the gap');
  t.ok(isSilent(agent, silentFromMs, toMs - 20), 'and the agent');
  const places = partsIn(agent, phone[1]!).filter(({ score }) => score > LIKENESS);
  const after = places.filter((part) => part.fromMs >= toMs - 20);
  t.ok(after.length > 0 && after.length < places.length, 'the agent spoke before it, and after');
  const off = places.map(({ offMs }) => offMs);
  const spreadMs = Math.max(...off) - Math.min(...off);
  t.ok(spreadMs <= 120 + lateMs, `as far apart as at the phone: ${Math.round(spreadMs)} ms off`);
  t.comment(`note: ${one.name}: lost for ${toMs - fromMs} ms, ${Math.round(twiceMs)} ms twice`);
}

/** How long the sound of these lines is. */
function soundMs(
  lines: readonly { text: string }[],
  session: { items: { generated_text?: string; audio_ms?: number }[] },
): number {
  return lines.reduce(
    (sum, { text }) => sum + (session.items.find((item) => item.generated_text === text)?.audio_ms ?? 0),
    0,
  );
}

t.test('a stream is lost', async (t) => {
  const number = (i: number) => `+1415555${String(2_000 + i)}`;
  const rig = await openRig(t, {
    carrier: {
      // Each of its streams takes its time to come.
      callees: Object.fromEntries(
        CASES.map(({ callee }, i) => [number(i), { ...callee, network: { connectDelayMs: 700 } }]),
      ),
      faults: CASES.map(({ at }, i) => ({ do: 'stream_abort', number: number(i), at })),
    },
    env: { RECORD_CALLS: 'true' },
  });
  const ids: string[] = [];
  for (const [i, { name }] of CASES.entries()) {
    const { id: agent } = await rig.agent({ instructions: `TEST-BRIEF ${name}` });
    ids.push((await rig.dial(agent, number(i))).id);
  }
  t.jobs = CASES.length;
  await Promise.all(CASES.map((one, i) => t.test(one.name, (t) => judge(t, rig, ids[i]!, one))));
});
