// The other program of the order line: a small web server that knows one order, as a shop's own system would.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ToolRequest } from './evidence.ts';

export interface OrderServer {
  /** Any path below it is answered too. */
  url: string;
  requests: ToolRequest[];
  close(): Promise<void>;
}

/** Listens on a free port of this machine and answers every request with `answer` as JSON. */
export async function openOrderServer(answer: Record<string, unknown>): Promise<OrderServer> {
  const requests: ToolRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      let body: unknown = text;
      try {
        body = JSON.parse(text);
      } catch {
        // Kept as text, and a check will say so.
      }
      const { method = '', url: path = '' } = request;
      requests.push({ at: new Date().toISOString(), path, method, body });
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/orders`,
    requests,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}
