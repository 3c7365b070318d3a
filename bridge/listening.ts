// How a thread begins to listen, beside others where they share the port, and how it leaves off.
import type { Server } from 'node:net';

export interface ListenAddress {
  host: string;
  port: number;
  /** Of a socket that listens there already, as another process has left it to this one; closed with the server. */
  fd?: number | undefined;
}

/** @param reusePort beside others who say so too; where the system knows no such thing, ENOTSUP. @throws Error of listen */
export function listen(server: Server, at: ListenAddress, reusePort = false): Promise<void> {
  return new Promise((listening, fail) => {
    server.once('error', fail);
    server.listen(at.fd === undefined ? { ...at, reusePort } : { fd: at.fd }, () => {
      server.off('error', fail);
      listening();
    });
  });
}

/** The descriptor that a server listens by, for another process to go on with; null where Node does not say. */
export function descriptorOf(server: Server): number | null {
  const { _handle: handle } = server as Server & { _handle?: { fd?: unknown } | null };
  return typeof handle?.fd === 'number' && handle.fd >= 0 ? handle.fd : null;
}

/** Somebody comes in each of so many turns: it ends all the same. */
const MOST_TURNS = 1_000;
/** After one that took longer, somebody may have come behind its look at who waits. */
const QUICK_MS = 0.2;
/** Of those: where all turns are full of work, it ends all the same. */
const MOST_SLOW_TURNS = 100;

/**
 * Listens no longer. Who waits to be accepted is reset by that, so it is done in a turn of the loop in which nobody was, and
 * that went by at once. Connections that are there stay.
 */
export async function leaveOff(server: Server): Promise<void> {
  let came = false;
  const saw = () => {
    came = true;
  };
  server.on('connection', saw);
  for (let turn = 0, slow = 0; turn < MOST_TURNS && slow < MOST_SLOW_TURNS; turn++) {
    came = false;
    const begunMs = performance.now();
    await new Promise<void>((next) => setImmediate(next));
    const isQuick = performance.now() - begunMs < QUICK_MS;
    // The first may have no reads in it.
    if (turn > 0 && isQuick && !came) break;
    if (!isQuick) slow++;
  }
  server.off('connection', saw);
  server.close();
}
