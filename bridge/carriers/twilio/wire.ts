// PURE. The codec of a Twilio Media Streams socket: https://www.twilio.com/docs/voice/media-streams/websocket-messages.
// The socket, its limits and the order of messages are the media thread's.
import { MULAW_8K } from '../../../audio/format.ts';
import type { MediaMessage, MediaWire } from '../media-wire.ts';

/** The largest message taken; Twilio's own are under 1 kB. */
const MAX_MESSAGE_BYTES = 65_536;
const MAX_PARAMETERS = 99;
const FIRST_SCRATCH_BYTES = 1_024;

// A media message as Twilio lays it out. Any other layout goes through JSON.parse.
const HEAD = Buffer.from('{"event":"media","sequenceNumber":"');
const TRACK = Buffer.from('","media":{"track":"inbound","chunk":"');
const TIMESTAMP = Buffer.from('","timestamp":"');
const PAYLOAD = Buffer.from('","payload":"');
const TAIL = Buffer.from('"},"streamSid":"');
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const BRACE = 0x7d;
/** No string of JSON has less in it as it is. */
const SPACE = 0x20;

/** A codec for one socket. The decoded payload lives in a buffer that the next decode overwrites. */
export function createTwilioWire(): MediaWire {
  // Not from Node's pool: what lives as long as a call would keep a whole slab of it.
  let scratch = Buffer.allocUnsafeSlow(FIRST_SCRATCH_BYTES);
  /** Of the scratch buffer; the same as long as frames are as long as the one before. */
  let decoded = scratch;
  let payloadChars = 0;
  // One stream to a socket: its prefixes are built once.
  let prefixesOf = '';
  let audioPrefix = '';
  let markPrefix = '';
  let clearText = '';

  function prefixes(streamId: string): void {
    if (prefixesOf === streamId && audioPrefix !== '') return;
    const id = JSON.stringify(streamId);
    prefixesOf = streamId;
    audioPrefix = `{"event":"media","streamSid":${id},"media":{"payload":"`;
    markPrefix = `{"event":"mark","streamSid":${id},"mark":{"name":`;
    clearText = `{"event":"clear","streamSid":${id}}`;
  }

  /** Base64 to bytes in the scratch buffer; null when it is no clean base64. */
  function decodePayload(text: string): Buffer | null {
    const length = text.length;
    if (length % 4 !== 0) return null;
    const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
    const bytes = (length / 4) * 3 - padding;
    if (bytes > scratch.length) scratch = Buffer.allocUnsafeSlow(bytes * 2);
    // Node's decoder skips what it does not know: fewer bytes than promised mean that something was skipped.
    if (scratch.write(text, 0, 'base64') !== bytes) return null;
    if (decoded.length !== bytes || decoded.buffer !== scratch.buffer) decoded = scratch.subarray(0, bytes);
    return decoded;
  }

  /** The message when it is laid out as expected to the byte, else null. */
  function decodeKnownLayout(data: Buffer): MediaMessage | null {
    let at = HEAD.length;
    if (!matches(data, 0, HEAD)) return null;
    at = digitsEnd(data, at);
    if (!matches(data, at, TRACK)) return null;
    const chunkStart = at + TRACK.length;
    at = digitsEnd(data, chunkStart);
    const chunkEnd = at;
    if (!matches(data, at, TIMESTAMP)) return null;
    const timestampStart = at + TIMESTAMP.length;
    at = digitsEnd(data, timestampStart);
    const timestampEnd = at;
    if (!matches(data, at, PAYLOAD)) return null;
    const payloadStart = at + PAYLOAD.length;
    // Frames are as long as the one before. A quote within would be no base64: such a payload is refused when it is decoded.
    const likelyEnd = payloadStart + payloadChars;
    const payloadEnd = data[likelyEnd] === QUOTE ? likelyEnd : data.indexOf(QUOTE, payloadStart);
    if (payloadEnd < 0 || !matches(data, payloadEnd, TAIL)) return null;
    const idEnd = plainEnd(data, payloadEnd + TAIL.length);
    if (idEnd !== data.length - 2 || data[idEnd] !== QUOTE || data[idEnd + 1] !== BRACE) return null;
    const payload = decodePayload(data.toString('latin1', payloadStart, payloadEnd));
    if (payload === null) return null;
    payloadChars = payloadEnd - payloadStart;
    return {
      type: 'audio',
      payload,
      timestampMs: digits(data, timestampStart, timestampEnd),
      chunk: digits(data, chunkStart, chunkEnd),
    };
  }

  return {
    clearReturnsMarks: true,
    decode(data, isBinary) {
      if (isBinary) return { type: 'malformed', why: 'binary frame' };
      if (data.length > MAX_MESSAGE_BYTES) return { type: 'malformed', why: 'message too large' };
      const known = decodeKnownLayout(data);
      if (known) return known;
      let message: unknown;
      try {
        message = JSON.parse(data.toString('utf8'));
      } catch {
        return { type: 'malformed', why: 'not JSON' };
      }
      return isRecord(message)
        ? decodeMessage(message, decodePayload)
        : { type: 'malformed', why: 'not an object' };
    },
    audio(message, streamId, payload) {
      prefixes(streamId);
      message.text(audioPrefix).base64(payload).text('"}}');
    },
    mark(message, streamId, name) {
      prefixes(streamId);
      message.text(markPrefix).text(JSON.stringify(name)).text('}}');
    },
    clear(message, streamId) {
      prefixes(streamId);
      message.text(clearText);
    },
  };
}

