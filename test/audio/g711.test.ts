// Mu-law and A-law against the tables of ITU-T G.711.
import t from 'tap';
import wavefile from 'wavefile';
import { MULAW_SILENCE } from '../../audio/format.ts';
import {
  ALAW_TO_PCM,
  decodeAlaw,
  decodeMulaw,
  encodeAlaw,
  encodeMulaw,
  MULAW_TO_PCM,
} from '../../audio/g711.ts';

// ITU-T G.711 (11/1988), table 2: eight segments with these step sizes, on a 14-bit scale whose virtual end is 8159.
// Column 5 holds the decision values x1..x128, column 8 the quantized values y0..y127, column 6 the character signals.
const SEGMENTS = [
  { steps: 1, size: 1 },
  { steps: 15, size: 2 },
  { steps: 16, size: 4 },
  { steps: 16, size: 8 },
  { steps: 16, size: 16 },
  { steps: 16, size: 32 },
  { steps: 16, size: 64 },
  { steps: 16, size: 128 },
  { steps: 16, size: 256 },
];
const decisions = [0];
for (const { steps, size } of SEGMENTS) {
  for (let i = 0; i < steps; i++) decisions.push(decisions.at(-1)! + size);
}
// y0 = 0; every other quantized value is the middle of its interval.
const quantized = decisions.slice(0, 128).map((low, n) => (n === 0 ? 0 : (low + decisions[n + 1]!) / 2));
/** The character signal of interval n: for positive values 11111111 for n = 0 down to 10000000 for n = 127. */
const positiveCode = (n: number) => 0xff - n;
const negativeCode = (n: number) => 0x7f - n;
/** 16-bit PCM is the 14-bit scale times four. */
const SCALE = 4;

function encodeOne(sample: number): number {
  const out = new Uint8Array(1);
  encodeMulaw(Int16Array.of(sample), out);
  return out[0]!;
}

t.test('the rows printed in G.711 table 2a hold', async (t) => {
  // [n, decision value x_n, quantized value y_n, character signal], as printed.
  const rows = [
    [0, 0, 0, 0b11111111],
    [1, 1, 2, 0b11111110],
    [16, 31, 33, 0b11101111],
    [32, 95, 99, 0b11011111],
    [48, 223, 231, 0b11001111],
    [64, 479, 495, 0b10111111],
    [80, 991, 1023, 0b10101111],
    [96, 2015, 2079, 0b10011111],
    [112, 4063, 4191, 0b10001111],
    [127, 7903, 8031, 0b10000000],
  ] as const;
  for (const [n, decision, value, code] of rows) {
    t.equal(decisions[n], decision, `x${n}`);
    t.equal(quantized[n], value, `y${n}`);
    t.equal(positiveCode(n), code, `code ${n}`);
    t.equal(MULAW_TO_PCM[code], value * SCALE, `decoded ${n}`);
  }
  t.equal(decisions[128], 8159);
});

t.test('every one of the 256 codes decodes to its quantized value', async (t) => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const out = new Int16Array(256);
  t.equal(decodeMulaw(codes, out), 256);
  for (let n = 0; n < 128; n++) {
    t.equal(out[positiveCode(n)], quantized[n]! * SCALE, `+y${n}`);
    t.equal(out[negativeCode(n)], 0 - quantized[n]! * SCALE, `-y${n}`);
  }
  t.equal(out[MULAW_SILENCE], 0);
});

t.test('every sample between two decision values takes the code of its interval', async (t) => {
  const wrong: number[] = [];
  for (let n = 0; n < 128; n++) {
    const low = decisions[n]! * SCALE;
    const high = Math.min(decisions[n + 1]! * SCALE, 32768);
    // A value on a decision value belongs above it when positive, below it when negative (G.191); the middle is free of doubt.
    for (let sample = low; sample < high; sample++) {
      if (encodeOne(sample) !== positiveCode(n)) wrong.push(sample);
    }
    for (let sample = low + 1; sample <= high; sample++) {
      if (encodeOne(-sample) !== negativeCode(n)) wrong.push(-sample);
    }
  }
  t.same(wrong, []);
  t.equal(encodeOne(32767), 0x80, 'overload is clipped');
  t.equal(encodeOne(-32768), 0x00, 'negative overload is clipped');
});

t.test(
  'a round trip of all 65,536 samples stays within half a step, and a second one changes nothing',
  async (t) => {
    const pcm = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
    const coded = new Uint8Array(65536);
    const back = new Int16Array(65536);
    t.equal(encodeMulaw(pcm, coded), 65536);
    decodeMulaw(coded, back);
    const wrong: number[] = [];
    for (let i = 0; i < pcm.length; i++) {
      const magnitude = Math.min(Math.abs(pcm[i]!), decisions[128]! * SCALE);
      const n = Math.min(
        decisions.findLastIndex((x) => x * SCALE <= magnitude),
        127,
      );
      const half = n === 0 ? SCALE : ((decisions[n + 1]! - decisions[n]!) * SCALE) / 2;
      if (Math.abs(Math.abs(back[i]!) - magnitude) > half) wrong.push(pcm[i]!);
    }
    t.same(wrong, []);
    // Only the two zeros share a value, so codes other than negative zero survive a round trip.
    const again = new Uint8Array(65536);
    encodeMulaw(back, again);
    t.ok(again.every((code, i) => code === coded[i] || (coded[i] === 0x7f && code === 0xff)));
  },
);

