// An upgrade as Node's server hands it over, and as the bytes that it was.
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';

export interface Upgrade {
  request: IncomingMessage;
  socket: Duplex;
  /** What has come already of what follows it. */
  head: Buffer;
}

/** The request as it was sent, and what followed it. */
export function bytesOf({ request, head }: Pick<Upgrade, 'request' | 'head'>): Buffer {
  const lines = [`${request.method} ${request.url} HTTP/1.1`];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    lines.push(`${request.rawHeaders[i]}: ${request.rawHeaders[i + 1]}`);
  }
  // Header values are bytes to Node, one a character.
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]);
}
