// One call's windows on their way into the batch: context, gate, those that are too old.
import t from 'tap';
import { MULAW_TO_PCM } from '../../../audio/g711.ts';
import { newWaiting, QueuedLane, type Waiting } from '../../../audio/vad/lane.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import { join, noise, silence, throughMulaw, toMulaw, tones } from '../fixtures.ts';

const WINDOW = 256;
const windows = (count: number) => count * 32;

/** A lane with a model that answers `probability`, and counts the windows of a memory since it was last empty. */
function open(gate = true, contextSamples = 0, carry = false, probability = 0.75) {
  const answered: [number, number][] = [];
  /** What the model was given: PCM, and what it remembered. */
  const model: { samples: number[]; state: number }[] = [];
  const free: Waiting[] = [];
  const memories = new Map<number, number>();
  let made = 0;
  let ready = 0;
  const counters = { windows: 0, carriedWindows: 0, droppedWindows: 0 };
  /** Windows that came with their sound, and that sound's last sample. */
  const sounds: [number, number][] = [];
  const onWindow: OnWindow = (probability, endSample, _, samples) => {
    answered.push([endSample / WINDOW, probability]);
    if (samples !== undefined) sounds.push([endSample / WINDOW, MULAW_TO_PCM[samples.at(-1)!]!]);
  };
  const lane = new QueuedLane(onWindow, {
    gate,
    carry,
    contextSamples,
    engine: {
      openMemory: () => {
        // Not empty: somebody else had it.
        memories.set(7, 1_000);
        return 7;
      },
      closeMemory: (memory) => void memories.delete(memory),
      load: (row, memory, window, fresh) => {
        const state = fresh ? 0 : memories.get(memory)!;
        memories.set(memory, state + 1);
        model.push({ samples: Array.from(window, (code) => MULAW_TO_PCM[code]!), state });
        if (row !== 0) throw new Error(`row ${row}`);
      },
    },
    counters,
    take: () => {
      const window = free.pop();
      if (window !== undefined) return window;
      made++;
      return newWaiting(contextSamples);
    },
    give: (window) => void free.push(window),
    ready: () => void ready++,
  });
  const run = () => {
    while (ready > 0) {
      ready--;
      if (!lane.answerPlain()) continue;
      lane.load(0);
      lane.answer(probability);
    }
  };
  const push = (pcm: Int16Array) => lane.push(toMulaw(pcm));
  return { lane, push, run, answered, sounds, model, memories, counters, lost: () => made - free.length };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

t.test(
  'silence, speech, silence -> every window answered once and in order, the model asked for speech only',
  async (t) => {
    const { push, run, answered, model } = open();
    const sound = join(silence(windows(20)), tones([500], windows(10)), silence(windows(40)));
    for (let from = 0; from < sound.length; from += 160) {
      push(sound.subarray(from, from + 160));
      run();
    }
    t.same(
      answered.map(([n]) => n),
      numbers(1, 70),
    );
    const spoken = answered.filter(([, probability]) => probability > 0).map(([n]) => n);
    t.same(spoken, numbers(21, 40), 'speech and 320 ms after it');
    t.equal(model.length, 23, 'and three windows before it, for the memory');
    t.same(
      model.map(({ state }) => state),
      numbers(0, 22),
      'one memory through all of it',
    );
  },
);

t.test('a window comes with its own sound, one that is gated with none', async (t) => {
  for (const carry of [false, true]) {
    const { push, run, sounds } = open(true, 32, carry, 0.9375);
    const sound = join(silence(windows(20)), tones([500, 620], windows(10)), silence(windows(40)));
    push(sound);
    run();
    const own = throughMulaw(sound);
    t.same(
      sounds,
      numbers(21, 40).map((n) => [n, own[n * WINDOW - 1]]),
    );
  }
});

t.test('a short pause keeps the memory, a second without the model clears it', async (t) => {
  for (const [pause, kept] of [
    [30, true],
    [60, false],
  ] as const) {
    const { push, run, model } = open();
    push(join(tones([500], windows(5)), silence(windows(pause)), tones([500], windows(2))));
    run();
    // 5 windows, 10 of hangover, 3 to warm up, 2 windows.
    t.equal(model.length, 20, `${pause} windows of pause`);
    t.equal(model[15]!.state, kept ? 15 : 0);
    t.equal(model[19]!.state, kept ? 19 : 4);
  }
});

t.test('the noise of the line is learned; what rises above it is heard', async (t) => {
  const { push, run, answered } = open();
  // -50 dB: above what is silent anyway, so the first second must be heard to know it.
  push(join(noise(windows(120), 180), noise(windows(5), 800)));
  run();
  const asked = answered.filter(([, probability]) => probability > 0).map(([n]) => n);
  t.ok(
    asked.every((n) => n < 50 || n > 120),
    `${asked}`,
  );
  t.same(
    asked.filter((n) => n > 50),
    numbers(121, 125),
  );
});

t.test('without a gate -> the model sees all', async (t) => {
  const { push, run, model } = open(false);
  push(silence(windows(9)));
  run();
  t.equal(model.length, 9);
});

t.test('plain speech -> two windows of three answered without the model, in their order', async (t) => {
  // A tone of whole periods: every window is as loud.
  const { lane, push, run, answered, model, counters, lost } = open(true, 32, true, 0.9375);
  const speech = join(...Array.from({ length: 12 }, () => tones([500], windows(1))));
  const sound = join(silence(windows(6)), speech, silence(windows(20)));
  for (let from = 0; from < sound.length; from += 160) {
    push(sound.subarray(from, from + 160));
    run();
  }
  t.same(
    answered.map(([n]) => n),
    numbers(1, 38),
  );
  // Twelve of speech, ten of silence that the gate still lets through: the fall is asked at once, and all that goes on evenly
  // while the model is sure is carried.
  t.same(
    answered.filter(([, probability]) => probability > 0).map(([n]) => n),
    numbers(7, 28),
  );
  t.equal(model.length + counters.carriedWindows, 3 + 12 + 10);
  t.equal(counters.windows, 38);
  // Three to warm up, three to be sure, every third after them up to the twelfth; the first of silence.
  const loud = model.filter(({ samples }) => Math.abs(samples[40]!) > 300);
  t.equal(loud.length, 3 + 3);
  t.equal(model[3 + 6]!.samples[40], 0);
  t.same(
    model.map(({ state }) => state),
    numbers(0, model.length - 1),
    'the memory goes on from the last window it saw',
  );
  const third = throughMulaw(speech.subarray(5 * 256 - 32, 6 * 256));
  t.same(
    model[3 + 3]!.samples,
    [...third],
    'a window after one that was spared still comes with the sound before it',
  );
  lane.close();
  t.equal(lost(), 0);
});

t.test('each window comes with the last samples before it, silence before the first', async (t) => {
  // No two stretches of it are alike.
  const sound = throughMulaw(
    Int16Array.from({ length: 6 * WINDOW }, (_, n) => ((n * 7919) % 60_001) - 30_000),
  );
  const { push, run, model } = open(false, 32);
  for (let from = 0; from < sound.length; from += 100) push(sound.subarray(from, from + 100));
  run();
  t.equal(model.length, 6);
  for (const [i, { samples }] of model.entries())
    t.same(
      samples,
      Array.from({ length: 32 + WINDOW }, (_, n) => sound[i * WINDOW - 32 + n] ?? 0),
    );
  // Also where the window before it was gated and never seen by the model, and in buffers that were used before.
  const gated = open(true, 32);
  gated.push(join(tones([500], windows(1)), silence(windows(20))));
  gated.run();
  const quiet = throughMulaw(Int16Array.from({ length: 5 * WINDOW }, (_, n) => ((n % 5) - 2) * 8));
  gated.push(join(quiet, tones([500], windows(1))));
  gated.run();
  const seen = gated.model.slice(-4);
  for (const [i, { samples }] of seen.entries()) {
    const before = (1 + i + 1) * WINDOW;
    t.same(samples.slice(0, 32), [...quiet.subarray(before - 32, before)]);
  }
});

t.test('a closed lane gives all its buffers back, also the one in flight', async (t) => {
  const { lane, push, answered, memories, lost } = open();
  push(join(silence(windows(6)), tones([500], windows(6)), silence(10)));
  t.equal(lane.answerPlain(), true);
  lane.load(0);
  lane.close();
  lane.answer(0.75);
  t.equal(lane.answerPlain(), false);
  t.equal(lost(), 0);
  t.equal(memories.size, 0, 'and its place in the model');
  t.same(
    answered.map(([n]) => n),
    numbers(1, 6),
  );
});

t.test('a window the model failed on is passed over, with its memory', async (t) => {
  const { lane, push, run, answered, model } = open(false);
  push(tones([500], windows(2)));
  run();
  push(tones([500], windows(2)));
  t.equal(lane.answerPlain(), true);
  lane.load(0);
  lane.forget();
  run();
  t.same(
    answered.map(([n]) => n),
    [1, 2, 4],
  );
  t.equal(model.at(-1)!.state, 0);
});
