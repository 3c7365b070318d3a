// A Redis of our own: a valkey-server or redis-server found on this machine, on a unix socket in the data folder,
// watched and started again. It outlives a crash of the daemon and is adopted by the next one; a clean stop ends it.
//
//   every round: PING the socket ─ answers ──────────────► use it (ours, or adopted)
//                                ├ silent ── for long ──► kill the process that the pid file names, if it is ours
//                                └ nobody ─ pid lives ──► wait: it starts, or it ends
//                                           no pid ─────► start one, with growing pauses; after repeated early
//                                                         deaths its files are moved aside (storage has the truth)
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { connect } from 'node:net';
import { userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import type { Log } from '../../log.ts';

const SERVERS = ['valkey-server', 'redis-server'] as const;
const MIN_VERSION = [6, 2] as const;
/** sun_path holds 108 bytes on Linux and 104 on macOS, its closing zero included. */
const MAX_SOCKET_PATH_BYTES = 100;
const PING_TIMEOUT_MS = 2000;
const WATCH_MS = 5000;
/** While a server is expected to come up. */
const START_WATCH_MS = 50;
const SILENT_KILL_MS = 30_000;
/** Between starts of a server that ends again and again; the first comes at once. */
const MIN_PAUSE_MS = 1000;
const MAX_PAUSE_MS = 30_000;
/** A server that lived for longer starts the pauses anew. */
const SETTLED_MS = 30_000;
/** A server that has not answered by now is looked at less often. */
const START_MS = 5000;
/** Starts that ended with an error, before any answer, until its files are given up. */
const FAILED_STARTS_TO_MOVE_ASIDE = 2;
const SHUTDOWN_TIMEOUT_MS = 3000;

export interface RedisChild {
  /** Where it listens, now or as soon as it is up. */
  socketPath: string;
  /** The process that serves the socket, when known. */
  pid(): number | null;
  /** Ends the server, and waits for it. */
  close(): Promise<void>;
}

export interface RedisChildOptions {
  dataDir: string;
  log: Log;
  /** Names or paths of servers, the first that fits is taken. */
  servers?: readonly string[];
  watchMs?: number;
  silentKillMs?: number;
  /** Whether this daemon starts the server where none runs: of several on the folder one does. */
  mayStart?: () => Promise<boolean>;
  /** Whether it ends the server with itself: not while others use it. */
  mayEnd?: () => Promise<boolean>;
}

/** `closed`: somebody took the connection and ended it without a word, as a server does on SHUTDOWN. */
type Answer = 'alive' | 'silent' | 'closed' | 'nobody';

/** Sends one inline command to a socket; resolves to the start of the answer, or to why there is none. */
function ask(
  socketPath: string,
  command: string,
  timeoutMs: number,
): Promise<{ answer: Answer; text: string }> {
  const { promise, resolve: settle } = Promise.withResolvers<{ answer: Answer; text: string }>();
  const socket = connect(socketPath);
  let text = '';
  const done = (answer: Answer) => {
    clearTimeout(timer);
    socket.destroy();
    settle({ answer, text });
  };
  const timer = setTimeout(() => done('silent'), timeoutMs);
  socket.on('connect', () => socket.write(`${command}\r\n`));
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (text.includes('\r\n')) done('alive');
  });
  socket.on('close', () => done(text === '' ? 'closed' : 'alive'));
  socket.on('error', () => done('nobody'));
  return promise;
}

/**
 * Runs a server with nothing of our environment but the path to find it by: it lives longer than the daemon,
 * and the daemon's environment has keys.
 */
function command(server: string, args: readonly string[]): [string, string[]] {
  return ['sh', ['-c', 'exec env -i PATH="$PATH" "$@"', 'sh', server, ...args]];
}

/** The first server on the path that is new enough, with its version. */
async function findServer(
  servers: readonly string[],
  log: Log,
): Promise<{ server: string; version: string } | null> {
  for (const server of servers) {
    const text = await new Promise<string>((settle) => {
      const [file, args] = command(server, ['--version']);
      execFile(file, args, { timeout: 2000 }, (error, stdout) => settle(error === null ? stdout : ''));
    });
    const found = /\bv=(\d+)\.(\d+)\.\d+/.exec(text);
    if (found === null) continue;
    const version = found[0].slice(2);
    const [major, minor] = [Number(found[1]), Number(found[2])];
    if (major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]))
      return { server, version };
    log.warn({ server, version }, 'redis.too_old');
  }
  return null;
}

