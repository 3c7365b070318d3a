// Connections by TLS to servers that are dialled for every call: what is trusted is read once for all of a thread, and a server
// that was reached before is asked to go on with what was agreed on then (RFC 8446, section 2.2), which costs half a handshake.
import { isIP, type OnReadOpts, type Socket, type TcpNetConnectOpts } from 'node:net';
import { type ConnectionOptions, connect, createSecureContext, type SecureContext } from 'node:tls';

let trusted: SecureContext | null = null;
/** The last session of each server, by host and port: as many as there are speech models in the settings. */
const sessions = new Map<string, Buffer>();

/** Dials. A session that the server no longer knows makes for a whole handshake; one that ends in an error is not used again. */
export function connectSecurely(to: TcpNetConnectOpts, onread: OnReadOpts): Socket {
  const { host = '', port } = to;
  const server = `${host}:${port}`;
  trusted ??= createSecureContext();
  const session = sessions.get(server);
  // Node's types do not know that this takes `onread` too.
  const options: ConnectionOptions & { onread: OnReadOpts } = {
    secureContext: trusted,
    ...to,
    servername: isIP(host) === 0 ? host : '',
    ...(session === undefined ? {} : { session }),
    onread,
  };
  const socket = connect(options);
  socket.on('session', (given: Buffer) => sessions.set(server, given));
  socket.once('error', () => sessions.delete(server));
  return socket;
}
