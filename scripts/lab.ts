// The phone lab: the daemon, a simulated carrier, a simulated model and a webhook receiver, each a program on its own
// port, started together. What `npm run simulate` and the end-to-end tests run on. Knows the daemon by its command
// line, its environment and /v1 only.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Agent, fetch } from 'undici';
import type { SimulatorOptions } from './carrier-simulator/options.ts';

/** A connection for each request: one that is kept may be closed by the daemon in the moment it is used again. */
const oneByOne = new Agent({ pipelining: 0 });

const ROOT = resolve(import.meta.dirname, '..');
const START_MS = 120_000;
/** After its end, for what it wrote last. */
const LAST_LINES_MS = 500;
/** A program that does not end by itself is killed: longer than any drain of a test. */
const STOP_MS = 120_000;

/** What `npm start` gives to Node: new objects take 32 MB at most, where they would come to take 128. */
export const DAEMON_NODE_ARGS = ['--max-semi-space-size=16'];

/** Of the environment: nothing that would be a setting. Compiled code is kept between programs where somebody asks for it. */
const PASSED_ON = Object.fromEntries(
  ['PATH', 'HOME', 'NODE_COMPILE_CACHE'].flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  }),
);

/** Whoever starts a lab and ends without closing it leaves no program behind. */
const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export interface Received {
  at: string;
  headers: Record<string, string>;
  body: string;
}

