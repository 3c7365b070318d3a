// PURE. Request headers that belong to a connection and not to who asks over it (RFC 9110, 7.6.1), or that the HTTP client
// decides: framing and host. A user's own would let one request be read as two, or open a tunnel.

export const CONNECTION_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
