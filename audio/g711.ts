// PURE. Mu-law and A-law (ITU-T G.711), by table: what phone lines carry, to 16-bit PCM and back.
// Two's complement to sign and magnitude follows ITU-T G.191 (`ulaw_compress`, `alaw_compress`): negative values take one's
// complement.

// G.711 works on 14-bit values: 8 segments of 16 steps on a magnitude shifted up by 33, so that every segment is a power of two.
const BIAS = 33;
const LARGEST = 8191;

// A-law works on 13-bit values: 7 segments, the first of 32 steps, the others of 16; every other bit of a code is inverted.
const ALTERNATE = 0x55;

/** Mu-law code to 16-bit PCM, all 256 codes. Read only. */
export const MULAW_TO_PCM: Int16Array = decodeTable();
// Indexed by the upper 14 bits of a sample; the lower two never decide.
const PCM_TO_MULAW: Uint8Array = encodeTable();

/** A-law code to 16-bit PCM, all 256 codes. Read only. */
export const ALAW_TO_PCM: Int16Array = decodeAlawTable();
// Indexed by the upper 12 bits of a sample; the lower four never decide.
const PCM_TO_ALAW: Uint8Array = encodeAlawTable();

/** The mu-law code of a 16-bit sample. */
export function mulawOf(sample: number): number {
  return PCM_TO_MULAW[(sample >> 2) & 0x3fff]!;
}

/** The A-law code of a 16-bit sample. */
export function alawOf(sample: number): number {
  return PCM_TO_ALAW[(sample >> 4) & 0xfff]!;
}

/** Decodes `payload` into `out`, a sample per byte. Answers the samples written. @throws RangeError when `out` is too short */
export function decodeMulaw(payload: Uint8Array, out: Int16Array): number {
  const length = payload.length;
  if (out.length < length) throw new RangeError(`decodeMulaw: ${length} samples do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = MULAW_TO_PCM[payload[i]!]!;
  return length;
}

/** Encodes 16-bit PCM into `out`, a byte per sample. Answers the bytes written. @throws RangeError when `out` is too short */
export function encodeMulaw(pcm: Int16Array, out: Uint8Array): number {
  const length = pcm.length;
  if (out.length < length) throw new RangeError(`encodeMulaw: ${length} bytes do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = mulawOf(pcm[i]!);
  return length;
}

/** As `decodeMulaw`, for A-law. @throws RangeError when `out` is too short */
export function decodeAlaw(payload: Uint8Array, out: Int16Array): number {
  const length = payload.length;
  if (out.length < length) throw new RangeError(`decodeAlaw: ${length} samples do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = ALAW_TO_PCM[payload[i]!]!;
  return length;
}

/** As `encodeMulaw`, for A-law. @throws RangeError when `out` is too short */
export function encodeAlaw(pcm: Int16Array, out: Uint8Array): number {
  const length = pcm.length;
  if (out.length < length) throw new RangeError(`encodeAlaw: ${length} bytes do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = alawOf(pcm[i]!);
  return length;
}

function decodeTable(): Int16Array {
  const table = new Int16Array(256);
  for (let code = 0; code < 256; code++) {
    const bits = ~code & 0xff;
    const segment = (bits >> 4) & 7;
    const magnitude = (((((bits & 15) << 1) + BIAS) << segment) - BIAS) << 2;
    table[code] = bits & 0x80 ? -magnitude : magnitude;
  }
  return table;
}

function encodeTable(): Uint8Array {
  const table = new Uint8Array(16384);
  for (let index = 0; index < 16384; index++) {
    const value = index < 8192 ? index : index - 16384;
    const magnitude = Math.min((value < 0 ? ~value : value) + BIAS, LARGEST);
    const segment = 31 - Math.clz32(magnitude) - 5;
    const bits = (value < 0 ? 0x80 : 0) | (segment << 4) | ((magnitude >> (segment + 1)) & 15);
    table[index] = ~bits & 0xff;
  }
  return table;
}

function decodeAlawTable(): Int16Array {
  const table = new Int16Array(256);
  for (let code = 0; code < 256; code++) {
    const bits = code ^ ALTERNATE;
    const exponent = (bits >> 4) & 7;
    const step = exponent === 0 ? bits & 15 : (bits & 15) + 16;
    const magnitude = ((step << 4) + 8) << Math.max(0, exponent - 1);
    table[code] = bits & 0x80 ? magnitude : -magnitude;
  }
  return table;
}

function encodeAlawTable(): Uint8Array {
  const table = new Uint8Array(4096);
  for (let index = 0; index < 4096; index++) {
    const value = index < 2048 ? index : index - 4096;
    const magnitude = value < 0 ? ~value : value;
    const exponent = Math.max(0, 31 - Math.clz32(magnitude) - 3);
    const step = exponent === 0 ? magnitude : (magnitude >> (exponent - 1)) & 15;
    const bits = (value < 0 ? 0 : 0x80) | (exponent << 4) | (step & 15);
    table[index] = bits ^ ALTERNATE;
  }
  return table;
}
