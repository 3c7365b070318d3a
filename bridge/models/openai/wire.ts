// PURE. The codec of an OpenAI Realtime socket, made for audio: deltas are read and appends written without JSON.
// The other events are in server-events.ts and client-events.ts; what they mean is the session's.
import type { FrameWriter } from '../../sockets/frames.ts';
import { decodeServerEvent, type ModelEvent } from './server-events.ts';

const DELTA_KEY = Buffer.from('"delta":"');
/** The keys before the audio of a delta take about 220 bytes. */
const MAX_HEAD_BYTES = 600;
const QUOTE = 0x22;
const APPEND_HEAD = '{"type":"input_audio_buffer.append","audio":"';
const APPEND_TAIL = '"}';

/** A codec for one socket. Decoded audio stands in a buffer that the next decode overwrites. */
export function createOpenAIWire(): {
  decode(data: Buffer, isBinary: boolean): ModelEvent;
  /** Writes an append event of audio. */
  append(message: FrameWriter, payload: Buffer): void;
} {
  let decoded = Buffer.allocUnsafe(4_096);

  function decodeAudio(text: string): Buffer | null {
    const length = text.length;
    if (length % 4 !== 0) return null;
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    const bytes = (length / 4) * 3 - padding;
    if (bytes > decoded.length) decoded = Buffer.allocUnsafe(bytes * 2);
    // Node's decoder skips what it does not know: fewer bytes than promised mean that something was skipped.
    return decoded.write(text, 0, 'base64') === bytes ? decoded.subarray(0, bytes) : null;
  }

  /** An audio delta whose last field is `delta`, as the real server lays it out; null for all else. */
  function decodeKnownLayout(data: Buffer): ModelEvent | null {
    const found = data.subarray(0, MAX_HEAD_BYTES).indexOf(DELTA_KEY);
    if (found < 0) return null;
    const head = data.toString('latin1', 0, found);
    if (
      !head.includes('"type":"response.output_audio.delta"') &&
      !head.includes('"type":"response.audio.delta"')
    )
      return null;
    const start = found + DELTA_KEY.length;
    const end = data.indexOf(QUOTE, start);
    if (end !== data.length - 2 || data[end + 1] !== 0x7d || head.includes('\\')) return null;
    const responseId = idAfter(head, '"response_id":"');
    const itemId = idAfter(head, '"item_id":"');
    if (responseId === null || itemId === null) return null;
    const payload = decodeAudio(data.toString('latin1', start, end));
    return payload === null ? null : { type: 'audio', responseId, itemId, payload };
  }

  return {
    decode(data, isBinary) {
      if (isBinary) return { type: 'malformed', why: 'binary frame' };
      const known = decodeKnownLayout(data);
      if (known) return known;
      let event: unknown;
      try {
        event = JSON.parse(data.toString('utf8'));
      } catch {
        return { type: 'malformed', why: 'not JSON' };
      }
      return decodeServerEvent(event, decodeAudio);
    },
    append(message, payload) {
      message.text(APPEND_HEAD).base64(payload).text(APPEND_TAIL);
    },
  };
}

function idAfter(head: string, key: string): string | null {
  const at = head.indexOf(key);
  if (at < 0) return null;
  const start = at + key.length;
  const end = head.indexOf('"', start);
  return end <= start ? null : head.slice(start, end);
}
