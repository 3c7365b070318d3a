// PURE. How sound is written down between two parties, and how many bytes a time is: each end of a call declares its format.

export interface AudioFormat {
  /** G.711's two laws, a byte per sample; `pcm16`: 16 bits per sample, signed, little-endian. One channel. */
  readonly encoding: 'mulaw' | 'alaw' | 'pcm16';
  readonly rateHz: 8000 | 16000 | 24000;
}

/** A telephone line's in North America and Japan, and what most carriers' streams are. */
export const MULAW_8K: AudioFormat = { encoding: 'mulaw', rateHz: 8000 };

/** Bytes of a sample. */
export function sampleBytes({ encoding }: AudioFormat): number {
  return encoding === 'pcm16' ? 2 : 1;
}

/** Bytes of a millisecond. */
export function bytesPerMs(format: AudioFormat): number {
  return (sampleBytes(format) * format.rateHz) / 1000;
}

/** A frame is 20 ms. */
export const FRAME_MS = 20;

/** Bytes of a frame. */
export function frameBytes(format: AudioFormat): number {
  return FRAME_MS * bytesPerMs(format);
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

// What is listened to and recorded, whatever the line brings: mu-law at 8 kHz, a byte a sample.
export const RATE_HZ = MULAW_8K.rateHz;
/** Bytes, and samples, of a millisecond. */
export const BYTES_PER_MS = bytesPerMs(MULAW_8K);
export const FRAME_BYTES = frameBytes(MULAW_8K);
export const MULAW_SILENCE = silentByte(MULAW_8K);
