// Many calls in one run of the voice model: each gets its own answers, in its order.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import t, { type Test } from 'tap';
import { createResampler } from '../../../audio/resampler.ts';
import { openVadBatch, type VadBatch } from '../../../audio/vad/batch.ts';
import { VAD_WINDOW_SAMPLES } from '../../../audio/vad/lane.ts';
import { VAD_MODELS, type VadModelName } from '../../../audio/vad/models.ts';
import { SpeechDetector } from '../../../audio/vad/speech-detector.ts';
import { join, noise, type Recorded, readFixture, silence, throughMulaw, toMulaw } from '../fixtures.ts';

interface Heard {
  probability: number;
  endSample: number;
  levelDb: number;
}

/** What a model says of a sound when it runs alone, window by window, straight through the runtime. */
async function reference(name: VadModelName, pcm: Int16Array): Promise<number[]> {
  const { file } = VAD_MODELS[name];
  const model = await readFile(fileURLToPath(import.meta.resolve(file)));
  const session = await InferenceSession.create(model, { intraOpNumThreads: 1, interOpNumThreads: 1 });
  const sr = new Tensor('int64', BigInt64Array.of(8000n), []);
  // As in Silero's own wrapper: v4 takes a window and two memories, v5 and v6 also the 32 samples before it, and one memory.
  const context = name === 'v4' ? 0 : 32;
  let memory: Record<string, Tensor> =
    name === 'v4' ? { h: zeros([2, 1, 64]), c: zeros([2, 1, 64]) } : { state: zeros([2, 1, 128]) };
  const found: number[] = [];
  for (let from = 0; from + 256 <= pcm.length; from += 256) {
    const samples = Float32Array.from(
      { length: context + 256 },
      (_, i) => (pcm[from - context + i] ?? 0) / 32768,
    );
    const input = new Tensor('float32', samples, [1, samples.length]);
    const { output, hn, cn, stateN } = await session.run({ input, sr, ...memory });
    found.push(Number(output?.data[0]));
    memory = name === 'v4' ? { h: hn!, c: cn! } : { state: stateN! };
  }
  await session.release();
  return found;
}

const zeros = (dims: number[]) =>
  new Tensor('float32', new Float32Array(dims.reduce((size, dim) => size * dim, 1)), dims);

function open(vad: VadBatch) {
  const heard: Heard[] = [];
  const lane = vad.openLane((probability, endSample, levelDb) =>
    heard.push({ probability, endSample, levelDb }),
  );
  return { lane: { push: (pcm: Int16Array) => lane.push(toMulaw(pcm)), close: () => lane.close() }, heard };
}

/** Gives a sound to a lane in frames of 20 ms, running after each, as a call does. */
async function play(vad: VadBatch, pcm: Int16Array): Promise<Heard[]> {
  const { lane, heard } = open(vad);
  for (let from = 0; from < pcm.length; from += 160) {
    lane.push(pcm.subarray(from, from + 160));
    await vad.run();
  }
  lane.close();
  return heard;
}

const largest = (a: readonly number[], b: readonly number[]) =>
  a.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (b[i] ?? Number.NaN))), 0);

/** What the package that brings a model says of a sound, by its own class at the 16 kHz it is written for. */
async function packageReference(name: VadModelName, pcm: Int16Array): Promise<number[]> {
  const require = createRequire(import.meta.url);
  const { SileroLegacy, Silero } = require('@ricky0123/vad-web/dist/models/index.js') as PackageModels;
  const file = fileURLToPath(import.meta.resolve(VAD_MODELS[name].file));
  const own = name === 'v4' ? SileroLegacy : Silero;
  const model = await own.new({ InferenceSession, Tensor }, async () => (await readFile(file)).buffer);
  const resampler = createResampler(8000, 16000);
  const up = new Int16Array(resampler.outputLength(pcm.length));
  resampler.process(pcm, up);
  const found: number[] = [];
  for (let from = 0; from + 512 <= up.length; from += 512) {
    const frame = Float32Array.from(up.subarray(from, from + 512), (sample) => sample / 32768);
    found.push((await model.process(frame)).isSpeech);
  }
  return found;
}

interface PackageModel {
  new: (
    ort: { InferenceSession: typeof InferenceSession; Tensor: typeof Tensor },
    fetch: () => Promise<ArrayBufferLike>,
  ) => Promise<{ process(frame: Float32Array): Promise<{ isSpeech: number }> }>;
}

interface PackageModels {
  SileroLegacy: PackageModel;
  Silero: PackageModel;
}

