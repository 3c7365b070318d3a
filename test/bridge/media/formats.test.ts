// What was said comes through, whatever the carrier's wire and the model write sound in: a call between a wire of each format and
// a model of each. Where both are mu-law at 8 kHz, as nearly all are, not a byte is touched.
import { createHash } from 'node:crypto';
import t, { type Test } from 'tap';
import type { WebSocket } from 'ws';
import { createConverter } from '../../../audio/converter.ts';
import { type AudioFormat, bytesPerMs, FRAME_BYTES, MULAW_8K, sameFormat } from '../../../audio/format.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import type { MediaWire } from '../../../bridge/carriers/media-wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { readFixture, toMulaw } from '../../audio/fixtures.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';

const FORMATS: readonly AudioFormat[] = [
  MULAW_8K,
  { encoding: 'alaw', rateHz: 8000 },
  { encoding: 'pcm16', rateHz: 8000 },
  { encoding: 'pcm16', rateHz: 16000 },
  { encoding: 'pcm16', rateHz: 24000 },
];
const nameOf = ({ encoding, rateHz }: AudioFormat) => `${encoding} ${rateHz / 1000}`;

const SAID_MS = 3_000;
const CALLER = Buffer.from(toMulaw(readFixture('jfk-8k').subarray(0, SAID_MS * 8)));
/** In the middle of a word: only its first tenth of a second is sent at once. */
const AGENT = Buffer.from(toMulaw(readFixture('jfk-8k').subarray(1_000 * 8, 3_000 * 8)));

/** All of a sound in another format. */
const inFormat = (sound: Buffer, from: AudioFormat, to: AudioFormat) =>
  Buffer.from(createConverter(from, to).convert(sound));
const samplesOf = (sound: Buffer, format: AudioFormat) => {
  const pcm = inFormat(sound, format, { encoding: 'pcm16', rateHz: 8000 });
  return new Int16Array(Uint8Array.from(pcm).buffer);
};

/** How alike two sounds are, 0 to 1, the second up to 8 ms later: what the filters delay. */
function likeness(one: Int16Array, other: Int16Array): number {
  let best = 0;
  for (let lag = 0; lag <= 64; lag++) {
    let both = 0;
    let first = 0;
    let second = 0;
    for (let i = 0; i + lag < other.length && i < one.length; i++) {
      both += one[i]! * other[i + lag]!;
      first += one[i]! ** 2;
      second += other[i + lag]! ** 2;
    }
    best = Math.max(best, both / Math.sqrt(first * second || 1));
  }
  return best;
}

/** A wire whose messages are what was sent, kept. */
function wireOf(format: AudioFormat, sent: Buffer[]): MediaWire {
  return {
    format,
    clearReturnsMarks: true,
    decode: () => ({ type: 'ignored', event: 'none' }),
    audio(_streamId, payload) {
      sent.push(Buffer.from(payload));
      return 'audio';
    },
    mark: () => 'mark',
    clear: () => 'clear',
  };
}