/**
 * The folder for the socket: the server's own, or a private one in /tmp where that path is too long. Not os.tmpdir():
 * the next daemon has to find the same one.
 */
function socketFolder(folder: string): string {
  if (Buffer.byteLength(join(folder, 'q.sock')) <= MAX_SOCKET_PATH_BYTES) return folder;
  const { uid } = userInfo();
  const mark = createHash('sha256').update(realpathSync(folder)).digest('hex').slice(0, 16);
  const path = `/tmp/offhook-${uid}-${mark}`;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  // Whoever else owned it, or could write to it, could put a server of his own there.
  const at = lstatSync(path);
  if (!at.isDirectory() || at.uid !== uid || (at.mode & 0o077) !== 0) {
    throw new Error(`${path} is not a private folder of this user`);
  }
  return path;
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Sends a signal to a process that may just have ended. */
function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, which is what was wanted.
  }
}

/** How a process was started, as far as the system tells; empty for one that is gone. */
async function commandLine(pid: number): Promise<string> {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'latin1');
  } catch {
    // No /proc (macOS): ps, which slim Linux images in turn lack.
  }
  return new Promise((settle) => {
    execFile('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { timeout: 2000 }, (error, stdout) =>
      settle(error === null ? stdout : ''),
    );
  });
}

/**
 * Finds a server and starts to look after it; resolves before it is up. Null: this machine has none.
 * @throws when the data folder cannot hold one.
 */
export async function openRedisChild(o: RedisChildOptions): Promise<RedisChild | null> {
  const found = await findServer(o.servers ?? SERVERS, o.log);
  if (found === null) return null;
  const child = new WatchedServer(o, found.server);
  o.log.info({ server: found.server, version: found.version }, 'redis.server_found');
  return child;
}

