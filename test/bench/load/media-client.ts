// A websocket client that is cheap enough for hundreds of phone lines in one process: it writes whole messages, each with a random
// mask of its own as a carrier does, and reads short text messages. Only for peers of ours on this host.
import { randomBytes, randomFillSync } from 'node:crypto';
import { connect } from 'node:net';

export interface MediaClient {
  /** Sends a text message of less than 64 kB; `text` is latin1. Returns at once. @throws RangeError when it is longer */
  send(text: string): void;
  /** Between these, messages go out together. */
  cork(): void;
  uncork(): void;
  bufferedBytes(): number;
  close(): void;
}

export interface MediaClientListener {
  open(): void;
  /** A text message; valid during the call only. */
  message(data: Buffer): void;
  closed(why: string): void;
}

/** The longest head: a message's text begins behind it, where whole words can be masked. */
const HEAD_BYTES = 8;
const MASK_BYTES = 4;
const MOST_TEXT_BYTES = 65_535;
const room = new ArrayBuffer(HEAD_BYTES + MOST_TEXT_BYTES + 1);
const scratch = Buffer.from(room);
const words = new Uint32Array(room);
const masks = new Uint32Array(4_096);
let usedMasks = masks.length;

/** `text`, latin1 and shorter than 64 kB, as a client's frame in a buffer of its own. */
export function maskedFrame(text: string): Buffer {
  const { length } = text;
  if (length > MOST_TEXT_BYTES) throw new RangeError(`a message of ${length} bytes`);
  const short = length < 126;
  const from = short ? 2 : 0;
  scratch[from] = 0x81;
  scratch[from + 1] = 0x80 | (short ? length : 126);
  if (!short) scratch.writeUInt16BE(length, from + 2);
  if (usedMasks === masks.length) {
    randomFillSync(masks);
    usedMasks = 0;
  }
  const mask = masks[usedMasks++]!;
  words[(HEAD_BYTES - MASK_BYTES) / 4] = mask;
  scratch.write(text, HEAD_BYTES, 'latin1');
  const first = HEAD_BYTES / 4;
  for (let word = first; word < first + length / 4; word++) words[word]! ^= mask;
  return Buffer.from(scratch.subarray(from, HEAD_BYTES + length));
}

/** Connects to `port` on this host and asks for `url`'s path there. */
export function openMediaClient(
  o: { port: number; url: string; headers: Record<string, string> },
  listener: MediaClientListener,
): MediaClient {
  const { pathname, host } = new URL(o.url.replace(/^ws/, 'http'));
  const socket = connect({ host: '127.0.0.1', port: o.port, noDelay: true });
  let upgraded = false;
  let over = false;
  let kept: Buffer | null = null;

  function end(why: string): void {
    if (over) return;
    over = true;
    socket.destroy();
    listener.closed(why);
  }

  socket.on('connect', () => {
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      `Host: ${host}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      ...Object.entries(o.headers).map(([name, value]) => `${name}: ${value}`),
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  });
  socket.on('error', (error) => end(error.message));
  socket.on('close', () => end('closed'));
  socket.on('data', (chunk: Buffer) => {
    let data = kept === null ? chunk : Buffer.concat([kept, chunk]);
    kept = null;
    if (!upgraded) {
      const head = data.indexOf('\r\n\r\n');
      if (head < 0) {
        kept = data;
        return;
      }
      const status = data.toString('latin1', 0, 12);
      if (!status.endsWith(' 101'))
        return end(`refused: ${data.toString('latin1', 0, data.indexOf('\r\n'))}`);
      upgraded = true;
      data = data.subarray(head + 4);
      listener.open();
    }
    let at = 0;
    while (data.length - at >= 2 && !over) {
      const opcode = data[at]! & 0x0f;
      const short = data[at + 1]! & 0x7f;
      if (short === 127) return end('a message too long');
      const head = short === 126 ? 4 : 2;
      if (data.length - at < head) break;
      const length = short === 126 ? data.readUInt16BE(at + 2) : short;
      if (data.length - at < head + length) break;
      if (opcode === 1) listener.message(data.subarray(at + head, at + head + length));
      else if (opcode === 8) return end('closed by the other end');
      at += head + length;
    }
    if (at < data.length) kept = at === 0 ? data : data.subarray(at);
  });

  return {
    send: (text) => void socket.write(maskedFrame(text)),
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    bufferedBytes: () => socket.writableLength,
    close: () => end('closed here'),
  };
}
