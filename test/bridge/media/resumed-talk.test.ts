// A call that another thread or process has had until it died, as it goes on here: what the model is told, what comes first, and
// that the call's own time goes on.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import wavefile from 'wavefile';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { joinRecordings } from '../../../audio/recording-join.ts';
import { createTwilioWire } from '../../../bridge/carriers/twilio/wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import { cutOffOf, takenUp } from '../../../bridge/media/resumed-talk.ts';
import type { ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia, PrepareCall, Resumed } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { talkTexts } from '../../../control/agents/texts/moments.ts';
import { deadSocket, deafVad, HeldClock, makePlan, muteModel, TOKEN } from './held-call.ts';

const TEXTS = talkTexts('inbound', null);
const RESUMED: Resumed = {
  elapsedMs: 60_000,
  lostAtMs: 58_500,
  talk: [
    { role: 'agent', text: 'Good morning, this is Ada. How can I help?' },
    { role: 'caller', text: 'I want to book a table.' },
  ],
  unfinishedTools: [],
};

/** The call goes on here, on a clock that the test moves. */
function open(t: Test, change: Partial<Resumed> = {}, fields: Parameters<typeof makePlan>[0] = {}) {
  const { now } = performance;
  const start = now.call(performance);
  let passedMs = 0;
  performance.now = () => start + passedMs;
  t.teardown(() => {
    performance.now = now;
  });
  const clock = new HeldClock();
  const posted: FromMedia[] = [];
  const asked: (string | null)[] = [];
  const busy = { is: false };
  let listener: ModelListener | undefined;
  let model: PrepareCall['model'] | undefined;
  const plan = makePlan({ texts: TEXTS, ...fields, resumed: { ...RESUMED, ...change } });
  const call = new MediaCall(plan, {
    format: MULAW_8K,
    clock,
    vad: deafVad(),
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel(_name, config, given) {
      listener = given;
      model = config;
      return muteModel({
        busy: () => busy.is,
        respond(o) {
          busy.is = true;
          asked.push(o?.instructions ?? null);
          given.requested();
        },
      });
    },
    post: (message) => void posted.push(structuredClone(message)),
  });
  if (listener === undefined || model === undefined) throw new Error('the model was not opened');
  const told = <T extends FromMedia['type']>(type: T) =>
    posted.filter((message): message is Extract<FromMedia, { type: T }> => message.type === type);
  return {
    call,
    model: listener,
    config: model,
    asked,
    told,
    /** Time passes, tick by tick; the caller's line brings `sound` of it, counted from the stream's start. */
    pass(ms: number, sound: { fromMs: number; byte: number } | null = null) {
      for (let done = 0; done < ms; done += FRAME_MS) {
        passedMs += FRAME_MS;
        if (sound !== null) {
          const timestampMs = sound.fromMs + done;
          const payload = Buffer.alloc(FRAME_BYTES, sound.byte);
          call.media({ type: 'audio', payload, timestampMs, chunk: timestampMs / FRAME_MS + 1 });
        }
        clock.tick(performance.now());
      }
    },
    attach() {
      const started = { type: 'started', streamId: 's', carrierCallId: 'c', format: MULAW_8K } as const;
      const parameters = { token: TOKEN };
      if (!call.attach(deadSocket(), createTwilioWire(), { ...started, parameters }))
        throw new Error('the stream was refused');
    },
    /** The model speaks a line of so many milliseconds, and all of it is heard. */
    speaks(itemId: string, text: string, ms: number) {
      listener?.audio(itemId, Buffer.alloc(ms * 8, 1));
      listener?.textDone(itemId, text);
      listener?.audioDone(itemId);
      busy.is = false;
      const ended = { responseId: 'r', status: 'completed', reason: null } as const;
      listener?.responseDone({ ...ended, hadAudio: true, toolCalls: 0 });
    },
  };
}

