// `npm run reset-password`, as a program: whether the daemon runs or not, and what it says where there is nothing to reset.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t from 'tap';
import {
  closePasswordLink,
  findPasswordLink,
  makePasswordLink,
} from '../../../control/http/password-link.ts';

const MAIN = resolve(import.meta.dirname, '../../../main.js');
const reset = (env: Record<string, string>) =>
  spawnSync(process.execPath, [MAIN, 'reset-password'], { env, encoding: 'utf8' });

t.test('a new link is printed, for the daemon of this data folder', async (t) => {
  const dataDir = t.testdir({ 'offhook.db': '' });
  const link = /^ {2}(\S+)\/setup#([\w-]{43})$/m;
  for (const [env, base] of [
    [{ PUBLIC_URL: 'https://phone.example.com/' }, 'https://phone.example.com'],
    [{ PORT: '9090' }, 'http://127.0.0.1:9090'],
    [{ HOST: '::1' }, 'http://[::1]:8080'],
  ] as [Record<string, string>, string][]) {
    const { status, stdout } = reset({ DATA_DIR: dataDir, ...env });
    const [, url, token = ''] = link.exec(stdout) ?? [];
    t.same([status, url], [0, base], stdout);
    t.match(stdout, /within 60 minutes/);
    t.equal(findPasswordLink(dataDir, token, new Date()), null, 'of the first organization');
    t.equal(findPasswordLink(dataDir, token, new Date(Date.now() + 61 * 60_000)), undefined, 'for an hour');
    t.notMatch(readFileSync(join(dataDir, 'password-link.json'), 'utf8'), token);
  }
  closePasswordLink(dataDir);
  closePasswordLink(dataDir);
  writeFileSync(join(dataDir, 'password-link.json'), 'not JSON');
  t.equal(findPasswordLink(dataDir, 'x', new Date()), undefined, 'a damaged file opens nothing');
});

t.test(
  "a link that root makes is the daemon's to read, and is written through no other link",
  process.getuid?.() === 0 ? {} : { skip: 'only root can give files away' },
  async (t) => {
    const dataDir = t.testdir({});
    const elsewhere = t.testdir({ kept: 'as it was' });
    symlinkSync(join(elsewhere, 'kept'), join(dataDir, 'password-link.json.new'));
    chownSync(dataDir, 12_345, 12_346);
    makePasswordLink(dataDir, null);
    const { uid, gid, mode } = statSync(join(dataDir, 'password-link.json'));
    t.same([uid, gid, mode & 0o777], [12_345, 12_346, 0o600]);
    t.notOk(existsSync(join(dataDir, 'password-link.json.new')));
    t.equal(readFileSync(join(elsewhere, 'kept'), 'utf8'), 'as it was');
  },
);

t.test('without a database it says what to do', async (t) => {
  const { status, stdout, stderr } = reset({ DATA_DIR: t.testdir({}) });
  t.same([status, stdout], [1, '']);
  t.match(stderr, /holds no database: set DATA_DIR/);
  const wrong = reset({ PORT: 'many' });
  t.equal(wrong.status, 1);
  t.match(wrong.stderr, /PORT/);
});
