import t from 'tap';
import { QueuedLane } from '../../audio/vad-lane.ts';
import { join, noise, silence, tones } from './fixtures.ts';

const WINDOW = 256;
const windows = (count: number) => count * 32;

/** A lane with a model that answers, for each window it is given, the state it was given plus one. */
function open(gate = true) {
  const answered: [number, number][] = [];
  const model: { first: number; state: number }[] = [];
  const free: Int16Array[] = [];
  let made = 0;
  let ready = 0;
  const counters = { windows: 0, droppedWindows: 0 };
  const lane = new QueuedLane((probability, endSample) => answered.push([endSample / WINDOW, probability]), {
    gate,
    counters,
    take: () => {
      const buffer = free.pop();
      if (buffer !== undefined) return buffer;
      made++;
      return new Int16Array(WINDOW);
    },
    give: (samples) => void free.push(samples),
    ready: () => void ready++,
  });
  const run = () => {
    while (ready > 0) {
      ready--;
      if (!lane.answerGated()) continue;
      const input = new Float32Array(WINDOW);
      const h = new Float32Array(128);
      const c = new Float32Array(128);
      lane.load(input, h, c, 0, 1);
      model.push({ first: input[0]!, state: h[0]! });
      lane.store(Float32Array.of(0.75), h.fill(h[0]! + 1), c, 0, 1);
    }
  };
  return { lane, run, answered, model, counters, lost: () => made - free.length };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

t.test(
  'silence, speech, silence -> every window answered once and in order, the model asked for speech only',
  async (t) => {
    const { lane, run, answered, model } = open();
    const sound = join(silence(windows(20)), tones([500], windows(10)), silence(windows(40)));
    for (let from = 0; from < sound.length; from += 160) {
      lane.push(sound.subarray(from, from + 160));
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

t.test('a short pause keeps the memory, a second without the model clears it', async (t) => {
  for (const [pause, kept] of [
    [30, true],
    [60, false],
  ] as const) {
    const { lane, run, model } = open();
    lane.push(join(tones([500], windows(5)), silence(windows(pause)), tones([500], windows(2))));
    run();
    // 5 windows, 10 of hangover, 3 to warm up, 2 windows.
    t.equal(model.length, 20, `${pause} windows of pause`);
    t.equal(model[15]!.state, kept ? 15 : 0);
    t.equal(model[19]!.state, kept ? 19 : 4);
  }
});

t.test('the noise of the line is learned; what rises above it is heard', async (t) => {
  const { lane, run, answered } = open();
  // -50 dB: above what is silent anyway, so the first second must be heard to know it.
  lane.push(join(noise(windows(120), 180), noise(windows(5), 800)));
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
  const { lane, run, model } = open(false);
  lane.push(silence(windows(9)));
  run();
  t.equal(model.length, 9);
});

t.test('a closed lane gives all its buffers back, also the one in flight', async (t) => {
  const { lane, answered, lost } = open();
  lane.push(join(silence(windows(6)), tones([500], windows(6)), silence(10)));
  t.equal(lane.answerGated(), true);
  lane.close();
  lane.store(Float32Array.of(1), new Float32Array(128), new Float32Array(128), 0, 1);
  t.equal(lane.answerGated(), false);
  t.equal(lost(), 0);
  t.same(
    answered.map(([n]) => n),
    numbers(1, 6),
  );
});

t.test('a window the model failed on is passed over, with its memory', async (t) => {
  const { lane, run, answered, model } = open(false);
  lane.push(tones([500], windows(2)));
  run();
  lane.push(tones([500], windows(2)));
  t.equal(lane.answerGated(), true);
  lane.forget();
  run();
  t.same(
    answered.map(([n]) => n),
    [1, 2, 4],
  );
  t.equal(model.at(-1)!.state, 0);
});
