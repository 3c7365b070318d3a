// Holds every file to its room (borders/rooms.ts), each thread to what it may load, the tree to having no circle of files,
// and files marked as pure to their word; run before the tests.
import { resolve } from 'node:path';
import { circles, type Import, loadedBy, readTree, type Tree } from './borders/graph.ts';
import { COMMON, DOORS, ROOMS, SQL_BESIDE, THREADS } from './borders/rooms.ts';

const root = resolve(import.meta.dirname, '..');
const FOLDERS = ['audio', 'bridge', 'control', 'storage', 'scripts', 'examples', 'test'];
const DAEMON = /^(audio|bridge|control|storage)\/|^[^/]+$/;
const SQL =
  /\b(SELECT\s[\s\S]{1,200}?\sFROM\s|INSERT (OR \w+ )?INTO\s|UPDATE\s\w+\sSET\s|DELETE FROM\s|CREATE (TABLE|INDEX)\s)/;

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

/** What reads the environment: the table of settings, and programs that begin by themselves. */
const READS_ENVIRONMENT = /^(config\.ts|main\.js|control\/cli\/main\.ts)$|^(scripts|examples|test)\//;

/** A PURE file may hash: node:crypto's digests are functions of their input. */
const HASHES_ONLY = /from 'node:crypto'/;

/** The room of a file, and the line of the table that it has; null: none. */
export function roomOf(file: string): { name: string; line: string } | null {
  if (COMMON.includes(file)) return { name: '.', line: '.' };
  const parts = file.split('/');
  // One file of each folder below x: `x/*/name.ts`.
  const each = [...parts.slice(0, -2), '*', ...parts.slice(-1)].join('/');
  if (parts.length > 2 && Object.hasOwn(ROOMS, each)) return { name: each, line: each };
  for (let length = parts.length; length > 0; length--) {
    const name = parts.slice(0, length).join('/');
    const room = Object.hasOwn(ROOMS, name) ? ROOMS[name] : undefined;
    if (room && (!room.ownFilesOnly || length >= parts.length - 1)) return { name, line: name };
    const line = `${parts.slice(0, length - 1).join('/')}/*`;
    if (length < parts.length && Object.hasOwn(ROOMS, line)) return { name, line };
  }
  return null;
}

/** Whether a list of rooms has this one, by its name or as one of `x/*`. */
function has(rooms: readonly string[], room: string): boolean {
  const oneOf = `${room.replace(/\/[^/]+$/, '')}/*`;
  return rooms.includes('*') || rooms.includes(room) || (!room.endsWith('.ts') && rooms.includes(oneOf));
}

/** What is wrong with the imports of one file. */
function* crossings(file: string, imports: readonly Import[]): Generator<string> {
  const room = roomOf(file);
  if (room === null) return yield 'stands in no room of borders/rooms.ts';
  const { may, packages } = ROOMS[room.line] ?? { may: ['.'] };
  for (const { target, isPackage, isType } of imports) {
    if (isPackage) {
      if (packages && !packages.includes(target)) yield `imports ${target}, which ${room.name} may not`;
      const door = DAEMON.test(file) ? DOORS[target] : undefined;
      if (door && (!isType || door.typesToo) && !has(door.rooms, room.name) && !door.rooms.includes(file))
        yield `imports ${target}: ${door.why} (${door.rooms.join(', ')})`;
      continue;
    }
    const into = roomOf(target);
    if (into === null) yield `imports ${target}, which stands in no room of borders/rooms.ts`;
    else if (into.name !== room.name && !has(may, into.name) && !may.includes(target))
      yield `${room.name} imports ${into.name} (${target})`;
  }
}

/** What a thread loads and may not, by the file that imports it. */
function* strangers(tree: Tree, { begins, loads, why }: (typeof THREADS)[number]): Generator<string> {
  for (const file of loadedBy(tree, begins)) {
    const room = roomOf(file);
    if (room !== null && !has(loads, room.name)) yield `${file}: is loaded by ${begins}: ${why}`;
  }
}

/** Code without its comments. */
const codeOf = (text: string) => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');

/** What is wrong with what one file does by itself: purity, clocks, settings, SQL. */
function* habits(file: string, text: string): Generator<string> {
  const code = codeOf(text);
  const head = text.split('\n').slice(0, 4).join('\n');
  if (/^\/\/.*\bPURE\b/m.test(head)) {
    for (const [pattern, what] of IMPURE) {
      const found = [...code.matchAll(new RegExp(pattern, 'g'))];
      if (found.some(([one]) => !HASHES_ONLY.test(one))) yield `says PURE and ${what}`;
    }
  }
  if (DAEMON.test(file) && !READS_WALL_CLOCK.some(([allowed]) => allowed.test(file)) && WALL_CLOCK.test(code))
    yield 'reads the wall clock by itself: take the clock it is given (clock.ts)';
  if (!READS_ENVIRONMENT.test(file) && /process\.env\b/.test(text)) yield 'reads process.env';
  if (DAEMON.test(file) && !/^storage\/sqlite\//.test(file) && !(file in SQL_BESIDE) && SQL.test(code))
    yield 'holds SQL, which is of storage/sqlite/ alone';
}

/** Every violation in the tree, as `file: what is wrong`. */
export function checkImports(top: string = root): string[] {
  const tree = readTree(top, FOLDERS);
  const found: string[] = [];
  for (const [file, { text, imports }] of tree) {
    for (const what of crossings(file, imports)) found.push(`${file}: ${what}`);
    for (const what of habits(file, text)) found.push(`${file}: ${what}`);
  }
  for (const thread of THREADS) found.push(...strangers(tree, thread));
  for (const round of circles(tree))
    found.push(`${round[0]}: a circle: ${[...round, round[0]].join(' -> ')}`);
  return found;
}

if (process.argv[1] === import.meta.filename) {
  const found = checkImports();
  for (const line of found) console.error(line);
  if (found.length > 0) process.exit(1);
}
