// What deployment is made of, as far as it goes without a container engine or a machine of its own: the files that the
// image copies and installs make a daemon that starts, and systemd finds nothing wrong with the unit.
import { execFile, spawn, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { until } from './rig.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DEPLOY = join(ROOT, 'scripts/deploy');

// It installs: minutes where disk or registry are slow.
t.test(
  'what the Dockerfile copies and installs is a daemon, dashboard and all',
  { timeout: 600_000 },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-image-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const dockerfile = readFileSync(join(DEPLOY, 'Dockerfile'), 'utf8');
    const copied: string[] = [];
    for (const [, names = '', to = ''] of dockerfile.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)) {
      for (const name of globSync(names.split(' '), { cwd: ROOT })) {
        copied.push(name);
        cpSync(join(ROOT, name), to.endsWith('/') ? join(folder, to, basename(name)) : join(folder, to), {
          recursive: true,
        });
      }
    }
    t.ok(copied.includes('package-lock.json') && copied.includes('bridge'), copied.join(' '));
    const install = /^RUN (npm ci .+)$/m.exec(dockerfile)?.[1] ?? '';
    t.equal(install, 'npm ci --omit=dev --omit=optional');
    const installed = await new Promise<string>((done) =>
      execFile(
        'env',
        ['-u', 'NODE_OPTIONS', ...install.split(' '), '--prefer-offline'],
        { cwd: folder },
        (error, _out, err) => done(error === null ? '' : err || error.message),
      ),
    );
    t.equal(installed, '');
    t.same(readdirSync(join(folder, 'node_modules/onnxruntime-node/bin/napi-v6')), [process.platform]);

    const daemon = spawn('env', ['-u', 'NODE_OPTIONS', process.execPath, 'main.js'], {
      cwd: folder,
      env: {
        PATH: process.env.PATH ?? '',
        PORT: '0',
        DATA_DIR: join(folder, 'data'),
        REDIS_MODE: 'none',
        TWILIO_ACCOUNT_SID: `AC${'0'.repeat(32)}`,
        TWILIO_AUTH_TOKEN: 'token',
        OPENAI_API_KEY: 'sk-none',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = new Promise((done) => daemon.once('close', done));
    t.teardown(async () => {
      daemon.kill('SIGKILL');
      await ended;
    });
    const lines: string[] = [];
    for (const stream of [daemon.stdout, daemon.stderr])
      createInterface({ input: stream }).on('line', (line) => lines.push(line));
    const url = await until('the daemon', () =>
      lines
        .map((line) =>
          line.includes('"daemon.started"') ? String((JSON.parse(line) as { url: string }).url) : '',
        )
        .find(Boolean),
    ).catch((error: Error) => {
      throw new Error(`${error.message}\n${lines.join('\n')}`);
    });
    t.ok(
      lines.some((line) => line.includes('/setup#')),
      'the link of the dashboard is printed',
    );
    for (const path of ['/healthz', '/readyz', '/', '/docs', '/v1/openapi.json']) {
      t.equal((await fetch(url + path)).status, 200, path);
    }
    const page = await (await fetch(`${url}/`)).text();
    const modules = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    t.ok(modules.length > 10, `${modules.length} files of the page`);
    for (const path of modules) t.equal((await fetch(url + path)).status, 200, path);
    daemon.kill('SIGINT');
    t.equal(await ended, 0, 'and it ends in order');
  },
);

const systemd = spawnSync('systemd-analyze', ['--version'], { stdio: 'ignore' }).error === undefined;

t.test(
  "the unit is one that systemd understands, hardened, and waits for the daemon's drain",
  systemd ? {} : { skip: 'systemd-analyze is not installed' },
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'offhook-unit-'));
    t.teardown(() => rmSync(folder, { recursive: true, force: true }));
    const unit = readFileSync(join(DEPLOY, 'offhook.service'), 'utf8');
    const file = join(folder, 'offhook.service');
    writeFileSync(join(folder, 'offhook.socket'), readFileSync(join(DEPLOY, 'offhook.socket'), 'utf8'));
    // The programs that it names are on no machine but the one it is installed on.
    writeFileSync(file, unit.replace(/^(ExecStart|ExecReload)=.*/gm, `$1=${process.execPath} main.js`));
    const verified = spawnSync('systemd-analyze', ['verify', file, join(folder, 'offhook.socket')], {
      encoding: 'utf8',
    });
    t.notMatch(verified.stderr, /offhook\.(service|socket):\d+|Unknown|Failed to parse/, verified.stderr);
    const rated = spawnSync('systemd-analyze', ['security', '--offline=true', file], { encoding: 'utf8' });
    const exposure = Number(/exposure level[^:]*: ([\d.]+)/.exec(rated.stdout)?.[1] ?? Number.NaN);
    if (!Number.isNaN(exposure)) t.ok(exposure < 2, `exposure ${exposure}`);
    t.ok(Number(/^TimeoutStopSec=(\d+)/m.exec(unit)?.[1]) > 300, 'longer than DRAIN_SECONDS');
  },
);
