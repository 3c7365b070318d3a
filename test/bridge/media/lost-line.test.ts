// A call whose carrier's socket breaks in the middle of it, and that goes on with another: what the other side hears of the agent,
// what the agent hears of him, what is told as heard, and where both stand in the recording. On a clock that the test turns.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { decodeMulaw } from '../../../audio/g711.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import type { MediaWire } from '../../../bridge/carriers/media-wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import type { ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia, TranscriptUpdate } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { talkTexts } from '../../../control/agents/texts/moments.ts';
import { seeded } from '../../random.ts';
import { RUNS, SEED } from '../seed.ts';
import { deadSocket, deafVad, HeldClock, makePlan, muteModel, TOKEN } from './held-call.ts';

const START_MS = 10_000;
const WINDOW = 256;
/** Two voices, 16 bit. */
const PAIRS_BYTES_PER_MS = BYTES_PER_MS * 4;
const QUIET = Buffer.alloc(FRAME_BYTES, 0xff);
/** From the carrier to the other side's ear, and back with the mark. */
const LATE_MS = 60;
const LINE = 'One two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen.';
const { lineBack } = talkTexts('inbound', null);

/** Sound of which no two frames are alike; of one sign, the caller's: never the agent's. */
function sound(ms: number, seed: number, isCaller = false): Buffer {
  const random = seeded(seed);
  const bytes = Buffer.alloc(ms * BYTES_PER_MS);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (isCaller ? 0x90 : 0x10) + Math.floor(random() * 0x40);
  return bytes;
}

interface Line {
  /** What the carrier has and has not played. */
  waiting: (Buffer | string)[];
  /** What the other side has heard of the agent, frame by frame, silence too. */
  played: Buffer[];
  marks: { name: string; atMs: number }[];
  frames: number;
}

