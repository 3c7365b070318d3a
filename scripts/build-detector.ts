// `npm run build:detector`: makes the voice detector's WebAssembly from its source, audio/vad/silero/kernel.as. The compiler (102 MB)
// is fetched into node_modules/.cache when it is not there: only who changes the kernel needs it. `-- --fetch` does no more than that.
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dirname, '..');
const KERNEL = join(ROOT, 'audio/vad/silero');
/** Its version and hashes. */
const PINNED = join(ROOT, 'scripts/detector-compiler');
const FETCHED = join(ROOT, 'node_modules/.cache/detector-compiler');

/** What is built of the one source, and the instructions of WebAssembly that each needs. */
export const BUILDS = { relaxed: ['simd', 'relaxed-simd'], plain: ['simd'] } as const;
export type Build = keyof typeof BUILDS;

/** The file of a build that is in the tree. */
export const builtFile = (build: Build): string => join(KERNEL, `${build}.wasm`);

const manifestIn = <T>(folder: string): T =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as T;

/** Path of the compiler, when it is there in the version that is pinned. */
export function findCompiler(): string | null {
  const folder = join(FETCHED, 'node_modules/assemblyscript');
  if (!existsSync(join(folder, 'package.json'))) return null;
  const { version } = manifestIn<{ version: string }>(folder);
  const { dependencies } = manifestIn<{ dependencies: { assemblyscript: string } }>(PINNED);
  return version === dependencies.assemblyscript ? join(folder, 'bin/asc.js') : null;
}

/** @throws Error when npm cannot */
function fetchCompiler(): void {
  mkdirSync(FETCHED, { recursive: true });
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(PINNED, file), join(FETCHED, file));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', FETCHED];
  execFileSync('npm', ['ci', ...options], { cwd: FETCHED, stdio: 'inherit' });
}

/**
 * Compiles the kernel.
 * @param compiler path of it
 * @returns the module's bytes, the same from the same source
 * @throws Error with what the compiler says
 */
export function compile(compiler: string, build: Build): Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-detector-'));
  try {
    // By the name that the compiler looks for; in the tree it has another, because it is no TypeScript.
    cpSync(join(KERNEL, 'kernel.as'), join(folder, 'kernel.ts'));
    const options = [
      '--runtime',
      'stub',
      '-O3',
      '--noAssert',
      '--initialMemory',
      '16',
      '--outFile',
      'kernel.wasm',
    ];
    const features = BUILDS[build].flatMap((feature) => ['--enable', feature]);
    execFileSync(process.execPath, [compiler, 'kernel.ts', ...options, ...features], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
    });
    return readFileSync(join(folder, 'kernel.wasm'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (process.argv[1] === import.meta.filename) {
  if (findCompiler() === null) fetchCompiler();
  const compiler = findCompiler();
  if (compiler === null) throw new Error('the compiler could not be fetched');
  if (!process.argv.includes('--fetch')) {
    for (const build of Object.keys(BUILDS) as Build[]) {
      const bytes = compile(compiler, build);
      writeFileSync(builtFile(build), bytes);
      console.log(`${build}.wasm: ${bytes.length} bytes`);
    }
  }
}
