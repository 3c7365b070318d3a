// The figures below are those that the resampler's own first lines promise.
import t from 'tap';
import { decodeMulaw } from '../../audio/g711.ts';
import { createResampler } from '../../audio/resampler.ts';

const PAIRS = [
  [8000, 16000],
  [8000, 24000],
  [16000, 8000],
  [24000, 8000],
  [16000, 24000],
  [24000, 16000],
] as const;
const AMPLITUDE = 16000;

function tone(rateHz: number, hz: number, samples: number, phase = 0.3): Int16Array {
  return Int16Array.from({ length: samples }, (_, n) =>
    Math.round(AMPLITUDE * Math.sin((2 * Math.PI * hz * n) / rateHz + phase)),
  );
}

function convert(fromHz: number, toHz: number, input: Int16Array): Int16Array {
  const resampler = createResampler(fromHz, toHz);
  const out = new Int16Array(resampler.outputLength(input.length));
  return out.subarray(0, resampler.process(input, out));
}

/** Amplitude of one frequency in the settled part of a signal, in dB against the input tone. Whole periods: exact. */
function levelDb(signal: Int16Array, rateHz: number, hz: number): number {
  const part = signal.subarray(rateHz / 10, rateHz / 10 + rateHz / 5);
  let re = 0;
  let im = 0;
  for (const [n, sample] of part.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * n) / rateHz);
    im += sample * Math.sin((2 * Math.PI * hz * n) / rateHz);
  }
  return 20 * Math.log10((2 * Math.hypot(re, im)) / part.length / AMPLITUDE + 1e-9);
}

for (const [fromHz, toHz] of PAIRS) {
  // The lower rate's band: 4 or 8 kHz. All of it but the transition counts.
  const lowHz = Math.min(fromHz, toHz);
  const passHz = 0.425 * lowHz;
  const stopHz = 0.575 * lowHz;

  t.test(`${fromHz} -> ${toHz}: the pass band is flat to 85 % of the lower rate's band`, async (t) => {
    let worst = 0;
    for (let hz = 50; hz <= passHz; hz += 50) {
      const db = levelDb(convert(fromHz, toHz, tone(fromHz, hz, fromHz / 2)), toHz, hz);
      worst = Math.max(worst, Math.abs(db));
    }
    t.ok(worst <= 0.05, `worst ${worst.toFixed(4)} dB`);
  });

  t.test(`${fromHz} -> ${toHz}: images and aliases are 55 dB down`, async (t) => {
    let worst = -200;
    if (toHz > fromHz) {
      for (let hz = 50; hz <= passHz; hz += 50) {
        const out = convert(fromHz, toHz, tone(fromHz, hz, fromHz / 2));
        for (const image of [fromHz - hz, fromHz + hz].filter((f) => f < toHz / 2)) {
          worst = Math.max(worst, levelDb(out, toHz, image));
        }
      }
    } else {
      for (let hz = stopHz; hz < fromHz / 2; hz += 50) {
        const alias = Math.min(hz % toHz, toHz - (hz % toHz));
        worst = Math.max(worst, levelDb(convert(fromHz, toHz, tone(fromHz, hz, fromHz / 2)), toHz, alias));
      }
    }
    t.ok(worst <= -55, `worst ${worst.toFixed(1)} dB`);
  });

  t.test(`${fromHz} -> ${toHz}: however the stream is cut, not a bit changes`, async (t) => {
    const input = Int16Array.from({ length: 5000 }, (_, n) => ((n * n * 7919) % 65536) - 32768);
    const whole = convert(fromHz, toHz, input);
    for (const sizes of [[1], [160], [480], [7, 0, 481, 3, 1000, 2]]) {
      const resampler = createResampler(fromHz, toHz);
      const out = new Int16Array(whole.length + 8);
      let written = 0;
      for (let from = 0, turn = 0; from < input.length; turn++) {
        const chunk = input.subarray(from, from + sizes[turn % sizes.length]!);
        from += chunk.length;
        const room = new Int16Array(resampler.outputLength(chunk.length));
        const count = resampler.process(chunk, room);
        out.set(room.subarray(0, count), written);
        written += count;
      }
      t.equal(written, whole.length, `cut as ${sizes}`);
      t.same(out.subarray(0, written), whole);
    }
  });

  t.test(`${fromHz} -> ${toHz}: the delay is what it says`, async (t) => {
    const input = new Int16Array(fromHz / 10);
    const at = fromHz / 20;
    input[at] = 20000;
    const out = convert(fromHz, toHz, input);
    const peak = out.reduce((best, value, n) => (value > out[best]! ? n : best), 0);
    const { delayMs } = createResampler(fromHz, toHz);
    t.equal((peak / toHz) * 1000, (at / fromHz) * 1000 + delayMs);
    t.equal(delayMs, lowHz === 8000 ? 1.5 : 0.75);
  });

  t.test(`${fromHz} -> ${toHz}: started anew, it is as new`, async (t) => {
    const resampler = createResampler(fromHz, toHz);
    const input = tone(fromHz, 700, 331);
    const out = new Int16Array(resampler.outputLength(input.length));
    resampler.process(tone(fromHz, 1300, 517), new Int16Array(resampler.outputLength(517)));
    resampler.restart();
    const count = resampler.process(input, out);
    t.same(out.subarray(0, count), convert(fromHz, toHz, input));
  });

  t.test(`${fromHz} -> ${toHz}: a constant stays itself, and overload is clipped, not wrapped`, async (t) => {
    const settled = (input: Int16Array) => convert(fromHz, toHz, input).subarray(toHz / 100);
    for (const value of [-32768, -12345, 0, 1, 32767]) {
      t.ok(
        settled(new Int16Array(fromHz / 10).fill(value)).every((sample) => sample === value),
        `${value}`,
      );
    }
    // A full-scale square wave overshoots.
    const square = Int16Array.from({ length: fromHz / 10 }, (_, n) =>
      n % (fromHz / 500) < fromHz / 1000 ? 32767 : -32768,
    );
    const out = settled(square);
    const jumps = out.filter(
      (sample, n) => n > 0 && n < out.length - 1 && sample < 0 && out[n - 1]! > 20000 && out[n + 1]! > 20000,
    );
    t.equal(jumps.length, 0);
    t.equal(Math.max(...out), 32767);
  });
}

