// Whole calls with a callee that listens and speaks; what was heard is read back from the recordings.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import twilio from 'twilio';
import wavefile from 'wavefile';
import type { SimulatorOptions } from '../../scripts/carrier-simulator/options.ts';
import { startCarrierSimulator } from '../../scripts/carrier-simulator/simulator.ts';
import {
  connectTwiml,
  type Session,
  startApplication,
  type WireMessage,
} from './carrier-simulator-application.ts';

const OWN = '+14155550100';
const TO = '+14155550101';
const AUDIO = join(import.meta.dirname, '../fixtures/audio');

/** Speech-like for an energy detector: a loud square wave, so many ms. */
const speech = (ms: number) =>
  Buffer.from(Array.from({ length: ms * 8 }, (_, i) => (i % 16 < 8 ? 0x90 : 0x10)));
const isLoud = (message: WireMessage) =>
  message.event === 'media' &&
  Buffer.from(message.media!.payload, 'base64').filter((byte) => (byte & 0x7f) < 0x50).length > 40;

async function bench(test: Test, options: SimulatorOptions) {
  const outDir = mkdtempSync(join(tmpdir(), 'carrier-simulator-'));
  const carrier = await startCarrierSimulator({
    numbers: [OWN],
    allowInsecure: true,
    audioDir: AUDIO,
    outDir,
    ...options,
  });
  const app = await startApplication(carrier.authToken);
  app.on('/voice', () => connectTwiml(app));
  const client = twilio(carrier.accountSid, carrier.authToken);
  client.api.baseUrl = carrier.url;
  test.teardown(async () => {
    await carrier.close();
    await app.close();
    rmSync(outDir, { recursive: true });
  });
  return { carrier, app, client };
}

/** Left and right samples of a recording. */
function channels(path: string): { left: Int16Array; right: Int16Array; rateHz: number } {
  const wave = new wavefile.WaveFile(readFileSync(path));
  const { sampleRate, numChannels } = wave.fmt as { sampleRate: number; numChannels: number };
  const all = wave.getSamples(true);
  if (numChannels !== 2) throw new Error(`${numChannels} channels`);
  const side = (offset: number) =>
    Int16Array.from({ length: all.length / 2 }, (_, i) => all[i * 2 + offset]!);
  return { left: side(0), right: side(1), rateHz: sampleRate };
}

/** First and last loud sample, in ms. */
function extent(samples: Int16Array, fromMs = 0): [number, number] {
  const loud = (sample: number) => Math.abs(sample) > 1000;
  const from = fromMs * 8;
  return [(from + samples.subarray(from).findIndex(loud)) / 8, samples.findLastIndex(loud) / 8];
}

/** Resolves when the callee has spoken and then been silent for ten frames. */
async function calleeTurn(session: Session): Promise<void> {
  await session.later(isLoud);
  let quiet = 0;
  await session.later((message) => {
    if (message.event === 'media') quiet = isLoud(message) ? 0 : quiet + 1;
    return quiet >= 10;
  });
}

