// A small Realtime peer for tests of one session: it records what comes and says what the test tells it to.
// The full simulator of scripts/ behaves by itself; this one does nothing unasked but answer the configuration.
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';

export type Json = Record<string, unknown>;

export interface PeerSocket {
  received: Json[];
  headers: IncomingHttpHeaders;
  url: string;
  send(event: Json | string): void;
  /** Resolves with the next event of a type that was not taken yet. */
  take(type: string): Promise<Json>;
  /** Types received so far, in order. */
  types(): string[];
  /** Resolves with the pong. */
  ping(): Promise<void>;
  close(code: number, reason?: string): void;
  terminate(): void;
  closed: Promise<number>;
}

export interface Peer {
  url: string;
  /** Resolves with the next connection. */
  accept(): Promise<PeerSocket>;
  /** Connections that nobody has accepted. */
  waiting(): number;
  /** What the next upgrades are answered with; 101 when empty. */
  refusals: number[];
  /** Changes what `session.updated` says; null: says nothing. */
  effective: ((session: Json) => Json | null) | null;
  /** Sent in place of `session.created`; null: nothing. */
  hello: Json | null;
}

export async function startPeer(t: Test): Promise<Peer> {
  const server: Server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  const waiting: ((socket: PeerSocket) => void)[] = [];
  const arrived: PeerSocket[] = [];
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const peer: Peer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    accept: () =>
      new Promise((resolve) => {
        const ready = arrived.shift();
        if (ready) resolve(ready);
        else waiting.push(resolve);
      }),
    waiting: () => arrived.length,
    refusals: [],
    effective: null,
    hello: { type: 'session.created', event_id: 'e0', session: { type: 'realtime', id: 'sess_1' } },
  };
  server.on('upgrade', (request, stream, head) => {
    const refusal = peer.refusals.shift();
    if (refusal !== undefined) {
      stream.end(`HTTP/1.1 ${refusal} No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (ws) => {
      const socket = wrap(peer, ws, request.headers, request.url ?? '');
      const first = waiting.shift();
      if (first) first(socket);
      else arrived.push(socket);
    });
  });
  t.teardown(async () => {
    for (const ws of sockets.clients) ws.terminate();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return peer;
}

function wrap(peer: Peer, ws: WebSocket, headers: IncomingHttpHeaders, url: string): PeerSocket {
  const received: Json[] = [];
  const untaken: Json[] = [];
  const takers: { type: string; resolve: (event: Json) => void }[] = [];
  const closed = new Promise<number>((resolve) => ws.on('close', (code) => resolve(code)));
  const socket: PeerSocket = {
    received,
    headers,
    url,
    send: (event) => ws.send(typeof event === 'string' ? event : JSON.stringify(event)),
    take: (type) =>
      new Promise((resolve) => {
        const at = untaken.findIndex((event) => event.type === type);
        if (at >= 0) resolve(untaken.splice(at, 1)[0]!);
        else takers.push({ type, resolve });
      }),
    types: () => received.map((event) => String(event.type)),
    ping: () =>
      new Promise((resolve) => {
        ws.once('pong', () => resolve());
        ws.ping();
      }),
    close: (code, reason) => ws.close(code, reason),
    terminate: () => ws.terminate(),
    closed,
  };
  ws.on('message', (data, isBinary) => {
    const event: Json = isBinary ? { type: 'BINARY' } : JSON.parse(data.toString());
    received.push(event);
    if (event.type === 'session.update') {
      const asked = event.session as Json;
      const session = peer.effective ? peer.effective(asked) : asked;
      if (session !== null) socket.send({ type: 'session.updated', event_id: 'e1', session });
    }
    const at = takers.findIndex((taker) => taker.type === event.type);
    if (at >= 0) takers.splice(at, 1)[0]!.resolve(event);
    else untaken.push(event);
  });
  if (peer.hello !== null) socket.send(peer.hello);
  return socket;
}
