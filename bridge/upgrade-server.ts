// An HTTP server for what asks to become a stream, on whichever thread listens for those: it is held to deadlines and limits
// until it does, and whoever asks for anything else is told that he is wrong here.
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type ConnectionLimits, DEADLINES, limitConnections } from './connection-limits.ts';
import type { Upgrade } from './upgrade.ts';

/** Connections that are no call's (yet), one number for everybody: most come by this host, or were looked at before. */
const MAX_CONNECTIONS = 500;

export interface UpgradeServer {
  server: Server;
  /** Who takes an upgrade, or hands it on, has it released. */
  limits: ConnectionLimits;
  /** Takes a connection that was accepted elsewhere, with the bytes that have come by it; paused. */
  take(socket: Socket, first: Buffer): void;
}

/** Not listening yet; it need not. */
export function createUpgradeServer(onUpgrade: (upgrade: Upgrade) => void): UpgradeServer {
  const server = createServer(DEADLINES, (_request, response) => {
    response
      .writeHead(426, { 'content-type': 'text/plain', connection: 'close' })
      .end('This address takes media websockets only.\n');
  });
  const limits = limitConnections(server, {
    most: MAX_CONNECTIONS,
    share: MAX_CONNECTIONS,
    clientOf: (address) => ({ address, shared: true }),
  });
  server.on('upgrade', (request, socket, head) => onUpgrade({ request, socket, head }));
  // From this event on Node watches the deadlines of connections, also where it listens nowhere.
  server.emit('listening');
  return {
    server,
    limits,
    take(socket, first) {
      socket.unshift(first);
      server.emit('connection', socket);
      process.nextTick(() => socket.resume());
    },
  };
}
