// PURE. ITU-T G.711 mu-law at 8 kHz, and levels of mu-law frames. Own copy: the simulator imports nothing of the daemon.

export const RATE_HZ = 8000;
export const FRAME_MS = 20;
export const FRAME_BYTES = 160;
/** +0. The other zero, 0x7F, also occurs on real lines. */
export const SILENCE_BYTE = 0xff;

const BIAS = 0x84;
const CLIP = 32635;

function decodeByte(byte: number): number {
  const inverted = ~byte & 0xff;
  const exponent = (inverted >> 4) & 7;
  const magnitude = (((inverted & 0x0f) << 3) + BIAS) << exponent;
  return inverted & 0x80 ? BIAS - magnitude : magnitude - BIAS;
}

function encodeSample(sample: number): number {
  const sign = sample < 0 ? 0x80 : 0;
  const magnitude = Math.min(Math.abs(sample), CLIP) + BIAS;
  const exponent = Math.max(0, 31 - Math.clz32(magnitude) - 7);
  return ~(sign | (exponent << 4) | ((magnitude >> (exponent + 3)) & 0x0f)) & 0xff;
}

/** mu-law byte -> 16-bit sample. */
export const DECODE = Int16Array.from({ length: 256 }, (_, byte) => decodeByte(byte));
/** (16-bit sample + 32768) -> mu-law byte. */
const ENCODE = Uint8Array.from({ length: 65536 }, (_, index) => encodeSample(index - 32768));
const SQUARE = Float64Array.from(DECODE, (sample) => sample * sample);

/** One frame of silence; never written to. */
export const SILENCE: Buffer = Buffer.alloc(FRAME_BYTES, SILENCE_BYTE);

/** 16-bit samples, clamped -> mu-law. */
export function encode(samples: ArrayLike<number>): Buffer {
  const out = Buffer.allocUnsafe(samples.length);
  for (let i = 0; i < samples.length; i++) out[i] = encodeOne(samples[i]!);
  return out;
}

export function encodeOne(sample: number): number {
  const clamped = sample > 32767 ? 32767 : sample < -32768 ? -32768 : Math.round(sample);
  return ENCODE[clamped + 32768]!;
}

/** RMS level of mu-law bytes in dB below full scale; -100 for silence. */
export function levelDb(bytes: Uint8Array): number {
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) sum += SQUARE[bytes[i]!]!;
  if (sum === 0) return -100;
  return Math.max(-100, 10 * Math.log10(sum / bytes.length / (32768 * 32768)));
}
