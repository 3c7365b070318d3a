// PURE. The codec of an OpenAI Realtime socket, made for audio: deltas are read and appends written without JSON.
// The other events are in server-events.ts and client-events.ts; what they mean is the session's.
import type { FrameWriter } from '../../sockets/frames.ts';
import { decodeServerEvent, type ModelEvent } from './server-events.ts';

const DELTA_KEY = Buffer.from('"delta":"');
/** The keys before the audio of a delta take about 220 bytes. */
const MAX_HEAD_BYTES = 600;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** What the deltas bring that are read without JSON, by their names of today and of the beta. */
const DELTAS: ReadonlyMap<string, 'audio' | 'text'> = new Map([
  ['response.output_audio.delta', 'audio'],
  ['response.audio.delta', 'audio'],
  ['response.output_audio_transcript.delta', 'text'],
  ['response.audio_transcript.delta', 'text'],
  ['response.output_text.delta', 'text'],
  ['response.text.delta', 'text'],
]);
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
  // Those of the last delta: the next one is of the same item.
  let responseId = '';
  let itemId = '';

  function decodeAudio(text: string): Buffer | null {
    const length = text.length;
    if (length % 4 !== 0) return null;
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    const bytes = (length / 4) * 3 - padding;
    if (bytes > decoded.length) decoded = Buffer.allocUnsafeSlow(bytes * 2);
    // Node's decoder skips what it does not know: fewer bytes than promised mean that something was skipped.
    return decoded.write(text, 0, 'base64') === bytes ? decoded.subarray(0, bytes) : null;
  }

  /** A delta of sound or words whose last field is `delta`, as the real server lays it out; null for all else. */
  function decodeKnownLayout(data: Buffer): ModelEvent | null {
    const found = data.subarray(0, MAX_HEAD_BYTES).indexOf(DELTA_KEY);
    if (found < 0) return null;
    const start = found + DELTA_KEY.length;
    const end = data.indexOf(QUOTE, start);
    if (end !== data.length - 2 || data[end + 1] !== 0x7d) return null;
    const head = data.toString('latin1', 0, found);
    if (head.includes('\\')) return null;
    const brings = DELTAS.get(stringAfter(data, head, '"type":"', '') ?? '');
    if (brings === undefined) return null;
    const response = stringAfter(data, head, '"response_id":"', responseId);
    const item = stringAfter(data, head, '"item_id":"', itemId);
    if (response === null || item === null) return null;
    responseId = response;
    itemId = item;
    if (brings === 'text') {
      if (!isPlain(data, start, end)) return null;
      return { type: 'text', responseId, itemId, delta: data.toString('utf8', start, end) };
    }
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

/** The string that follows `key`; `last` itself where it is that again. Null: there is none, or an empty one. */
function stringAfter(data: Buffer, head: string, key: string, last: string): string | null {
  const at = head.indexOf(key);
  if (at < 0) return null;
  const start = at + key.length;
  const end = head.indexOf('"', start);
  if (end <= start) return null;
  if (end - start === last.length && head.startsWith(last, start)) return last;
  // A string of its own: a part of the head would keep all of it.
  return data.toString('utf8', start, end);
}

/** Whether a string of JSON stands for itself: it has no escapes. What may not stand in one at all is left to JSON to refuse. */
function isPlain(data: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (data[at]! < 0x20 || data[at] === BACKSLASH) return false;
  return true;
}
