// The daemon under a supervisor that speaks as systemd does: it hands over a socket, and hears what becomes of the daemon.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { descriptorOf, listen } from '../../bridge/listening.ts';
import { handedSocket, tellSystemd } from '../../control/operations/supervisor.ts';
import { until } from './rig.ts';

const ROOT = resolve(import.meta.dirname, '../..');

t.test('a socket is this process’s own, or there is none', (t) => {
  for (const [LISTEN_PID, LISTEN_FDS, found] of [
    [undefined, undefined, null],
    ['10', undefined, null],
    ['10', '1', 3],
    ['11', '1', 3],
    ['12', '1', null],
    [undefined, '1', null],
  ] as const)
    t.equal(handedSocket({ LISTEN_PID, LISTEN_FDS }, [10, 11]), found, `${LISTEN_FDS} for ${LISTEN_PID}`);
  t.throws(() => handedSocket({ LISTEN_PID: '10', LISTEN_FDS: '2' }, [10]), { message: /one socket/ });
  t.end();
});

/** A program in place of systemd's own that writes down what it is given, and where. */
function standIn(t: Test): { env: Record<string, string>; told: () => string[] } {
  const folder = t.testdir();
  const bin = join(folder, 'bin');
  const file = join(folder, 'told');
  mkdirSync(bin);
  const program = join(bin, 'systemd-notify');
  writeFileSync(program, `#!/bin/sh\necho "$NOTIFY_SOCKET $*" >> '${file}'\n`);
  chmodSync(program, 0o755);
  return {
    env: { PATH: `${bin}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/notify' },
    told: () => (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []),
  };
}

interface Started {
  daemon: ChildProcess;
  lines: string[];
  gone: Promise<unknown>;
}

const SETTINGS = {
  REDIS_MODE: 'none',
  TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
  TWILIO_AUTH_TOKEN: 'token',
  OPENAI_API_KEY: 'sk-none',
};

function startDaemon(
  t: Test,
  env: Record<string, string>,
  o: { command?: string[]; descriptor?: number | null } = {},
): Started {
  const [command = '', ...args] = o.command ?? [
    process.execPath,
    '--max-semi-space-size=16',
    join(ROOT, 'main.js'),
  ];
  const daemon = spawn(command, args, {
    env: { ...SETTINGS, PORT: '0', DATA_DIR: join(t.testdirName, 'data'), ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(o.descriptor == null ? [] : [o.descriptor])],
  });
  const gone = once(daemon, 'close');
  t.teardown(async () => {
    daemon.kill('SIGKILL');
    await gone;
  });
  const lines: string[] = [];
  for (const stream of [daemon.stdout, daemon.stderr])
    if (stream !== null) createInterface({ input: stream }).on('line', (line) => lines.push(line));
  return { daemon, lines, gone };
}

t.test('systemd hears when calls are taken, and when none are any more', async (t) => {
  const { env, told } = standIn(t);
  const { daemon, lines, gone } = startDaemon(t, env);
  await until('READY=1', () => told().length > 0);
  await until('it to have started', () => lines.some((line) => line.includes('"daemon.started"')));
  daemon.kill('SIGTERM');
  await gone;
  // What brings it may outlive the daemon.
  await until('STOPPING=1', () => told().length > 1);
  t.same(told(), ['/run/notify READY=1', '/run/notify STOPPING=1']);
});

t.test('a daemon that nobody waits for says nothing; one that cannot says why, and runs', async (t) => {
  t.equal(await tellSystemd({ PATH: process.env.PATH }, ['READY=1']), null);
  t.match(
    await tellSystemd({ NOTIFY_SOCKET: '/x', PATH: t.testdir() }, ['READY=1']),
    /systemd-notify READY=1: .*ENOENT/,
  );
});

const real = ['systemd-notify', 'python3'].every(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined,
);

t.test(
  "systemd's own program brings it",
  { skip: !real && 'systemd-notify and python3 are not both installed' },
  async (t) => {
    const path = join('/tmp', `offhook-notify-${process.pid}`);
    const listener = spawn(
      'python3',
      [
        '-c',
        `import socket,sys,os
s=socket.socket(socket.AF_UNIX,socket.SOCK_DGRAM); s.bind(sys.argv[1]); print('here',flush=True)
print(s.recv(999).decode(),flush=True)
s.recv(999)
os.remove(sys.argv[1])`,
        path,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    t.teardown(() => listener.kill('SIGKILL'));
    const lines = createInterface({ input: listener.stdout })[Symbol.asyncIterator]();
    await lines.next();
    const env = { NOTIFY_SOCKET: path, PATH: process.env.PATH };
    t.equal(await tellSystemd(env, ['READY=1', 'MAINPID=7']), null);
    t.same([(await lines.next()).value, (await lines.next()).value].sort(), ['MAINPID=7', 'READY=1']);
  },
);

t.test('an upgrade: systemd hears which process it is now, and the socket goes with it', async (t) => {
  const { env, told } = standIn(t);
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as { port: number };
  const node = [process.execPath, '--max-semi-space-size=16', join(ROOT, 'main.js')];
  const { gone, daemon } = startDaemon(
    t,
    { ...env, LISTEN_FDS: '1' },
    {
      command: ['/bin/sh', '-c', 'export LISTEN_PID=$$; exec "$@"', 'sh', ...node],
      descriptor: descriptorOf(server),
    },
  );
  server.close();
  await until('READY=1', () => told().length > 0);
  const isWell = async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).status;
  t.equal(await isWell(), 200);

  const options = { env: { ...SETTINGS, ...env, DATA_DIR: join(t.testdirName, 'data') } };
  const command = [join(ROOT, 'main.js'), 'upgrade'];
  const { stdout } = await promisify(execFile)(process.execPath, command, options);
  const heir = Number(/takes all new calls \(process (\d+)\)/.exec(stdout)?.[1]);
  t.match(stdout, new RegExp(`Process ${daemon.pid} has gone: the upgrade is done`));
  t.teardown(async () => {
    process.kill(heir, 'SIGKILL');
    await gone;
  });
  await until('MAINPID', () => told().length > 2);
  const said = ['READY=1', 'RELOADING=1', `READY=1 MAINPID=${heir}`];
  t.same(
    told(),
    said.map((states) => `/run/notify ${states}`),
  );
  t.equal(await isWell(), 200, 'by the same port');
});

/** As systemd does it: it holds the socket, accepts nobody, and starts the daemon again when it has ended. */
const HOLDER = `
run() { /bin/sh -c 'echo "pid $$"; export LISTEN_PID=$$; exec "$@"' sh "$@"; }
run "$@"
echo restarts
read go
run "$@"
`;

t.test('the port is the one that was handed over, and whoever comes during a restart waits', async (t) => {
  const folder = t.testdir();
  const server = createServer();
  await listen(server, { host: '127.0.0.1', port: 0 });
  const { port } = server.address() as { port: number };
  const program = ['-c', HOLDER, 'sh', process.execPath, '--max-semi-space-size=16', join(ROOT, 'main.js')];
  const holder = spawn('/bin/sh', program, {
    env: { ...SETTINGS, PATH: process.env.PATH, PORT: '1', LISTEN_FDS: '1', DATA_DIR: join(folder, 'data') },
    stdio: ['pipe', 'pipe', 'inherit', descriptorOf(server)],
    detached: true,
  });
  const { stdin, stdout, pid } = holder;
  if (stdin === null || stdout === null || pid === undefined) throw new Error('not started');
  const gone = once(holder, 'close');
  t.teardown(async () => {
    if (holder.exitCode === null) process.kill(-pid, 'SIGKILL');
    await gone;
  });
  server.close();
  const lines: string[] = [];
  createInterface({ input: stdout }).on('line', (line) => lines.push(line));
  const started = () => lines.filter((line) => line.includes('"daemon.started"'));
  const pids = () => lines.flatMap((line) => /^pid (\d+)$/.exec(line)?.[1] ?? []).map(Number);
  const url = `http://127.0.0.1:${port}`;
  const isWell = async () => (await fetch(`${url}/healthz`, { headers: { connection: 'close' } })).status;

  const early = isWell();
  const first = await until('the first', () => started()[0]);
  t.match(JSON.parse(first), { url });
  t.equal(await early, 200, 'who came before it listened was waited for');
  process.kill(pids()[0] ?? 0, 'SIGTERM');
  await until('its end', () => lines.includes('restarts'));
  const meanwhile = isWell();
  stdin.write('go\n');
  await until('the second', () => started()[1]);
  t.equal(await meanwhile, 200);
  process.kill(pids()[1] ?? 0, 'SIGTERM');
  await gone;
});
