// PURE. The codec of an OpenAI Realtime socket, made for audio: long deltas are read, and appends written, without JSON.
// The other events are in server-events.ts and client-events.ts; what they mean is the session's.
import type { FrameWriter } from '../../sockets/frames.ts';
import { decodeServerEvent, type ModelEvent } from './server-events.ts';

const DELTA_KEY = Buffer.from('"delta":"');
const QUOTE = 0x22;
const BRACE = 0x7d;
/** What is shorter, all words among it, JSON reads as quickly. */
const LONG_BYTES = 1_024;
/** Of today and of the beta. */
const AUDIO_DELTAS: ReadonlySet<unknown> = new Set(['response.output_audio.delta', 'response.audio.delta']);
const APPEND_HEAD = '{"type":"input_audio_buffer.append","audio":"';
const APPEND_TAIL = '"}';

/** A codec for one socket. Decoded audio stands in a buffer that the next decode overwrites. */
export function createOpenAIWire(): {
  decode(data: Buffer, isBinary: boolean): ModelEvent;
  /** Writes an append event of audio. */
  append(message: FrameWriter, payload: Buffer): void;
} {
  // Not from Node's pool: what lives as long as a session would keep a whole slab of it.
  let decoded = Buffer.allocUnsafeSlow(4_096);

  function decodeAudio(text: string): Buffer | null {
    const length = text.length;
    if (length % 4 !== 0) return null;
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    const bytes = (length / 4) * 3 - padding;
    if (bytes > decoded.length) decoded = Buffer.allocUnsafeSlow(bytes * 2);
    // Node's decoder skips what it does not know: fewer bytes than promised mean that something was skipped.
    return decoded.write(text, 0, 'base64') === bytes ? decoded.subarray(0, bytes) : null;
  }

  /** A delta of sound whose last field is `delta`, as the real server lays it out; null for all else. */
  function decodeKnownLayout(data: Buffer): ModelEvent | null {
    const end = data.length - 2;
    if (data[end] !== QUOTE || data[end + 1] !== BRACE) return null;
    const at = data.indexOf(DELTA_KEY);
    const head = at < 0 ? null : readHead(data.toString('utf8', 0, at));
    if (head === null || !AUDIO_DELTAS.has(head.type)) return null;
    const { response_id: responseId, item_id: itemId } = head;
    if (typeof responseId !== 'string' || typeof itemId !== 'string') return null;
    // What is base64 to its last character has no quote in it, and no escape.
    const payload = decodeAudio(data.toString('latin1', at + DELTA_KEY.length, end));
    return payload === null ? null : { type: 'audio', responseId, itemId, payload };
  }

  return {
    decode(data, isBinary) {
      if (isBinary) return { type: 'malformed', why: 'binary frame' };
      const known = data.length < LONG_BYTES ? null : decodeKnownLayout(data);
      if (known !== null) return known;
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

/**
 * The fields before `delta`, read by JSON: of a name that comes twice, or in an object within, it knows whose it is. Null where
 * `delta` is no field of the event itself, and where this is no JSON.
 */
function readHead(text: string): Record<string, unknown> | null {
  try {
    return JSON.parse(`${text}"delta":""}`) as Record<string, unknown>;
  } catch {
    return null;
  }
}
