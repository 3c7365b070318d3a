// The browser's files, in memory: the dashboard's TypeScript and the SDK's with their types stripped, styles, the
// typeface, and the npm modules they name. Made when first asked for. How they are served is in pages.ts.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, statSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { extname, join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const CONTROL = join(import.meta.dirname, '..');
/** Where the page finds the app's first module, below the assets' prefix. */
export const ENTRY = 'dashboard/app/main.ts';

/** What browser code may name -> the file that answers, and its path below the prefix. */
const NPM: readonly { name: string; file: string; path: string }[] = [
  { name: 'preact', file: 'preact', path: 'npm/preact.js' },
  { name: 'preact/hooks', file: 'preact/hooks', path: 'npm/preact-hooks.js' },
  { name: 'htm', file: 'htm', path: 'npm/htm.js' },
  { name: 'htm/preact', file: 'htm/preact', path: 'npm/htm-preact.js' },
  { name: '@preact/signals', file: '@preact/signals', path: 'npm/signals.js' },
  { name: '@preact/signals-core', file: '@preact/signals-core', path: 'npm/signals-core.js' },
  { name: 'uplot', file: 'uplot/dist/uPlot.esm.js', path: 'npm/uplot.js' },
  { name: 'wavesurfer.js', file: 'wavesurfer.js', path: 'npm/wavesurfer.js' },
];
const FACE = '@fontsource-variable/inter';
/** The page's typeface: its sheet says which file has which letters, and a browser asks for those that it draws. */
const FACE_SUBSETS = ['latin', 'latin-ext', 'greek', 'greek-ext', 'cyrillic', 'cyrillic-ext', 'vietnamese'];
const NPM_FILES = [
  { file: 'uplot/dist/uPlot.min.css', path: 'npm/uplot.css' },
  { file: `${FACE}/index.css`, path: 'npm/inter/index.css' },
  ...FACE_SUBSETS.map((subset) => ({
    file: `${FACE}/files/inter-${subset}-wght-normal.woff2`,
    path: `npm/inter/files/inter-${subset}-wght-normal.woff2`,
  })),
];

const TYPES: Readonly<Record<string, string>> = {
  '.ts': 'text/javascript; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.webmanifest': 'application/manifest+json',
};
/** Below this the headers outweigh what compressing saves. */
const WORTH_COMPRESSING = 300;

export interface Asset {
  type: string;
  plain: Buffer;
  gzip: Buffer | null;
  brotli: Buffer | null;
}

export interface Bundle {
  /** Of all that is served: one character changed anywhere is another prefix. */
  hash: string;
  /** By path below `/assets/<hash>/`. */
  files: ReadonlyMap<string, Asset>;
  /** The page's own HTML, its placeholders not yet filled. */
  template: string;
  /** The import map, and all that the entry imports without asking when: both for the page's head. */
  imports: Readonly<Record<string, string>>;
  graph: readonly string[];
}

interface Source {
  path: string;
  file: string;
}

/** Every file of the app and the SDK that a browser can use, in a fixed order. */
function ownSources(): Source[] {
  const patterns = ['dashboard/app/**/*.{ts,js,css,svg,png,webmanifest}', 'sdk/**/*.ts'];
  return globSync(patterns, { cwd: CONTROL })
    .map((path) => ({ path: path.replaceAll('\\', '/'), file: join(CONTROL, path) }))
    .filter(({ path }) => !path.endsWith('.d.ts'))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function npmSources(): Source[] {
  return [...NPM, ...NPM_FILES].map(({ file, path }) => ({
    path,
    file: new URL(import.meta.resolve(file)).pathname,
  }));
}

/** Types out, every character that stays at its line and column, so that no source map is needed. */
function strip(code: string): string {
  // Node says once per process that this is experimental: true, and nothing an operator can act on.
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return stripTypeScriptTypes(code, { mode: 'strip' });
  } finally {
    process.emitWarning = emitWarning;
  }
}

function bytesOf({ path, file }: Source): Buffer {
  const bytes = readFileSync(file);
  if (path.endsWith('.ts')) return Buffer.from(strip(bytes.toString('utf8')));
  // Source maps are not served, and a browser's tools would ask for them.
  if (path.startsWith('npm/') && !path.endsWith('.woff2'))
    return Buffer.from(bytes.toString('utf8').replace(/\/\/# sourceMappingURL=.*/g, ''));
  return bytes;
}

function assetOf(path: string, plain: Buffer): Asset {
  const type = TYPES[extname(path)] ?? 'application/octet-stream';
  const packed = type === 'image/png' || type === 'font/woff2';
  const compress = plain.length >= WORTH_COMPRESSING && !packed;
  return {
    type,
    plain,
    gzip: compress ? gzipSync(plain, { level: 9 }) : null,
    brotli: compress ? brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }) : null,
  };
}

