// The page's codec against the daemon's (which ITU's vectors prove), its resampler by tones, its playback by counting.
import t from 'tap';
import { decodeMulaw, encodeMulaw as encodeAll } from '../../../../audio/g711.ts';
import { Playback } from '../../../../control/dashboard/app/call-playback.ts';
import { encodeMulaw, MULAW, Resampler } from '../../../../control/dashboard/app/call-sound.ts';

t.test('mu-law: every byte and every sample as the daemon has them', async (t) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
  const decoded = new Int16Array(256);
  decodeMulaw(bytes, decoded);
  t.same(
    [...MULAW].map((sample) => sample * 32_768),
    [...decoded].map((sample) => sample + 0),
  );
  const samples = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
  const encoded = new Uint8Array(65_536);
  encodeAll(samples, encoded);
  const other = samples.findIndex((sample, i) => encodeMulaw(sample / 32_768) !== encoded[i]);
  t.equal(other, -1, other === -1 ? 'all 65,536' : `sample ${samples[other]}`);
  t.equal(encodeMulaw(1.7), encodeMulaw(1), 'too loud is cut, not wrapped');
  t.equal(encodeMulaw(-1.7), encodeMulaw(-1));
});

const tone = (hz: number, rateHz: number, seconds: number) =>
  Float32Array.from({ length: rateHz * seconds }, (_, i) => 0.5 * Math.sin((2 * Math.PI * hz * i) / rateHz));

/** All of a sound in blocks of 128, as a worklet gets it. */
function resample(input: Float32Array, fromHz: number, toHz: number): Float32Array {
  const resampler = new Resampler(fromHz, toHz);
  const out: number[] = [];
  for (let at = 0; at < input.length; at += 128) out.push(...resampler.push(input.subarray(at, at + 128)));
  return Float32Array.from(out);
}

/** Loudness beside a tone of 0.5, in dB, without the filter's first and last moments. */
function decibels(samples: Float32Array): number {
  const middle = samples.subarray(samples.length >> 2, samples.length - (samples.length >> 2));
  const power = middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length;
  return 10 * Math.log10(power / 0.125);
}

/** The part of a sound that is this tone, 0 to 1. */
function share(samples: Float32Array, hz: number, rateHz: number): number {
  let [re, im, all] = [0, 0, 0];
  for (let i = samples.length >> 2; i < samples.length - (samples.length >> 2); i++) {
    const angle = (2 * Math.PI * hz * i) / rateHz;
    re += samples[i]! * Math.cos(angle);
    im += samples[i]! * Math.sin(angle);
    all += samples[i]! ** 2;
  }
  return (2 * (re * re + im * im)) / (all * (samples.length / 2));
}

for (const rateHz of [8_000, 16_000, 44_100, 48_000, 96_000]) {
  t.test(`${rateHz} Hz to the line and back`, async (t) => {
    for (const hz of [300, 1_000, 3_000, 3_400]) {
      const down = resample(tone(hz, rateHz, 1), rateHz, 8_000);
      t.ok(Math.abs(decibels(down)) < 0.3, `${hz} Hz passes: ${decibels(down).toFixed(2)} dB`);
      t.ok(share(down, hz, 8_000) > 0.999, 'and is that tone');
      const up = resample(tone(hz, 8_000, 1), 8_000, rateHz);
      t.ok(Math.abs(decibels(up)) < 0.3);
      t.ok(share(up, hz, rateHz) > 0.999, 'without its mirrors above');
    }
    const expected = 8_000 - resample(tone(1_000, rateHz, 1), rateHz, 8_000).length;
    t.ok(expected >= 0 && expected < 40, `no sample lost or made: ${expected} in the filter`);
    if (rateHz > 16_000) {
      for (const hz of [4_700, 6_000, 7_900, 12_000]) {
        const level = decibels(resample(tone(hz, rateHz, 1), rateHz, 8_000));
        t.ok(level < -60, `${hz} Hz does not fold back: ${level.toFixed(0)} dB`);
      }
    }
  });
}

const FRAME = new Uint8Array(160).fill(0x10);
const LOUD = MULAW[0x10]!;

function readMs(playback: Playback, ms: number): { heardMs: number; marks: string[] } {
  const out = new Float32Array(16);
  let heard = 0;
  const marks: string[] = [];
  for (let at = 0; at < ms * 8; at += 16) {
    marks.push(...playback.read(out));
    heard += out.filter((sample) => sample === LOUD).length;
  }
  return { heardMs: heard / 8, marks };
}

t.test(
  'playback gathers a little, plays without a hole, and tells marks when they were reached',
  async (t) => {
    const playback = new Playback();
    playback.push(FRAME);
    t.same(readMs(playback, 20), { heardMs: 0, marks: [] }, 'one frame is not begun with');
    playback.push(FRAME);
    playback.push(FRAME);
    playback.mark('one');
    playback.push(FRAME);
    playback.mark('two');
    t.same(readMs(playback, 50), { heardMs: 50, marks: [] });
    t.same(readMs(playback, 20), { heardMs: 20, marks: ['one'] });
    t.same(readMs(playback, 20), { heardMs: 10, marks: ['two'] });
  },
);

t.test('an answer shorter than the buffer is heard too', async (t) => {
  const playback = new Playback();
  playback.push(FRAME);
  playback.mark('end');
  t.same(readMs(playback, 100), { heardMs: 20, marks: ['end'] });
});

t.test('a mark without sound before it comes back at once', async (t) => {
  const playback = new Playback();
  playback.mark('nothing');
  t.same(readMs(playback, 2), { heardMs: 0, marks: ['nothing'] });
});

t.test('clear: silence within two milliseconds, and the marks that were owed', async (t) => {
  const playback = new Playback();
  for (let i = 0; i < 100; i++) playback.push(FRAME);
  playback.mark('one');
  playback.push(FRAME);
  playback.mark('two');
  readMs(playback, 100);
  t.same(playback.clear(), ['one', 'two']);
  const out = new Float32Array(160);
  playback.read(out);
  t.ok(Math.abs(out[0]!) < Math.abs(LOUD) && Math.abs(out[0]!) > 0, 'a fade, no click');
  t.ok(out.subarray(40).every((sample) => Math.abs(sample) < 1e-3));
  playback.push(FRAME);
  playback.push(FRAME);
  playback.push(FRAME);
  playback.mark('new');
  t.same(readMs(playback, 60), { heardMs: 60, marks: ['new'] }, 'what comes afterwards is played');
});

t.test('a network that falters gets a longer buffer', async (t) => {
  const playback = new Playback();
  for (let i = 0; i < 3; i++) playback.push(FRAME);
  t.equal(readMs(playback, 80).heardMs, 60, 'ran dry');
  for (let i = 0; i < 3; i++) playback.push(FRAME);
  t.equal(readMs(playback, 20).heardMs, 0, 'sixty milliseconds are no longer enough to begin with');
  for (let i = 0; i < 2; i++) playback.push(FRAME);
  t.equal(readMs(playback, 100).heardMs, 100);
});

t.test('much more than its room at once', async (t) => {
  const playback = new Playback();
  playback.push(new Uint8Array(100_000).fill(0x10));
  playback.push(FRAME);
  t.equal(readMs(playback, 12_600).heardMs, 12_520);
});