export interface Program {
  name: string;
  url: string;
  pid: number;
  /** Everything it wrote, line by line; the daemon's lines are JSON. */
  lines: string[];
  /** Undefined while it runs; null when a signal ended it. */
  exitCode(): number | null | undefined;
  /** The exit code once it has ended, by itself or not; null: killed. */
  ended: Promise<number | null>;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface LabOptions {
  /** Folder for data, logs and recordings of all programs. */
  folder: string;
  /** Paths of the model's scenario files; of several, the first that fits an agent's instructions holds. */
  scenario: string | readonly string[];
  carrier: SimulatorOptions;
  /** Whether the simulators write down the sound of all calls (default: they do). */
  simulatorFiles?: boolean;
  /** More settings for the daemon. */
  env?: Record<string, string>;
  /** What the webhook receiver answers; default 204. */
  answer?: (request: IncomingMessage, body: string) => number;
  /** Told of every webhook as it arrives. */
  onReceived?: (received: Received) => void;
  /** Folder of the daemon's program; default: this one. */
  program?: string;
  /** Told of every line of the daemon's log. */
  onDaemonLine?: (line: Record<string, unknown>) => void;
}

export interface ApiAnswer<T> {
  status: number;
  headers: Pick<Headers, 'get'>;
  body: T;
}

export interface Lab {
  daemon: Program;
  carrier: Program;
  model: Program;
  apiKey: string;
  /** Whose hooks they are, and what the carrier signs them with. */
  accountSid: string;
  carrierToken: string;
  /** Webhooks received so far. */
  received: Received[];
  receiverUrl: string;
  api<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ApiAnswer<T>>;
  /** JSON from a simulator's control API. */
  ask<T = Record<string, unknown>>(
    of: 'carrier' | 'model',
    path: string,
    body?: unknown,
    method?: string,
  ): Promise<T>;
  /** Starts the daemon again on the same data and the same port, after it ended. */
  restartDaemon(env?: Record<string, string>): Promise<void>;
  /** Starts one more daemon on the same data, on a port of its own; it is stopped with the others. @param program its folder */
  startAnother(env?: Record<string, string>, program?: string): Promise<Program>;
  /** Starts a program that goes on for the daemon, on its data and its port; the one before ends with its last call. */
  takeOver(env?: Record<string, string>): Promise<{ before: Program }>;
  /**
   * Has the daemon start another program that goes on for it, by the command: as `takeOver`, but by its socket. The new one
   * writes where the old one does. @throws Error with what the command said
   */
  upgrade(args?: readonly string[]): Promise<{ before: Program; said: string }>;
  /** Stops everything. Answers the exit codes; null: it had to be killed. */
  close(): Promise<{ daemon: number | null; carrier: number | null; model: number | null }>;
}

function startProgram(
  name: string,
  file: string,
  args: string[],
  o: {
    env: Record<string, string>;
    nodeArgs?: readonly string[];
    folder?: string;
    ready: (line: string) => string | null;
    onLine?: (line: string) => void;
  },
): Promise<Program> {
  return new Promise((started, failed) => {
    const { folder = ROOT } = o;
    const child: ChildProcess = spawn(
      process.execPath,
      [...(o.nodeArgs ?? []), join(folder, file), ...args],
      {
        cwd: folder,
        env: { ...PASSED_ON, ...o.env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    running.add(child);
    const lines: string[] = [];
    let exit: number | null | undefined;
    const ended = new Promise<number | null>((done) => {
      const over = (code: number | null) => {
        exit = code;
        running.delete(child);
        done(code);
      };
      child.once('close', over);
      // A process that goes on for it has its output, too.
      child.once('exit', (code) => setTimeout(over, LAST_LINES_MS, code).unref());
    });
    const tooLate = setTimeout(() => {
      child.kill('SIGKILL');
      failed(new Error(`${name} did not start within ${START_MS / 1000} s:\n${lines.slice(-20).join('\n')}`));
    }, START_MS);
    child.once('error', failed);
    void ended.then((code) => {
      clearTimeout(tooLate);
      failed(new Error(`${name} ended at its start (exit ${code}):\n${lines.slice(-20).join('\n')}`));
    });
    const read = (line: string) => {
      lines.push(line);
      o.onLine?.(line);
      const url = o.ready(line);
      if (url === null) return;
      clearTimeout(tooLate);
      started({
        name,
        url,
        pid: child.pid ?? 0,
        lines,
        exitCode: () => exit,
        ended,
        async stop(signal = 'SIGTERM') {
          if (exit === undefined) child.kill(signal);
          const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
          const code = await ended;
          clearTimeout(timer);
          return code;
        },
      });
    };
    if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', read);
    if (child.stderr !== null) createInterface({ input: child.stderr }).on('line', read);
  });
}

/** Runs one of the program's commands. @throws Error with what it said, when it fails */
function runCommand(args: readonly string[], env: Record<string, string>): Promise<string> {
  const options = { cwd: ROOT, env: { ...PASSED_ON, ...env } };
  return new Promise((done, failed) => {
    const child = execFile(process.execPath, args, options, (error, out, err) => {
      running.delete(child);
      if (error === null) done(out);
      else failed(new Error(`${out}${err}`));
    });
    running.add(child);
  });
}

/** Those that another program started, and so nobody's children here. */
const others = new Set<number>();
process.on('exit', () => {
  for (const pid of others) signal(pid, 'SIGKILL');
});

/** @returns whether there is such a process */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** A process that another program started; nobody here learns with what it ends. */
function processOf(pid: number): Pick<Program, 'pid' | 'exitCode' | 'ended' | 'stop'> {
  others.add(pid);
  const ended = until('the end of a process', () => !signal(pid, 0), 2 ** 31).then(() => {
    others.delete(pid);
    return 0;
  });
  return {
    pid,
    exitCode: () => (signal(pid, 0) ? undefined : 0),
    ended,
    async stop(name = 'SIGTERM') {
      signal(pid, name);
      const timer = setTimeout(() => signal(pid, 'SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
      return 0;
    },
  };
}

/** A connection that there was, and that ended before the answer. */
function isLost(error: unknown): boolean {
  const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
  return code === 'ECONNRESET' || code === 'UND_ERR_SOCKET';
}

function jsonLine(line: string): Record<string, unknown> | null {
  if (!line.startsWith('{')) return null;
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return null;
  }
}

function listening(line: string): string | null {
  const found = jsonLine(line);
  return typeof found?.listening === 'number' ? `http://127.0.0.1:${found.listening}` : null;
}

/** Starts all four. @throws Error with the last lines of whichever did not start */
export async function openLab(o: LabOptions): Promise<Lab> {
  const folder = resolve(o.folder);
  mkdirSync(folder, { recursive: true });
  const received: Received[] = [];
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      );
      const one = { at: new Date().toISOString(), headers, body };
      received.push(one);
      o.onReceived?.(one);
      response.writeHead(o.answer?.(request, body) ?? 204).end();
    });
  });
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done));
  const receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks`;

  const accountSid = `AC${randomBytes(16).toString('hex')}`;
  const authToken = randomBytes(16).toString('hex');
  const apiKey = `sk_${randomBytes(24).toString('hex')}`;
  const modelKey = `sk-${randomBytes(16).toString('hex')}`;
  const carrierConfig = join(folder, 'carrier.json');
  writeFileSync(
    carrierConfig,
    JSON.stringify({ allowInsecure: true, audioDir: ROOT, ...o.carrier, accountSid, authToken }, null, 2),
  );
  const stopAll: (() => Promise<unknown>)[] = [];
  const outOf = (name: string) => (o.simulatorFiles === false ? [] : ['--out', join(folder, name)]);
  try {
    const kept = async (starting: Promise<Program>) => {
      const program = await starting;
      stopAll.push(() => program.stop());
      return program;
    };
    const [carrierStarted, modelStarted] = await Promise.allSettled([
      kept(
        startProgram(
          'carrier simulator',
          'scripts/carrier-simulator/main.ts',
          ['--port', '0', '--config', carrierConfig, ...outOf('carrier')],
          { env: {}, ready: listening },
        ),
      ),
      kept(
        startProgram(
          'model simulator',
          'scripts/model-simulator/main.ts',
          [
            '--port',
            '0',
            ...[o.scenario].flat().flatMap((file) => ['--scenario', resolve(file)]),
            ...outOf('model'),
          ],
          { env: {}, ready: listening },
        ),
      ),
    ]);
    if (carrierStarted.status === 'rejected') throw carrierStarted.reason;
    if (modelStarted.status === 'rejected') throw modelStarted.reason;
    const carrier = carrierStarted.value;
    const model = modelStarted.value;

    let port = '0';
    const others: Program[] = [];
    const settings = () => ({
      PORT: port,
      DATA_DIR: join(folder, 'data'),
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: authToken,
      TWILIO_BASE_URL: carrier.url,
      OPENAI_API_KEY: modelKey,
      OPENAI_BASE_URL: `${model.url}/v1`,
      OFFHOOK_API_KEY: apiKey,
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      // Its numbers are none that anybody has: one is called as often as a test wants, at any time.
      OUTBOUND_HOURS: '00:00-24:00',
      OUTBOUND_PER_DESTINATION_PER_DAY: '0',
      OUTBOUND_PER_MINUTE: '0',
      // What is tried here is something else, unless its agent says otherwise.
      OUTBOUND_DISCLOSURE: 'off',
      RECORDING_NOTICE: 'never',
      // The simulators, and whatever else runs here, have the same processors: being late is no sign of too many calls.
      MEDIA_LATE_MS: '3000',
    });
    const startDaemon = (env: Record<string, string> = {}, program = o.program ?? ROOT) =>
      startProgram('daemon', 'main.js', [], {
        folder: program,
        nodeArgs: DAEMON_NODE_ARGS,
        env: { ...settings(), ...o.env, ...env },
        onLine(line) {
          const parsed = jsonLine(line);
          if (parsed !== null) o.onDaemonLine?.(parsed);
        },
        ready(line) {
          const parsed = jsonLine(line);
          return parsed?.event === 'daemon.started' ? String(parsed.url) : null;
        },
      });
    const lab: Lab = {
      daemon: await startDaemon(),
      carrier,
      model,
      apiKey,
      accountSid,
      carrierToken: authToken,
      received,
      receiverUrl,
      async api<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
        const ask = () =>
          fetch(`${lab.daemon.url}${path}`, {
            dispatcher: oneByOne,
            method,
            headers: {
              authorization: `Bearer ${apiKey}`,
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...headers,
            },
            ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
          });
        // A media thread that ends takes the connections with it that it has accepted.
        const response = await ask().catch((error: unknown) => {
          if (method === 'GET' && isLost(error)) return ask();
          throw error;
        });
        const text = await response.text();
        const isJson = response.headers.get('content-type')?.includes('json') === true;
        return {
          status: response.status,
          headers: response.headers,
          body: (isJson ? JSON.parse(text) : text) as T,
        };
      },
      async ask<T>(
        of: 'carrier' | 'model',
        path: string,
        body?: unknown,
        method = body === undefined ? 'GET' : 'POST',
      ) {
        const response = await fetch(`${of === 'carrier' ? carrier.url : model.url}/simulator${path}`, {
          method,
          ...(body === undefined
            ? {}
            : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
        });
        const text = await response.text();
        if (!response.ok) throw new Error(`${of} simulator: ${method} ${path}: ${response.status} ${text}`);
        return (text === '' ? undefined : JSON.parse(text)) as T;
      },
      async restartDaemon(env) {
        lab.daemon = await startDaemon(env);
      },
      async startAnother(env, program) {
        const another = await startDaemon({ PORT: '0', ...env }, program);
        others.push(another);
        return another;
      },
      async takeOver(env) {
        const before = lab.daemon;
        lab.daemon = await startDaemon({ OFFHOOK_TAKES_OVER: 'any', ...env });
        others.push(before);
        return { before };
      },
      async upgrade(args = []) {
        const before = lab.daemon;
        const { DATA_DIR } = settings();
        const command = ['control/cli/main.ts', 'upgrade', '--no-wait', '--data-dir', DATA_DIR];
        const said = await runCommand([...command, ...args], {});
        const pid = Number(/takes all new calls \(process (\d+)\)/.exec(said)?.[1]);
        if (Number.isNaN(pid)) throw new Error(`The command said: ${said}`);
        lab.daemon = { ...processOf(pid), name: 'daemon', url: before.url, lines: before.lines };
        others.push(before);
        return { before, said };
      },
      async close() {
        await Promise.all(others.map((other) => other.stop('SIGINT')));
        const daemon = await lab.daemon.stop('SIGINT');
        const [ofCarrier, ofModel] = await Promise.all([carrier.stop(), model.stop()]);
        receiver.closeAllConnections();
        await new Promise<void>((done) => receiver.close(() => done()));
        return { daemon, carrier: ofCarrier, model: ofModel };
      },
    };
    port = new URL(lab.daemon.url).port;
    return lab;
  } catch (error) {
    await Promise.all(stopAll.map((stop) => stop()));
    receiver.close();
    throw error;
  }
}

/** When somebody takes connections there, in ms of this machine's clock. */
export async function untilListening(url: string): Promise<number> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const taken = await new Promise<boolean>((done) => {
      const socket = connect(Number(port), hostname, () => {
        socket.destroy();
        done(true);
      });
      socket.once('error', () => done(false));
    });
    if (taken) return Date.now();
    await new Promise((later) => setTimeout(later, 20));
  }
}

/** Asks again and again until `look` answers something; fails with `what` after `timeoutMs`. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false> | T | null | undefined | false,
  timeoutMs = 180_000,
): Promise<T> {
  const giveUp = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (performance.now() > giveUp) throw new Error(`Waited ${timeoutMs / 1000} s in vain for ${what}.`);
    await new Promise((again) => setTimeout(again, 100));
  }
}