/** What a module imports at its head; `import()` waits until it is wanted and is not meant here. */
export function staticImports(code: string): string[] {
  const found = code.matchAll(/(?:^|[\n;}])\s*(?:import|export)\b(?:[^'"();]*?\bfrom)?\s*["']([^"']+)["']/g);
  return [...found].map(([, name = '']) => name);
}

/** The modules that the entry needs before it can run, nearest first. */
function graphOf(files: ReadonlyMap<string, Asset>): string[] {
  const reached = new Set([ENTRY]);
  for (const path of reached) {
    const code = files.get(path)?.plain.toString('utf8') ?? '';
    for (const name of staticImports(code)) {
      const next = name.startsWith('.')
        ? new URL(name, `file:///${path}`).pathname.slice(1)
        : NPM.find((one) => one.name === name)?.path;
      if (next !== undefined && files.has(next)) reached.add(next);
    }
  }
  return [...reached];
}

/** Makes all of it, one file per step, so that whoever drives it can do something else in between. */
function* making(): Generator<undefined, Bundle> {
  const digest = createHash('sha256');
  const files = new Map<string, Asset>();
  for (const source of [...ownSources(), ...npmSources()]) {
    let bytes: Buffer;
    try {
      bytes = bytesOf(source);
    } catch (error) {
      throw new Error(`${source.path} cannot be served: ${error instanceof Error ? error.message : error}`, {
        cause: error,
      });
    }
    digest.update(source.path).update('\0').update(bytes).update('\0');
    files.set(source.path, assetOf(source.path, bytes));
    yield;
  }
  const hash = digest.digest('hex').slice(0, 16);
  const imports = Object.fromEntries(NPM.map(({ name, path }) => [name, `/assets/${hash}/${path}`]));
  const template = readFileSync(join(CONTROL, 'dashboard/app/index.html'), 'utf8');
  return { hash, files, template, imports, graph: graphOf(files) };
}

/** Reads and makes all of it. @throws Error for a file that is no TypeScript, by its name */
export function makeBundle(): Bundle {
  const steps = making();
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Whether anything has changed on the disk, cheaply: names, sizes and times. */
function stampOf(): string {
  const index = join(CONTROL, 'dashboard/app/index.html');
  return [...ownSources().map(({ file }) => file), index]
    .map((file) => {
      const { mtimeMs, size } = statSync(file);
      return `${file} ${mtimeMs} ${size}`;
    })
    .join('\n');
}

export interface Assets {
  /** What a page that is loaded now is made of. */
  current(): Bundle;
  /** A file, of this bundle or, for a page that is still open, of the one before. */
  find(hash: string, path: string): Asset | null;
  /**
   * Makes them some time before the first page asks, never holding up the thread for longer than a file takes.
   * @returns what stops it
   */
  prepare(afterMs: number): () => void;
}

/** @param reload read the files again when they have changed, for work on the dashboard itself */
export function openAssets(reload: boolean): Assets {
  let bundle: Bundle | null = null;
  let before: Bundle | null = null;
  let stamp = '';
  return {
    current() {
      const seen = reload ? stampOf() : '';
      if (bundle === null || seen !== stamp) {
        const made = makeBundle();
        if (made.hash !== bundle?.hash) before = bundle;
        bundle = made;
        stamp = seen;
      }
      return bundle;
    },
    find(hash, path) {
      const from = [bundle ?? this.current(), before].find((one) => one?.hash === hash);
      return from?.files.get(path) ?? null;
    },
    prepare(afterMs) {
      let stopped = false;
      const steps = making();
      const go = () => {
        if (stopped || bundle !== null) return;
        try {
          const step = steps.next();
          if (step.done) bundle = step.value;
          else setImmediate(go);
        } catch {
          // Who asks for the page is told what is wrong.
        }
      };
      const timer = setTimeout(go, afterMs).unref();
      return () => {
        stopped = true;
        clearTimeout(timer);
      };
    },
  };
}
