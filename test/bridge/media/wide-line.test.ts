// A call over a line of 16 kHz linear samples, with its sockets: a carrier's stream of JSON and base64, the media server, the
// voice detector, a session of OpenAI's protocol with a simulated server, which then speaks 24 kHz.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import wavefile from 'wavefile';
import { WebSocket } from 'ws';
import { type AudioFormat, bytesPerMs, FRAME_MS, frameBytes } from '../../../audio/format.ts';
import { openVadBatch } from '../../../audio/vad/batch.ts';
import type { MediaMessage, MediaWire } from '../../../bridge/carriers/media-wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { ThreadClock } from '../../../bridge/media/frame-clock.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import { openMediaServer } from '../../../bridge/media/media-server.ts';
import { openOpenAISession } from '../../../bridge/models/openai/session.ts';
import type { FromMedia, TranscriptUpdate } from '../../../bridge/protocol/messages.ts';
import { Rounds } from '../../../bridge/rounds.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { talkTexts } from '../../../control/agents/texts/moments.ts';
import { startModelSimulator } from '../../../scripts/model-simulator/simulator.ts';
import { readFixture } from '../../audio/fixtures.ts';
import { bytesOf, inFormat, likeness, samplesOf } from '../../audio/sounds.ts';
import { wireConformance } from '../carriers/wire-conformance.ts';
import { makePlan } from './held-call.ts';

const PCM_8K: AudioFormat = { encoding: 'pcm16', rateHz: 8000 };
const LINE: AudioFormat = { encoding: 'pcm16', rateHz: 16000 };
const CALL = '0192f5a0-0000-7000-8000-000000000001';
const QUESTION = inFormat(bytesOf(readFixture('caller-thanks')), PCM_8K, LINE);

/** The wire of a carrier that sends linear samples, little-endian, as base64 in JSON. */
function createWideWire(): MediaWire {
  return {
    clearReturnsMarks: true,
    decode(data): MediaMessage {
      if (data.length > 65_536) return { type: 'malformed', why: 'message too large' };
      try {
        return read(JSON.parse(data.toString('utf8')));
      } catch {
        return { type: 'malformed', why: 'not JSON of ours' };
      }
    },
    audio(message, _id, payload) {
      message.text('{"event":"media","payload":"').base64(payload).text('"}');
    },
    mark(message, _id, name) {
      message.text(JSON.stringify({ event: 'mark', name }));
    },
    clear(message) {
      message.text(JSON.stringify({ event: 'clear' }));
    },
  };
}

function read(message: Record<string, string>): MediaMessage {
  switch (message.event) {
    case 'start': {
      const { id = '', token = '' } = message;
      return { type: 'started', streamId: id, carrierCallId: id, parameters: { token }, format: LINE };
    }
    case 'media': {
      const payload = Buffer.from(message.payload ?? '', 'base64');
      const [timestampMs, chunk] = [Number(message.timestamp), Number(message.chunk)];
      return payload.length % 2 === 0 && Number.isInteger(chunk + timestampMs)
        ? { type: 'audio', payload, timestampMs, chunk }
        : { type: 'malformed', why: 'no whole samples, or no time' };
    }
    case 'mark':
      return { type: 'mark', name: String(message.name) };
    case 'dtmf':
      return { type: 'digit', digit: String(message.digit) };
    case 'stop':
      return { type: 'stopped' };
    default:
      return { type: 'malformed', why: 'no event' };
  }
}

t.test('the wire of this test is what every wire is', async (t) => {
  const json = (message: object) => ({ data: Buffer.from(JSON.stringify(message)), isBinary: false });
  wireConformance(t, LINE, () => ({
    wire: createWideWire(),
    peer: {
      start: ({ carrierCallId, token }) => json({ event: 'start', id: carrierCallId, token }),
      audio: (payload, chunk) =>
        json({ event: 'media', payload: payload.toString('base64'), timestamp: chunk * FRAME_MS, chunk }),
      mark: (name) => json({ event: 'mark', name }),
      digit: (digit) => json({ event: 'dtmf', digit }),
      stop: () => json({ event: 'stop' }),
      read({ data }) {
        const { event, payload, name } = JSON.parse(String(data));
        if (event === 'media') return { type: 'audio', payload: Buffer.from(payload, 'base64') };
        return event === 'mark' ? { type: 'mark', name } : { type: 'clear' };
      },
    },
  }));
});

