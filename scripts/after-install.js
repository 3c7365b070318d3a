// Runs at the end of `npm ci`: sees that node_modules/.bin/node is the Node that came along, and takes out what only other
// platforms, or compilers, would need. Fetches nothing and starts nothing.
// Plain JavaScript on purpose: it is run by whichever Node npm itself runs on.
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const packages = join(dirname(dirname(fileURLToPath(import.meta.url))), 'node_modules');

/** @returns {string[]} names in a folder; none where there is no such folder */
function names(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

// npm 10 links the command of this platform's package, and takes it away again with the packages of the other platforms.
const runtime = join(`node-${process.platform}-${process.arch}`, 'bin', 'node');
const command = join(packages, '.bin', 'node');
if (existsSync(join(packages, runtime)) && !existsSync(command)) {
  mkdirSync(dirname(command), { recursive: true });
  rmSync(command, { force: true });
  symlinkSync(join('..', runtime), command);
}

// onnxruntime-node carries its libraries for every platform: bin/napi-v6/linux/x64, win32/arm64, …
const libraries = join(packages, 'onnxruntime-node', 'bin');
for (const version of names(libraries)) {
  const here = join(libraries, version, process.platform);
  for (const platform of names(join(libraries, version))) {
    if (platform !== process.platform)
      rmSync(join(libraries, version, platform), { recursive: true, force: true });
  }
  for (const arch of names(here)) {
    if (arch !== process.arch) rmSync(join(here, arch), { recursive: true, force: true });
  }
}
// Node's headers, for compiling addons: nothing here is compiled.
for (const name of names(packages)) {
  if (/^node-linux-/.test(name)) rmSync(join(packages, name, 'include'), { recursive: true, force: true });
}
