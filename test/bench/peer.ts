// Processes of the bench: the daemon, its floors, and the peers that give them their load. None outlives the run.
import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '../..');
export const START_MS = 120_000;

/** Whoever ends leaves no program and no data behind. */
export const running = new Set<ChildProcess>();
export const folders = new Set<string>();
export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}
process.on('exit', killAll);

export interface Peer {
  pid: number;
  port: number;
  /** Where it listens with TLS as well; 0: nowhere. */
  securePort: number;
  tell(order: unknown): void;
  /** Tells and waits for the answer. */
  ask<T>(order: unknown): Promise<T>;
  stop(): void;
}

export function launch(
  file: string,
  args: string[],
  o: { cores: string | null; env?: Record<string, string>; ipc: boolean; nodeArgs?: string[] },
): ChildProcess {
  const command = [process.execPath, ...(o.nodeArgs ?? []), join(ROOT, file), ...args];
  const [program = '', ...rest] = o.cores === null ? command : ['taskset', '-c', o.cores, ...command];
  const child = spawn(program, rest, {
    cwd: ROOT,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...o.env },
    stdio: o.ipc ? ['ignore', 'inherit', 'inherit', 'ipc'] : ['ignore', 'pipe', 'pipe'],
    serialization: 'advanced',
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** A program that says `{listening: port}` over IPC. */
export function startPeer(
  file: string,
  args: string[],
  o: { cores: string | null; env?: Record<string, string> },
): Promise<Peer> {
  return new Promise((started, failed) => {
    const child = launch(file, args, { ...o, ipc: true });
    const tooLate = setTimeout(() => {
      child.kill('SIGKILL');
      failed(new Error(`${file} did not start`));
    }, START_MS);
    child.on('error', failed);
    child.once('close', (code) => failed(new Error(`${file} ended with ${code}`)));
    let waiting: { answered: (answer: never) => void; lost: (error: Error) => void } | null = null;
    child.once('close', () => waiting?.lost(new Error(`${file} is gone`)));
    child.on('message', (message: { listening?: number; listeningSecure?: number }) => {
      if (message.listening === undefined) {
        const asked = waiting;
        waiting = null;
        asked?.answered(message as never);
        return;
      }
      clearTimeout(tooLate);
      started({
        pid: child.pid ?? 0,
        port: message.listening,
        securePort: message.listeningSecure ?? 0,
        tell: (order) => {
          if (child.connected) child.send(order as object);
        },
        ask: (order) =>
          new Promise((answered, lost) => {
            waiting = { answered, lost };
            if (!child.connected) return lost(new Error(`${file} is gone`));
            child.send(order as object);
          }),
        stop: () => void child.kill('SIGKILL'),
      });
    });
  });
}