t.test('another library, wavefile, decodes alike, and encodes alike but for negative ties', async (t) => {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(
    1,
    8000,
    '8m',
    Uint8Array.from({ length: 256 }, (_, code) => code),
  );
  wav.fromMuLaw();
  t.same(Array.from(wav.getSamples(false, Int16Array)), Array.from(MULAW_TO_PCM));

  const pcm = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
  const other = new wavefile.WaveFile();
  other.fromScratch(1, 8000, '16', pcm);
  other.toMuLaw();
  const theirs = other.getSamples(false, Uint8Array);
  const ours = new Uint8Array(65536);
  encodeMulaw(pcm, ours);
  const ties = new Set(decisions.map((x) => -x * SCALE));
  const differing = Array.from(pcm).filter((_, i) => theirs[i] !== ours[i]);
  t.same(
    differing.filter((sample) => !ties.has(sample)),
    [],
  );
});

t.test('an output that is too short is refused', async (t) => {
  t.throws(() => decodeMulaw(new Uint8Array(160), new Int16Array(159)), RangeError);
  t.throws(() => encodeMulaw(new Int16Array(160), new Uint8Array(159)), RangeError);
  t.throws(() => decodeAlaw(new Uint8Array(160), new Int16Array(159)), RangeError);
  t.throws(() => encodeAlaw(new Int16Array(160), new Uint8Array(159)), RangeError);
});

// ---- A-law: ITU-T G.711 (11/1988), table 1, seven segments on a 13-bit scale whose virtual end is 4096 ----

const ALAW_SEGMENTS = [
  { steps: 32, size: 2 },
  { steps: 16, size: 4 },
  { steps: 16, size: 8 },
  { steps: 16, size: 16 },
  { steps: 16, size: 32 },
  { steps: 16, size: 64 },
  { steps: 16, size: 128 },
];
/** x0..x128. */
const alawDecisions = [0];
for (const { steps, size } of ALAW_SEGMENTS) {
  for (let i = 0; i < steps; i++) alawDecisions.push(alawDecisions.at(-1)! + size);
}
/** y1..y128, the middle of each interval, at 0..127. */
const alawQuantized = alawDecisions.slice(0, 128).map((low, n) => (low + alawDecisions[n + 1]!) / 2);
/** What is sent has the even bits of the character signal inverted (table 1, note 2). */
const alawCode = (sign: 0x80 | 0, interval: number) => (sign | interval) ^ 0x55;
/** 16-bit PCM is the 13-bit scale times eight. */
const ALAW_SCALE = 8;

function encodeOneAlaw(sample: number): number {
  const out = new Uint8Array(1);
  encodeAlaw(Int16Array.of(sample), out);
  return out[0]!;
}

t.test('the rows printed in G.711 table 1a hold', async (t) => {
  // [n, decision value x_n, quantized value y_n of the interval above, character signal before inversion], as printed.
  const rows = [
    [0, 0, 1, 0b10000000],
    [32, 64, 66, 0b10100000],
    [48, 128, 132, 0b10110000],
    [64, 256, 264, 0b11000000],
    [80, 512, 528, 0b11010000],
    [96, 1024, 1056, 0b11100000],
    [112, 2048, 2112, 0b11110000],
    [127, 3968, 4032, 0b11111111],
  ] as const;
  for (const [n, decision, value, signal] of rows) {
    t.equal(alawDecisions[n], decision, `x${n}`);
    t.equal(alawQuantized[n], value, `y${n + 1}`);
    t.equal(0x80 | n, signal, `signal ${n}`);
    t.equal(ALAW_TO_PCM[signal ^ 0x55], value * ALAW_SCALE, `decoded ${n}`);
  }
  t.equal(alawDecisions[128], 4096);
});

t.test('every one of the 256 codes of A-law decodes to its quantized value', async (t) => {
  const out = new Int16Array(256);
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  t.equal(decodeAlaw(codes, out), 256);
  for (let n = 0; n < 128; n++) {
    t.equal(out[alawCode(0x80, n)], alawQuantized[n]! * ALAW_SCALE, `+y${n + 1}`);
    t.equal(out[alawCode(0, n)], -alawQuantized[n]! * ALAW_SCALE, `-y${n + 1}`);
  }
});

t.test('every sample between two decision values takes the code of its interval in A-law', async (t) => {
  const wrong: number[] = [];
  for (let n = 0; n < 128; n++) {
    const low = alawDecisions[n]! * ALAW_SCALE;
    const high = alawDecisions[n + 1]! * ALAW_SCALE;
    // As with mu-law: one on a decision value belongs above it when positive, below it when negative (G.191).
    for (let sample = low; sample < high; sample++) {
      if (encodeOneAlaw(sample) !== alawCode(0x80, n)) wrong.push(sample);
    }
    for (let sample = low + 1; sample <= high; sample++) {
      if (encodeOneAlaw(-sample) !== alawCode(0, n)) wrong.push(-sample);
    }
  }
  t.same(wrong, []);
});

t.test('A-law: a code survives decoding and encoding, and wavefile decodes alike', async (t) => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const pcm = new Int16Array(256);
  const again = new Uint8Array(256);
  decodeAlaw(codes, pcm);
  encodeAlaw(pcm, again);
  t.same(again, codes);
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, 8000, '8a', codes);
  wav.fromALaw();
  t.same(Array.from(wav.getSamples(false, Int16Array)), Array.from(pcm));
});
