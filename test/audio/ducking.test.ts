// A voice that is lowered and raised again, in every format: how loud it is, that it glides, and that its full loudness is
// the sound as it came.
import fc from 'fast-check';
import t from 'tap';
import { createConverter } from '../../audio/converter.ts';
import { Ducking } from '../../audio/ducking.ts';
import { type AudioFormat, frameBytes, sampleBytes } from '../../audio/format.ts';
import { RUNS, SEED } from '../bridge/seed.ts';
import { bytesOf, samplesOf } from './sounds.ts';

const FORMATS = (['mulaw', 'alaw', 'pcm16'] as const).flatMap((encoding) =>
  ([8000, 16000, 24000] as const).map((rateHz): AudioFormat => ({ encoding, rateHz })),
);
const OPTIONS = { lowDb: -14, fallMs: 20, riseMs: 100 };
const nameOf = ({ encoding, rateHz }: AudioFormat) => `${encoding} ${rateHz}`;

/** A tone as a format has it. */
function tone(format: AudioFormat, ms: number): Buffer {
  const pcm = Int16Array.from({ length: (format.rateHz / 1000) * ms }, (_, n) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * 400 * n) / format.rateHz)),
  );
  return Buffer.from(
    createConverter({ encoding: 'pcm16', rateHz: format.rateHz }, format).convert(bytesOf(pcm)),
  );
}

/** How loud a part of a sound is, in dB of how loud the same part was before. */
function changeDb(format: AudioFormat, before: Buffer, after: Buffer, fromMs: number, toMs: number): number {
  const energy = (sound: Buffer) => {
    const samples = samplesOf(sound, format, format.rateHz);
    const part = samples.subarray((fromMs * format.rateHz) / 1000, (toMs * format.rateHz) / 1000);
    return part.reduce((sum, sample) => sum + sample * sample, 0);
  };
  return 10 * Math.log10(energy(after) / energy(before));
}

for (const format of FORMATS) {
  t.test(nameOf(format), async (t) => {
    const frame = frameBytes(format);
    const before = tone(format, 600);
    const after = Buffer.from(before);
    const ducking = new Ducking(format, OPTIONS);
    // Full, low from 100 ms on, full again from 300 ms on.
    for (let at = 0; at < after.length; at += frame) {
      const ms = (at / frame) * 20;
      ducking.apply(after.subarray(at, at + frame), ms >= 100 && ms < 300);
    }
    const db = (fromMs: number, toMs: number) => changeDb(format, before, after, fromMs, toMs);
    t.ok(after.subarray(0, 5 * frame).equals(before.subarray(0, 5 * frame)), 'untouched at first');
    t.ok(db(100, 120) < -3, 'falls at once');
    t.ok(Math.abs(db(120, 300) - OPTIONS.lowDb) < 0.3, `low: ${db(120, 300).toFixed(2)} dB`);
    t.ok(db(300, 340) > -13.5 && db(360, 400) > -4 && db(360, 400) < 0, 'rises');
    t.ok(after.subarray(20 * frame).equals(before.subarray(20 * frame)), 'and is untouched from then on');
    // No step: of a tone that glides, no two samples lie further apart than those of the tone itself may.
    const samples = samplesOf(after, format, format.rateHz);
    const steepest = (12_000 * 2 * Math.PI * 400) / format.rateHz + 12_000 * 0.06;
    for (let n = 1; n < samples.length; n++)
      if (Math.abs(samples[n]! - samples[n - 1]!) > steepest) t.fail(`a step at ${n}`);
  });
}

t.test('another stretch begins as it came', async (t) => {
  const format: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };
  const ducking = new Ducking(format, OPTIONS);
  ducking.apply(tone(format, 60), true);
  ducking.restart();
  const next = tone(format, 20);
  ducking.apply(next, false);
  t.ok(next.equals(tone(format, 20)));
});

t.test('however it is cut into pieces and whatever is asked: never louder, never below low', async (t) => {
  fc.assert(
    fc.property(
      fc.constantFrom(...FORMATS),
      fc.array(fc.tuple(fc.integer({ min: 0, max: 700 }), fc.boolean()), { minLength: 1, maxLength: 20 }),
      (format, pieces) => {
        const bytes = sampleBytes(format);
        const total = pieces.reduce((sum, [samples]) => sum + samples, 0);
        const before = tone(format, Math.ceil((total * 1000) / format.rateHz) + 200);
        const after = Buffer.from(before);
        const ducking = new Ducking(format, OPTIONS);
        let at = 0;
        for (const [samples, low] of pieces) {
          ducking.apply(after.subarray(at, at + samples * bytes), low);
          at += samples * bytes;
        }
        const risen = at + (OPTIONS.riseMs * format.rateHz * bytes) / 1000;
        ducking.apply(after.subarray(at, risen), false);
        ducking.apply(after.subarray(risen), false);
        if (!after.subarray(risen).equals(before.subarray(risen))) throw new Error('not at full again');
        const [was, is] = [before, after].map((sound) => samplesOf(sound, format, format.rateHz)) as [
          Int16Array,
          Int16Array,
        ];
        const low = 10 ** (OPTIONS.lowDb / 20);
        for (let n = 0; n < was.length; n++) {
          // A step of G.711 is up to a 16th of the sample.
          const room = Math.abs(was[n]!) / 16 + 16;
          if (Math.abs(is[n]!) > Math.abs(was[n]!)) throw new Error(`louder at ${n}`);
          if (Math.abs(is[n]!) < Math.abs(was[n]!) * low - room) throw new Error(`below low at ${n}`);
        }
      },
    ),
    { seed: SEED, numRuns: 200 * RUNS },
  );
  t.pass(`seed ${SEED}`);
});
