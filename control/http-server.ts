// The HTTP server in front of the app, with its limits: slow and idle peers are culled, headers bounded, and what is not
// HTTP gets an error in the same shape as all others. Upgrades and listening are main's.
import { createServer, type RequestListener, type Server } from 'node:http';
import { v7 as uuidv7 } from 'uuid';

/** A server that does not listen yet. */
export function createHttpServer(app: RequestListener): Server {
  const server = createServer(
    {
      headersTimeout: 10_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 5_000,
      maxHeaderSize: 16_384,
    },
    app,
  );
  server.maxHeadersCount = 64;
  server.maxConnections = 2_000;
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { status, text } = answerTo(error.code);
    const requestId = uuidv7();
    const body = JSON.stringify({ error: { code: 'invalid_request', message: text, request_id: requestId } });
    socket.end(
      `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\n` +
        `X-Request-Id: ${requestId}\r\nConnection: close\r\n\r\n${body}`,
    );
  });
  return server;
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