/** Asked now and then, started where it is missing, ended where it is silent. */
class WatchedServer implements RedisChild {
  readonly socketPath: string;
  readonly #o: RedisChildOptions;
  readonly #server: string;
  readonly #watchMs: number;
  readonly #folder: string;
  readonly #pidFile: string;
  #child: ChildProcess | null = null;
  #startedAtMs = 0;
  #failedStarts = 0;
  #pauseMs = 0;
  #notBeforeMs = 0;
  #silentSinceMs: number | null = null;
  #known = false;
  #closing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(o: RedisChildOptions, server: string) {
    this.#o = o;
    this.#server = server;
    this.#watchMs = o.watchMs ?? WATCH_MS;
    this.#folder = join(resolve(o.dataDir), 'redis');
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    chmodSync(this.#folder, 0o700);
    this.socketPath = join(socketFolder(this.#folder), 'q.sock');
    this.#pidFile = join(this.#folder, 'redis.pid');
    this.#schedule(0);
  }

  pid(): number | null {
    if (this.#child?.pid !== undefined) return this.#child.pid;
    const pid = this.#writtenPid();
    return Number.isInteger(pid) && lives(pid) ? pid : null;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  /** What the pid file says; NaN where there is none. */
  #writtenPid(): number {
    return existsSync(this.#pidFile)
      ? Number.parseInt(readFileSync(this.#pidFile, 'latin1'), 10)
      : Number.NaN;
  }

  /** The living process that serves our socket: by the pid file, and only if its command line names the socket. */
  async #ownPid(): Promise<number | null> {
    if (this.#child?.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null)
      return this.#child.pid;
    const pid = this.#writtenPid();
    if (!Number.isInteger(pid) || pid <= 1 || !lives(pid)) return null;
    const line = await commandLine(pid);
    return line.includes(this.socketPath) ? pid : null;
  }

  #start(): void {
    const args = [
      ['--port', '0', '--unixsocket', this.socketPath, '--unixsocketperm', '700'],
      ['--dir', this.#folder, '--pidfile', this.#pidFile, '--logfile', 'redis.log', '--loglevel', 'warning'],
      ['--appendonly', 'yes', '--appendfsync', 'everysec', '--save', ''],
      ['--maxmemory', '256mb', '--maxmemory-policy', 'noeviction', '--daemonize', 'no'],
    ].flat();
    rmSync(join(this.#folder, 'redis.log'), { force: true });
    const [file, all] = command(this.#server, args);
    // Detached: a Ctrl-C at the terminal is for the daemon, which still wants to empty the queue.
    const started = spawn(file, all, { detached: true, stdio: 'ignore', cwd: this.#folder });
    started.unref();
    this.#startedAtMs = performance.now();
    this.#child = started;
    this.#known = false;
    const ended = (why: Record<string, unknown>) => {
      if (this.#child !== started) return;
      this.#child = null;
      if (this.#closing !== null) return;
      this.#failedStarts = this.#known || why.code === null ? 0 : this.#failedStarts + 1;
      if (performance.now() - this.#startedAtMs > SETTLED_MS) this.#pauseMs = 0;
      this.#o.log.warn({ answered: this.#known, ...why }, 'redis.child_ended');
      this.#notBeforeMs = performance.now() + this.#pauseMs;
      this.#pauseMs = Math.min(Math.max(this.#pauseMs * 2, MIN_PAUSE_MS), MAX_PAUSE_MS);
      this.#schedule(0);
    };
    started.on('error', (err) => ended({ err }));
    started.on('exit', (code, by) => ended({ code, signal: by }));
  }

  /** Its files cannot be read, or are of a newer version: they hold only ids that the sweep finds again. */
  #moveAside(): void {
    const names = ['appendonlydir', 'appendonly.aof', 'dump.rdb'].filter((name) =>
      existsSync(join(this.#folder, name)),
    );
    if (names.length === 0) return;
    const aside = join(this.#folder, 'unreadable');
    rmSync(aside, { recursive: true, force: true });
    mkdirSync(aside, { mode: 0o700 });
    for (const name of names) renameSync(join(this.#folder, name), join(aside, name));
    this.#o.log.warn({ to: aside }, 'redis.files_moved_aside');
  }

  async #look(): Promise<void> {
    const { answer } = await ask(this.socketPath, 'PING', PING_TIMEOUT_MS);
    if (this.#closing !== null) return;
    if (answer === 'alive') {
      this.#silentSinceMs = null;
      if (!this.#known) {
        this.#known = true;
        this.#o.log.info({ adopted: this.#child === null, pid: await this.#ownPid() }, 'redis.child');
      }
      this.#schedule(this.#watchMs);
      return;
    }
    const pid = await this.#ownPid();
    if (this.#closing !== null) return;
    if (pid !== null) {
      // Two servers on one folder would ruin its files: this one has to end first.
      this.#silentSinceMs ??= performance.now();
      if (performance.now() - this.#silentSinceMs > (this.#o.silentKillMs ?? SILENT_KILL_MS)) {
        this.#o.log.warn({ pid }, 'redis.child_silent');
        this.#silentSinceMs = null;
        signal(pid, 'SIGKILL');
      }
      this.#schedule(
        performance.now() - this.#startedAtMs < START_MS ? START_WATCH_MS : Math.min(this.#watchMs, 1000),
      );
      return;
    }
    this.#silentSinceMs = null;
    if (this.#o.mayStart !== undefined && !(await this.#o.mayStart())) return this.#schedule(this.#watchMs);
    if (performance.now() < this.#notBeforeMs) return this.#schedule(this.#notBeforeMs - performance.now());
    if (this.#failedStarts >= FAILED_STARTS_TO_MOVE_ASIDE) {
      this.#moveAside();
      this.#failedStarts = 0;
    }
    this.#start();
    this.#schedule(START_WATCH_MS);
  }

  #schedule(ms: number): void {
    if (this.#closing !== null) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#round = this.#round
        .then(() => (this.#closing === null ? this.#look() : undefined))
        .catch((err: unknown) => {
          this.#o.log.warn({ err }, 'redis.watch_failed');
          this.#schedule(MAX_PAUSE_MS);
        });
    }, ms);
  }
  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#round;
    if (this.#o.mayEnd !== undefined && !(await this.#o.mayEnd())) return;
    const pid = await this.#ownPid();
    const { answer } = await ask(this.socketPath, 'SHUTDOWN NOSAVE', SHUTDOWN_TIMEOUT_MS);
    if (pid === null) return;
    if (answer !== 'closed' && (await this.#ownPid()) === pid) signal(pid, 'SIGTERM');
    const untilMs = performance.now() + SHUTDOWN_TIMEOUT_MS;
    while ((await this.#ownPid()) === pid && performance.now() < untilMs + SHUTDOWN_TIMEOUT_MS) {
      if (performance.now() > untilMs) signal(pid, 'SIGKILL');
      await new Promise((next) => setTimeout(next, 20));
    }
  }
}
