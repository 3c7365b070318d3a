// A webhook receiver on loopback for tests: real HTTP, keeps what it got, answers as told.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Received {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver {
  url: string;
  port: number;
  requests: Received[];
  /** Connections that were made, whether or not a request followed. */
  connections: number;
  /** Resolves once so many requests have arrived. */
  got(count: number): Promise<void>;
  close(): Promise<void>;
}

type Answer = number | ((request: Received, response: ServerResponse, raw: IncomingMessage) => void);

/** Listens on `host`; answers every request with a status, or as a function does. */
export async function openReceiver(answer: Answer = 200, host = '127.0.0.1'): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const waiting: { count: number; done: () => void }[] = [];
  const server = createServer((raw, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    raw.on('data', (chunk: Buffer) => chunks.push(chunk));
    raw.on('end', () => {
      const request: Received = {
        method: raw.method ?? '',
        path: raw.url ?? '',
        headers: Object.fromEntries(
          Object.entries(raw.headers).map(([name, value]) => [name, String(value)]),
        ),
        body: Buffer.concat(chunks).toString(),
      };
      receiver.requests.push(request);
      for (const waiter of [...waiting]) if (receiver.requests.length >= waiter.count) waiter.done();
      if (typeof answer === 'number') response.writeHead(answer).end();
      else answer(request, response, raw);
    });
  });
  server.on('connection', (socket) => {
    receiver.connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, host, done));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    requests: [],
    connections: 0,
    got: (count) =>
      new Promise((done) => {
        if (receiver.requests.length >= count) done();
        else waiting.push({ count, done });
      }),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((done) => server.close(done));
    },
  };
  return receiver;
}
