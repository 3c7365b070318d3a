// PURE. Mu-law at 8 kHz (ITU-T G.711), by table: what a phone line carries, to 16-bit PCM and back.
// Two's complement to sign and magnitude follows ITU-T G.191 (`ulaw_compress`): negative values take one's complement.

export const RATE_HZ = 8000;
/** Mu-law bytes, and PCM samples, in a millisecond. */
export const BYTES_PER_MS = 8;
/** A frame is 20 ms. */
export const FRAME_MS = 20;
export const FRAME_BYTES = 160;
/** The mu-law code of zero (positive). */
export const MULAW_SILENCE = 0xff;

// G.711 works on 14-bit values: 8 segments of 16 steps on a magnitude shifted up by 33, so that every segment is a power of two.
const BIAS = 33;
const LARGEST = 8191;

/** Mu-law code to 16-bit PCM, all 256 codes. Read only. */
export const MULAW_TO_PCM: Int16Array = decodeTable();
// Indexed by the upper 14 bits of a sample; the lower two never decide.
const PCM_TO_MULAW: Uint8Array = encodeTable();

/** Decodes `payload` into `out`, a sample a byte. Answers the samples written. @throws RangeError when `out` is too short */
export function decodeMulaw(payload: Uint8Array, out: Int16Array): number {
  const length = payload.length;
  if (out.length < length) throw new RangeError(`decodeMulaw: ${length} samples do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = MULAW_TO_PCM[payload[i]!]!;
  return length;
}

/** Encodes 16-bit PCM into `out`, a byte a sample. Answers the bytes written. @throws RangeError when `out` is too short */
export function encodeMulaw(pcm: Int16Array, out: Uint8Array): number {
  const length = pcm.length;
  if (out.length < length) throw new RangeError(`encodeMulaw: ${length} bytes do not fit in ${out.length}`);
  for (let i = 0; i < length; i++) out[i] = PCM_TO_MULAW[(pcm[i]! >> 2) & 0x3fff]!;
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
