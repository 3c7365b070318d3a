// The examples of reverse proxies, as they are written, in front of the daemon: a whole call goes through each, and its
// sound straight to the media threads where the example says so. Skipped, saying so, where a proxy is not installed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { freePort } from '../../scripts/free-port.ts';
import { openRig, until } from './rig.ts';

const DEPLOY = resolve(import.meta.dirname, '../../scripts/deploy');

interface Ports {
  proxy: number;
  daemon: number;
  /** Of two media threads, the first. */
  media: number;
}

const installed = (command: string, args: string[]) =>
  spawnSync(command, args, { stdio: 'ignore' }).error === undefined
    ? {}
    : { skip: `${command} is not installed` };

async function throughProxy(
  t: Test,
  start: (o: { folder: string; ports: Ports; adapt: (file: string) => string }) => {
    command: string;
    args: string[];
    env?: Record<string, string>;
  },
  direct: boolean,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-proxy-'));
  const ports: Ports = { proxy: await freePort(), daemon: await freePort(), media: await freePort(2) };
  const adapt = (file: string) =>
    readFileSync(join(DEPLOY, file), 'utf8')
      .replaceAll('127.0.0.1:8090', `127.0.0.1:${ports.media}`)
      .replaceAll('127.0.0.1:8091', `127.0.0.1:${ports.media + 1}`)
      .replaceAll('127.0.0.1:8080', `127.0.0.1:${ports.daemon}`);
  const { command, args, env = {} } = start({ folder, ports, adapt });
  const lines: string[] = [];
  const proxy = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [proxy.stdout, proxy.stderr]) stream.on('data', (data) => lines.push(String(data)));
  t.teardown(async () => {
    if (proxy.exitCode === null) {
      // Not killed: its workers would live on.
      const gone = new Promise((done) => proxy.once('exit', done));
      proxy.kill('SIGTERM');
      await gone;
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${ports.proxy}`;
  const rig = await openRig(t, {
    // Hears the greeting to its end, answers with a short sentence, and goes.
    carrier: {
      defaultCallee: {
        ringMs: 200,
        steps: [
          { do: 'say', file: 'caller-more-info.wav', when: { afterAgentSilenceMs: 300, timeoutMs: 20_000 } },
          { do: 'hang_up', when: { afterAgentSilenceMs: 300, timeoutMs: 20_000 } },
        ],
        amd: { verdict: 'human', afterMs: 1_000 },
      },
    },
    env: {
      PUBLIC_URL: url,
      PORT: String(ports.daemon),
      MEDIA_THREADS: '2',
      ...(direct ? { MEDIA_PORT: String(ports.media) } : {}),
    },
  });
  await until(
    `the proxy: ${lines.join('')}`,
    async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok,
  );
  const agent = await rig.agent({ instructions: 'TEST-BRIEF Be brief.' });
  const made = await rig.dial(agent.id, '+14155550123');
  const call = await rig.ended(made.id);
  t.match(call, { status: 'completed' }, lines.join('').slice(-2_000));
  const words = await rig.transcript(made.id);
  t.ok(
    words.some(({ role }) => role === 'caller') && words.some(({ role }) => role === 'agent'),
    'both were heard',
  );
  t.equal((await fetch(`${url}/metrics`)).status, 401, 'who comes by the proxy is not at the machine itself');
  t.equal((await fetch(`${url}/`)).status, 200, 'the dashboard');
}

t.test('nginx, with the sound straight to the media threads', installed('nginx', ['-v']), async (t) => {
  let log = '';
  await throughProxy(
    t,
    ({ folder, ports, adapt }) => {
      log = join(folder, 'access.log');
      const site = adapt('nginx.conf')
        .replace('listen 443 ssl;', `listen 127.0.0.1:${ports.proxy};`)
        .replaceAll(/^ *ssl_.*\n/gm, '')
        .replace('proxy_set_header Host $host;', 'proxy_set_header Host $http_host;');
      const file = join(folder, 'nginx.conf');
      writeFileSync(
        file,
        `pid ${folder}/pid; daemon off; error_log stderr;
events {}
http {
  log_format where '$uri -> $upstream_addr';
  access_log ${log} where;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  ${site}
}`,
      );
      return { command: 'nginx', args: ['-p', folder, '-c', file] };
    },
    true,
  );
  const lines = await until('the socket in the log', () => {
    const found = readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('/media/'));
    return found.length > 0 && found;
  });
  const ports = lines.map((line) => Number(/:(\d+)$/.exec(line)?.[1]));
  const daemon = Number(/\/readyz|\/healthz -> 127\.0\.0\.1:(\d+)/.exec(readFileSync(log, 'utf8'))?.[1]);
  t.ok(
    ports.every((port) => port !== daemon),
    `the sound went past the daemon's own port: ${lines.join(', ')}`,
  );
});

for (const file of ['Caddyfile', 'Caddyfile.direct']) {
  t.test(`Caddy: ${file}`, installed('caddy', ['version']), async (t) => {
    await throughProxy(
      t,
      ({ folder, ports, adapt }) => {
        const adapted = join(folder, 'Caddyfile');
        // Nothing of it is asked for from outside.
        writeFileSync(adapted, adapt(file).replace('grace_period 330s', 'grace_period 1s\n\tadmin off'));
        return {
          command: 'caddy',
          args: ['run', '--config', adapted, '--adapter', 'caddyfile'],
          env: {
            PUBLIC_HOST: `http://127.0.0.1:${ports.proxy}`,
            XDG_DATA_HOME: folder,
            XDG_CONFIG_HOME: folder,
          },
        };
      },
      file === 'Caddyfile.direct',
    );
  });
}
