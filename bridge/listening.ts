// How a thread begins to listen, beside others where they share the port, and how it leaves off.
import type { Server } from 'node:net';

export interface ListenAddress {
  host: string;
  port: number;
}

/** @param reusePort beside others who say so too; where the system knows no such thing, ENOTSUP. @throws Error of listen */
export function listen(server: Server, at: ListenAddress, reusePort = false): Promise<void> {
  return new Promise((listening, fail) => {
    server.once('error', fail);
    server.listen({ ...at, reusePort }, () => {
      server.off('error', fail);
      listening();
    });
  });
}

/** Somebody comes in each of so many turns: it ends all the same. */
const MOST_TURNS = 1_000;

/**
 * Listens no longer. Who waits to be accepted is reset by that, so it is done in a turn of the loop in which nobody was.
 * Connections that are there stay.
 */
export async function leaveOff(server: Server): Promise<void> {
  let came = true;
  const saw = () => {
    came = true;
  };
  server.on('connection', saw);
  // The first may have no reads in it.
  for (let turn = 0; turn < 2 || (came && turn < MOST_TURNS); turn++) {
    came = false;
    await new Promise<void>((next) => setImmediate(next));
  }
  server.off('connection', saw);
  server.close();
}