function open(t: Test) {
  let nowMs = START_MS;
  const { now } = performance;
  performance.now = () => nowMs;
  const folder = t.testdir({});
  const path = join(folder, 'call.wav');
  const clock = new HeldClock();
  const posted: FromMedia[] = [];
  const asked: (string | null)[] = [];
  const given: Buffer[] = [];
  const ear = { onWindow: (() => {}) as OnWindow, waiting: [] as Buffer[], sample: 0 };
  let turns = 0;
  let busy = false;
  let model: ModelListener | undefined;
  const call = new MediaCall(makePlan({ recordingPath: path }), {
    format: MULAW_8K,
    clock,
    vad: deafVad((onWindow) => {
      Object.assign(ear, { onWindow, waiting: [], sample: 0 });
      return { push: (mulaw) => void ear.waiting.push(Buffer.from(mulaw)), close() {} };
    }),
    rules: { ...TURN_RULES, earlyMs: null },
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel(_name, _config, listener) {
      model = listener;
      return muteModel({
        appendAudio: (payload) => void given.push(Buffer.from(payload)),
        endTurn: () => ++turns,
        respond(o) {
          asked.push(o?.instructions ?? null);
          busy = true;
        },
        busy: () => busy,
      });
    },
    post: (message) => void posted.push(message),
  });
  const listener = model as unknown as ModelListener;
  const release = () => {
    // Else its end waits for them.
    for (let said = 1; said <= turns; said++) listener.callerText(said, 'What he said.');
    return call.release();
  };
  t.teardown(async () => {
    performance.now = now;
    await release();
  });
  listener.ready({ renewed: false, tookMs: 1 });

  const lines: Line[] = [];
  let line: Line | null = null;
  let saying: Buffer[] = [];
  /** The other side hears, and is heard by, a socket; the test breaks it. */
  function attach(token = TOKEN): void {
    const begun: Line = { waiting: [], played: [], marks: [], frames: 0 };
    const wire: MediaWire = {
      clearReturnsMarks: true,
      decode: () => ({ type: 'ignored', event: 'none' }),
      audio(_message, _id, payload) {
        for (let at = 0; at < payload.length; at += FRAME_BYTES)
          begun.waiting.push(Buffer.from(payload.subarray(at, at + FRAME_BYTES)));
      },
      mark: (_message, _id, name) => void begun.waiting.push(name),
      clear() {
        begun.waiting = begun.waiting.filter((one) => typeof one === 'string');
      },
    };
    const parameters = { token };
    const started = {
      type: 'started',
      streamId: 's',
      carrierCallId: 'c',
      parameters,
      format: MULAW_8K,
    } as const;
    t.ok(call.attach(deadSocket(), wire, started));
    lines.push(begun);
    line = begun;
  }
  function tick(): void {
    nowMs += FRAME_MS;
    if (line !== null) {
      for (let next = line.waiting[0]; typeof next === 'string'; next = line.waiting[0]) {
        line.marks.push({ name: next, atMs: nowMs + LATE_MS });
        line.waiting.shift();
      }
      line.played.push((line.waiting.shift() as Buffer | undefined) ?? QUIET);
      for (const { name } of line.marks.filter(({ atMs }) => atMs <= nowMs))
        call.media({ type: 'mark', name });
      line.marks = line.marks.filter(({ atMs }) => atMs > nowMs);
      const payload = Buffer.from(saying.shift() ?? QUIET);
      const timestampMs = line.frames * FRAME_MS;
      call.media({ type: 'audio', payload, timestampMs, chunk: ++line.frames });
    } else saying.shift();
    for (let heard = Buffer.concat(ear.waiting); ; ) {
      const window = heard.subarray(0, WINDOW);
      ear.waiting = [heard];
      if (window.length < WINDOW) break;
      heard = heard.subarray(WINDOW);
      ear.sample += WINDOW;
      const speaks = window.filter((byte) => byte >= 0x90 && byte < 0xd0).length > WINDOW / 2;
      ear.onWindow(speaks ? 0.95 : 0.01, ear.sample, speaks ? -25 : -66);
    }
    clock.tick(nowMs);
  }
  const writtenMs = () => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / PAIRS_BYTES_PER_MS;
  attach();
  return {
    call,
    model: listener,
    asked,
    given,
    lines,
    attach,
    atMs: () => nowMs - START_MS,
    /** Time passes, no faster than the disk writes it down. */
    async pass(ms: number): Promise<void> {
      // The file opens.
      while (writtenMs() === 0) await turn();
      await turn();
      for (const untilMs = nowMs + ms; nowMs < untilMs; ) {
        tick();
        while (writtenMs() < nowMs - START_MS - 5_000) await turn();
      }
    },
    /** The caller says it, from now on. */
    say(said: Buffer): void {
      saying = [];
      for (let at = 0; at < said.length; at += FRAME_BYTES) saying.push(said.subarray(at, at + FRAME_BYTES));
    },
    answer(itemId: string, text: string, audio: Buffer): void {
      listener.audio(itemId, audio);
      listener.text(itemId, text);
      listener.textDone(itemId, text);
      listener.audioDone(itemId);
      busy = false;
      listener.responseDone({
        responseId: itemId,
        status: 'completed',
        reason: null,
        hadAudio: true,
        toolCalls: 0,
      });
    },
    /** The socket is gone, with all that was under way. */
    breaks(): void {
      line = null;
      call.detach('lost');
    },
    /** The carrier brings another. */
    returns(): void {
      call.expectStream(makePlan().tokenHash);
      attach();
    },
    told: <T extends FromMedia['type']>(type: T) =>
      posted.filter((message): message is Extract<FromMedia, { type: T }> => message.type === type),
    transcript(): TranscriptUpdate[] {
      const items = posted.flatMap((message) => (message.type === 'transcript' ? message.items : []));
      return [...new Map(items.map((item) => [item.id, item])).values()];
    },
    /** Ends the call. Answers both voices of its recording. */
    async recorded() {
      await release();
      t.match(posted.at(-1), { type: 'released', stats: { recordingDropped: 0 } });
      const wav = readFileSync(path);
      const pairs = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));
      const voice = (channel: number) => pairs.filter((_, i) => i % 2 === channel);
      return { caller: voice(0), agent: voice(1) };
    },
  };
}

