// Where somebody speaks in a recording, and where one recording is in another.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import wavefile from 'wavefile';
import { compare, peaks, pieces, readWav, speechStretches, writeWav } from '../../scripts/simulate/sound.ts';

const AUDIO = join(import.meta.dirname, '../fixtures/audio');
const speech = (name: string) => readWav(readFileSync(join(AUDIO, name))).channels[0]!;
const jfk = speech('jfk-8k.wav');

t.test('a WAV file of two channels is read as another library wrote it', async (t) => {
  const file = new wavefile.WaveFile();
  file.fromScratch(2, 8000, '16', [Int16Array.of(1, -2, 32767), Int16Array.of(-32768, 5, 6)]);
  const { rateHz, channels } = readWav(file.toBuffer());
  t.equal(rateHz, 8000);
  t.same(
    channels.map((one) => [...one]),
    [
      [1, -2, 32767],
      [-32768, 5, 6],
    ],
  );
});

t.test(
  'a WAV file that was written is read by another library, and too loud samples are clipped',
  async (t) => {
    const file = new wavefile.WaveFile(writeWav(Float32Array.of(0, 1.4, -40_000, 40_000)));
    t.equal((file.fmt as { sampleRate: number }).sampleRate, 8000);
    t.same([...file.getSamples(false, Int16Array)], [0, 1, -32768, 32767]);
  },
);

t.test('a file whose writer was stopped before it wrote the length is read to its end', async (t) => {
  const file = writeWav(Float32Array.of(3, 4, 5));
  new DataView(file.buffer).setUint32(40, 0, true);
  t.same([...readWav(file).channels[0]!], [3, 4, 5]);
});

t.test('what is no WAV file of 16 bits is refused', async (t) => {
  t.throws(() => readWav(new Uint8Array(100)), /no WAV file/);
  const file = new wavefile.WaveFile();
  file.fromScratch(1, 8000, '8', [1, 2, 3]);
  t.throws(() => readWav(file.toBuffer()), /8 bits/);
});

t.test('stretches of speech are the phrases, and the noise of the room is none', async (t) => {
  // By ear: "And so my fellow Americans," 0.3-2.2 s, "ask not" 3.3-4.4 s, "what your country … for you," 5.4-7.7 s, the rest from 8.2 s.
  const starts = speechStretches(jfk).map(({ from }) => from / 8000);
  t.ok(
    starts.some((s) => Math.abs(s - 0.3) < 0.15),
    `${starts}`,
  );
  t.ok(starts.some((s) => Math.abs(s - 3.3) < 0.15));
  t.ok(starts.some((s) => Math.abs(s - 5.36) < 0.15));
  t.same(speechStretches(new Float32Array(8000)), []);
});

t.test('a long stretch is cut into equal pieces without a gap', async (t) => {
  t.same(pieces([{ from: 0, to: 8000 * 4 }], 1600), [
    { from: 0, to: 10_667 },
    { from: 10_667, to: 21_333 },
    { from: 21_333, to: 32_000 },
  ]);
});

t.test('a copy is found where it lies, whatever its loudness', async (t) => {
  const target = new Float32Array(jfk.length + 40_000);
  target.set(
    jfk.map((sample) => sample * 0.3),
    24_321,
  );
  const likeness = compare(jfk, target, 0);
  t.ok(likeness.weakest > 0.9999, String(likeness.weakest));
  for (const { at, from } of likeness.found) t.equal(at - from, 24_321);
  t.ok(likeness.chance < 0.6, 'and backwards it is not found');
});

t.test('other speech is no copy', async (t) => {
  const likeness = compare(jfk, speech('caller-more-info.wav'), 0);
  t.ok(likeness.weakest < 0.5);
  t.ok(likeness.mean < 0.6);
});

t.test('a copy with a second of it given twice is whole, and one with a second missing is not', async (t) => {
  const part = jfk.subarray(0, 88_000);
  const twice = new Float32Array(part.length + 8000);
  twice.set(part.subarray(0, 60_000), 0);
  twice.set(part.subarray(52_000), 60_000);
  t.ok(compare(part, twice, 0).weakest > 0.9);
  const less = new Float32Array(part.length - 8000);
  less.set(part.subarray(0, 52_000), 0);
  less.set(part.subarray(60_000), 52_000);
  t.ok(compare(part, less, 0).weakest < 0.9);
});

t.test('a copy whose clock jumped by some milliseconds in the middle of a word is whole', async (t) => {
  const later = new Float32Array(jfk.length + 75);
  later.set(jfk.subarray(0, 50_123), 0);
  later.set(jfk.subarray(50_123), 50_123 + 75);
  const { weakest, found } = compare(jfk, later, 0);
  t.ok(weakest > 0.9, String(weakest));
  t.same([...new Set(found.map(({ at, from }) => at - from))], [0, 75]);
});

t.test('what is said twice is found where it was said, with a small jump in it too', async (t) => {
  const phrase = jfk.subarray(8.2 * 8000, 9.6 * 8000);
  const source = new Float32Array(20 * 8000);
  source.set(phrase, 2 * 8000);
  source.set(phrase, 14 * 8000);
  // Second time, the first half lies 12 ms early.
  const target = source.slice();
  target.copyWithin(14 * 8000 - 96, 14 * 8000, 14.7 * 8000);
  const likeness = compare(source, target, 0);
  t.ok(likeness.weakest > 0.9, `${likeness.weakest}`);
  const offs = likeness.found.map(({ at, from }) => (at - from) / 8);
  t.ok(
    offs.every((ms) => Math.abs(ms) < 20),
    `${offs}`,
  );
});

t.test('a short sound that is missing in its place is not found far away', async (t) => {
  const source = new Float32Array(20 * 8000);
  // A syllable, said twice.
  const syllable = jfk.subarray(8.3 * 8000, 8.55 * 8000);
  source.set(syllable, 2 * 8000);
  source.set(syllable, 8 * 8000);
  const target = source.slice().fill(0, 2 * 8000, 2.25 * 8000);
  const [first] = compare(source, target, 0, [{ from: 2 * 8000, to: 2.25 * 8000 }]).found;
  t.ok((first?.score ?? 1) < 0.9, `${first?.score} at ${(first?.at ?? 0) / 8} ms`);
});

t.test('silence holds nothing', async (t) => {
  const likeness = compare(jfk, new Float32Array(80_000), 0);
  t.ok(Math.abs(likeness.weakest) < 0.01, String(likeness.weakest));
  t.equal(compare(new Float32Array(8000), jfk, 0).found.length, 0, 'and there is nothing in it to look for');
});

t.test('peaks cover every sample once', async (t) => {
  t.same([...peaks(Float32Array.of(0, 16384, -32768, 0, 8192, 0), 3)], [0.5, 1, 0.25]);
});