t.test('the model is told the talk and what nobody knows the end of, before anything else', async (t) => {
  const tool = { name: 'book', arguments: '{"day":1}', ok: true, output: 'booked' };
  const { model } = takenUp(
    makePlan({
      texts: TEXTS,
      machine: 'leave_message',
      resumed: {
        ...RESUMED,
        talk: [
          ...RESUMED.talk,
          { role: 'tool', text: JSON.stringify(tool) },
          { role: 'tool', text: 'send_dtmf: 12' },
          { role: 'tool', text: '{"name":"of another shape"}' },
          { role: 'caller', text: '' },
          { role: 'caller', text: '[unintelligible]' },
          { role: 'system', text: 'The caller pressed 3.' },
        ],
        unfinishedTools: [{ name: 'pay', argumentsJson: `{"note":"${'x'.repeat(5_000)}"}` }],
      },
    }),
  );
  const history = model.history ?? [];
  t.same(history.slice(0, -1), [
    { role: 'agent', text: 'Good morning, this is Ada. How can I help?' },
    { role: 'caller', text: 'I want to book a table.' },
    { role: 'tool', name: 'book', argumentsJson: '{"day":1}', output: 'booked' },
    { role: 'system', text: 'send_dtmf: 12' },
    { role: 'system', text: '{"name":"of another shape"}' },
    { role: 'caller', text: '' },
    { role: 'caller', text: '' },
    { role: 'system', text: 'The caller pressed 3.' },
  ]);
  t.match(history.at(-1), { role: 'system', text: /^You had called the tool "pay" with \{"note":"x+ when/ });
  t.ok(JSON.stringify(history.at(-1)).length < 1_000);
});

t.test('of a call that begins here nothing is changed', async (t) => {
  const plan = makePlan();
  t.equal(takenUp(plan), plan);
  t.equal(cutOffOf(null), null);
});

t.test('who had the last word', async (t) => {
  const left = (talk: Resumed['talk']) => cutOffOf({ ...RESUMED, talk });
  const [agent, caller] = RESUMED.talk as [Resumed['talk'][number], Resumed['talk'][number]];
  t.same(left([agent, caller]), { lostAtMs: 58_500, owed: true });
  t.same(left([caller, agent]), { lostAtMs: 58_500, owed: false });
  t.match(left([agent, caller, { role: 'agent', text: '' }]), { owed: true }, 'the answer was not heard');
  t.match(left([agent, { role: 'caller', text: '' }]), { owed: true }, 'something was said');
  t.match(left([agent, caller, { role: 'tool', text: 'x' }, { role: 'system', text: 'y' }]), { owed: true });
  t.equal(left([{ role: 'agent', text: '' }]), null, 'nobody has heard a word: it begins');
});

t.test('an answer that is owed is given, without a word of what was', async (t) => {
  const { call, model, config, asked, attach, told, pass } = open(t, {}, { machine: 'leave_message' });
  t.match(config.history, RESUMED.talk);
  model.ready({ renewed: false, tookMs: 1 });
  pass(400);
  t.same(asked, [], 'not before it can be heard');
  attach();
  t.same(asked, [null]);
  t.match(told('media-started'), [{ atMs: 60_400 }]);
  t.same(told('turn'), []);
  await call.release();
  t.match(told('turn'), [{ times: { kind: 'answer', decidedMs: 60_400, speechEndMs: null } }]);
});

t.test('who has waited, or was being spoken to, is told that he was cut off', async (t) => {
  for (const change of [{ lostAtMs: 56_000 }, { talk: RESUMED.talk.slice(0, 1) }]) {
    const { call, model, asked, attach } = open(t, change);
    attach();
    t.same(asked, [], 'not before the model is there');
    model.ready({ renewed: false, tookMs: 1 });
    t.same(asked, [TEXTS.cutOff]);
    await call.release();
  }
});

t.test('nobody has heard a word yet: it greets', async (t) => {
  const { call, model, asked, attach } = open(t, { talk: [{ role: 'agent', text: '' }] });
  model.ready({ renewed: false, tookMs: 1 });
  attach();
  t.same(asked, [TEXTS.greeting]);
  await call.release();
});

t.test('lines and turns are told in the call`s time', async (t) => {
  const { call, model, attach, told, pass, speaks } = open(t);
  model.ready({ renewed: false, tookMs: 1 });
  pass(400);
  attach();
  pass(600);
  speaks('a', 'For how many people?', 1_000);
  pass(1_200);
  for (const name of ['0:4000', '0:8000']) call.media({ type: 'mark', name });
  t.match(told('transcript').at(-1)?.items, [
    { role: 'agent', heardText: 'For how many people?', startMs: 61_000, endMs: 62_200 },
  ]);
  await call.release();
  t.match(told('turn'), [
    { times: { firstModelAudioMs: 61_000, firstSentMs: 61_000, firstHeardMs: Number } },
  ]);
});

t.test('its longest time runs from its first stream on', async (t) => {
  const { call, attach, told, pass } = open(t, {}, { maxSeconds: 62 });
  attach();
  pass(2_000, { fromMs: 0, byte: 0xff });
  t.same(told('finished'), []);
  pass(40, { fromMs: 2_000, byte: 0xff });
  t.match(told('finished'), [{ reason: 'max_duration' }]);
  await call.release();
});

t.test('its recording is a part that begins where it was prepared, silent until the stream', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'part.wav');
  const { call, attach, told, pass } = open(t, {}, { recordingPath: path });
  pass(500);
  attach();
  pass(1_000, { fromMs: 0, byte: 0x80 });
  await call.release();
  t.match(told('released'), [{ stats: { recordingDropped: 0 }, recording: { frames: Number } }]);
  const out = join(dir, 'whole.wav');
  await joinRecordings([{ path, offsetMs: RESUMED.elapsedMs }], out);
  const caller = Array.from(
    new wavefile.WaveFile(readFileSync(out)).getSamples(true, Int16Array) as unknown as ArrayLike<number>,
  ).filter((_, i) => i % 2 === 0);
  const begins = caller.findIndex((sample) => sample !== 0) / 8;
  t.ok(Math.abs(begins - 60_500) <= 20, `it begins at ${begins} ms`);
  t.ok(Math.abs(caller.length / 8 - 61_500) <= 40, `${caller.length / 8} ms`);
});