const NAMES = Object.keys(VAD_MODELS) as VadModelName[];

for (const model of NAMES) {
  t.test(`${model}: many calls in batches -> the same as each alone`, async (t) => {
    const speech = readFixture('jfk-8k').subarray(0, 40_000);
    const offsets = Array.from({ length: 11 }, (_, i) => i * 1777);
    const sounds = offsets.map((offset) => speech.subarray(offset, offset + 20_000));
    const alone = await Promise.all(sounds.map((sound) => reference(model, throughMulaw(sound))));
    const vad = await openVadBatch({ model, maxBatch: 4, gate: false });
    const lanes = sounds.map(() => open(vad));
    // Bursts of different length: some lanes have several windows waiting, some none; none may overtake another of its lane.
    for (let from = 0, turn = 0; from < 20_000; turn++) {
      const size = [160, 1000, 4000, 37][turn % 4]!;
      for (const [i, { lane }] of lanes.entries())
        lane.push(sounds[i]!.subarray(from, Math.min(from + size, 20_000)));
      from += size;
      if (turn % 3 !== 0) await vad.run();
    }
    await vad.run();
    for (const [i, { heard }] of lanes.entries()) {
      const found = heard.map(({ probability }) => probability);
      t.equal(found.length, 78);
      t.ok(largest(found, alone[i]!) < 1e-5, `lane ${i}: within ${largest(found, alone[i]!)}`);
      t.same(
        heard.map(({ endSample }) => endSample),
        found.map((_, n) => (n + 1) * VAD_WINDOW_SAMPLES),
      );
    }
    t.ok(vad.counters.runs < (11 * 78) / 2, `${vad.counters.runs} runs for ${11 * 78} windows`);
    t.equal(vad.counters.droppedWindows, 0);
    await vad.close();
  });

  t.test(`${model}: at 8 kHz it hears what its package hears at 16 kHz`, async (t) => {
    const pcm = join(silence(320), readFixture('caller-more-info').subarray(0, 80_000));
    const vad = await openVadBatch({ model, gate: false });
    const ours = (await play(vad, pcm)).map(({ probability }) => probability);
    await vad.close();
    const theirs = await packageReference(model, pcm);
    t.equal(ours.length, theirs.length);
    // Two rates are two halves of the graph: the same decision, not the same number.
    const differ = ours.filter((probability, i) => probability >= 0.5 !== theirs[i]! >= 0.5).length;
    t.ok(differ <= ours.length * 0.08, `${differ} of ${ours.length} windows differ`);
    t.ok(theirs.some((one) => one > 0.9) && theirs.some((one) => one < 0.1));
  });

  t.test(`${model}: speech is likely, silence and the noise of a line are not`, async (t) => {
    const vad = await openVadBatch({ model, gate: false });
    // "And so, my fellow Americans", from 0.4 to 2 s; then a pause without a voice, from 2.5 to 3.1 s.
    const heard = await play(vad, readFixture('jfk-8k').subarray(0, 26_000));
    const between = (fromMs: number, toMs: number) =>
      heard
        .filter(({ endSample }) => endSample > fromMs * 8 && endSample <= toMs * 8)
        .map((one) => one.probability);
    const spoken = between(400, 2000);
    t.ok(
      spoken.filter((probability) => probability > 0.5).length > spoken.length * 0.95,
      spoken.map((one) => one.toFixed(2)).join(),
    );
    t.ok(Math.max(...between(2500, 3100)) < 0.2, `${between(2500, 3100)}`);
    for (const [name, sound] of Object.entries({ silence: silence(2000), noise: noise(2000, 300) })) {
      const most = Math.max(...(await play(vad, sound)).map(({ probability }) => probability));
      t.ok(most < 0.2, `${name}: ${most.toFixed(2)} at most`);
    }
    await vad.close();
  });
}

t.test('silence and steady noise -> the model does not run', async (t) => {
  for (const [name, sound] of Object.entries({
    'digital silence': silence(5000),
    'faint noise': noise(5000, 30),
    // The first second is needed to know the line.
    'a noisy line, once known': noise(5000, 600),
  })) {
    const vad = await openVadBatch();
    const heard = await play(vad, sound);
    t.equal(heard.length, 156, name);
    t.ok(vad.counters.modelWindows <= 50, `${vad.counters.modelWindows} windows ran`);
    t.ok(heard.slice(60).every(({ probability }) => probability === 0));
    await vad.close();
  }
});

