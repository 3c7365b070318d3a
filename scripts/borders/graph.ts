// The files of the tree and what each imports, read from their text; and the circles among them. The formatter keeps
// imports in one form, so that reading them takes no parser.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface Import {
  /** A path from the top of the tree; of a package, its name. */
  target: string;
  isPackage: boolean;
  /** Gone when the types are stripped: it loads nothing. */
  isType: boolean;
}

export interface SourceFile {
  text: string;
  imports: Import[];
}

/** By path from the top. */
export type Tree = ReadonlyMap<string, SourceFile>;

const SKIPPED = new Set(['node_modules', 'fixtures']);

/** Reads every .ts file of `folders` below `top`, and the .ts and .js files of `top` itself. */
export function readTree(top: string, folders: readonly string[]): Tree {
  const tree = new Map<string, SourceFile>();
  const add = (path: string) => {
    const text = readFileSync(path, 'utf8');
    const file = relative(top, path);
    tree.set(file, { text, imports: importsOf(file, text) });
  };
  for (const name of readdirSync(top)) if (/\.(ts|js)$/.test(name)) add(join(top, name));
  for (const folder of folders) for (const path of sources(join(top, folder))) add(path);
  return tree;
}

function* sources(folder: string): Generator<string> {
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      if (!SKIPPED.has(name)) yield* sources(path);
    } else if (name.endsWith('.ts')) yield path;
  }
}

const STATEMENT = /^(?:import|export)\s+(type\s)?(?:[^'";=()]*?from\s+)?'([^']+)'/gm;
const CALL = /(await\s+|typeof\s+)?\bimport\('([^']+)'\)(\.then|\.catch)?/g;

function importsOf(file: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  const add = (name: string, isType: boolean) => {
    const isPackage = !name.startsWith('.');
    const target = isPackage ? name : relative('/', resolve('/', dirname(file), name));
    found.push({ target, isPackage, isType });
  };
  for (const [, type, name = ''] of code.matchAll(STATEMENT)) add(name, type !== undefined);
  // `import('x').Name` in a type loads nothing.
  for (const [, before = '', name = '', after] of code.matchAll(CALL))
    add(name, !before.startsWith('await') && after === undefined);
  return found;
}

/** All that `begin` loads, itself included. */
export function loadedBy(tree: Tree, begin: string): Set<string> {
  const loaded = new Set([begin]);
  for (const file of loaded) {
    for (const { target, isPackage, isType } of tree.get(file)?.imports ?? [])
      if (!isPackage && !isType && tree.has(target)) loaded.add(target);
  }
  return loaded;
}

/** Circles of files, types included: of each knot of files that reach one another, the shortest way round. */
export function circles(tree: Tree): string[][] {
  const next = (file: string) =>
    (tree.get(file)?.imports ?? []).map(({ target }) => target).filter((target) => tree.has(target));
  const found: string[][] = [];
  const seen = new Set<string>();
  for (const file of [...tree.keys()].sort()) {
    if (seen.has(file)) continue;
    const round = wayBack(file, next);
    if (round === null) continue;
    found.push(round);
    for (const one of round) seen.add(one);
  }
  return found;
}

/** The shortest way from `begin` to itself, or null. */
function wayBack(begin: string, next: (file: string) => string[]): string[] | null {
  const cameFrom = new Map<string, string>();
  const reached = [begin];
  for (const file of reached) {
    for (const target of next(file)) {
      if (target === begin) {
        const way = [];
        for (let at = file; at !== begin; at = cameFrom.get(at) ?? begin) way.unshift(at);
        return [begin, ...way];
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      reached.push(target);
    }
  }
  return null;
}