/** The carrier's end of a socket: sends a frame every 20 ms, plays what comes at the same pace, and sends marks back as it does. */
async function openPeer(t: Test, port: number) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/media/1/1/wide/${CALL}`);
  await once(socket, 'open');
  const silence = Buffer.alloc(frameBytes(LINE));
  const saying: Buffer[] = [];
  const waiting: (Buffer | string)[] = [];
  const played: Buffer[] = [];
  socket.on('message', (data) => {
    const { event, payload, name } = JSON.parse(String(data));
    if (event === 'mark') waiting.push(name);
    if (event === 'clear') waiting.length = 0;
    if (event !== 'media') return;
    const sound = Buffer.from(payload, 'base64');
    for (let at = 0; at < sound.length; at += silence.length)
      waiting.push(sound.subarray(at, at + silence.length));
  });
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ event: 'start', id: CALL, token: 'token' });
  const startMs = performance.now();
  let chunk = 0;
  const timer = setInterval(() => {
    for (; chunk * FRAME_MS < performance.now() - startMs; chunk++) {
      for (let next = waiting[0]; typeof next === 'string'; next = waiting[0]) {
        send({ event: 'mark', name: next });
        waiting.shift();
      }
      if (waiting.length > 0) played.push(waiting.shift() as Buffer);
      const payload = (saying.shift() ?? silence).toString('base64');
      send({ event: 'media', payload, timestamp: chunk * FRAME_MS, chunk: chunk + 1 });
    }
  }, 5);
  t.teardown(() => {
    clearInterval(timer);
    socket.terminate();
  });
  return {
    /** In the line's format. */
    say(sound: Buffer) {
      for (let at = 0; at + silence.length <= sound.length; at += silence.length)
        saying.push(sound.subarray(at, at + silence.length));
    },
    played: () => Buffer.concat(played),
  };
}

t.test('a greeting, a turn and its answer: understood both ways, in the sound of each side', async (t) => {
  const out = t.testdir({});
  const simulator = await startModelSimulator({
    scenario: {
      hears: '../hears.json',
      rules: [
        { on: 'greeting', say: 'Hello, this is the automated assistant of Riverside Dental.' },
        {
          on: 'caller',
          heard: 'open source',
          say: 'Thank you. We look forward to seeing you. Goodbye.',
        },
      ],
    },
    pacing: 'fast',
    seed: 1,
    out,
  });
  t.teardown(() => simulator.close());
  const clock = new ThreadClock(performance.now(), (error) => t.fail(String(error)));
  const rounds = new Rounds(clock);
  t.teardown(() => rounds.close());
  const vad = await openVadBatch();
  t.teardown(() => vad.close());
  clock.add(() => void vad.run());
  const posted: FromMedia[] = [];
  const plan = makePlan({
    callId: CALL,
    carrier: 'wide',
    modelName: 'openai',
    model: {
      url: simulator.url,
      apiKey: 'key',
      model: 'gpt-realtime',
      transcriptionModel: 'gpt-transcribe',
      instructions: 'You answer the phone.',
      voice: 'marin',
      language: 'en',
    },
    texts: talkTexts('inbound', 'en'),
    maxSeconds: 60,
  });
  const call = new MediaCall(plan, {
    format: LINE,
    clock,
    vad,
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel: (_name, config, listener) => openOpenAISession(config, listener),
    post: (message) => void posted.push(message),
  });
  t.teardown(() => call.release());
  const server = await openMediaServer({
    port: 0,
    carrier: () => ({ format: LINE, verify: () => true, createWire: createWideWire }),
    find: () => call,
    refused: (why) => t.fail(why),
  });
  t.teardown(() => server.close());
  const peer = await openPeer(t, server.port);

  /** The transcript's line of a side that says this, once it is over. */
  async function line(role: TranscriptUpdate['role'], words: RegExp): Promise<TranscriptUpdate> {
    for (;;) {
      const lines = posted.flatMap((message) => (message.type === 'transcript' ? message.items : []));
      const found = lines.find((one) => one.role === role && words.test(one.heardText) && one.endMs !== null);
      if (found !== undefined) return found;
      const over = posted.find(({ type }) => type === 'finished');
      if (over !== undefined) throw new Error(`the call is over: ${JSON.stringify(over)}`);
      await new Promise((later) => setTimeout(later, 20));
    }
  }
  const greeting = await line('agent', /Riverside Dental\.$/);
  t.notOk(greeting.interrupted);
  peer.say(QUESTION);
  await line('caller', /open source PBX/);
  const answer = await line('agent', /^Thank you\..*Goodbye\.$/);
  t.notOk(answer.interrupted);

  const [session] = simulator.sessions() as unknown as [
    { id: string; config: { audio: Record<string, { format: unknown }> }; violations: unknown[] },
  ];
  t.match(session.config.audio, {
    input: { format: { type: 'audio/pcm', rate: 24000 } },
    output: { format: { type: 'audio/pcm', rate: 24000 } },
  });
  t.same(session.violations, []);
  await call.release();
  await simulator.close();
  // The simulated server's voice is of 8 kHz, and so is its file of what it has sent.
  const wav = new wavefile.WaveFile(readFileSync(join(out, `${session.id}.sent.wav`)));
  const spoken = Int16Array.from(wav.getSamples(false, Int16Array));
  const played = peer.played();
  t.ok(played.length / bytesPerMs(LINE) > 4_000, 'seconds of it were played');
  const heard = likeness(spoken.subarray(0, 8 * 2_000), samplesOf(played, LINE, 8000), 40);
  t.ok(heard > 0.98, `what was played is what it said: ${heard.toFixed(4)}`);
});
