// PURE. The audio formats of OpenAI Realtime, by the names of both dialects: mu-law, A-law, and linear samples at 24 kHz alone.
import type { AudioFormat } from '../../../audio/format.ts';

type WireFormat = { type: 'audio/pcmu' } | { type: 'audio/pcma' } | { type: 'audio/pcm'; rate: 24000 };

/** What a session uses both ways for a line: a law as it is, anything wider as linear samples. */
export function formatFor(line: AudioFormat): AudioFormat {
  if (line.encoding !== 'pcm16' && line.rateHz === 8000) return line;
  return { encoding: 'pcm16', rateHz: 24000 };
}

/** A format as the session's configuration has it. */
export function wireFormat({ encoding }: AudioFormat): WireFormat {
  switch (encoding) {
    case 'mulaw':
      return { type: 'audio/pcmu' };
    case 'alaw':
      return { type: 'audio/pcma' };
    case 'pcm16':
      return { type: 'audio/pcm', rate: 24000 };
  }
}

const NAMES: Record<AudioFormat['encoding'], readonly string[]> = {
  mulaw: ['audio/pcmu', 'g711_ulaw'],
  alaw: ['audio/pcma', 'g711_alaw'],
  pcm16: ['audio/pcm', 'pcm16'],
};

/** Whether the server's word for a format, in either dialect, means this one. */
export function isFormat(name: string, format: AudioFormat): boolean {
  return NAMES[format.encoding].includes(name);
}
