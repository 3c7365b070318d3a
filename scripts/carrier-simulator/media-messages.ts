// PURE. The text of Media Streams messages: what the carrier sends, and what it accepts from the application.
// https://www.twilio.com/docs/voice/media-streams/websocket-messages

export interface Identity {
  accountSid: string;
  callSid: string;
  streamSid: string;
}
export type ApplicationMessage =
  | { event: 'media'; bytes: Buffer; hasWavHeader: boolean }
  | { event: 'mark'; name: string }
  | { event: 'clear' }
  | { event: 'violation'; code: 31924 | 31950 | 31951; message: string };

export const CONNECTED = '{"event":"connected","protocol":"Call","version":"1.0.0"}';

export function startMessage(
  who: Identity,
  tracks: string[],
  customParameters: Record<string, string>,
): string {
  const { accountSid, callSid, streamSid } = who;
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
  const start = { accountSid, streamSid, callSid, tracks, mediaFormat, customParameters };
  return JSON.stringify({ event: 'start', sequenceNumber: '1', start, streamSid });
}

/** Built by hand: at a hundred calls JSON.stringify would be the largest cost of the program. Every number is text. */
export function mediaMessage(
  sequence: number,
  track: 'inbound' | 'outbound',
  chunk: number,
  timestamp: number,
  base64: string,
  streamSid: string,
): string {
  return (
    `{"event":"media","sequenceNumber":"${sequence}","media":{"track":"${track}","chunk":"${chunk}",` +
    `"timestamp":"${timestamp}","payload":"${base64}"},"streamSid":"${streamSid}"}`
  );
}

export function dtmfMessage(sequence: number, digit: string, streamSid: string): string {
  const dtmf = { track: 'inbound_track', digit };
  return JSON.stringify({ event: 'dtmf', streamSid, sequenceNumber: String(sequence), dtmf });
}

export function markMessage(sequence: number, name: string, streamSid: string): string {
  return JSON.stringify({ event: 'mark', sequenceNumber: String(sequence), streamSid, mark: { name } });
}

export function stopMessage(sequence: number, who: Identity): string {
  const { accountSid, callSid, streamSid } = who;
  return JSON.stringify({
    event: 'stop',
    sequenceNumber: String(sequence),
    stop: { accountSid, callSid },
    streamSid,
  });
}

/** Exactly three messages are accepted, as text, on a bidirectional stream, with its streamSid. */
export function readMessage(
  data: Buffer,
  isBinary: boolean,
  stream: { streamSid: string; bidirectional: boolean },
): ApplicationMessage {
  if (isBinary) return violation(31950, 'malformed message: a binary frame');
  let message: unknown;
  try {
    message = JSON.parse(data.toString());
  } catch {
    return violation(31950, 'malformed message: no JSON');
  }
  if (!isRecord(message)) return violation(31950, 'malformed message: no object');
  const { event } = message;
  if (!stream.bidirectional) {
    return violation(31924, `a unidirectional stream takes no messages (${String(event)})`);
  }
  if (event !== 'media' && event !== 'mark' && event !== 'clear') {
    return violation(31951, `invalid message: unknown event ${JSON.stringify(event)}`);
  }
  if (message.streamSid !== stream.streamSid) {
    return violation(31951, `invalid message: ${event} with a wrong streamSid`);
  }
  if (event === 'clear') return { event };
  if (event === 'mark') {
    const name = isRecord(message.mark) ? message.mark.name : undefined;
    return typeof name === 'string'
      ? { event, name }
      : violation(31951, 'invalid message: mark without name');
  }
  const payload = isRecord(message.media) ? message.media.payload : undefined;
  if (typeof payload !== 'string') return violation(31951, 'invalid message: media without payload');
  const bytes = Buffer.from(payload, 'base64');
  if (bytes.length !== base64Bytes(payload)) return violation(31951, 'invalid message: payload is no base64');
  return { event, bytes, hasWavHeader: bytes.length >= 4 && bytes.toString('latin1', 0, 4) === 'RIFF' };
}

/** A socket's failure as the carrier names it. https://www.twilio.com/docs/api/errors */
export function socketError(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const named = (words: string) => `${words}: ${error.message}`;
  if (code === 'ECONNREFUSED') return named('31902 - Stream - WebSocket - Connection Refused');
  if (/HOSTUNREACH|NETUNREACH|ENOTFOUND/.test(code)) return named('31904 - Stream - WebSocket - Unreachable');
  if (/timed out/.test(error.message)) return named('31901 - Stream - WebSocket - Connection Timeout');
  if (/CERT|SSL|TLS|EPROTO/.test(code)) return named('31910 - Stream - WebSocket - SSL Protocol Error');
  if (code.startsWith('WS_ERR')) return named('31924 - Stream - WebSocket - Protocol Error');
  if (code === 'EPIPE' || code === 'ECONNRESET') return named('31903 - Stream - WebSocket - Broken Pipe');
  return named('31900 - Stream - WebSocket - Unknown Error');
}

function violation(code: 31924 | 31950 | 31951, message: string): ApplicationMessage {
  return { event: 'violation', code, message };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Length of the bytes that a well-formed base64 text of this length holds. */
function base64Bytes(text: string): number {
  const unpadded = text.endsWith('==') ? text.length - 2 : text.endsWith('=') ? text.length - 1 : text.length;
  return Math.floor((unpadded * 3) / 4);
}
