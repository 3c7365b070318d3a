// PURE. Mu-law and A-law (ITU-T G.711) by table, both ways, on 16-bit samples; the tables come from the wavefile library.
import wavefile from 'wavefile';

const everySample = Int16Array.from({ length: 65536 }, (_, index) => index - 32768);
const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);

function encodeTable(law: 'mulaw' | 'alaw'): Uint8Array {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, 8000, '16', everySample);
  if (law === 'mulaw') wav.toMuLaw();
  else wav.toALaw();
  return Uint8Array.from(wav.getSamples(false, Uint8Array) as unknown as Uint8Array);
}

function decodeTable(law: 'mulaw' | 'alaw'): Int16Array {
  const wav = new wavefile.WaveFile();
  wav.fromScratch(1, 8000, law === 'mulaw' ? '8m' : '8a', everyByte);
  if (law === 'mulaw') wav.fromMuLaw('16');
  else wav.fromALaw('16');
  return Int16Array.from(wav.getSamples(false, Int16Array) as unknown as Int16Array);
}

const mulawBytes = encodeTable('mulaw');
const mulawSamples = decodeTable('mulaw');
const alawBytes = encodeTable('alaw');
const alawSamples = decodeTable('alaw');

function encode(table: Uint8Array, samples: Int16Array): Buffer {
  const bytes = Buffer.allocUnsafe(samples.length);
  for (let i = 0; i < samples.length; i++) bytes[i] = table[samples[i]! + 32768]!;
  return bytes;
}

function decode(table: Int16Array, bytes: Uint8Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) samples[i] = table[bytes[i]!]!;
  return samples;
}

/** 16-bit samples to mu-law bytes, one each. */
export const encodeMulaw = (samples: Int16Array): Buffer => encode(mulawBytes, samples);
/** Mu-law bytes to 16-bit samples. */
export const decodeMulaw = (bytes: Uint8Array): Int16Array => decode(mulawSamples, bytes);
/** 16-bit samples to A-law bytes, one each. */
export const encodeAlaw = (samples: Int16Array): Buffer => encode(alawBytes, samples);
/** A-law bytes to 16-bit samples. */
export const decodeAlaw = (bytes: Uint8Array): Int16Array => decode(alawSamples, bytes);
