// Who may hold connections to an HTTP listener, and for how long: a share for each address, an end to whoever keeps us
// waiting, and room for the next at the cost of who has kept us waiting longest. Knows no routes.
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Somebody who asks, as far as it is known. */
export interface Client {
  address: string;
  /** Many come by this address, as through a proxy on this host: it has no share. */
  shared: boolean;
}

export interface ConnectionRules {
  /** Connections at once. For one more, another gives way: of the address that has most, the one longest idle or awaited. */
  most: number;
  /** Of these, what one address may have. */
  share: number;
  /** Who asks: by the connection alone until the headers are there. */
  clientOf(remoteAddress: string, headers: IncomingHttpHeaders | null): Client;
}

export interface ConnectionLimits {
  /** The connection has proved to be a call's: it is counted no longer, and never gives way. */
  release(socket: Duplex): void;
  /** Connections that are counted now. */
  readonly size: number;
}

/** Nothing moved on a connection that waits for its client, an answer that is not read included. */
const STALLED_MS = 30_000;
/** From the headers' first byte, or from the connection, to their last. */
const HEADERS_MS = 10_000;
/** And to the last byte of the body. */
const REQUEST_MS = 30_000;
const IDLE_MS = 5_000;
/** How often those two are looked at. */
const CHECK_MS = 5_000;
/** What a refused client gets to take its answer. */
const LINGER_MS = 1_000;
/** A client that is well sends its request, and takes its answer, within this. */
const PROMPT_MS = 2_000;

/** Node's own deadlines, for createServer. */
export const DEADLINES = {
  headersTimeout: HEADERS_MS,
  requestTimeout: REQUEST_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: CHECK_MS,
} as const;

interface Connection {
  socket: Socket;
  peer: string;
  client: Client;
  /** Null between requests, and while headers come. */
  request: IncomingMessage | null;
  response: ServerResponse | null;
  /** When that changed, by the monotonic clock. */
  since: number;
}

/** What a connection waits for: `us` never gives way. Of the others who are not prompt, in this order. */
const WAITS = ['idle', 'body', 'reader'] as const;

function waitsFor({ request, socket }: Connection): (typeof WAITS)[number] | 'us' {
  if (request === null) return 'idle';
  if (!request.complete) return 'body';
  return socket.writableLength > 0 ? 'reader' : 'us';
}

/** Holds a server's connections to the rules. Before it listens, and before its `request` listener answers at once. */
export function limitConnections(server: Server, rules: ConnectionRules): ConnectionLimits {
  const connections = new Map<Duplex, Connection>();
  /** By address; in each, who has changed its state longest ago comes first. */
  const groups = new Map<string, Set<Connection>>();

  function join(connection: Connection, client: Client): Set<Connection> {
    connection.client = client;
    connection.since = performance.now();
    const group = groups.get(client.address) ?? new Set();
    groups.set(client.address, group.add(connection));
    return group;
  }

  function leave(connection: Connection): void {
    const { address } = connection.client;
    const group = groups.get(address);
    group?.delete(connection);
    if (group?.size === 0) groups.delete(address);
  }

  function forget(socket: Duplex): void {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connections.delete(socket);
    leave(connection);
  }

  function end(socket: Socket): void {
    forget(socket);
    socket.destroy();
  }

  /** Ends one of the group that waits for its client. @returns false when there is none */
  function endOne(group: ReadonlySet<Connection>): boolean {
    const prompt = performance.now() - PROMPT_MS;
    let oldest: Connection | null = null;
    const late: Partial<Record<(typeof WAITS)[number], Connection>> = {};
    for (const connection of group) {
      // They stand in this order.
      if (connection.since > prompt && oldest !== null) break;
      const waits = waitsFor(connection);
      if (waits === 'us') continue;
      oldest ??= connection;
      if (connection.since <= prompt) late[waits] ??= connection;
      if (late.idle !== undefined) break;
    }
    const given = WAITS.map((wait) => late[wait]).find((one) => one !== undefined) ?? oldest;
    if (given === null) return false;
    end(given.socket);
    return true;
  }

  /** Its place among those of its address, and room for it. */
  function place(connection: Connection, client: Client): void {
    const group = join(connection, client);
    const { socket } = connection;
    if (!client.shared && group.size > rules.share && !endOne(group)) end(socket);
    if (connections.size <= rules.most) return;
    const bySize = [...groups.values()].sort((a, b) => b.size - a.size);
    if (!bySize.some(endOne)) end(socket);
  }

  server.prependListener('connection', (socket: Socket) => {
    const peer = socket.remoteAddress;
    // Gone already.
    if (peer === undefined) return void socket.destroy();
    const client = rules.clientOf(peer, null);
    const connection: Connection = { socket, peer, client, request: null, response: null, since: 0 };
    connections.set(socket, connection);
    socket.once('close', () => forget(socket));
    place(connection, client);
  });

  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = connections.get(request.socket);
    if (connection === undefined) return;
    // Requests sent ahead of their answers could make us hold any number of these; hardly a client does it.
    if (connection.request !== null) return end(connection.socket);
    leave(connection);
    connection.request = request;
    connection.response = response;
    place(connection, rules.clientOf(connection.peer, request.headers));
    response.once('close', () => {
      if (connection.response !== response || !connections.has(connection.socket)) return;
      leave(connection);
      connection.request = null;
      connection.response = null;
      join(connection, rules.clientOf(connection.peer, null));
    });
  });

  server.setTimeout(STALLED_MS, (socket: Socket) => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    // A long poll or a live view, which waits for us: looked at again when it has been as quiet once more.
    if (waitsFor(connection) === 'us') socket.setTimeout(STALLED_MS);
    else end(socket);
  });

  return {
    release(socket) {
      connections.get(socket)?.socket.setTimeout(0);
      forget(socket);
    },
    get size() {
      return connections.size;
    },
  };
}

/** Answers an upgrade that is refused, and closes whatever the other side does. */
export function refuseUpgrade(socket: Duplex, status: string): void {
  closeSoon(socket, `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

/**
 * Sends what is queued, and this; then closes, whatever the other side does. What still comes is read for a moment and
 * thrown away: with bytes unread, closing would reset the connection before the answer arrives.
 */
export function closeSoon(socket: Duplex, last?: string): void {
  if (socket.destroyed) return;
  socket.on('error', () => socket.destroy());
  socket.end(last);
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER_MS);
  socket.once('close', () => clearTimeout(timer));
}
