// From each audio format to each other: lengths, levels and tones, frame by frame.
import t from 'tap';
import { createConverter } from '../../audio/converter.ts';
import { type AudioFormat, bytesPerMs, MULAW_8K, sameFormat, silentByte } from '../../audio/format.ts';
import { ALAW_TO_PCM, encodeMulaw, MULAW_TO_PCM } from '../../audio/g711.ts';

const ENCODINGS = ['mulaw', 'alaw', 'pcm16'] as const;
const RATES = [8000, 16000, 24000] as const;
const FORMATS: AudioFormat[] = ENCODINGS.flatMap((encoding) => RATES.map((rateHz) => ({ encoding, rateHz })));
const name = ({ encoding, rateHz }: AudioFormat) => `${encoding} ${rateHz}`;
const PCM: AudioFormat = { encoding: 'pcm16', rateHz: 16000 };

/** A tone in PCM, and what it is in a format, by way of another converter from PCM of the same rate: no rate changes. */
function tone(format: AudioFormat, hz: number, ms: number, amplitude = 12_000): Buffer {
  const pcm = Int16Array.from({ length: (format.rateHz / 1000) * ms }, (_, n) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * n) / format.rateHz)),
  );
  const bytes = Buffer.from(pcm.buffer);
  return Buffer.from(createConverter({ encoding: 'pcm16', rateHz: format.rateHz }, format).convert(bytes));
}

function samplesOf(format: AudioFormat, bytes: Buffer): Int16Array {
  if (format.encoding === 'pcm16') return new Int16Array(Uint8Array.from(bytes).buffer);
  const table = format.encoding === 'mulaw' ? MULAW_TO_PCM : ALAW_TO_PCM;
  return Int16Array.from(bytes, (code) => table[code]!);
}

/** How much of a signal is one tone, in dB of its whole power: 0 is a pure tone. */
function purityDb(samples: Int16Array, rateHz: number, hz: number): number {
  const part = samples.subarray(rateHz / 20, rateHz / 20 + rateHz / 10);
  let re = 0;
  let im = 0;
  let power = 0;
  for (const [n, sample] of part.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * n) / rateHz);
    im += sample * Math.sin((2 * Math.PI * hz * n) / rateHz);
    power += sample * sample;
  }
  return 10 * Math.log10((2 * (re * re + im * im)) / part.length / power);
}

/** Converts in pieces of such lengths, over and over. */
function convert(from: AudioFormat, to: AudioFormat, bytes: Buffer, lengths: readonly number[]): Buffer {
  const converter = createConverter(from, to);
  const out: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const length = lengths[turn % lengths.length]!;
    out.push(Buffer.from(converter.convert(bytes.subarray(at, at + length))));
    at += length;
  }
  return Buffer.concat(out);
}

t.test('formats: sizes and silence', async (t) => {
  t.equal(bytesPerMs(MULAW_8K), 8);
  t.equal(bytesPerMs({ encoding: 'alaw', rateHz: 8000 }), 8);
  t.equal(bytesPerMs({ encoding: 'pcm16', rateHz: 24000 }), 48);
  for (const format of FORMATS) {
    const silence = samplesOf(format, Buffer.alloc(bytesPerMs(format), silentByte(format)));
    t.ok(
      silence.every((sample) => Math.abs(sample) <= 8),
      name(format),
    );
  }
  t.ok(sameFormat(MULAW_8K, { ...MULAW_8K }));
  t.notOk(sameFormat(MULAW_8K, { encoding: 'alaw', rateHz: 8000 }));
});

t.test('where both formats are the same, the very same buffer goes through', async (t) => {
  for (const format of FORMATS) {
    const converter = createConverter(format, { ...format });
    const payload = Buffer.alloc(20 * bytesPerMs(format), 0x5a);
    t.equal(converter.convert(payload), payload, name(format));
    t.equal(converter.delayMs, 0);
  }
});

for (const from of FORMATS) {
  t.test(`${name(from)}: a tone goes to every format, and lasts as long`, async (t) => {
    const tonal = tone(from, 1000, 300);
    for (const to of FORMATS) {
      const out = convert(from, to, tonal, [20 * bytesPerMs(from)]);
      t.equal(out.length, 300 * bytesPerMs(to), `to ${name(to)}: 300 ms`);
      // Noise of a law is 38 dB below the tone, which takes 0.0007 dB of it; of linear samples and the filter far less.
      const db = purityDb(samplesOf(to, out), to.rateHz, 1000);
      t.ok(db > -0.002, `to ${name(to)}: ${db.toFixed(5)} dB`);
    }
  });

  t.test(`${name(from)}: however the stream is cut, not a bit changes`, async (t) => {
    const bytes = Buffer.from(Array.from({ length: 1920 }, (_, n) => (n * n * 13 + n * 7) & 0xff));
    for (const to of FORMATS) {
      const whole = convert(from, to, bytes, [bytes.length]);
      for (const lengths of [[1], [2, 3, 501, 7], [480]])
        t.same(convert(from, to, bytes, lengths), whole, `to ${name(to)} by ${lengths}`);
    }
  });
}

t.test('started anew, nothing of the stream before is left', async (t) => {
  const converter = createConverter(PCM, MULAW_8K);
  const bytes = tone(PCM, 700, 20);
  const fresh = Buffer.from(createConverter(PCM, MULAW_8K).convert(bytes));
  // An odd byte at the end: half a sample.
  converter.convert(tone(PCM, 1300, 33).subarray(0, 1001));
  converter.restart();
  t.same(converter.convert(bytes), fresh);
});

t.test('a buffer anywhere in memory is read', async (t) => {
  const bytes = tone(PCM, 700, 20);
  const odd = Buffer.alloc(bytes.length + 1);
  bytes.copy(odd, 1);
  const expected = Buffer.from(createConverter(PCM, MULAW_8K).convert(bytes));
  t.same(createConverter(PCM, MULAW_8K).convert(odd.subarray(1)), expected);
});

t.test('frames of one length are converted in the same memory, and views, over and over', async (t) => {
  for (const from of FORMATS) {
    for (const to of FORMATS) {
      if (sameFormat(from, to)) continue;
      const converter = createConverter(from, to);
      const frame = tone(from, 440, 20);
      const first = converter.convert(frame);
      t.ok(
        [1, 2, 3].every(() => converter.convert(frame) === first),
        `${name(from)} -> ${name(to)}`,
      );
    }
  }
});

t.test('mu-law from PCM is what the codec makes of it', async (t) => {
  const pcm = Int16Array.from({ length: 160 }, (_, n) => ((n * 8191) % 65536) - 32768);
  const expected = new Uint8Array(160);
  encodeMulaw(pcm, expected);
  const converted = createConverter({ encoding: 'pcm16', rateHz: 8000 }, MULAW_8K).convert(
    Buffer.from(pcm.buffer),
  );
  t.same(Uint8Array.from(converted), expected);
});
