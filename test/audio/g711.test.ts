// Both laws against the tables of ITU-T G.711 (11/1988): every code, every sample.
import t from 'tap';
import { MULAW_SILENCE } from '../../audio/format.ts';
import {
  ALAW_TO_PCM,
  decodeAlaw,
  decodeMulaw,
  encodeAlaw,
  encodeMulaw,
  MULAW_TO_PCM,
} from '../../audio/g711.ts';

interface Law {
  name: string;
  decode(codes: Uint8Array, samples: Int16Array): number;
  encode(samples: Int16Array, codes: Uint8Array): number;
  toPcm: Int16Array;
  /** The steps of the half-axis: how many of which size. */
  segments: readonly { steps: number; size: number }[];
  /** The virtual end of the scale, and what one of it is in 16-bit PCM. */
  end: number;
  scale: number;
  /** Whether the first interval is the one value 0, of which there are two codes. */
  hasTwoZeros: boolean;
  /** What is sent for interval n of one side. */
  code(n: number, isPositive: boolean): number;
  /** Rows as printed: n, decision value x_n, quantized value of the interval above, what is sent for it. */
  rows: readonly (readonly [number, number, number, number])[];
}

const sizes = (first: readonly [steps: number, size: number], ...others: readonly number[]) => [
  { steps: first[0], size: first[1] },
  ...others.map((size) => ({ steps: 16, size })),
];

const LAWS: readonly Law[] = [
  {
    // Table 2, a 14-bit scale; column 5 has the decision values, column 8 the quantized ones, column 6 the character signals.
    name: 'mu-law',
    decode: decodeMulaw,
    encode: encodeMulaw,
    toPcm: MULAW_TO_PCM,
    segments: [{ steps: 1, size: 1 }, ...sizes([15, 2], 4, 8, 16, 32, 64, 128, 256)],
    end: 8159,
    scale: 4,
    hasTwoZeros: true,
    code: (n, isPositive) => (isPositive ? 0xff : 0x7f) - n,
    rows: [
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
    ],
  },
  {
    // Table 1, a 13-bit scale; what is sent has the even bits of the character signal inverted (note 2).
    name: 'A-law',
    decode: decodeAlaw,
    encode: encodeAlaw,
    toPcm: ALAW_TO_PCM,
    segments: sizes([32, 2], 4, 8, 16, 32, 64, 128),
    end: 4096,
    scale: 8,
    hasTwoZeros: false,
    code: (n, isPositive) => ((isPositive ? 0x80 : 0) | n) ^ 0x55,
    rows: [
      [0, 0, 1, 0b10000000 ^ 0x55],
      [32, 64, 66, 0b10100000 ^ 0x55],
      [48, 128, 132, 0b10110000 ^ 0x55],
      [64, 256, 264, 0b11000000 ^ 0x55],
      [80, 512, 528, 0b11010000 ^ 0x55],
      [96, 1024, 1056, 0b11100000 ^ 0x55],
      [112, 2048, 2112, 0b11110000 ^ 0x55],
      [127, 3968, 4032, 0b11111111 ^ 0x55],
    ],
  },
];

for (const { name, decode, encode, toPcm, segments, end, scale, hasTwoZeros, code, rows } of LAWS) {
  const decisions = [0];
  for (const { steps, size } of segments)
    for (let i = 0; i < steps; i++) decisions.push(decisions.at(-1)! + size);
  // The middle of each interval; mu-law's first is 0 itself.
  const quantized = decisions
    .slice(0, 128)
    .map((low, n) => (hasTwoZeros && n === 0 ? 0 : (low + decisions[n + 1]!) / 2));

  t.test(`${name}: the rows that are printed hold`, async (t) => {
    for (const [n, decision, value, sent] of rows) {
      t.equal(decisions[n], decision, `x${n}`);
      t.equal(quantized[n], value, `the value above x${n}`);
      t.equal(code(n, true), sent, `code ${n}`);
    }
    t.equal(decisions[128], end);
  });

  t.test(`${name}: every one of the 256 codes decodes to its quantized value`, async (t) => {
    const codes = Uint8Array.from({ length: 256 }, (_, one) => one);
    const out = new Int16Array(256);
    t.equal(decode(codes, out), 256);
    for (let n = 0; n < 128; n++) {
      t.equal(out[code(n, true)], quantized[n]! * scale, `+${n}`);
      t.equal(out[code(n, false)], 0 - quantized[n]! * scale, `-${n}`);
    }
    t.same(Array.from(toPcm), Array.from(out), 'the table is what decoding gives');
    const again = new Uint8Array(256);
    t.equal(encode(out, again), 256);
    const isKept = (one: number) =>
      again[one] === one || (hasTwoZeros && one === 0x7f && again[one] === 0xff);
    t.ok(codes.every(isKept), 'a code survives decoding and encoding, but for the second zero');
  });

  t.test(`${name}: every sample between two decision values takes the code of its interval`, async (t) => {
    const samples = Int16Array.from({ length: 65536 }, (_, i) => i - 32768);
    const codes = new Uint8Array(65536);
    t.equal(encode(samples, codes), 65536);
    const of = (sample: number) => codes[sample + 32768];
    const wrong: number[] = [];
    for (let n = 0; n < 128; n++) {
      const low = decisions[n]! * scale;
      const high = decisions[n + 1]! * scale;
      // One on a decision value belongs above it when positive, below it when negative (G.191); the middle is free of doubt.
      for (let sample = low; sample < high; sample++) if (of(sample) !== code(n, true)) wrong.push(sample);
      for (let sample = low + 1; sample <= high; sample++)
        if (of(-sample) !== code(n, false)) wrong.push(-sample);
    }
    t.same(wrong, []);
    t.equal(of(32767), code(127, true), 'overload is clipped');
    t.equal(of(-32768), code(127, false), 'negative overload is clipped');
  });

  t.test(`${name}: an output that is too short is refused`, async (t) => {
    t.throws(() => decode(new Uint8Array(160), new Int16Array(159)), RangeError);
    t.throws(() => encode(new Int16Array(160), new Uint8Array(159)), RangeError);
  });
}

t.test('silence of mu-law is silent', async (t) => {
  t.equal(MULAW_TO_PCM[MULAW_SILENCE], 0);
});
