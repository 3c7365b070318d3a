// Sounds in one format and another, and how alike two of them are.
import { createConverter } from '../../audio/converter.ts';
import type { AudioFormat } from '../../audio/format.ts';

/** All of a sound in another format. */
export const inFormat = (sound: Buffer, from: AudioFormat, to: AudioFormat): Buffer =>
  Buffer.from(createConverter(from, to).convert(sound));

/** All of a sound in linear samples of another rate. */
export const samplesOf = (sound: Buffer, from: AudioFormat, rateHz: AudioFormat['rateHz']): Int16Array =>
  new Int16Array(Uint8Array.from(inFormat(sound, from, { encoding: 'pcm16', rateHz })).buffer);

export const bytesOf = (samples: Int16Array): Buffer =>
  Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);

/** How alike two sounds of 8 kHz are, 0 to 1, the second up to `mostMs` later. */
export function likeness(one: Int16Array, other: Int16Array, mostMs = 8): number {
  let best = 0;
  for (let lag = 0; lag <= mostMs * 8; lag++) {
    let both = 0;
    let first = 0;
    let second = 0;
    for (let i = 0; i + lag < other.length && i < one.length; i++) {
      both += one[i]! * other[i + lag]!;
      first += one[i]! ** 2;
      second += other[i + lag]! ** 2;
    }
    best = Math.max(best, both / Math.sqrt(first * second || 1));
  }
  return best;
}
