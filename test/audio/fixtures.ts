// Recorded speech for the tests of this folder; where it comes from is told in test/fixtures/audio/NOTICE.md.
import { readFileSync } from 'node:fs';
import wavefile from 'wavefile';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';

export type Recorded = 'jfk-8k' | 'caller-thanks' | 'caller-more-info' | 'voicemail-greeting-with-beep';

/** 8 kHz mono PCM of a recording. */
export function readFixture(name: Recorded): Int16Array {
  const url = new URL(`../fixtures/audio/${name}.wav`, import.meta.url);
  return Int16Array.from(new wavefile.WaveFile(readFileSync(url)).getSamples(false, Int16Array));
}

/** Sines of the given frequencies together, each of `amplitude`. */
export function tones(frequenciesHz: readonly number[], ms: number, amplitude = 6000): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, n) =>
    Math.round(
      frequenciesHz.reduce((sum, hz) => sum + amplitude * Math.sin((2 * Math.PI * hz * n) / 8000 + hz), 0),
    ),
  );
}

/** Even noise from a fixed seed, within +-`amplitude`. */
export function noise(ms: number, amplitude: number): Int16Array {
  let seed = 42;
  return Int16Array.from({ length: ms * 8 }, () => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.round((seed / 1073741824 - 1) * amplitude);
  });
}

export const silence = (ms: number): Int16Array => new Int16Array(ms * 8);

export function join(...parts: readonly Int16Array[]): Int16Array {
  const out = new Int16Array(parts.reduce((total, part) => total + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** As a carrier sends it. */
export function toMulaw(pcm: Int16Array): Uint8Array {
  const out = new Uint8Array(pcm.length);
  encodeMulaw(pcm, out);
  return out;
}

/** What is left of a sound behind a carrier. */
export function throughMulaw(pcm: Int16Array): Int16Array {
  const out = new Int16Array(pcm.length);
  decodeMulaw(toMulaw(pcm), out);
  return out;
}
