// A port for a server that cannot choose one itself.
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below what systems give to whoever asks for any port: until it is used, nobody is given it. */
const [LEAST, MOST] = [10_000, 32_000];

/** A TCP port of the loopback that nobody listens at now, nor at the next ones of `inARow`. */
export async function freePort(inARow = 1): Promise<number> {
  for (;;) {
    const first = LEAST + Math.floor(Math.random() * (MOST - LEAST));
    let free = 0;
    while (free < inARow && (await isFree(first + free))) free++;
    if (free === inARow) return first;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false;
    throw error;
  }
  server.close();
  await once(server, 'close');
  return true;
}