/** Runs a call: the agent speaks, then the caller, whom the model is given. Answers what either side got. */
function run(t: Test, line: AudioFormat, model: AudioFormat) {
  const toCarrier: Buffer[] = [];
  const toModel: Buffer[] = [];
  let tick = (_nowMs: number) => {};
  let window: OnWindow | undefined;
  let listener: Parameters<ConstructorParameters<typeof MediaCall>[1]['openModel']>[2] | undefined;
  const call = new MediaCall(
    {
      callId: 'call-1',
      carrier: 'any',
      tokenHash: createHash('sha256').update('token').digest('hex'),
      direction: 'inbound',
      modelName: 'any',
      model: {
        url: '',
        apiKey: '',
        model: '',
        transcriptionModel: null,
        instructions: '',
        voice: '',
        language: null,
        tools: [],
        texts: SESSION_TEXTS,
      },
      texts: { ...talkTexts('inbound', null), greeting: null },
      machine: 'none',
      patience: 1,
      transferTargets: {},
      recordingPath: null,
      maxSeconds: 3_600,
    },
    {
      clock: {
        add(onFrame) {
          tick = onFrame;
          return () => {};
        },
        lateness: () => ({ maxMs: 0, skipped: 0 }),
        recentLateMs: () => 0,
        close() {},
      },
      vad: {
        counters: { windows: 0, modelWindows: 0, carriedWindows: 0, runs: 0, droppedWindows: 0 },
        speech: { startProbability: 0.5, stopProbability: 0.3 },
        openLane(onWindow) {
          window = onWindow;
          return { push() {}, close() {} };
        },
        run: async () => {},
        close: async () => {},
      },
      rules: TURN_RULES,
      counters: { framesIn: 0, framesOut: 0 },
      frameAges: new FrameAges(),
      openModel(_name, _config, given) {
        listener = given;
        return {
          // It hears all, so that what reaches it is what was said and no more.
          capabilities: { ...TURN_BY_TURN, turns: 'model' },
          takes: model,
          gives: model,
          open() {},
          appendAudio: (payload) => void toModel.push(Buffer.from(payload)),
          clearAudio() {},
          endTurn: () => null,
          respond() {},
          say() {},
          interrupt() {},
          addText() {},
          sendToolResult() {},
          busy: () => false,
          close: async () => {},
        };
      },
      post() {},
    },
  );
  t.teardown(() => call.release());
  const socket = {
    bufferedAmount: 0,
    send() {},
    close() {},
    terminate() {},
    once: (_event: string, gone: () => void) => gone(),
  };
  listener?.ready({ renewed: false, tookMs: 1 });
  call.attach(socket as unknown as WebSocket, wireOf(line, toCarrier), {
    type: 'started',
    streamId: 's',
    carrierCallId: 'c',
    parameters: { token: 'token' },
    format: line,
  });
  t.type(window, 'function', 'the detector listens');

  const fromCarrier = inFormat(CALLER, MULAW_8K, line);
  const frame = 20 * bytesPerMs(line);
  for (let at = 0, n = 0; at < fromCarrier.length; at += frame, n++)
    call.media({
      type: 'audio',
      payload: fromCarrier.subarray(at, at + frame),
      timestampMs: n * 20,
      chunk: n + 1,
    });

  // In pieces that end anywhere, as a server cuts them.
  const fromModel = inFormat(AGENT, MULAW_8K, model);
  for (let at = 0; at < fromModel.length; at += 1_001)
    listener?.audio('item-1', fromModel.subarray(at, at + 1_001));
  listener?.audioDone('item-1');
  tick(performance.now());
  return { toModel: Buffer.concat(toModel), toCarrier };
}

for (const line of FORMATS) {
  for (const model of FORMATS) {
    t.test(
      `a line of ${nameOf(line)} and a model of ${nameOf(model)}: what was said comes through`,
      async (t) => {
        const { toModel, toCarrier } = run(t, line, model);
        t.equal(toModel.length, SAID_MS * bytesPerMs(model), 'as long as it was said');
        const heard = likeness(samplesOf(CALLER, MULAW_8K), samplesOf(toModel, model));
        t.ok(heard > 0.98, `the caller: ${heard.toFixed(4)}`);
        const sent = Buffer.concat(toCarrier);
        t.equal(sent.length % (20 * bytesPerMs(line)), 0, 'whole frames');
        t.ok(sent.length >= 100 * bytesPerMs(line), 'what is due at once was sent');
        const ms = sent.length / bytesPerMs(line);
        const spoken = likeness(samplesOf(AGENT.subarray(0, ms * 8), MULAW_8K), samplesOf(sent, line));
        t.ok(spoken > 0.98, `the agent: ${spoken.toFixed(4)}`);
        if (!sameFormat(line, MULAW_8K) || !sameFormat(model, MULAW_8K)) return;
        t.ok(toModel.equals(CALLER), 'not a byte of the caller was touched');
        t.ok(sent.equals(AGENT.subarray(0, sent.length)), 'nor of the agent');
        t.equal(sent.length % FRAME_BYTES, 0);
      },
    );
  }
}
