// The HTTP server in front of the app, with its limits: slow and idle peers are culled, no address takes more than its share,
// headers are bounded, and what is not HTTP gets an error in the same shape as all others. Upgrades are main's.
import { createServer, type RequestListener, type Server } from 'node:http';
import { v7 as uuidv7 } from 'uuid';
import {
  type ConnectionLimits,
  type ConnectionRules,
  closeSoon,
  DEADLINES,
  limitConnections,
} from '../../bridge/connection-limits.ts';
import { clientOf } from './request-origin.ts';
import { queueRequests } from './request-queue.ts';

/** Without those of calls, whose media sockets are counted by the lines in use. */
const MAX_CONNECTIONS = 2_000;
const MAX_OF_AN_ADDRESS = 500;

/**
 * A server that listens nowhere: it is brought connections, as `connection` events.
 * @param trustsProxy whether X-Forwarded-For of a connection from this address is believed, as it is from loopback
 * @param waited told of each request how long it waited for its work, in milliseconds
 */
export function createHttpServer(
  app: RequestListener,
  trustsProxy: (address: string) => boolean = () => false,
  waited: (ms: number) => void = () => {},
): { server: Server; limits: ConnectionLimits } {
  const server = createServer({ ...DEADLINES, maxHeaderSize: 16_384 });
  queueRequests(server, app, { waited });
  server.maxHeadersCount = 64;
  const clients: ConnectionRules['clientOf'] = (remoteAddress, headers) =>
    clientOf({ headers: headers ?? {}, remoteAddress }, trustsProxy);
  const limits = limitConnections(server, {
    most: MAX_CONNECTIONS,
    share: MAX_OF_AN_ADDRESS,
    clientOf: clients,
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, text } = answerTo(error.code);
    const requestId = uuidv7();
    const body = JSON.stringify({ error: { code: 'invalid_request', message: text, request_id: requestId } });
    closeSoon(
      socket,
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  // From this event on Node watches the deadlines of connections.
  server.emit('listening');
  return { server, limits };
}

function answerTo(code: string | undefined): { status: string; text: string } {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return { status: '431 Request Header Fields Too Large', text: 'The headers are too large; send fewer.' };
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { status: '408 Request Timeout', text: 'The request took too long to arrive; send it faster.' };
  }
  return { status: '400 Bad Request', text: 'This is not a valid HTTP request.' };
}
