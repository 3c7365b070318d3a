// PURE. The codec of the media socket of a call from a browser: control/dashboard/app/browser-call.ts speaks the other end.
// The socket, its limits and the order of messages are the media thread's.
//
// Audio, both ways, is a binary frame: milliseconds since the sender's first sample (u32), the frame's number from 1 (u32),
// both big-endian, then mu-law at 8 kHz in whole pieces of 20 ms. The page sends one piece per frame, without a pause, also
// when there is no microphone: then of silence. All else is JSON text:
//
//   page -> daemon   {"type":"start","version":1,"call_id","token"}, first and once   {"type":"mark","name"}, when its
//                    audio was played or cleared   {"type":"text","text"}, typed   {"type":"digit","digit"}   {"type":"stop"}
//   daemon -> page   {"type":"mark","name"}, after the audio it follows   {"type":"clear"}: play nothing more of what came
import { bytesPerMs, frameBytes, MULAW_8K } from '../../../audio/format.ts';
import type { MediaMessage, MediaWire } from '../media-wire.ts';

const HEADER_BYTES = 8;
const FORMAT = MULAW_8K;
const BYTES_PER_MS = bytesPerMs(FORMAT);
const FRAME_BYTES = frameBytes(FORMAT);
/** A page that was held up for a moment may send what it owes in one frame: a second of it. */
const MAX_AUDIO_BYTES = 1_000 * BYTES_PER_MS;
/** The text of the longest typed turn, and room around it. */
const MAX_TEXT_BYTES = 16_384;
const VERSION = 1;

const CLEAR = '{"type":"clear"}';

/** A codec for one socket. A decoded payload is a part of the message it came in. */
export function createBrowserWire(): MediaWire {
  let sentBytes = 0;
  let sentFrames = 0;
  return {
    clearReturnsMarks: true,
    decode(data, isBinary) {
      if (isBinary) return decodeAudio(data);
      if (data.length > MAX_TEXT_BYTES) return { type: 'malformed', why: 'message too large' };
      let message: unknown;
      try {
        message = JSON.parse(data.toString('utf8'));
      } catch {
        return { type: 'malformed', why: 'not JSON' };
      }
      return isRecord(message) ? decodeText(message) : { type: 'malformed', why: 'not an object' };
    },
    audio(message, _streamId, payload) {
      message
        .binary()
        .uint32((sentBytes / BYTES_PER_MS) >>> 0)
        .uint32(++sentFrames >>> 0)
        .bytes(payload);
      sentBytes += payload.length;
    },
    mark(message, _streamId, name) {
      message.text(`{"type":"mark","name":${JSON.stringify(name)}}`);
    },
    clear(message) {
      message.text(CLEAR);
    },
  };
}

function decodeAudio(data: Buffer): MediaMessage {
  const bytes = data.length - HEADER_BYTES;
  if (bytes < FRAME_BYTES || bytes > MAX_AUDIO_BYTES || bytes % FRAME_BYTES !== 0)
    return { type: 'malformed', why: 'audio of another length' };
  return {
    type: 'audio',
    payload: data.subarray(HEADER_BYTES),
    timestampMs: data.readUInt32BE(0),
    chunk: data.readUInt32BE(4),
  };
}

type JsonObject = Record<string, unknown>;

function decodeText(message: JsonObject): MediaMessage {
  const { type } = message;
  switch (type) {
    case 'start':
      return decodeStart(message);
    case 'mark':
      return typeof message.name === 'string'
        ? { type: 'mark', name: message.name }
        : { type: 'malformed', why: 'mark without a name' };
    case 'text':
      return typeof message.text === 'string'
        ? { type: 'text', text: message.text }
        : { type: 'malformed', why: 'text without its words' };
    case 'digit':
      return typeof message.digit === 'string' && /^[0-9A-D*#]$/.test(message.digit)
        ? { type: 'digit', digit: message.digit }
        : { type: 'malformed', why: 'digit without its key' };
    case 'stop':
      return { type: 'stopped' };
    default:
      return typeof type === 'string'
        ? { type: 'ignored', event: type.slice(0, 40) }
        : { type: 'malformed', why: 'no type' };
  }
}

function decodeStart(message: JsonObject): MediaMessage {
  const { version, call_id, token } = message;
  if (version !== VERSION) return { type: 'malformed', why: 'start of another version' };
  if (typeof call_id !== 'string' || call_id === '' || typeof token !== 'string')
    return { type: 'malformed', why: 'start without call and token' };
  return {
    type: 'started',
    streamId: call_id,
    carrierCallId: call_id,
    parameters: { token },
    format: FORMAT,
  };
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
