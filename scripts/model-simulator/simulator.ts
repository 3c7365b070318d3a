// The simulated model as a server of its own: the Realtime socket, the extraction endpoints and the control API on one
// port. It knows the protocols and its scenarios, and nothing of the program that calls it.
import { randomInt, randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { Ajv } from 'ajv';
import express, { type NextFunction, type Request, type Response } from 'express';
import wavefile from 'wavefile';
import { WebSocketServer } from 'ws';
import { Clock } from './clock.ts';
import { extractionRoutes } from './extraction.ts';
import { FAULT_SCHEMA, type Fault, Faults, meant, SESSION_KINDS } from './faults.ts';
import { Ears } from './hearing.ts';
import { FAST, HOSTED } from './pacing.ts';
import { WavRecording } from './record.ts';
import { parseScenario, type Recording, type Scenario } from './scenario.ts';
import { Session } from './session.ts';
import { Voice } from './voice.ts';

export interface ModelSimulatorOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /**
   * Scenarios: names of shipped ones, paths of files, or objects. Where there are several, the first whose `for` matches
   * a client's instructions holds, else the last. Default: `default`.
   */
  scenario?: string | object | readonly (string | object)[];
  /** Folder for the recordings; none are written without it. */
  out?: string;
  /** The one accepted bearer key. Default: any. */
  apiKey?: string;
  /** Where a scenario gives no pacing of its own: `fast` has next to no latency. Default `hosted`. */
  pacing?: 'hosted' | 'fast';
  /** Fixes the random choices of all sessions. Default: each scenario's own. */
  seed?: number;
  /** How many times faster than the world its time goes; for tests of what takes minutes. Default 1. */
  timeScale?: number;
}

export interface ModelSimulator {
  /** Base URL of the API: http://127.0.0.1:PORT/v1 */
  url: string;
  /** Base URL of the control API: http://127.0.0.1:PORT/simulator */
  controlUrl: string;
  port: number;
  /** Sessions since the start, the oldest first, as in GET /simulator/sessions. */
  sessions(): Record<string, unknown>[];
  arm(...faults: Fault[]): void;
  close(): Promise<void>;
}

const HEAD = import.meta.dirname;
/** Kinds that strike open sessions at once when the control API gives no trigger. */
const STRIKES_AT_ONCE: ReadonlySet<string> = new Set(SESSION_KINDS);

/** Closed sessions that stay readable. */
const MOST_SESSIONS = 2000;