t.test('the gate and the middle of speech save runs, and what is recognized stays the same', async (t) => {
  const names = [
    'jfk-8k',
    'caller-thanks',
    'caller-more-info',
    'voicemail-greeting-with-beep',
  ] satisfies Recorded[];
  for (const name of names) {
    // The speech of 1961 ends in a crowd, which may be speech or not.
    const once = join(readFixture(name).subarray(0, name === 'jfk-8k' ? 82_400 : undefined), silence(3000));
    const sound = join(silence(400), once, once);
    const listen = async (gate: boolean, carry = gate) => {
      const vad = await openVadBatch({ gate, carry });
      const detector = new SpeechDetector(vad.speech);
      const heard = await play(vad, sound);
      const starts: number[] = [];
      const ends: number[] = [];
      for (const { probability, endSample, levelDb } of heard) {
        const event = detector.push(probability, endSample, levelDb);
        if (event?.type === 'speech-started') starts.push(event.atSample / 8);
        if (event?.type === 'speech-ended') ends.push(event.atSample / 8);
      }
      await vad.close();
      const threshold = vad.speech.startProbability;
      return { heard, starts, ends, threshold, ran: vad.counters.modelWindows };
    };
    const free = await listen(false);
    const gated = await listen(true);
    const every = await listen(true, false);
    // Each saving by itself: two models that see different windows never say quite the same.
    for (const [what, one, other] of [
      ['the gate', free, every],
      ['the middle of speech', every, gated],
    ] as const) {
      const differ = one.heard.filter(
        ({ probability }, i) =>
          probability >= one.threshold !== other.heard[i]!.probability >= other.threshold,
      );
      t.ok(
        differ.length < one.heard.length * 0.06,
        `${name}, ${what}: ${differ.length} of ${one.heard.length} windows differ`,
      );
    }
    t.ok(every.ran < free.ran * 0.85, `${every.ran} of ${free.ran} windows ran`);
    t.ok(gated.ran < every.ran * 0.85, `${gated.ran} of ${every.ran} windows past the gate ran`);
    // The first word after silence: no later than two windows; earlier is welcome.
    const second = 400 + once.length / 8;
    for (const from of [0, second]) {
      const onset = (starts: number[]) => starts.find((at) => at >= from)!;
      t.ok(
        onset(gated.starts) - onset(free.starts) <= 64,
        `onset ${onset(gated.starts)}, ${onset(free.starts)} ms`,
      );
    }
    for (const until of [second, Number.POSITIVE_INFINITY]) {
      const end = (ends: number[]) => ends.findLast((at) => at < until)!;
      t.ok(Math.abs(end(gated.ends) - end(free.ends)) <= 64, `end ${end(gated.ends)}, ${end(free.ends)} ms`);
    }
  }
});

// The engine that computes at once, and one that lets the thread go meanwhile.
for (const model of ['v5', 'v4'] as const) {
  t.test(`${model}: a big load -> other work gets its turn between the batches`, async (t) => {
    // No slice is so short that it has not one batch.
    const vad = await openVadBatch({
      model,
      maxBatch: 8,
      gate: false,
      ...(model === 'v5' && { sliceMs: 0 }),
    });
    const lanes = Array.from({ length: 40 }, () => open(vad));
    const speech = readFixture('jfk-8k').subarray(3000, 3000 + 512);
    for (const { lane } of lanes) lane.push(speech);
    let turns = 0;
    let done = false;
    const other = () => {
      turns++;
      if (!done) setImmediate(other);
    };
    setImmediate(other);
    const runs = vad.counters.runs;
    const first = vad.run();
    t.equal(vad.run(), first, 'a tick that comes meanwhile joins the run');
    await first;
    done = true;
    t.ok(vad.counters.runs - runs >= 10);
    t.ok(turns >= vad.counters.runs - runs, `${turns} turns during ${vad.counters.runs - runs} runs`);
    t.ok(lanes.every(({ heard }) => heard.length === 2));
    await vad.close();
  });
}

t.test('within a slice all is answered before the run returns', async (t) => {
  const vad = await openVadBatch({ gate: false, sliceMs: Number.POSITIVE_INFINITY });
  const lanes = Array.from({ length: 40 }, () => open(vad));
  for (const { lane } of lanes) lane.push(readFixture('jfk-8k').subarray(3000, 3000 + 512));
  const run = vad.run();
  t.ok(lanes.every(({ heard }) => heard.length === 2));
  t.equal(vad.run(), run, 'and nothing is under way any more');
  await vad.close();
});

