// The package as it is published: built, packed, installed into an empty folder, and its README's examples run there word
// for word against the daemon, typed and untyped, by hand and by the command line.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'acorn';
import t from 'tap';
import { openRig, until } from './rig.ts';

const SCENARIO = resolve(import.meta.dirname, 'scenarios/brief.json');

const ROOT = resolve(import.meta.dirname, '../..');

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Of this shell what a user's would have too: where programs are, and how the registry is reached. */
const SHELL = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(PATH|HOME|LANG|NODE_EXTRA_CA_CERTS|SSL_CERT_.*|.*_proxy)$/i.test(name),
  ),
) as Record<string, string>;

/** Runs a program as a user's shell would: without what the test runner asks of every Node below it. */
function run(command: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  return new Promise((done) => {
    const child = execFile(
      'env',
      ['-u', 'NODE_OPTIONS', command, ...args],
      { cwd, env: { ...SHELL, ...env } },
      (_error, stdout, stderr) => done({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** A code block of the README, by the name in the comment above it. */
function example(readme: string, name: string): string {
  const found = new RegExp(`<!-- example: ${name} -->\\n\`\`\`\\w+\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`The README has no example ${name}.`);
  return found;
}

t.test('the packed SDK and command line do in an empty folder what their README says', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-package-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const built = await run(process.execPath, [join(ROOT, 'scripts/package.ts'), folder], ROOT);
  t.equal(built.code, 0, built.stderr);
  const tarball = built.stdout.trim();
  const project = join(folder, 'project');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"name": "empty", "private": true, "type": "module"}');
  const [installed, rig] = await Promise.all([
    run('npm', ['install', '--no-audit', '--no-fund', tarball], project),
    openRig(t, {
      scenario: [SCENARIO],
      // Its events come within a second.
      carrier: { callees: { '+14155550188': { outcome: 'busy' } } },
    }),
  ]);
  t.equal(installed.code, 0, installed.stderr);
  const own = join(project, 'node_modules/offhook');
  const readme = readFileSync(join(own, 'README.md'), 'utf8');

  await rig.agent({ name: 'Other', instructions: 'Be brief.' });
  const env = { OFFHOOK_URL: rig.lab.daemon.url, OFFHOOK_API_KEY: rig.lab.apiKey };

  await t.test('the examples pass a strict type check against the installed types', async (t) => {
    for (const name of ['sdk', 'webhook']) writeFileSync(join(project, `${name}.ts`), example(readme, name));
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({
        compilerOptions: {
          strict: true,
          noEmit: true,
          target: 'es2024',
          module: 'nodenext',
          skipLibCheck: false,
          types: ['node'],
          typeRoots: [join(ROOT, 'node_modules/@types')],
        },
        files: ['sdk.ts', 'webhook.ts'],
      }),
    );
    const checked = await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'],
      project,
    );
    t.equal(checked.code, 0, checked.stdout);
    writeFileSync(join(project, 'sdk.ts'), example(readme, 'sdk').replace("to: '+1", "too: '+1"));
    const wrong = await run(
      process.execPath,
      [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', '.'],
      project,
    );
    t.match(wrong.stdout, /sdk\.ts.*error/, 'and what is wrong is noticed');
    writeFileSync(join(project, 'sdk.ts'), example(readme, 'sdk'));
  });

  await t.test('the SDK places a call, waits for its result and lists it', async (t) => {
    const ran = await run(process.execPath, ['sdk.ts'], project, env);
    t.equal(ran.code, 0, ran.stderr);
    t.match(ran.stdout, /^completed \{ will_come: /m);
  });

  await t.test('the webhook receiver takes what the daemon signs, and nothing else', async (t) => {
    const made = await rig.lab.api<{ id: string; secret: string }>('POST', '/v1/webhook_endpoints', {
      // Where the example is going to listen is known when it does.
      url: rig.lab.receiverUrl,
    });
    t.equal(made.status, 201);
    // The example says no word of its port: whoever listens in this process is overheard.
    writeFileSync(
      join(project, 'tell-port.mjs'),
      `import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  this.once('listening', () => console.log('port ' + this.address().port));
  return listen.apply(this, args);
};`,
    );
    const child = spawn(
      'env',
      ['-u', 'NODE_OPTIONS', process.execPath, '--import', './tell-port.mjs', 'webhook.ts'],
      {
        cwd: project,
        env: { PATH: process.env.PATH ?? '', PORT: '0', WEBHOOK_SECRET: made.body.secret },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    t.teardown(() => child.kill('SIGKILL'));
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
    const port = await until('the receiver to listen', () =>
      lines.map((line) => /^port (\d+)$/.exec(line)?.[1]).find(Boolean),
    );
    const url = `http://127.0.0.1:${port}/`;
    t.equal((await rig.lab.api('PATCH', `/v1/webhook_endpoints/${made.body.id}`, { url })).status, 200);
    const agent = await rig.agent({ name: 'Caller', instructions: 'Remind them.' });
    const call = await rig.dial(agent.id, '+14155550188');
    await until('the event', () => lines.some((line) => line.startsWith(`call.busy ${call.id}`)));
    t.equal((await fetch(url, { method: 'POST', body: '{}' })).status, 400, 'unsigned');
  });

  await t.test('on an older Node the command says so in one line', async (t) => {
    const entry = join(own, 'dist/control/cli/entry.cjs');
    const { bin, engines } = JSON.parse(readFileSync(join(own, 'package.json'), 'utf8'));
    t.same(bin, { offhook: './dist/control/cli/entry.cjs' });
    // As an old Node sees it: nothing after ES5.
    const parsed = parse(readFileSync(entry, 'utf8'), { ecmaVersion: 5, allowHashBang: true });
    t.ok(parsed.body.length > 0);
    // A Node that says it is older; and this host's own, where it is.
    const old = join(folder, 'old.cjs');
    writeFileSync(
      old,
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.12.9' } });\n",
    );
    const hosts = (process.env.PATH ?? '').split(':').map((path) => join(path, 'node'));
    const older = [];
    for (const host of hosts.filter(existsSync)) {
      const { stdout } = await run(host, ['-p', 'process.versions.node'], project);
      if (Number(stdout.split('.')[0]) < 22) older.push(host);
    }
    for (const command of [[process.execPath, '--require', old], ...older.map((host) => [host])]) {
      const [program = '', ...args] = command;
      const ran = await run(program, [...args, entry, 'calls', 'list'], project);
      t.equal(ran.code, 1, program);
      t.match(ran.stderr, /^offhook needs Node 22\.13 or newer, and this is v[^\n]+\n$/);
      t.equal(`>=${/Node ([\d.]+) or newer/.exec(ran.stderr)?.[1]}`, engines.node);
    }
  });

  await t.test('the command line, line by line', async (t) => {
    // As a shell would: `offhook` is on the path of the project.
    const path = `${join(project, 'node_modules/.bin')}:${process.env.PATH ?? ''}`;
    const printed: string[] = [];
    for (const line of example(readme, 'cli').trim().split('\n')) {
      const ran = await run('sh', ['-c', line], project, { ...env, PATH: path });
      t.equal(ran.code, 0, `${line}: ${ran.stderr}`);
      printed.push(ran.stdout);
    }
    t.match(printed[0], /Reminder/);
    t.match(printed[1], /answered[\s\S]*agent[\s\S]*caller[\s\S]*ended/, 'the call as it happened');
    t.match(printed[2], /completed/);
    t.match(printed[3], /call\.completed/);
    const json = await run('sh', ['-c', 'offhook calls list --limit 1 --json'], project, {
      ...env,
      PATH: path,
    });
    t.match(JSON.parse(json.stdout), [{ status: 'completed', to_number: '+14155550123' }]);
    const asItIs = await run('npm', ['run', '-s', 'offhook', '--', 'calls', 'list', '--json'], ROOT, env);
    t.match(JSON.parse(asItIs.stdout), [{ status: 'completed' }], 'and from the repository');
  });
});
