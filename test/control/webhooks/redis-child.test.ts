// The Redis child, with the real server of this machine: found, started, adopted, brought back, ended.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import t, { type Test } from 'tap';
import { openRedisChild, type RedisChild } from '../../../control/webhooks/redis-child.ts';
import { noRedis, silent, temporaryFolder, until } from './webhook-rig.ts';

const skip = noRedis();

async function open(t: Test, dataDir: string): Promise<RedisChild> {
  const child = await openRedisChild({ dataDir, log: silent, watchMs: 50, silentKillMs: 300 });
  if (child === null) throw new Error('no server was found');
  t.teardown(() => child.close());
  return child;
}

/** Runs one command on the child's socket as soon as it answers. */
async function run(child: RedisChild, ...command: [string, ...string[]]): Promise<unknown> {
  const client = new Redis({ path: child.socketPath, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on('error', () => {});
  try {
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

function lives(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0) && !/^Z/.test(stateOf(pid));
  } catch {
    return false;
  }
}

function stateOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return 'Z';
  }
}

/** How many servers have this folder as their socket's. */
function serversOn(child: RedisChild): number {
  const all = execFileSync('ps', ['-ww', '-eo', 'stat=,command='], { encoding: 'utf8' }).split('\n');
  return all.filter((line) => line.includes(child.socketPath) && !line.startsWith('Z')).length;
}

t.test('it starts on a private socket, durable and bounded, and ends on close', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const child = await open(t, dataDir);
  t.equal(await run(child, 'PING'), 'PONG');
  t.same(await run(child, 'CONFIG', 'GET', 'maxmemory-policy'), ['maxmemory-policy', 'noeviction']);
  t.same(await run(child, 'CONFIG', 'GET', 'appendfsync'), ['appendfsync', 'everysec']);
  t.same(await run(child, 'CONFIG', 'GET', 'port'), ['port', '0']);
  t.equal(statSync(join(dataDir, 'redis')).mode & 0o777, 0o700);
  t.equal(statSync(child.socketPath).mode & 0o777, 0o700);
  const pid = child.pid();
  t.ok(lives(pid));
  await child.close();
  t.notOk(lives(pid));
  await child.close();
});

t.test(
  'it gets none of our environment but the path',
  { skip: skip || !existsSync('/proc/self/environ') },
  async (t) => {
    process.env.OFFHOOK_TEST_CANARY = 'sk_canary';
    t.teardown(() => {
      delete process.env.OFFHOOK_TEST_CANARY;
    });
    const child = await open(t, temporaryFolder(t));
    await run(child, 'PING');
    t.notMatch(readFileSync(`/proc/${child.pid()}/environ`, 'latin1'), /canary/);
  },
);

t.test('killed again and again, it comes back with what it had', { skip }, async (t) => {
  const child = await open(t, temporaryFolder(t));
  await run(child, 'SET', 'key', 'value');
  await run(child, 'BGREWRITEAOF');
  for (let i = 0; i < 3; i++) {
    const pid = child.pid();
    process.kill(pid ?? 0, 'SIGKILL');
    await until(() => !lives(pid));
    t.equal(await run(child, 'GET', 'key'), 'value');
    t.not(child.pid(), pid);
    t.equal(serversOn(child), 1);
  }
});

t.test('it outlives a daemon that is killed, and the next one adopts it', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const program = `
    import { openRedisChild } from '${join(import.meta.dirname, '../../../control/webhooks/redis-child.ts')}';
    import { openLog } from '${join(import.meta.dirname, '../../../log.ts')}';
    const child = await openRedisChild({ dataDir: ${JSON.stringify(dataDir)}, log: openLog('silent') });
    setInterval(() => { if (child.pid() !== null) process.stdout.write('up'); }, 20);
  `;
  for (let i = 0; i < 3; i++) {
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await once(daemon.stdout, 'data');
    daemon.kill('SIGKILL');
    await once(daemon, 'exit');
  }
  const child = await open(t, dataDir);
  t.equal(await run(child, 'PING'), 'PONG');
  const pid = child.pid();
  t.equal(serversOn(child), 1, 'the one of the first daemon serves the last');
  await child.close();
  t.notOk(lives(pid), 'an adopted one is ended, too');
});

