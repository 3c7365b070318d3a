// The secret of a folder: made once, whoever asks first and however many at once, for nobody else to read.
import { execFile } from 'node:child_process';
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { readPeerSecret } from '../../../bridge/peers/peer-secret.ts';

const MODULE = new URL('../../../bridge/peers/peer-secret.ts', import.meta.url).href;
const READ = `
  const { readPeerSecret } = await import(${JSON.stringify(MODULE)});
  process.stdout.write(readPeerSecret(process.argv[1]).toString('hex'));
`;

t.test('several processes that ask at once have one secret', async (t) => {
  const folder = t.testdir();
  const run = promisify(execFile);
  const read = await Promise.all(
    Array.from({ length: 6 }, () =>
      run(process.execPath, ['--disable-warning=ExperimentalWarning', '-e', READ, folder]),
    ),
  );
  const secrets = new Set(read.map(({ stdout }) => stdout));
  t.equal(secrets.size, 1);
  t.match([...secrets][0], /^[0-9a-f]{64}$/);
  t.equal(readPeerSecret(folder).toString('hex'), [...secrets][0], 'and it stays');
  t.strictSame(readdirSync(folder), ['peers.key'], 'no draft is left');
  t.equal(statSync(join(folder, 'peers.key')).mode & 0o777, 0o600);
});

t.test('it is on the disk before it has its name', async (t) => {
  const folder = t.testdir();
  const written: unknown[] = [];
  const write: typeof writeFileSync = (path, text, options) => {
    written.push({ flushed: (options as { flush?: boolean }).flush, before: readdirSync(folder) });
    writeFileSync(path, text, options);
  };
  readPeerSecret(folder, { write });
  t.strictSame(written, [{ flushed: true, before: [] }]);
  t.strictSame(readdirSync(folder), ['peers.key']);
});

t.test('a copy that others may read is narrowed', async (t) => {
  const folder = t.testdir();
  const secret = readPeerSecret(folder);
  chmodSync(join(folder, 'peers.key'), 0o644);
  t.strictSame(readPeerSecret(folder), secret);
  t.equal(statSync(join(folder, 'peers.key')).mode & 0o777, 0o600);
});

t.test('a file that holds no key is named, and left as it is', async (t) => {
  const folder = t.testdir();
  for (const text of ['', 'abc\n', `${'g'.repeat(64)}\n`]) {
    writeFileSync(join(folder, 'peers.key'), text);
    t.throws(() => readPeerSecret(folder), /peers\.key holds no key/);
  }
});

t.test('a disk that is full keeps nobody from starting: the secret is nobody else’s then', async (t) => {
  const folder = t.testdir();
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  const told: unknown[] = [];
  const untaken = (error: unknown) => void told.push(error);
  const write = () => {
    throw full;
  };
  const [one, two] = [readPeerSecret(folder, { untaken, write }), readPeerSecret(folder, { untaken, write })];
  t.equal(one.length, 32);
  t.notSame(one, two);
  t.strictSame(told, [full, full]);
  t.strictSame(readdirSync(folder), []);
  const kept = readPeerSecret(folder);
  t.strictSame(readPeerSecret(folder, { untaken, write }), kept, 'one that is there is read');
  const denied = () => {
    throw Object.assign(new Error('denied'), { code: 'EACCES' });
  };
  t.throws(
    () => readPeerSecret(t.testdir(), { untaken, write: denied }),
    /denied/,
    'any other fault is told',
  );
});