t.test(
  'callee and agent take turns, the callee cuts in, and everything is measured and recorded',
  async (t) => {
    const tone = (hz: number, ms: number) => ({ tone: { hz, ms } });
    const { carrier, app, client } = await bench(t, {
      callees: {
        [TO]: {
          ringMs: 0,
          steps: [
            { do: 'say', when: { afterAgentSilenceMs: 400 }, ...tone(500, 600) },
            { do: 'barge_in', afterAgentMs: 1000, ...tone(800, 600) },
            { do: 'hang_up', when: { afterAgentSilenceMs: 60_000, timeoutMs: 500 } },
          ],
        },
      },
    });
    const { sid } = await client.calls.create({ to: TO, from: OWN, url: `${app.url}/voice` });
    const session = await app.session();
    await session.message((message) => message.event === 'start');
    session.audio(speech(1000));
    await calleeTurn(session);
    session.audio(speech(8000));
    session.mark('long');
    await session.later(isLoud);
    session.clear();
    await session.closed;
    await carrier.waitFor((event) => event.type === 'call.ended' && event.callSid === sid);
    await carrier.close();

    const call = carrier.call(sid)!;
    const talk = call.conversation!;
    t.match(call, { status: 'completed', endedBy: 'callee', clippedSamples: 0 });
    t.equal(talk.agentSpurts.length, 2);
    t.equal(talk.calleeSpurts.length, 2);
    t.equal(talk.responseMs.length, 1);
    const [first, second] = talk.agentSpurts;
    const [answer, cutIn] = talk.calleeSpurts;
    t.equal(first!.endMs - first!.startMs, 1000);
    t.equal(answer!.startMs, first!.endMs + 400 - 20, 'the frame in which the silence has lasted 400 ms');
    t.equal(cutIn!.startMs - second!.startMs, 1000, 'a second into the agent’s speech');
    t.equal(talk.bargeIns.length, 1);
    t.equal(talk.bargeIns[0]!.agentStoppedMs, second!.endMs);
    t.ok(talk.bargeIns[0]!.reactionMs! < 5000, 'the clear cut the agent off');
    t.equal(call.streams[0]!.marks[0]!.by, 'cleared');

    const { left, right, rateHz } = channels(call.recordingPath!);
    t.equal(rateHz, 8000);
    t.ok(
      Math.abs(extent(right)[0] - talk.firstAgentAudioMs!) < 20,
      'the right side is what the callee heard',
    );
    t.ok(Math.abs(extent(right)[1] - second!.endMs) < 20);
    t.ok(Math.abs(extent(left)[0] - answer!.startMs) < 20, 'the left side is what the callee said');
    t.ok(Math.abs(extent(left, cutIn!.startMs)[0] - cutIn!.startMs) < 20);

    const wire = JSON.parse(readFileSync(call.wirePath!, 'utf8')) as {
      streams: { wire: { event: string }[] }[];
    };
    const events = wire.streams[0]!.wire.map((entry) => entry.event);
    t.same(
      events.filter((event) => event !== 'media'),
      ['connected', 'start', 'mark', 'clear', 'mark', 'stop'],
    );
    t.notOk(JSON.stringify(wire).includes('payload'));
  },
);

t.test('a voicemail box: greeting, beep, verdict, message, hang-up', async (t) => {
  const { carrier, app, client } = await bench(t, {
    callees: {
      [TO]: {
        ringMs: 0,
        voicemail: { greeting: { file: 'caller-thanks.wav' }, beep: { hz: 1000, ms: 400 } },
      },
    },
  });
  const { sid } = await client.calls.create({
    to: TO,
    from: OWN,
    url: `${app.url}/voice`,
    machineDetection: 'DetectMessageEnd',
    asyncAmd: 'true',
    asyncAmdStatusCallback: `${app.url}/amd`,
  });
  const session = await app.session();
  const verdict = await app.hook((hook) => hook.path === '/amd');
  t.equal(verdict.parameters.AnsweredBy, 'machine_end_beep');
  session.audio(speech(1500));
  session.mark('message');
  await session.message((message) => message.mark?.name === 'message');
  await client.calls(sid).update({ status: 'completed' });
  await session.closed;
  const { voicemail, amd, conversation } = carrier.call(sid)!;
  t.ok(amd!.atMs > voicemail!.beepEndedMs && amd!.atMs < voicemail!.beepEndedMs + 400);
  t.ok(voicemail!.messageStartMs! > amd!.atMs, 'nothing was said over the greeting');
  t.equal(voicemail!.messageEndMs! - voicemail!.messageStartMs!, 1500, 'the message is complete');
  t.equal(voicemail!.endedBy, 'hang_up');
  t.equal(conversation!.bargeIns.length, 0);
});

t.test('noise and echo are in what the application hears, latency in what the callee hears', async (t) => {
  const { carrier, app, client } = await bench(t, {
    network: { earLatencyMs: 200 },
    callees: {
      [TO]: { ringMs: 0, noise: { levelDb: -45 }, echo: { gainDb: -12, delayMs: 100 } },
    },
  });
  const { sid } = await client.calls.create({ to: TO, from: OWN, url: `${app.url}/voice` });
  const session = await app.session();
  await session.frames(5);
  t.ok(
    session.of('media').every((message) => new Set(Buffer.from(message.media!.payload, 'base64')).size > 8),
    'every frame is noisy',
  );
  session.audio(speech(400));
  session.mark('played');
  const echo = await session.message(isLoud);
  const played = session.messages.findIndex((message) => message.event === 'mark');
  await session.message((message) => message.event === 'mark');
  t.equal(played, -1, 'the echo of 400 ms began before all was played');
  t.ok(echo);
  carrier.hangUp(sid);
  await session.closed;
  await carrier.close();
  const { left, right } = channels(carrier.call(sid)!.recordingPath!);
  // The echo is 100 ms behind what is heard, which is 200 ms behind what was played.
  t.ok(Math.abs(extent(left)[0] - extent(right)[0] - 100) < 2, 'the echo follows what is heard by its delay');
});
