// The checks of `offhook doctor` that ask somebody: carrier, model, PUBLIC_URL, Redis, disk, the daemon itself. Each
// answers what it found and never throws; none changes anything anywhere.
import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { delimiter, dirname, join, resolve } from 'node:path';
import { connect as connectTls } from 'node:tls';
import type { Found } from '../../../bridge/setup.ts';
import { carrierSetups, isSetUp, isWanted, modelSetups } from '../../../bridge/setups.ts';
import type { Config } from '../../../config.ts';
import { expectedProof, newChallenge } from '../../operations/instance.ts';
import { type Finding, fail, judgeCalls, judgeDisk, judgePublicUrl, ok, skip, warn } from './findings.ts';

const ASK_MS = 10_000;

/** Dates of answers from outside, for the check of the clock. */
export type Dates = { host: string; date: string; atMs: number }[];

type Asked = { status: number; headers: Headers; body: unknown } | { error: string };

/** A GET as JSON; redirects are answers. */
async function ask(url: string, headers: Record<string, string>, dates: Dates | null): Promise<Asked> {
  try {
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(ASK_MS) });
    const atMs = Date.now();
    const date = response.headers.get('date');
    if (dates !== null && date !== null) dates.push({ host: new URL(url).host, date, atMs });
    const text = await response.text();
    let body: unknown = text;
    try {
      body = JSON.parse(text);
    } catch {
      // Said by the status then.
    }
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    return { error: reason(error) };
  }
}

function reason(error: unknown): string {
  const { cause } = error as { cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? (error instanceof Error ? error.message : String(error));
}

const field = (body: unknown, name: string): unknown =>
  typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined;

/** The account of each carrier that the settings name. */
export async function checkCarriers(config: Config, dates: Dates): Promise<Finding[]> {
  const wanted = carrierSetups.filter((setup) => isWanted(setup, config));
  if (wanted.length === 0) return [skip('carrier', 'No credentials to try.')];
  return Promise.all(
    wanted.map(async (setup): Promise<Finding> => {
      const found: Found = isSetUp(setup, config)
        ? await setup.tryOut(config, (url, headers) => ask(url, headers, dates))
        : { state: 'skip', says: 'No credentials to try.' };
      const whose = wanted.length === 1 ? '' : `${setup.name}: `;
      return { check: 'carrier', ...found, says: whose + found.says };
    }),
  );
}

/** Key and models of the settings. */
export async function checkModel(config: Config, dates: Dates, now: Date): Promise<Finding[]> {
  const [setup] = modelSetups;
  if (!isSetUp(setup, config)) return [skip('model', 'No key to try.')];
  const found = await setup.tryOut(config, { ask: (url, headers) => ask(url, headers, dates), now });
  return found.map((one) => ({ check: 'model', ...one }));
}

/** The status an upgrade is answered with: what stands between shows itself here. */
function askUpgrade(url: string): Promise<number | string> {
  return new Promise((answered) => {
    const request = (url.startsWith('https:') ? httpsRequest : httpRequest)(url, {
      headers: {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': Buffer.from('offhook doctor!!').toString('base64'),
      },
      timeout: ASK_MS,
    });
    request.once('response', (response) => {
      response.resume();
      answered(response.statusCode ?? 0);
    });
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      answered(101);
    });
    request.once('timeout', () => request.destroy(new Error('no answer')));
    request.once('error', (error) => answered(reason(error)));
    request.end();
  });
}