t.test('an adopted child that dies is replaced', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const first = await open(t, dataDir);
  await run(first, 'PING');
  const second = await open(t, dataDir);
  t.equal(second.socketPath, first.socketPath);
  const pid = second.pid();
  await first.close();
  await until(() => !lives(pid));
  t.equal(await run(second, 'PING'), 'PONG');
  t.not(second.pid(), pid);
});

t.test('one that is stopped in its tracks is killed and replaced, never doubled', { skip }, async (t) => {
  const child = await open(t, temporaryFolder(t));
  await run(child, 'PING');
  const pid = child.pid() ?? 0;
  process.kill(pid, 'SIGSTOP');
  await until(() => !lives(pid));
  t.equal(await run(child, 'PING'), 'PONG');
  t.equal(serversOn(child), 1);
});

t.test('a stale socket and a stale pid file are no obstacle', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'redis'), { mode: 0o700 });
  writeFileSync(join(dataDir, 'redis', 'q.sock'), '');
  // The pid of a living stranger: this test.
  writeFileSync(join(dataDir, 'redis', 'redis.pid'), `${process.pid}\n`);
  const child = await open(t, dataDir);
  t.equal(await run(child, 'PING'), 'PONG');
});

t.test('files it cannot read are moved aside', { skip }, async (t) => {
  const dataDir = temporaryFolder(t);
  const folder = join(dataDir, 'redis');
  const first = await open(t, dataDir);
  await run(first, 'SET', 'key', 'value');
  await first.close();
  const parts = readdirSync(join(folder, 'appendonlydir'));
  for (const part of parts) writeFileSync(join(folder, 'appendonlydir', part), 'garbage\r\n'.repeat(100));
  const second = await open(t, dataDir);
  t.equal(await run(second, 'GET', 'key'), null);
  t.same(readdirSync(join(folder, 'unreadable', 'appendonlydir')).sort(), parts.sort());
});

t.test('a data folder too deep for a socket gets one elsewhere, the same each time', { skip }, async (t) => {
  const dataDir = join(temporaryFolder(t), 'deep'.repeat(30));
  const first = await open(t, dataDir);
  t.equal(await run(first, 'PING'), 'PONG');
  t.ok(Buffer.byteLength(first.socketPath) < 104);
  t.equal(statSync(dirname(first.socketPath)).mode & 0o777, 0o700);
  const second = await open(t, dataDir);
  t.equal(second.socketPath, first.socketPath);
  t.teardown(() => rmSync(dirname(first.socketPath), { recursive: true, force: true }));
});

t.test('no server, one too old and one that is none are passed over', async (t) => {
  const folder = temporaryFolder(t);
  const script = (name: string, text: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
    return join(folder, name);
  };
  const servers = [
    'no-such-server',
    script('old', 'echo "Redis server v=6.0.16 sha=0:0 malloc=jemalloc bits=64"'),
    script('other', 'echo hello'),
    script('failing', 'echo "Redis server v=9.9.9"; exit 1'),
  ];
  t.equal(await openRedisChild({ dataDir: folder, log: silent, servers }), null);
});

t.test(
  'of several daemons on a folder one starts the server, and none ends it under another',
  { skip },
  async (t) => {
    const dataDir = temporaryFolder(t);
    let present = ['first', 'second'];
    const join = async (name: string) => {
      const child = await openRedisChild({
        dataDir,
        log: silent,
        watchMs: 20,
        mayStart: async () => present[0] === name,
        mayEnd: async () => present.length === 1,
      });
      if (child === null) throw new Error('no server was found');
      t.teardown(() => child.close());
      return child;
    };
    const second = await join('second');
    const first = await join('first');
    t.equal(await run(second, 'PING'), 'PONG');
    t.equal(serversOn(first), 1);
    await first.close();
    t.equal(await run(second, 'PING'), 'PONG', 'it is not ended with the one that started it');
    present = ['second'];
    const pid = second.pid();
    if (pid !== null) process.kill(pid, 'SIGKILL');
    await until(() => second.pid() !== null && second.pid() !== pid);
    t.equal(await run(second, 'PING'), 'PONG', 'and who is first then starts it again');
    await second.close();
    await until(() => serversOn(second) === 0);
  },
);