/** Where in a voice of the recording this sound lies, in ms; -1: nowhere. */
function placeOf(mulaw: Buffer, voice: Int16Array, fromMs = 0): number {
  const wanted = new Int16Array(mulaw.length);
  decodeMulaw(mulaw, wanted);
  for (let at = fromMs * BYTES_PER_MS; at + wanted.length <= voice.length; at++) {
    let n = 0;
    while (n < wanted.length && voice[at + n] === wanted[n]) n++;
    if (n === wanted.length) return at / BYTES_PER_MS;
  }
  return -1;
}

const isSilent = (voice: Int16Array, fromMs: number, toMs: number) =>
  voice.subarray(fromMs * BYTES_PER_MS, toMs * BYTES_PER_MS).every((sample) => sample === 0);

/** What somebody heard who was on the line all the time, of a line's sound from its first frame on. */
const heardOf = ({ played }: Line) => Buffer.concat(played.filter((frame) => !frame.equals(QUIET)));

t.test(
  'in the middle of the agent`s sentence, anywhere: it goes on at the last word known to be heard',
  async (t) => {
    const random = seeded(SEED);
    for (let run = 0; run < 6 * RUNS; run++) {
      const breakMs = FRAME_MS * Math.floor(random() * 250);
      const gapMs = FRAME_MS * Math.floor(random() * (run % 2 === 0 ? 60 : 300));
      await t.test(`broken after ${breakMs} ms, back after ${gapMs} ms`, async (t) => {
        const rig = open(t);
        const source = sound(5_000, run);
        await rig.pass(400);
        rig.answer('line', LINE, source);
        const spokenMs = rig.atMs();
        await rig.pass(breakMs);
        rig.breaks();
        await rig.pass(gapMs);
        rig.returns();
        await rig.pass(8_000);

        const [before, after] = rig.lines.map(heardOf) as [Buffer, Buffer];
        const from = source.length - after.length;
        t.ok(after.equals(source.subarray(from)), 'the rest of it, in one piece');
        t.ok(
          before.equals(source.subarray(0, before.length)) && from <= before.length,
          'nothing is left out',
        );
        const twiceMs = (before.length - from) / BYTES_PER_MS;
        t.ok(
          twiceMs <= 100 + LATE_MS + 2 * FRAME_MS,
          `${twiceMs} ms are heard twice, which no mark had confirmed`,
        );
        const lines = rig.transcript().filter(({ role }) => role === 'agent');
        t.match(lines, [{ text: LINE, heardText: LINE, interrupted: false }]);
        t.same(rig.asked, [], 'nobody asked the model for anything');
        t.same([rig.told('barge-in'), rig.told('finished'), rig.told('hold-taken-back')], [[], [], []]);
        t.match(rig.told('stream-ended'), [{ how: 'lost', why: 'closed' }]);
        const lostMs = rig.told('stream-ended')[0]!.atMs;
        t.ok(Math.abs(lostMs - spokenMs - breakMs) <= FRAME_MS, `told as lost at ${lostMs} ms`);
        const backMs = rig.told('media-started')[1]!.atMs;
        t.equal(backMs, spokenMs + breakMs + gapMs);

        const { agent } = await rig.recorded();
        if (from > 0) {
          const at = placeOf(source.subarray(0, from), agent);
          t.ok(
            Math.abs(at - spokenMs) <= 3 * FRAME_MS,
            `the first of it is recorded at ${at}, said at ${spokenMs}`,
          );
          t.ok(isSilent(agent, at + from / BYTES_PER_MS, backMs), 'silence in the gap');
        }
        const at = placeOf(source.subarray(from), agent);
        t.ok(
          at >= backMs && at - backMs <= 4 * FRAME_MS,
          `the rest is recorded at ${at}, ${backMs} it was back`,
        );
      });
    }
  },
);

