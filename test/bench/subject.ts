// What is measured: the daemon as a process of its own, or a floor in its place. Starts it, brings calls onto it, stops it.
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../scripts/free-port.ts';
import { DAEMON_NODE_ARGS } from '../../scripts/lab.ts';
import { COLUMNS, type Column, type ColumnName, type Program } from './columns.ts';
import { folders, launch, type Peer, running, START_MS, startPeer } from './peer.ts';

const STOP_MS = 8_000;
/** Calls brought up at once: a burst, but not all in one instant. */
const DIAL_AT_ONCE = 10;

export interface Subject {
  column: ColumnName;
  pid: number;
  /** Brings up calls `from` to `to`. */
  addCalls(from: number, to: number): Promise<void>;
  /** The text of /metrics; empty for a floor. */
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

export interface SubjectOptions {
  carrier: Peer;
  model: Peer;
  /** The certificate of the authority that vouches for the model. */
  authority: string;
  cores: string | null;
  /** Folders with the packages of those bridges that have some. */
  packages: Partial<Record<Program, string>>;
  mediaThreads: number;
  /** More settings for the daemon. */
  settings: Record<string, string>;
}

export function startSubject(name: ColumnName, o: SubjectOptions): Promise<Subject> {
  return COLUMNS[name].program === 'daemon' ? startDaemon(name, o) : startFloor(name, o);
}

/** How the model is reached, without the scheme: http or ws, `s` where it is TLS. */
function modelAt(column: Column, { model, authority }: SubjectOptions) {
  return column.tls
    ? { address: `s://127.0.0.1:${model.securePort}/v1`, env: { NODE_EXTRA_CA_CERTS: authority } }
    : { address: `://127.0.0.1:${model.port}/v1`, env: {} };
}

async function startFloor(name: ColumnName, o: SubjectOptions): Promise<Subject> {
  o.carrier.tell({ do: 'open', accountSid: '', secret: '', mediaPort: 0 });
  const column = COLUMNS[name];
  const { address, env } = modelAt(column, o);
  const floor = await startPeer(
    `test/bench/floors/${column.program}-bridge.ts`,
    [`ws${address}`, o.packages[column.program] ?? ''],
    { cores: o.cores, env },
  );
  return {
    column: name,
    pid: floor.pid,
    async addCalls(from, to) {
      o.carrier.tell({ do: 'dial', url: `ws://127.0.0.1:${floor.port}/`, from, to });
    },
    metrics: async () => '',
    async stop() {
      floor.stop();
    },
  };
}

/** One that fails before it is ready for calls leaves nothing running. */
async function startDaemon(name: ColumnName, o: SubjectOptions): Promise<Subject> {
  const undo: (() => void)[] = [];
  try {
    return await openDaemon(name, o, undo);
  } catch (error) {
    for (const one of undo) one();
    throw error;
  }
}

/** @param undo filled with what ends the parts that were begun */
async function openDaemon(name: ColumnName, o: SubjectOptions, undo: (() => void)[]): Promise<Subject> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-bench-'));
  folders.add(folder);
  const column = COLUMNS[name];
  const mediaPort = column.direct ? await freePort(o.mediaThreads) : 0;
  const { address, env } = modelAt(column, o);
  const secret = 'bench-secret';
  const accountSid = `AC${'b'.repeat(32)}`;
  const apiKey = `sk_${'b'.repeat(48)}`;
  o.carrier.tell({ do: 'open', accountSid, secret, mediaPort });
  const webhooks = await listenForWebhooks();
  const daemon = launch('main.js', [], {
    cores: o.cores,
    ipc: false,
    nodeArgs: DAEMON_NODE_ARGS,
    env: {
      ...env,
      PORT: '0',
      DATA_DIR: join(folder, 'data'),
      TWILIO_ACCOUNT_SID: accountSid,
      TWILIO_AUTH_TOKEN: secret,
      TWILIO_BASE_URL: `http://127.0.0.1:${o.carrier.port}`,
      OPENAI_API_KEY: 'sk-bench',
      OPENAI_BASE_URL: `http${address}`,
      OFFHOOK_API_KEY: apiKey,
      WEBHOOK_ALLOWED_CIDRS: '127.0.0.0/8',
      MEDIA_THREADS: String(o.mediaThreads),
      MEDIA_PORT: String(mediaPort),
      MAX_CONCURRENT_CALLS: '10000',
      OUTBOUND_HOURS: '00:00-24:00',
      OUTBOUND_PER_DESTINATION_PER_DAY: '0',
      OUTBOUND_PER_MINUTE: '0',
      // What is measured here is what happens beyond it.
      MEDIA_LATE_MS: '0',
      RATE_LIMIT_PER_SECOND: '10000',
      RATE_LIMIT_BURST: '10000',
      REDIS_MODE: 'none',
      LOG_LEVEL: 'info',
      ...column.settings,
      ...o.settings,
    },
  });
  undo.push(
    () => daemon.kill('SIGKILL'),
    () => webhooks.server.close(),
  );
  const said: string[] = [];
  const url = await new Promise<string>((started, failed) => {
    const tooLate = setTimeout(
      () => failed(new Error(`the daemon did not start:\n${said.join('\n')}`)),
      START_MS,
    );
    daemon.once('error', failed);
    daemon.once('close', (code) =>
      failed(new Error(`the daemon ended with ${code}:\n${said.slice(-10).join('\n')}`)),
    );
    for (const stream of [daemon.stdout, daemon.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        if (said.length < 200) said.push(line);
        const found = line.includes('"daemon.started"') ? /"url":"([^"]+)"/.exec(line)?.[1] : undefined;
        if (found === undefined) return;
        clearTimeout(tooLate);
        started(found);
      });
    }
  });

  async function api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text.slice(0, 300)}`);
    return (text.startsWith('{') ? JSON.parse(text) : text) as T;
  }

  const offers = await api<{ data: { e164: string }[] }>('GET', '/v1/numbers/available?limit=1');
  const number = await api<{ id: string }>('POST', '/v1/numbers/purchase', { e164: offers.data[0]?.e164 });
  const agent = await api<{ id: string }>('POST', '/v1/agents', {
    name: 'Bench',
    type: 'outbound',
    number_ids: [number.id],
    instructions: 'Be kind.',
    webhook_url: webhooks.url,
  });
  return {
    column: name,
    pid: daemon.pid ?? 0,
    async addCalls(from, to) {
      let next = from;
      const lane = async () => {
        for (let index = next++; index < to; index = next++)
          await api('POST', '/v1/calls', {
            agent_id: agent.id,
            to: `+15550${String(index).padStart(6, '0')}`,
          });
      };
      await Promise.all(Array.from({ length: DIAL_AT_ONCE }, lane));
    },
    metrics: () => api<string>('GET', '/metrics'),
    async stop() {
      daemon.removeAllListeners('close');
      const ended = new Promise<void>((done) =>
        daemon.once('close', () => {
          running.delete(daemon);
          done();
        }),
      );
      daemon.kill('SIGINT');
      const timer = setTimeout(() => daemon.kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(timer);
      webhooks.server.closeAllConnections();
      webhooks.server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function listenForWebhooks(): Promise<{ url: string; server: Server }> {
  return new Promise((done) => {
    const server = createServer((request, response) => {
      request.resume();
      request.on('end', () => response.writeHead(204).end());
    });
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      done({ url: `http://127.0.0.1:${port}/hooks`, server });
    });
  });
}