interface Loaded {
  scenario: Scenario;
  ears: Ears;
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`cannot read ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/** Sound of a WAV file as 8 kHz samples. */
function readSound(path: string): Int16Array {
  const wav = new wavefile.WaveFile(readFileSync(path));
  const { sampleRate, numChannels } = wav.fmt as { sampleRate: number; numChannels: number };
  if (sampleRate !== 8000 || numChannels !== 1 || wav.bitDepth !== '16')
    throw new Error(`${path}: a recording to be heard must be 8 kHz mono 16-bit`);
  return wav.getSamples(false, Int16Array) as unknown as Int16Array;
}

class Library {
  readonly #ears = new Map<string, Ears>();
  readonly #pacing: 'hosted' | 'fast';

  constructor(pacing: 'hosted' | 'fast') {
    this.#pacing = pacing;
  }

  load(source: string | object): Loaded {
    let folder = join(HEAD, 'scenarios');
    let json: unknown = source;
    if (typeof source === 'string') {
      const shipped = join(folder, `${source}.json`);
      const path = /^[\w-]+$/.test(source) && existsSync(shipped) ? shipped : resolve(source);
      folder = dirname(path);
      json = readJson(path);
    }
    const scenario = parseScenario(json, this.#pacing === 'fast' ? FAST : HOSTED);
    return { scenario, ears: this.#earsOf(scenario.hears, folder) };
  }

  #earsOf(hears: Scenario['hears'], folder: string): Ears {
    const list = typeof hears === 'string' ? (readJson(join(folder, hears)) as Recording[]) : hears;
    const base = typeof hears === 'string' ? dirname(join(folder, hears)) : folder;
    const key = JSON.stringify([base, list]);
    let ears = this.#ears.get(key);
    if (ears === undefined) {
      ears = new Ears(
        list.map(({ file, words }) => ({
          name: file.split('/').at(-1) ?? file,
          samples: readSound(resolve(base, file)),
          words,
        })),
      );
      this.#ears.set(key, ears);
    }
    return ears;
  }
}

/** Answers an upgrade with an HTTP error and ends the connection. */
function refuseUpgrade(
  socket: Socket,
  status: number,
  code: string,
  message: string,
  headers: string[] = [],
): void {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', code, param: null } });
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Error'}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      `x-request-id: req_${randomUUID().replaceAll('-', '')}`,
      'connection: close',
      ...headers,
      '',
      body,
    ].join('\r\n'),
  );
}

const faultCheck = new Ajv({ strict: false }).compile<Fault>(FAULT_SCHEMA);

/** Starts the simulator and answers when it listens. Throws when a scenario is wrong or the port is taken. */
export async function startModelSimulator(options: ModelSimulatorOptions = {}): Promise<ModelSimulator> {
  const clock = new Clock(options.timeScale);
  const voice = new Voice();
  const faults = new Faults();
  const library = new Library(options.pacing ?? 'hosted');
  const watchers = new Set<Response>();
  const sessions: Session[] = [];
  const hanging = new Set<Socket>();
  let sessionCount = 0;
  let loaded: Loaded[] = [];

  const load = (source: ModelSimulatorOptions['scenario']) => {
    const list = Array.isArray(source) ? source : [source ?? 'default'];
    loaded = list.map((entry: string | object) => library.load(entry));
    faults.arm(loaded.flatMap(({ scenario }) => scenario.faults));
  };
  load(options.scenario);
  if (options.out !== undefined) mkdirSync(options.out, { recursive: true });

  const scenarioFor = (instructions: string): Loaded =>
    loaded.find(({ scenario }) => scenario.for?.test(instructions)) ?? loaded.at(-1)!;
  const publish = (event: Record<string, unknown>) => {
    if (watchers.size === 0) return;
    const line = `${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`;
    for (const watcher of watchers) watcher.write(line);
  };

  const keyOf = (request: IncomingMessage): string | null =>
    /^Bearer\s+(\S+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? null;
  const keyIsGood = (key: string | null): boolean =>
    key !== null && (options.apiKey === undefined || key === options.apiKey);

  let upgrades = 0;
  const app = express();
  app.disable('x-powered-by');
  app.use((_, response, next) => {
    response.set('x-request-id', `req_${randomUUID().replaceAll('-', '')}`);
    next();
  });
  app.use(express.json({ limit: '4mb', strict: false, type: () => true }));
  app.use('/v1', (request, response, next) => {
    if (keyIsGood(keyOf(request))) return next();
    response.status(401).json({
      error: {
        message: 'Incorrect API key provided.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    });
  });
  app.use(
    '/v1',
    extractionRoutes({
      clock,
      faults,
      scenarioFor: (text) => scenarioFor(text).scenario,
      publish,
    }),
  );

  /** Attempts to open a session, refused and hanging ones too. */
  app.get('/simulator/upgrades', (_, response) => {
    response.json({ count: upgrades });
  });
  app.get('/simulator/sessions', (_, response) => {
    response.json({ data: sessions.map((session) => session.inspect()) });
  });
  app.get('/simulator/sessions/:id', (request, response) => {
    const session = sessions.find(({ id }) => id === request.params.id);
    if (session === undefined) response.status(404).json({ error: { message: 'no such session' } });
    else response.json(session.inspect());
  });
  app.get('/simulator/events', (_, response) => {
    response.status(200).type('application/x-ndjson').flushHeaders();
    watchers.add(response);
    response.on('close', () => watchers.delete(response));
  });
  app.get('/simulator/faults', (_, response) => {
    response.json({ data: faults.list() });
  });
  const arm = (given: readonly Fault[]) => {
    for (const fault of given) {
      // Without a trigger, what concerns a running session strikes those that are open now, else the next one.
      const open = sessions.filter(
        ({ id, closed, config }) => closed === null && meant(fault, id, config.instructions),
      );
      const live =
        fault.trigger === 'now' || (fault.trigger === undefined && STRIKES_AT_ONCE.has(fault.kind));
      if (!live || open.length === 0) faults.arm([fault]);
      else for (const session of open.slice(0, fault.times ?? open.length)) session.strike(fault);
    }
  };
  app.post('/simulator/faults', (request, response) => {
    const given: Fault[] = [];
    for (const fault of [request.body as unknown].flat()) {
      if (!faultCheck(fault)) {
        const error = faultCheck.errors?.[0];
        const message = `${error?.instancePath ?? ''} ${error?.message ?? 'is wrong'}`.trim();
        response.status(400).json({ error: { message } });
        return;
      }
      given.push(fault);
    }
    arm(given);
    response.status(201).json({ data: faults.list() });
  });
  app.delete('/simulator/faults', (_, response) => {
    faults.clear();
    response.json({ data: [] });
  });
  app.get('/simulator/scenario', (_, response) => {
    response.json({
      data: loaded.map(({ scenario }) => ({ name: scenario.name, rules: scenario.rules.length })),
    });
  });
  /** Takes a scenario, a list of them, or `{"name": "order-line"}` for a shipped one. Holds for what comes. */
  app.post('/simulator/scenario', (request, response) => {
    const body = request.body as unknown;
    const sources = (Array.isArray(body) ? body : [body]).map((entry: unknown) => {
      const fields = entry as { name?: unknown; rules?: unknown } | null;
      return fields !== null &&
        typeof fields === 'object' &&
        fields.rules === undefined &&
        typeof fields.name === 'string'
        ? fields.name
        : (entry as object);
    });
    try {
      load(sources);
    } catch (error) {
      response
        .status(400)
        .json({ error: { message: error instanceof Error ? error.message : String(error) } });
      return;
    }
    response.json({
      data: loaded.map(({ scenario }) => ({ name: scenario.name, rules: scenario.rules.length })),
    });
  });
  app.use((request, response) => {
    response.status(404).json({
      error: {
        message: `Invalid URL (${request.method} ${request.path})`,
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    });
  });
  app.use(
    (error: { status?: number; message?: string }, _: Request, response: Response, _next: NextFunction) => {
      response.status(error.status ?? 500).json({
        error: {
          message: error.message ?? 'internal error',
          type: 'invalid_request_error',
          param: null,
          code: null,
        },
      });
    },
  );

  const server = createServer(app);
  const upgrader = new WebSocketServer({
    noServer: true,
    maxPayload: 32 * 1024 * 1024,
    perMessageDeflate: false,
  });

  server.on('upgrade', (request, stream, head) => {
    const socket = stream as Socket;
    socket.on('error', () => {}); // a peer may be gone before it is answered
    socket.setNoDelay(true);
    const target = new URL(request.url ?? '/', 'http://localhost');
    if (target.pathname !== '/v1/realtime') {
      refuseUpgrade(socket, 404, 'not_found', `Invalid URL (GET ${target.pathname})`);
      return;
    }
    upgrades += 1;
    const fault = faults.takeConnect();
    if (fault?.kind === 'upgrade_hang') {
      hanging.add(socket);
      socket.on('close', () => hanging.delete(socket));
      return;
    }
    if (fault?.kind === 'upgrade_status') {
      const status = fault.status ?? 503;
      const code =
        fault.code ??
        (status === 401 ? 'invalid_api_key' : status === 429 ? 'rate_limit_exceeded' : 'server_error');
      refuseUpgrade(socket, status, code, fault.message ?? STATUS_CODES[status] ?? 'Error', [
        ...(fault.retry_after_ms === undefined
          ? []
          : [`retry-after: ${Math.ceil(fault.retry_after_ms / 1000)}`]),
      ]);
      return;
    }
    if (!keyIsGood(keyOf(request))) {
      refuseUpgrade(socket, 401, 'invalid_api_key', 'Incorrect API key provided.');
      return;
    }
    const model = target.searchParams.get('model');
    if (model === null || model === '') {
      refuseUpgrade(socket, 400, 'missing_required_parameter', "Missing required parameter: 'model'.");
      return;
    }
    upgrader.handleUpgrade(request, socket, head, (webSocket) => {
      const number = sessionCount++;
      const seed = options.seed ?? loaded.at(-1)!.scenario.seed;
      const session = new Session({
        id: `sess_${number.toString().padStart(4, '0')}${randomInt(36 ** 6)
          .toString(36)
          .padStart(6, '0')}`,
        model,
        socket: webSocket,
        tcp: socket,
        scenarioFor,
        voice,
        clock,
        faults,
        seed: seed * 1_000_003 + number,
        record: (name, rateHz) =>
          options.out === undefined ? null : new WavRecording(join(options.out, name), rateHz),
        publish,
        openFault: fault,
      });
      sessions.push(session);
      if (sessions.length > MOST_SESSIONS) {
        const oldest = sessions.findIndex(({ closed }) => closed !== null);
        if (oldest >= 0) sessions.splice(oldest, 1);
      }
    });
  });

  const host = options.host ?? '127.0.0.1';
  await new Promise<void>((resolveListening, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, host, () => {
      server.off('error', reject);
      resolveListening();
    });
  });
  const { port } = server.address() as AddressInfo;

  let closing: Promise<void> | null = null;
  const close = async () => {
    await Promise.all(sessions.map((session) => session.close()));
    clock.close();
    for (const socket of hanging) socket.destroy();
    for (const watcher of watchers) watcher.end();
    upgrader.close();
    server.closeAllConnections();
    await new Promise<void>((done) => {
      server.close(() => done());
    });
  };
  return {
    url: `http://${host}:${port}/v1`,
    controlUrl: `http://${host}:${port}/simulator`,
    port,
    sessions: () => sessions.map((session) => session.inspect()),
    arm: (...given) => arm(given),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}