t.test('in the middle of the agent`s sentence, and never back: heard is what was confirmed', async (t) => {
  const rig = open(t);
  const source = sound(5_000, 7);
  rig.answer('line', LINE, source);
  await rig.pass(2_000);
  rig.breaks();
  await rig.pass(20_000);
  t.same([rig.told('finished'), rig.asked], [[], []]);
  const { agent } = await rig.recorded();
  const [line] = rig.transcript();
  t.equal(line?.interrupted, true);
  t.match(line?.heardText, /^One two three four( five)?( six)?$/);
  t.ok(line!.endMs! <= 2_000, `it ends at ${line?.endMs}`);
  const at = placeOf(source.subarray(0, line!.endMs! * BYTES_PER_MS), agent);
  t.ok(at >= 0 && at <= 3 * FRAME_MS, `recorded at ${at}, as far as it was heard`);
  t.ok(isSilent(agent, at + line!.endMs!, agent.length / BYTES_PER_MS), 'and no further');
  t.ok(agent.length / BYTES_PER_MS >= 22_000, 'the recording goes on to the end');
});

t.test(
  'cut by the caller after a gap in the same sentence: when the line ended is told with the gap',
  async (t) => {
    const rig = open(t);
    rig.answer('line', LINE, sound(5_000, 7));
    await rig.pass(2_000);
    rig.breaks();
    await rig.pass(3_000);
    rig.returns();
    await rig.pass(1_500);
    rig.say(sound(1_500, 8, true));
    await rig.pass(1_500);
    t.equal(rig.told('barge-in').length, 1);
    const { silencedMs } = rig.told('barge-in')[0]!;
    const [line] = rig.transcript();
    t.ok(Math.abs(line!.endMs! - silencedMs) < 250, `${line?.endMs}, silent at ${silencedMs}`);
  },
);

t.test(
  'in the middle of the caller`s sentence: what was heard of it is answered, after the gap too',
  async (t) => {
    for (const gapMs of [200, 900, 2_000, 8_000]) {
      await t.test(`a gap of ${gapMs} ms`, async (t) => {
        const rig = open(t);
        await rig.pass(1_200);
        const said = sound(4_000, 3, true);
        rig.say(said);
        await rig.pass(1_600);
        rig.breaks();
        const brokenMs = rig.atMs();
        // He notices nothing, or stops; what he says into the gap nobody hears.
        rig.say(Buffer.alloc(0));
        let answered = false;
        for (let ms = 0; ms < gapMs; ms += FRAME_MS) {
          await rig.pass(FRAME_MS);
          if (answered || rig.asked.length === 0) continue;
          t.ok(rig.atMs() - brokenMs >= 1_000, 'not before the gap is one');
          rig.answer('answer', 'Yes, of course.', sound(1_000, 4));
          answered = true;
        }
        rig.returns();
        await rig.pass(100);
        t.same(rig.asked, [null], 'the model is asked, once');
        if (!answered) rig.answer('answer', 'Yes, of course.', sound(1_000, 4));
        await rig.pass(2_000);
        t.ok(heardOf(rig.lines[1]!).equals(sound(1_000, 4)), 'and its answer is heard, whole');
        const given = Buffer.concat(rig.given);
        const first = given.indexOf(said.subarray(0, 800));
        t.ok(first >= 0, 'from its first sound on');
        t.ok(given.subarray(first).equals(said.subarray(0, 1_600 * BYTES_PER_MS)), 'to its last, and once');
        const [caller, agent] = rig.transcript();
        t.match(caller, { role: 'caller', startMs: Number, endMs: Number });
        t.ok(Math.abs(caller!.endMs! - brokenMs) <= 2 * FRAME_MS, `his turn ends at ${caller?.endMs}`);
        t.match(agent, { role: 'agent', heardText: 'Yes, of course.', interrupted: false });
        t.same(rig.asked, [null], 'nothing is said of the line');
      });
    }
  },
);

