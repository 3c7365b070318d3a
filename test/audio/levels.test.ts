// Levels in dB, and the level of a line on which nobody speaks.
import t, { type Test } from 'tap';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { mulawLevelDb, NoiseFloor, pcmLevelDb, SILENT_DB } from '../../audio/levels.ts';
import { noise, readFixture, silence, tones } from './fixtures.ts';

const near = (t: Test, found: number, wanted: number, within: number, what = 'level') =>
  t.ok(Math.abs(found - wanted) <= within, `${what}: ${found.toFixed(2)} dB, wanted ${wanted}`);

t.test('levels of known signals', async (t) => {
  // RMS against full scale: a square wave is its amplitude, a sine 3.01 dB less, even noise 4.77 dB less.
  near(t, pcmLevelDb(new Int16Array(160).fill(-32768)), 0, 1e-9, 'full-scale square');
  near(t, pcmLevelDb(tones([1000], 100, 32767)), -3.01, 0.01, 'full-scale sine');
  near(t, pcmLevelDb(tones([1000], 100, 3276.7)), -23.01, 0.01, 'sine 20 dB down');
  near(t, pcmLevelDb(noise(2000, 3276.8)), -24.77, 0.2, 'noise');
  t.equal(pcmLevelDb(silence(20)), SILENT_DB);
  t.equal(pcmLevelDb(new Int16Array(0)), SILENT_DB);
});

t.test('the level of mu-law is that of its PCM', async (t) => {
  const speech = readFixture('caller-thanks');
  for (let from = 0; from + 160 <= speech.length; from += 160) {
    const payload = new Uint8Array(160);
    const pcm = new Int16Array(160);
    encodeMulaw(speech.subarray(from, from + 160), payload);
    decodeMulaw(payload, pcm);
    if (Math.abs(mulawLevelDb(payload) - pcmLevelDb(pcm)) > 1e-9) t.fail(`at ${from}`);
    if (mulawLevelDb(payload, 32) !== pcmLevelDb(pcm, 32)) t.fail(`at ${from}, without its context`);
  }
  t.equal(mulawLevelDb(new Uint8Array(160).fill(0xff)), SILENT_DB);
  // The largest mu-law value is 8031 of 8192.
  near(t, mulawLevelDb(new Uint8Array(160).fill(0x80)), 20 * Math.log10(8031 / 8192), 1e-9);
});

t.test('noise floor', async (t) => {
  const run = (floor: NoiseFloor, levelDb: number, frames: number) => {
    for (let i = 0; i < frames; i++) floor.step(levelDb, 20);
    return floor.db;
  };
  t.equal(new NoiseFloor(-65).db, -65, 'as given before anything was heard');
  t.equal(run(new NoiseFloor(), -50, 50), -50, 'known after a second');
  t.equal(run(new NoiseFloor(), -75, 3), -75, 'a quieter line is known at once');

  const floor = new NoiseFloor();
  run(floor, -50, 100);
  t.equal(run(floor, -70, 2), -50, 'a dip of two frames is no pause');
  t.equal(run(floor, -50, 100), -50);
  t.equal(run(floor, -60, 3), -60, 'three frames are');
  t.equal(run(floor, -30, 300), -60, 'six seconds of speech do not raise it');
  t.equal(run(floor, -30, 150), -30, 'nine seconds of noise do');
  t.equal(run(floor, SILENT_DB, 1000), -30, 'digital silence says nothing about the line');

  const words = new NoiseFloor();
  for (let i = 0; i < 100; i++) {
    run(words, -20, 20);
    run(words, -55, 5);
  }
  t.equal(words.db, -55, 'speech with pauses of 100 ms keeps it at the noise');
});
