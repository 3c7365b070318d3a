// The shape of a recording, read in pieces of any size.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import wavefile from 'wavefile';
import { openRecording } from '../../../../audio/recording.ts';
import { readWavPeaks } from '../../../../control/dashboard/app/wav-peaks.ts';

/** Written by a library that is not ours. */
function wav(channels: number[][], rateHz = 8000): Uint8Array {
  const file = new wavefile.WaveFile();
  file.fromScratch(
    channels.length,
    rateHz,
    '16',
    channels.map((one) => Int16Array.from(one)),
  );
  return file.toBuffer();
}

t.test('the loudest sample of each step and channel, with its sign', async (t) => {
  const left = Array.from({ length: 8000 }, (_none, at) => (at === 100 ? 16_384 : at === 4100 ? -32_768 : 0));
  const right = Array.from({ length: 8000 }, (_none, at) => (at === 7999 ? 8192 : -16));
  const bytes = wav([left, right]);
  for (const pieceBytes of [bytes.length, 1, 7, 43, 44, 45, 1000]) {
    const peaks = readWavPeaks(2);
    for (let at = 0; at < bytes.length; at += pieceBytes) peaks.take(bytes.subarray(at, at + pieceBytes));
    const { channels, durationMs } = peaks.peaks();
    t.equal(durationMs, 1000, `in pieces of ${pieceBytes}`);
    t.same([...(channels[0] ?? [])], [0.5, -1]);
    t.same([...(channels[1] ?? [])], [-16 / 32_768, 0.25]);
  }
});

t.test('chunks between the format and the sound are passed over', async (t) => {
  const file = new wavefile.WaveFile();
  file.fromScratch(
    1,
    8000,
    '16',
    Int16Array.from({ length: 800 }, () => 16_384),
  );
  file.setTag('INAM', 'A name of odd length.');
  const peaks = readWavPeaks(10);
  peaks.take(file.toBuffer());
  t.same([...(peaks.peaks().channels[0] ?? [])], [0.5]);
});

t.test('a recording of ours: the caller left, the agent right', async (t) => {
  const path = join(t.testdir({}), 'call.wav');
  const recording = await openRecording(path);
  const loud = new Int16Array(160).fill(30_000);
  const silent = new Int16Array(160);
  for (let frame = 0; frame < 50; frame++) recording.write(frame < 25 ? loud : silent, silent);
  await recording.close();
  const peaks = readWavPeaks(2);
  peaks.take(readFileSync(path));
  const { channels, durationMs } = peaks.peaks();
  t.equal(durationMs, 1000);
  t.ok(Math.abs(channels[0]?.[0] ?? 0) > 0.9);
  t.ok(Math.abs(channels[0]?.[1] ?? 1) < 0.01);
  t.ok(Math.abs(channels[1]?.[0] ?? 1) < 0.01);
});

t.test('what is no 16-bit WAV is refused, what is cut off is read as far as it goes', async (t) => {
  const bad = readWavPeaks(10);
  t.throws(() => bad.take(new TextEncoder().encode(JSON.stringify({ error: 'x'.repeat(60) }))), /not a WAV/);
  const eight = new wavefile.WaveFile();
  eight.fromScratch(
    1,
    8000,
    '8',
    Uint8Array.from({ length: 100 }, () => 128),
  );
  t.throws(() => readWavPeaks(10).take(eight.toBuffer()), /16-bit/);
  const cut = readWavPeaks(10);
  cut.take(wav([Array.from({ length: 8000 }, () => 100)]).subarray(0, 44 + 4000));
  t.equal(cut.peaks().durationMs, 250);
  t.same(readWavPeaks(10).peaks(), { channels: [], durationMs: 0 });
});