t.test('who goes on after a short gap is heard to his end, and answered once', async (t) => {
  const rig = open(t);
  await rig.pass(1_200);
  const said = sound(4_000, 3, true);
  rig.say(said);
  await rig.pass(1_600);
  rig.breaks();
  await rig.pass(400);
  rig.returns();
  await rig.pass(4_000);
  t.same(rig.asked, [null, null], 'asked for the first part, and again at the end of the turn');
  const given = Buffer.concat(rig.given);
  const first = given.indexOf(said.subarray(0, 800));
  const heard = Buffer.concat([said.subarray(0, 1_600 * BYTES_PER_MS), said.subarray(2_000 * BYTES_PER_MS)]);
  t.ok(
    given.subarray(first, first + heard.length).equals(heard),
    'all but what he said into the gap, and once',
  );
  rig.answer('answer', 'Yes, of course.', sound(1_000, 4));
  await rig.pass(2_000);
  t.ok(heardOf(rig.lines[1]!).equals(sound(1_000, 4)));
  const { caller } = await rig.recorded();
  const firstAt = placeOf(said.subarray(0, 1_600 * BYTES_PER_MS), caller);
  const restAt = placeOf(said.subarray(2_000 * BYTES_PER_MS), caller);
  t.equal(restAt - firstAt, 2_000, 'in the recording as long apart as they were');
  t.ok(isSilent(caller, firstAt + 1_600, restAt));
});

t.test('in silence: nothing is asked for the gap, and one of seconds is spoken of', async (t) => {
  for (const [gapMs, told] of [
    [100, []],
    [2_900, []],
    [3_000, [lineBack]],
    [19_900, [lineBack]],
  ] as [number, string[]][]) {
    await t.test(`a gap of ${gapMs} ms`, async (t) => {
      const rig = open(t);
      rig.answer('hello', 'Hello there, how are you?', sound(1_500, 1));
      await rig.pass(4_000);
      const openMs = TURN_RULES.idleMs - (rig.atMs() - 1_500 - LATE_MS);
      rig.breaks();
      await rig.pass(gapMs);
      t.same(rig.asked, [], 'nothing in the gap');
      rig.returns();
      await rig.pass(200);
      t.same(rig.asked, told);
      if (told.length > 0) {
        rig.answer('back', 'The line was gone. I am here again.', sound(1_000, 2));
        await rig.pass(2_000);
        t.ok(heardOf(rig.lines[1]!).equals(sound(1_000, 2)));
      } else {
        await rig.pass(openMs - 700);
        t.same(rig.asked, []);
        await rig.pass(1_000);
        t.equal(rig.asked.length, 1, 'the silence before the gap counts, and the gap does not');
      }
    });
  }
});

t.test('while the model thinks: its answer waits, and is given', async (t) => {
  const rig = open(t);
  await rig.pass(1_200);
  rig.say(sound(1_500, 3, true));
  await rig.pass(2_500);
  t.same(rig.asked, [null]);
  rig.breaks();
  await rig.pass(300);
  rig.answer('answer', 'Yes, of course.', sound(1_000, 4));
  // Longer than any wait for a model, a mark or a caller.
  await rig.pass(60_000);
  t.same([rig.asked, rig.told('finished')], [[null], []]);
  rig.returns();
  await rig.pass(3_000);
  t.ok(heardOf(rig.lines[1]!).equals(sound(1_000, 4)));
  t.match(rig.transcript().at(-1), { role: 'agent', heardText: 'Yes, of course.' });
  t.same([rig.asked, rig.told('finished')], [[null], []]);
});

t.test('lost again and again in one sentence: all of it is heard in the end', async (t) => {
  const rig = open(t);
  const source = sound(5_000, 9);
  rig.answer('line', LINE, source);
  for (let i = 0; i < 8; i++) {
    await rig.pass(300 + i * 40);
    rig.breaks();
    await rig.pass(i * 100);
    rig.returns();
  }
  await rig.pass(6_000);
  const { agent } = await rig.recorded();
  t.match(rig.transcript(), [{ heardText: LINE, interrupted: false }]);
  const sounded = agent.filter((sample) => sample !== 0).length;
  t.equal(sounded, source.length, 'and recorded, each sample once');
});