t.test('other rates and short outputs are refused', async (t) => {
  for (const [fromHz, toHz] of [
    [8000, 8000],
    [8000, 44100],
    [48000, 16000],
  ] as const) {
    t.throws(() => createResampler(fromHz, toHz), RangeError);
  }
  t.throws(() => createResampler(8000, 24000).process(new Int16Array(160), new Int16Array(479)), RangeError);
  t.throws(() => createResampler(24000, 8000).process(new Int16Array(480), new Int16Array(159)), RangeError);
});

/** The least of several runs over a second of sound, in milliseconds of this machine. */
function leastMs(run: () => void): number {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < 60; i++) {
    const since = performance.now();
    run();
    least = Math.min(least, performance.now() - since);
  }
  return least;
}

t.test('a second of sound costs some dozen times what decoding its mu-law does', async (t) => {
  const mulaw = Uint8Array.from({ length: 160 }, (_, n) => (n * 31) & 0xff);
  const pcm = new Int16Array(160);
  const floorMs = leastMs(() => {
    for (let frame = 0; frame < 50; frame++) decodeMulaw(mulaw, pcm);
  });
  const ratios: Record<string, number> = {};
  for (const [fromHz, toHz] of PAIRS) {
    const resampler = createResampler(fromHz, toHz);
    const input = tone(fromHz, 440, fromHz / 50);
    const out = new Int16Array(resampler.outputLength(input.length));
    const costMs = leastMs(() => {
      for (let frame = 0; frame < 50; frame++) resampler.process(input, out);
    });
    ratios[`${fromHz} -> ${toHz}`] = Math.round(costMs / floorMs);
  }
  t.comment(
    `times mu-law decoding, ${(floorMs * 1000).toFixed(1)} us a second of sound: ${JSON.stringify(ratios)}`,
  );
  // Generous: what this looks for is a loop that the compiler gave up on.
  for (const [pair, ratio] of Object.entries(ratios)) t.ok(ratio < 300, `${pair}: ${ratio}`);
});