/** Whether a carrier gets through PUBLIC_URL to this daemon: hooks by http, media by websocket. */
export async function checkPublicUrl(config: Config, running: boolean): Promise<Finding[]> {
  const written = judgePublicUrl(config.PUBLIC_URL);
  if (written !== null) return [written];
  const url = config.PUBLIC_URL ?? '';
  const challenge = newChallenge();
  const asked = await ask(`${url}/healthz?challenge=${challenge}`, {}, null);
  const proxy =
    'Look at the proxy or tunnel in front: it must pass everything under / to PORT, with WebSocket upgrades.';
  if ('error' in asked) {
    return [
      fail(
        'public URL',
        `${url} does not answer (${asked.error}).`,
        `${proxy} Check its DNS name and certificate too.`,
      ),
    ];
  }
  if (!running) {
    return [
      warn(
        'public URL',
        `${url} answers ${asked.status}; no daemon runs here to answer for itself.`,
        'Start the daemon and ask again.',
      ),
    ];
  }
  const ours = whose(config, challenge, asked);
  if (ours === 'another' || asked.status !== 200 || field(asked.body, 'status') !== 'ok') {
    return [fail('public URL', `${url}/healthz answers ${asked.status}, which is not this daemon.`, proxy)];
  }
  const upgraded = await askUpgrade(`${url}/media/1/1/doctor`);
  // An upgrade without a signature is refused by the daemon itself, with one of these.
  return [401, 403, 404].includes(Number(upgraded))
    ? [ok('public URL', `${url} reaches this daemon, websockets too.`)]
    : [fail('public URL', `${url} answers requests, but not websockets (${upgraded}).`, proxy)];
}

/** Redis where one is configured; else what the daemon is going to do without. */
export async function checkRedis(config: Config, path: string): Promise<Finding> {
  if (config.REDIS_URL === null) {
    const found = ['valkey-server', 'redis-server'].find((name) =>
      path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, name))),
    );
    return found === undefined
      ? ok(
          'Redis',
          'None: webhooks are delivered from the database directly. For large loads install redis-server.',
        )
      : ok('Redis', `The daemon starts ${found} for itself.`);
  }
  let url: URL;
  try {
    url = new URL(config.REDIS_URL);
  } catch {
    return fail(
      'Redis',
      'REDIS_URL is not a URL.',
      'Such as redis://127.0.0.1:6379 or rediss://user:password@host:6379.',
    );
  }
  const answer = await new Promise<string>((answered) => {
    const port = Number(url.port || 6379);
    const socket =
      url.protocol === 'rediss:'
        ? connectTls({ host: url.hostname, port, servername: url.hostname })
        : connect({ host: url.hostname, port });
    socket.setTimeout(ASK_MS, () => socket.destroy(new Error('no answer')));
    let text = '';
    socket.once(url.protocol === 'rediss:' ? 'secureConnect' : 'connect', () => {
      const commands: string[][] = [];
      if (url.password !== '')
        commands.push([
          'AUTH',
          ...(url.username === '' ? [] : [decodeURIComponent(url.username)]),
          decodeURIComponent(url.password),
        ]);
      commands.push(['CONFIG', 'GET', 'maxmemory-policy'], ['PING']);
      socket.write(
        commands
          .map(
            (words) =>
              `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('')}`,
          )
          .join(''),
      );
    });
    socket.on('data', (data) => {
      text += String(data);
      if (/\+PONG|-NOAUTH|-WRONGPASS|-ERR AUTH/.test(text)) {
        socket.destroy();
        answered(text);
      }
    });
    socket.once('error', (error) => answered(`!${reason(error)}`));
    socket.once('close', () => answered(text || '!closed'));
  });
  if (answer.startsWith('!')) {
    return fail(
      'Redis',
      `${url.host} does not answer (${answer.slice(1)}).`,
      'Start it, or leave REDIS_URL out: then the daemon helps itself.',
    );
  }
  if (!answer.includes('+PONG'))
    return fail(
      'Redis',
      'It refuses the password of REDIS_URL.',
      'Correct REDIS_URL: redis://user:password@host:6379.',
    );
  const policy = /maxmemory-policy\r\n\$\d+\r\n([a-z-]+)/.exec(answer)?.[1];
  return policy === undefined || policy === 'noeviction'
    ? ok('Redis', 'It answers.')
    : warn(
        'Redis',
        `It answers, and may throw entries away (maxmemory-policy ${policy}).`,
        'Set maxmemory-policy noeviction. What is thrown away is found again in the database, later.',
      );
}

