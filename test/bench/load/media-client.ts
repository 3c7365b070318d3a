// A websocket client that is cheap enough for hundreds of phone lines in one process: it writes whole messages with a mask of
// zeros, and reads short text messages. Only for peers of ours on this host.
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';

export interface MediaClient {
  /** Sends a text message of less than 64 kB; `text` is latin1. Returns at once. */
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
  const scratch = Buffer.alloc(65_536);

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
    send(text) {
      const length = text.length;
      scratch[0] = 0x81;
      let head = 6;
      if (length < 126) scratch[1] = 0x80 | length;
      else {
        scratch[1] = 0x80 | 126;
        scratch.writeUInt16BE(length, 2);
        head = 8;
      }
      scratch.fill(0, head - 4, head);
      scratch.write(text, head, 'latin1');
      socket.write(Buffer.from(scratch.subarray(0, head + length)));
    },
    cork: () => socket.cork(),
    uncork: () => socket.uncork(),
    bufferedBytes: () => socket.writableLength,
    close: () => end('closed here'),
  };
}