type JsonObject = Record<string, unknown>;

function decodeMessage(message: JsonObject, decodePayload: (text: string) => Buffer | null): MediaMessage {
  const event = message.event;
  if (typeof event !== 'string') return { type: 'malformed', why: 'no event' };
  switch (event) {
    case 'media':
      return decodeMedia(message.media, decodePayload);
    case 'connected':
      return { type: 'connected' };
    case 'start':
      return decodeStart(message);
    case 'mark': {
      const name = isRecord(message.mark) ? message.mark.name : undefined;
      return typeof name === 'string'
        ? { type: 'mark', name }
        : { type: 'malformed', why: 'mark without a name' };
    }
    case 'dtmf': {
      const digit = isRecord(message.dtmf) ? message.dtmf.digit : undefined;
      const text = typeof digit === 'number' ? String(digit) : digit;
      return typeof text === 'string' && /^[0-9A-D*#]$/i.test(text)
        ? { type: 'digit', digit: text.toUpperCase() }
        : { type: 'malformed', why: 'dtmf without a digit' };
    }
    case 'stop':
      return { type: 'stopped' };
    default:
      return { type: 'ignored', event: event.slice(0, 40) };
  }
}

function decodeMedia(media: unknown, decodePayload: (text: string) => Buffer | null): MediaMessage {
  if (!isRecord(media) || typeof media.payload !== 'string')
    return { type: 'malformed', why: 'media without a payload' };
  // Our own audio never comes back on a bidirectional stream; where a carrier sends it, it is not the caller's.
  if (media.track !== undefined && media.track !== 'inbound')
    return { type: 'ignored', event: 'media of another track' };
  const timestampMs = wholeNumber(media.timestamp);
  const chunk = wholeNumber(media.chunk);
  if (timestampMs === null || chunk === null)
    return { type: 'malformed', why: 'media without a timestamp or chunk' };
  const payload = decodePayload(media.payload);
  if (payload === null) return { type: 'malformed', why: 'payload is not base64' };
  return { type: 'audio', payload, timestampMs, chunk };
}

function decodeStart(message: JsonObject): MediaMessage {
  const start = message.start;
  if (!isRecord(start)) return { type: 'malformed', why: 'start without its body' };
  const streamId = typeof start.streamSid === 'string' ? start.streamSid : message.streamSid;
  const carrierCallId = start.callSid;
  if (
    typeof streamId !== 'string' ||
    streamId === '' ||
    typeof carrierCallId !== 'string' ||
    carrierCallId === ''
  )
    return { type: 'malformed', why: 'start without its ids' };
  const format = isRecord(start.mediaFormat) ? start.mediaFormat : {};
  const { encoding = 'audio/x-mulaw', sampleRate = MULAW_8K.rateHz } = format;
  if (encoding !== 'audio/x-mulaw' || wholeNumber(sampleRate) !== MULAW_8K.rateHz)
    return { type: 'malformed', why: 'start with another sound than mu-law at 8 kHz' };
  const given = isRecord(start.customParameters) ? Object.entries(start.customParameters) : [];
  const parameters: Record<string, string> = Object.fromEntries(
    given
      .slice(0, MAX_PARAMETERS)
      .flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
  );
  return { type: 'started', streamId, carrierCallId, parameters, format: MULAW_8K };
}

function isRecord(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Twilio sends numbers as strings; others do not. */
function wholeNumber(value: unknown): number | null {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null;
}

function matches(data: Buffer, at: number, literal: Buffer): boolean {
  if (at < 0 || at + literal.length > data.length) return false;
  for (let i = 0; i < literal.length; i++) if (data[at + i] !== literal[i]) return false;
  return true;
}

/** Where a string of JSON that begins at `start` ends, or has what does not stand for itself. */
function plainEnd(data: Buffer, start: number): number {
  let at = start;
  while (at < data.length && data[at]! >= SPACE && data[at] !== QUOTE && data[at] !== BACKSLASH) at++;
  return at;
}

/** The end of a run of 1 to 15 digits, or -1. */
function digitsEnd(data: Buffer, start: number): number {
  let at = start;
  while (at < start + 15 && data[at]! >= 0x30 && data[at]! <= 0x39) at++;
  return at === start ? -1 : at;
}

function digits(data: Buffer, start: number, end: number): number {
  let value = 0;
  for (let at = start; at < end; at++) value = value * 10 + (data[at]! - 0x30);
  return value;
}
