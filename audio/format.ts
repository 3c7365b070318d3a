// PURE. How sound is written down between two parties: each end of a call declares its own format.

export interface AudioFormat {
  /** G.711's two laws, a byte per sample; `pcm16`: 16 bits per sample, signed, little-endian. One channel. */
  readonly encoding: 'mulaw' | 'alaw' | 'pcm16';
  readonly rateHz: 8000 | 16000 | 24000;
}

/** A telephone line's in North America and Japan, and what most carriers' streams are. */
export const MULAW_8K: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };

/** Bytes of a millisecond. */
export function bytesPerMs({ encoding, rateHz }: AudioFormat): number {
  return ((encoding === 'pcm16' ? 2 : 1) * rateHz) / 1000;
}

export function sameFormat(a: AudioFormat, b: AudioFormat): boolean {
  return a.encoding === b.encoding && a.rateHz === b.rateHz;
}

/** The byte that silence is made of. */
export function silentByte({ encoding }: AudioFormat): number {
  switch (encoding) {
    case 'mulaw':
      return 0xff;
    case 'alaw':
      return 0xd5;
    case 'pcm16':
      return 0;
  }
}