t.test('a lane that is closed hears nothing more, in flight or waiting; its neighbours do', async (t) => {
  for (const [model, answered] of [
    ['v4', 0],
    // The first window of both was answered at once.
    ['v5', 1],
  ] as const) {
    const vad = await openVadBatch({ model, gate: false, ...(model === 'v5' && { sliceMs: 0 }) });
    const closed = open(vad);
    const kept = open(vad);
    const speech = readFixture('jfk-8k').subarray(3000, 3000 + 1024);
    closed.lane.push(speech);
    kept.lane.push(speech);
    const run = vad.run();
    closed.lane.close();
    closed.lane.close();
    closed.lane.push(speech);
    await run;
    t.equal(closed.heard.length, answered);
    t.equal(kept.heard.length, 4);
    await sharesNothing(t, vad, speech, kept.heard);
    await vad.close();
  }
});

async function sharesNothing(t: Test, vad: VadBatch, speech: Int16Array, heard: readonly Heard[]) {
  // Buffers of the closed lane go to others: they must not be shared.
  const a = open(vad);
  const b = open(vad);
  a.lane.push(speech.subarray(0, 200));
  b.lane.push(silence(25));
  a.lane.push(speech.subarray(200));
  b.lane.push(silence(103));
  await vad.run();
  t.ok(
    largest(
      a.heard.map(({ probability }) => probability),
      heard.map(({ probability }) => probability),
    ) < 1e-4,
  );
  t.ok(b.heard.every(({ levelDb }) => levelDb === -96));
}

t.test(
  'one who is told throws -> the others are told all the same, and so is he of what comes next',
  async (t) => {
    // Windows that the model sees, and those that the gate answers.
    for (const sound of [readFixture('jfk-8k').subarray(3000, 3000 + 512), silence(64)]) {
      const vad = await openVadBatch({ carry: false });
      let told = 0;
      const broken = vad.openLane(() => {
        told++;
        throw new Error('broken');
      });
      const kept = open(vad);
      broken.push(toMulaw(sound));
      kept.lane.push(sound);
      let rejected = 0;
      for (let run = 0; run < 4; run++) await vad.run().catch(() => rejected++);
      t.equal(kept.heard.length, 2);
      t.equal(told, 2);
      t.ok(rejected > 0, 'and the run says so');
      await vad.close();
    }
  },
);

t.test('a call far behind -> its oldest windows are given up and counted', async (t) => {
  const vad = await openVadBatch({ gate: false });
  const { lane, heard } = open(vad);
  lane.push(readFixture('jfk-8k').subarray(0, 200 * 256));
  await vad.run();
  t.equal(vad.counters.droppedWindows, 72);
  t.same([heard.length, heard[0]?.endSample, heard.at(-1)?.endSample], [128, 73 * 256, 200 * 256]);
  await vad.close();
});

t.test('ten seconds of silence at once -> all answered, none given up', async (t) => {
  const vad = await openVadBatch();
  const { lane, heard } = open(vad);
  for (let i = 0; i < 500; i++) lane.push(new Int16Array(160));
  await vad.run();
  t.equal(heard.length, 312);
  t.equal(vad.counters.droppedWindows, 0);
  await vad.close();
});

t.test('close during a run, twice, and runs afterwards -> no error', async () => {
  const vad = await openVadBatch({ gate: false, sliceMs: 0 });
  const { lane } = open(vad);
  lane.push(readFixture('jfk-8k').subarray(0, 8192));
  const run = vad.run();
  await Promise.all([vad.close(), vad.close()]);
  await run;
  lane.push(new Int16Array(512));
  await vad.run();
});

t.test('two threads at once, each with its own engine', async (t) => {
  const code = `
    import { parentPort } from 'node:worker_threads';
    import { openVadBatch } from ${JSON.stringify(new URL('../../../audio/vad/batch.ts', import.meta.url).href)};
    const vad = await openVadBatch({ gate: false });
    const lane = vad.openLane((probability, endSample) => parentPort.postMessage(endSample));
    lane.push(new Uint8Array(512).fill(255));
    await vad.run();
    await vad.close();
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(code)}`);
  const answers = await Promise.all(
    [1, 2].map(
      () =>
        new Promise((resolve, reject) => {
          const ends: number[] = [];
          new Worker(url)
            .on('message', (end: number) => ends.push(end))
            .on('error', reject)
            .on('exit', () => resolve(ends));
        }),
    ),
  );
  t.same(answers, [
    [256, 512],
    [256, 512],
  ]);
});
