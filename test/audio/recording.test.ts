// The WAV file of a call as it is written, and what stands in it after a crash.
import { appendFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import wavefile from 'wavefile';
import { openRecording, Recording } from '../../audio/recording.ts';
import { repairRecording } from '../../audio/recording-file.ts';
import { readFixture } from './fixtures.ts';

/** Both channels of a file, read by another library. */
function readWav(path: string) {
  const wav = new wavefile.WaveFile(readFileSync(path));
  const { sampleRate, numChannels, bitsPerSample } = wav.fmt as Record<string, number>;
  const both = Int16Array.from(wav.getSamples(true, Int16Array));
  const channel = (side: number) => both.filter((_, i) => i % 2 === side);
  return { sampleRate, numChannels, bitsPerSample, left: channel(0), right: channel(1) };
}

const frame = (value: number, length = 160) => new Int16Array(length).fill(value);
const HEADER = 44;
/** A turn of the event loop: writes end meanwhile. */
const turn = () => new Promise(setImmediate);

t.test('caller left, agent right, 8 kHz, 16 bit, as another library reads it', async (t) => {
  const path = join(t.testdir(), 'deep', 'call.wav');
  const caller = readFixture('caller-thanks');
  const agent = readFixture('jfk-8k').subarray(0, caller.length);
  const recording = await openRecording(path);
  let frames = 0;
  for (let from = 0; from < caller.length; from += 160, frames++) {
    recording.write(caller.subarray(from, from + 160), agent.subarray(from, from + 160));
  }
  const result = await recording.close();
  t.same(result, { path, frames, droppedFrames: 0, durationMs: caller.length / 8, error: null });
  const wav = readWav(path);
  t.match(wav, { sampleRate: 8000, numChannels: 2, bitsPerSample: 16 });
  t.same(wav.left, caller);
  t.same(wav.right, agent);
  t.equal(statSync(path).mode & 0o777, 0o600, 'only the owner may read it');
});

t.test('closed at once, and twice -> an empty, readable file', async (t) => {
  const path = join(t.testdir(), 'call.wav');
  const recording = await openRecording(path);
  const [first, second] = await Promise.all([recording.close(), recording.close()]);
  t.equal(first, second);
  t.equal(first.frames, 0);
  recording.write(frame(1), frame(2));
  t.equal(readWav(path).left.length, 0);
});

t.test('channels of different length are refused', async (t) => {
  const recording = await openRecording(join(t.testdir(), 'call.wav'));
  t.throws(() => recording.write(frame(1, 160), frame(1, 80)), RangeError);
  await recording.close();
});

t.test('cut off by a crash -> readable as it is, whole after repair', async (t) => {
  const dir = t.testdir();
  const path = join(dir, 'call.wav');
  const recording = await openRecording(path);
  t.equal(readWav(path).left.length, 0, 'before the first sound');
  // 7 s, then the file as it stands when nothing was patched on close; the ticks let the writes through.
  for (let n = 0; n < 350; n++) recording.write(frame(n), frame(-n));
  while (statSync(path).size < HEADER + 7 * 32_000) await turn();
  const crashed = join(dir, 'crashed.wav');
  writeFileSync(crashed, readFileSync(path));
  const before = readWav(crashed).left.length;
  t.equal(before, 5 * 8000, 'readable up to the last time the sizes were written');

  t.same(await repairRecording(crashed), { path: crashed, durationMs: 7000 });
  const after = readWav(crashed);
  t.equal(after.left.length, 7 * 8000);
  t.equal(after.left.at(-1), 349);
  t.equal(after.right.at(-1), -349);

  // A write that got half way leaves part of a sample pair.
  appendFileSync(crashed, Buffer.alloc(4 * 80 + 3, 1));
  t.equal((await repairRecording(crashed)).durationMs, 7010);
  t.equal(readWav(crashed).left.length, 7 * 8000 + 80);
  await recording.close();
});

t.test('repair leaves a whole recording alone and refuses what is none', async (t) => {
  const dir = t.testdir({ 'other.wav': 'RIFFxxxxWAVE', 'empty.wav': '' });
  const path = join(dir, 'call.wav');
  const recording = await openRecording(path);
  recording.write(frame(5), frame(6));
  await recording.close();
  const bytes = readFileSync(path);
  t.same(await repairRecording(path), { path, durationMs: 20 });
  t.same(readFileSync(path), bytes);
  await t.rejects(repairRecording(join(dir, 'other.wav')), /not a call recording/);
  await t.rejects(repairRecording(join(dir, 'empty.wav')), /not a call recording/);
  await t.rejects(repairRecording(join(dir, 'none.wav')), { code: 'ENOENT' });
  truncateSync(path, 20);
  await t.rejects(repairRecording(path), /not a call recording/);
});

t.test(
  'a disk that does not keep up -> frames dropped and counted, the clock kept, memory bounded',
  async (t) => {
    const path = join(t.testdir(), 'call.wav');
    const recording = await openRecording(path);
    // No turn of the event loop: not a single write can end while these come.
    const burst = 600;
    for (let n = 1; n <= burst; n++) recording.write(frame(n), frame(n));
    // Afterwards the disk keeps up again. Writes follow each other, so by the last one the first blocks are free.
    while (statSync(path).size < HEADER + 8 * 32_000) await turn();
    recording.write(frame(9999), frame(9999));
    const { frames, droppedFrames, durationMs, error } = await recording.close();
    t.equal(error, null);
    t.equal(frames, 401, 'eight seconds were held');
    t.equal(droppedFrames, 200);
    t.equal(durationMs, 601 * 20);
    const { left } = readWav(path);
    t.equal(left.length, 601 * 160);
    t.equal(left[400 * 160 - 1], 400);
    t.ok(
      left.subarray(400 * 160, 600 * 160).every((sample) => sample === 0),
      'what was lost is silence',
    );
    t.ok(
      left.subarray(600 * 160).every((sample) => sample === 9999),
      'what came after is in its place',
    );
  },
);

t.test('a disk that fails -> told at close, never thrown at the call', async (t) => {
  const path = join(t.testdir({ 'call.wav': '' }), 'call.wav');
  // Opened for reading only, every write fails.
  const recording = new Recording(path, await open(path, 'r'));
  for (let n = 0; n < 60; n++) recording.write(frame(n), frame(n));
  const { error } = await recording.close();
  t.ok(error instanceof Error);
});

t.test('a place where nothing can be written -> refused at once', async (t) => {
  const dir = t.testdir({ file: '' });
  await t.rejects(openRecording(join(dir, 'file', 'call.wav')), { code: 'EEXIST' });
  await t.rejects(openRecording(dir), { code: 'EISDIR' });
  if (existsSync('/dev/full')) await t.rejects(openRecording('/dev/full'), { code: 'ENOSPC' });
});
