// A Redis of the campaign's own, on a port of its own, to be emptied and killed at will. Knows nothing of what uses it.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { freePort } from '../free-port.ts';

export interface ChaosRedis {
  url: string;
  /** FLUSHALL, as soon as it is up. */
  flush(): Promise<void>;
  /** SIGKILL, a pause, and a new one on the same files. */
  killAndRestart(pauseMs: number): Promise<void>;
  close(): Promise<void>;
}

const READY_MS = 10_000;

/** The name of a server on the path; null when there is none. */
export function findRedis(): string | null {
  for (const name of ['redis-server', 'valkey-server']) {
    try {
      execFileSync(name, ['--version'], { stdio: 'ignore' });
      return name;
    } catch {
      // Not this one.
    }
  }
  return null;
}

/** Starts one in `folder`. @throws Error when it does not come up */
export async function openChaosRedis(server: string, folder: string): Promise<ChaosRedis> {
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  let child: ChildProcess | null = null;
  let restarting: Promise<void> = Promise.resolve();
  const killChild = () => child?.kill('SIGKILL');
  process.on('exit', killChild);

  function ask(command: string): Promise<string | null> {
    return new Promise((settle) => {
      const socket = connect({ host: '127.0.0.1', port });
      const done = (text: string | null) => {
        clearTimeout(timer);
        socket.destroy();
        settle(text);
      };
      const timer = setTimeout(() => done(null), 1_000);
      socket.on('connect', () => socket.write(`${command}\r\n`));
      socket.on('data', (chunk) => done(chunk.toString('latin1')));
      socket.on('error', () => done(null));
    });
  }

  async function start(): Promise<void> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--logfile', 'redis.log'];
    args.push('--appendonly', 'yes', '--save', '', '--maxmemory-policy', 'noeviction', '--daemonize', 'no');
    child = spawn(server, args, { stdio: 'ignore' });
    child.on('error', () => {});
    const giveUp = performance.now() + READY_MS;
    while (!(await ask('PING'))?.startsWith('+PONG')) {
      if (performance.now() > giveUp) throw new Error(`${server} did not come up on port ${port}`);
      await new Promise((again) => setTimeout(again, 20));
    }
  }

  async function kill(): Promise<void> {
    const gone = child;
    if (gone === null || gone.exitCode !== null || gone.signalCode !== null) return;
    const ended = new Promise<void>((done) => gone.once('exit', () => done()));
    gone.kill('SIGKILL');
    await ended;
  }

  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    async flush() {
      await restarting;
      const giveUp = performance.now() + READY_MS;
      while (!(await ask('FLUSHALL'))?.startsWith('+OK')) {
        if (performance.now() > giveUp) throw new Error(`${server} on port ${port} could not be emptied`);
        await new Promise((again) => setTimeout(again, 50));
      }
    },
    killAndRestart(pauseMs) {
      restarting = restarting.then(async () => {
        await kill();
        await new Promise((done) => setTimeout(done, pauseMs));
        await start();
      });
      return restarting;
    },
    async close() {
      await restarting.catch(() => {});
      await kill();
      process.off('exit', killChild);
    },
  };
}