/** Space and permission where DATA_DIR is, or is going to be. */
export function checkDisk(config: Config): Finding {
  const folder = resolve(config.DATA_DIR);
  let there = folder;
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there);
  try {
    accessSync(there, constants.W_OK);
  } catch {
    return fail(
      'disk',
      `${there} cannot be written to by this user.`,
      `Give it to the user that runs the daemon: chown -R offhook ${there}`,
    );
  }
  const { bavail, bsize } = statfsSync(there);
  return judgeDisk(bavail * bsize, { warnMb: config.STORAGE_WARN_MB, lowMb: config.STORAGE_LOW_MB, folder });
}

/** Whether an answer of /healthz is that of the daemon on DATA_DIR. `unknown`: its key cannot be read by this user. */
function whose(config: Config, challenge: string, asked: Asked): 'ours' | 'another' | 'unknown' {
  try {
    const expected = expectedProof(resolve(config.DATA_DIR), challenge);
    return expected !== null && 'body' in asked && field(asked.body, 'proof') === expected
      ? 'ours'
      : 'another';
  } catch {
    return 'unknown';
  }
}

/** The daemon itself, where the settings say it listens. */
export async function checkDaemon(
  config: Config,
): Promise<{ running: boolean; finding: Finding; provenAt?: string }> {
  const host = config.HOST === '0.0.0.0' || config.HOST === '::' ? '127.0.0.1' : config.HOST;
  const at = `http://${host.includes(':') ? `[${host}]` : host}:${config.PORT}`;
  const challenge = newChallenge();
  const alive = await ask(`${at}/healthz?challenge=${challenge}`, {}, null);
  if ('error' in alive)
    return { running: false, finding: warn('daemon', `None runs at ${at}.`, 'Start it: npm start.') };
  if (alive.status !== 200 || field(alive.body, 'status') !== 'ok') {
    return {
      running: false,
      finding: fail(
        'daemon',
        `Something else answers at ${at} (${alive.status}).`,
        'Set PORT to a free one, or stop what is there.',
      ),
    };
  }
  const ours = whose(config, challenge, alive);
  if (ours === 'another') {
    return {
      running: false,
      finding: fail(
        'daemon',
        `A daemon answers at ${at}, but not the one of ${resolve(config.DATA_DIR)}.`,
        'Set PORT and DATA_DIR as the daemon has them (--env-file), or stop what is there.',
      ),
    };
  }
  const doubt = ours === 'ours' ? '' : ` Whether it is the one of ${config.DATA_DIR} only its user can tell.`;
  const asked = await ask(`${at}/readyz`, {}, null);
  const ready = !('error' in asked) && asked.status === 200;
  return {
    running: true,
    ...(ours === 'ours' ? { provenAt: at } : {}),
    finding: ready
      ? ok('daemon', `It runs at ${at} and takes calls.${doubt}`)
      : warn(
          'daemon',
          `It runs at ${at} and takes no calls now.${doubt}`,
          `Read ${at}/readyz with an API key: it says which part is not ready.`,
        ),
  };
}

/** How calls went, as the daemon says; it is asked with a key, and so only where it has proven to be the one. */
export async function checkCalls(provenAt: string | undefined, apiKey: string | undefined): Promise<Finding> {
  if (provenAt === undefined) return skip('calls', 'There is no daemon to ask how they went.');
  if (apiKey === undefined)
    return skip('calls', 'No key to ask with how they went: set OFFHOOK_API_KEY, or see "offhook health".');
  const asked = await ask(`${provenAt}/v1/health`, { authorization: `Bearer ${apiKey}` }, null);
  if ('error' in asked || asked.status !== 200)
    return skip('calls', 'The daemon does not say how they went; is the key of this daemon?');
  const calls = field(asked.body, 'calls');
  return judgeCalls({ state: String(field(calls, 'state')), text: String(field(calls, 'text')) });
}
