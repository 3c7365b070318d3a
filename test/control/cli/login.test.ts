// offhook login as a person and as a script use it: on a real terminal, and with the key on stdin.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { openRig } from '../rig.ts';

const MAIN = resolve(import.meta.dirname, '../../../control/cli/main.ts');
/** util-linux's: runs a command on a terminal of its own. */
const NO_TERMINAL =
  spawnSync('script', ['--version']).error === undefined ? false : 'script (util-linux) is not installed';

/** Runs `offhook login`; on a terminal, `keys` are typed when the question is there. */
async function login(t: Test, url: string, keys: string, o: { terminal: boolean }) {
  const config = join(t.testdir(), 'config.json');
  const command = [process.execPath, MAIN, 'login', '--url', url];
  const [program = '', ...args] = o.terminal
    ? ['script', '--quiet', '--return', '--command', command.join(' '), '/dev/null']
    : command;
  const child = spawn('env', ['-u', 'NODE_OPTIONS', program, ...args], {
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm', OFFHOOK_CONFIG: config },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  let shown = '';
  let typed = false;
  const type = () => {
    if (typed) return;
    typed = true;
    child.stdin.write(keys);
  };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      shown += data;
      if (o.terminal && shown.includes('API key of')) type();
    });
  }
  if (!o.terminal) type();
  if (!o.terminal) child.stdin.end();
  const code = await new Promise((ended) => child.once('close', ended));
  const kept = existsSync(config)
    ? (JSON.parse(readFileSync(config, 'utf8')) as { profiles: Record<string, unknown> }).profiles
    : null;
  return { code, shown, kept };
}

t.test('on a terminal the key is asked for, typed unseen, and kept', { skip: NO_TERMINAL }, async (t) => {
  const rig = await openRig(t);
  const { code, shown, kept } = await login(t, rig.url, `${rig.key}\r`, { terminal: true });
  t.equal(code, 0, shown);
  t.match(kept, { default: { url: rig.url, api_key: rig.key } });
  t.match(shown, `API key of ${rig.url}`);
  t.notOk(shown.includes(rig.key), 'it is not shown');
});

for (const [name, keys] of [
  ['Ctrl-C', '\u0003'],
  ['Ctrl-D', '\u0004'],
  ['an empty line', '\r'],
] as const) {
  t.test(`${name} keeps nothing, and says so in a line`, { skip: NO_TERMINAL }, async (t) => {
    const rig = await openRig(t);
    const { code, shown, kept } = await login(t, rig.url, keys, { terminal: true });
    t.ok(code !== 0, `exit ${code}`);
    t.equal(kept, null);
    t.match(shown, /No key was given/);
    t.notMatch(shown, /^\s+at /m, 'no stack');
  });
}

t.test('from a pipe the first line is the key', async (t) => {
  const rig = await openRig(t);
  t.match(await login(t, rig.url, `${rig.key}\nmore\n`, { terminal: false }), {
    code: 0,
    kept: { default: { api_key: rig.key } },
  });
  t.match(await login(t, rig.url, '', { terminal: false }), { code: 2, shown: /No key was given/ });
});
