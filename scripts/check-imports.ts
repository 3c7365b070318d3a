// Holds the folders to their direction, and files marked as pure to their word; run before the tests.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const root = resolve(import.meta.dirname, '..');
const FOLDERS = ['audio', 'bridge', 'control', 'storage', 'scripts', 'test'];

/** Which folders a folder may import from, besides its own. The root's errors, config types and log are open to all but audio. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  audio: [],
  storage: [],
  bridge: ['audio', 'storage'],
  control: ['bridge', 'storage'],
  scripts: [],
  test: ['audio', 'bridge', 'control', 'storage', 'scripts', '.'],
};

/** Files of bridge/ that run on a media thread: they never see storage. */
const MEDIA_SIDE = /^bridge\/(media|models)\//;

/** Scripts that are part of running the daemon, and so may read its settings. */
const SCRIPTS_THAT_READ_SETTINGS = /^scripts\/(print-settings|simulate|bench|chaos)/;

/** What a browser loads reaches its own folder, the SDK, and the packages that the daemon serves to it; the SDK, published by itself, nothing else. */
const APP = /^control\/dashboard\/app\//;
const SDK = /^control\/sdk\//;
const BROWSER_PACKAGES: ReadonlySet<string> = new Set([
  'preact',
  'preact/hooks',
  'htm',
  'htm/preact',
  '@preact/signals',
  'uplot',
  'wavesurfer.js',
]);

const IMPURE = [
  [/from 'node:(?!assert|buffer|util')[a-z/_]+'/, 'imports a Node module that does I/O'],
  [/\bDate\.now\(|\bnew Date\(\)|performance\.now\(/, 'reads a clock'],
  [/\bset(Timeout|Interval|Immediate)\(/, 'sets a timer'],
  [/\bMath\.random\(|randomBytes\(|randomUUID\(/, 'draws randomness'],
  [/\bprocess\./, 'touches the process'],
] as const;

/**
 * Where the wall clock is read by itself, and why that is right; whatever lasts is measured by the monotonic one, and
 * everybody else is given both (clock.ts).
 */
const READS_WALL_CLOCK: readonly [RegExp, string][] = [
  [/^clock\.ts$/, 'is the clock'],
  [/^log\.ts$/, 'dates lines'],
  [/^control\/dashboard\/app\//, 'shows times in a browser'],
  [/^control\/cli\//, 'shows times, and asks others for theirs'],
  [/^control\/sdk\/webhooks\.ts$/, 'checks the age of a signature'],
  [/^control\/operations\/(create-organization|reset-password)\.ts$/, 'commands that keep times'],
  [/^bridge\/carriers\/twilio\/hooks\.ts$/, 'dates a hook that has no time'],
  [/^bridge\/media\/media-thread\.ts$|^bridge\/media\/media-call\.ts$/, 'dates the start of a stream'],
  [/^bridge\/models\/openai\/socket\.ts$/, "compares with the time of the model's server"],
];
const WALL_CLOCK = /\bDate\.now\b|\bnew Date\(\)/;

/** A PURE file may hash: node:crypto's digests are functions of their input. */
const HASHES_ONLY = /from 'node:crypto'/;

function* sources(folder: string): Generator<string> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      if (name !== 'node_modules' && name !== 'fixtures') yield* sources(path);
    } else if (name.endsWith('.ts')) yield path;
  }
}

/** Every violation in the tree, as `file: what is wrong`. */
export function checkImports(top: string = root): string[] {
  const found: string[] = [];
  for (const folder of FOLDERS) {
    for (const path of sources(join(top, folder))) {
      const file = relative(top, path);
      const text = readFileSync(path, 'utf8');
      const complain = (what: string) => found.push(`${file}: ${what}`);
      for (const [, fixed, dynamic] of text.matchAll(
        /(?:^|\s)(?:import|export)\s[^'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm,
      )) {
        const quoted = fixed ?? dynamic;
        if (quoted === undefined) continue;
        const target = relative(top, resolve(dirname(path), quoted));
        const into = target.includes('/') ? (target.split('/')[0] ?? '.') : '.';
        if (into === folder) {
          if (/^bridge\/carriers\//.test(file) && /^bridge\/models\//.test(target))
            complain(`carriers import models (${target})`);
          if (/^bridge\/models\//.test(file) && /^bridge\/carriers\//.test(target))
            complain(`models import carriers (${target})`);
          continue;
        }
        if (into === '.') {
          if (folder === 'audio') complain(`audio imports ${target}`);
          if (folder === 'scripts' && !SCRIPTS_THAT_READ_SETTINGS.test(file))
            complain(`scripts import ${target}`);
          if (
            folder !== 'test' &&
            folder !== 'scripts' &&
            !/^(errors|config|log|clock|failpoints|stranger-log|terminal-text)\.ts$/.test(target)
          )
            complain(`imports ${target}`);
          continue;
        }
        if (!MAY_IMPORT[folder]?.includes(into)) complain(`${folder} imports ${target}`);
        else if (into === 'storage' && MEDIA_SIDE.test(file))
          complain(`a media-thread file imports ${target}`);
      }
      if (APP.test(file) || SDK.test(file)) {
        for (const [, fixed, dynamic] of text.matchAll(
          /(?:^|\s)(?:import|export)\s(?:[^'"]*?from\s+)?'([^']+)'|import\('([^']+)'\)/gm,
        )) {
          const name = fixed ?? dynamic ?? '';
          const target = name.startsWith('.') ? relative(top, resolve(dirname(path), name)) : null;
          const allowed =
            target === null
              ? APP.test(file) && BROWSER_PACKAGES.has(name)
              : SDK.test(target) || (APP.test(file) && APP.test(target));
          if (!allowed) complain(`runs in browsers and imports ${target ?? name}`);
        }
      }
      const head = text.split('\n').slice(0, 4).join('\n');
      if (/^\/\/.*\bPURE\b/m.test(head)) {
        const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
        for (const [pattern, what] of IMPURE) {
          if (
            pattern.test(code) &&
            !(what.includes('Node module') && HASHES_ONLY.test(code.match(pattern)?.[0] ?? ''))
          ) {
            complain(`says PURE and ${what}`);
          }
        }
      }
      if (
        !/^(scripts|test)\//.test(file) &&
        !READS_WALL_CLOCK.some(([allowed]) => allowed.test(file)) &&
        WALL_CLOCK.test(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''))
      ) {
        complain('reads the wall clock by itself: take the clock it is given (clock.ts)');
      }
      if (!/^(config\.ts|control\/cli\/main\.ts|scripts\/|test\/)/.test(file) && /process\.env\b/.test(text))
        complain('reads process.env');
    }
  }
  return found;
}

if (process.argv[1] === import.meta.filename) {
  const found = checkImports();
  for (const line of found) console.error(line);
  if (found.length > 0) process.exit(1);
}
