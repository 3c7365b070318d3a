// Has a connection that a server accepted read into a buffer of ours: without it, each read allocates one of its own and passes a
// stream, which is a quarter of what reading costs. Node offers this for connections that are dialled (`onread`), and none for
// those that are accepted, so the connection's handle is taken over here, and only here. Where a Node has it otherwise, the
// connection is read as any other.
import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';
import type { Duplex } from 'node:stream';

/** What is not public: a socket's handle, and the option that makes a socket of one. */
interface Handled {
  _handle?: { useUserBuffer?: unknown; readStart?: unknown; constructor: { name: string } } | null;
}
type FromHandle = SocketConstructorOpts & { handle: object };

/** The connection, read into the buffer from now on; or the same as it came. */
export function readInto(accepted: Duplex, onread: OnReadOpts): Duplex {
  if (!(accepted instanceof Socket)) return accepted;
  const holder = accepted as Handled;
  const handle = holder._handle;
  const known =
    handle?.constructor.name === 'TCP' &&
    typeof handle.useUserBuffer === 'function' &&
    typeof handle.readStart === 'function';
  if (!known || accepted.destroyed || accepted.readableLength > 0 || accepted.writableLength > 0)
    return accepted;
  holder._handle = null;
  const taken = new Socket({ handle, onread, allowHalfOpen: accepted.allowHalfOpen } as FromHandle);
  // Its server counts it no longer; without a handle nothing is closed.
  accepted.destroy();
  return taken;
}
