// What the documents for readers of the code name is there: files, functions of the walks, and short answers.
import { existsSync, globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';

const TOP = resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(resolve(TOP, file), 'utf8');
const FILES = globSync('**/*.{ts,js,cjs,md,json,yaml,svg,css}', {
  cwd: TOP,
  exclude: (name) => /^(node_modules|\.tap|dist|data|simulations|soaks)$/.test(name),
});

const DOCUMENTS = FILES.filter((name) => name.endsWith('.md') && !name.startsWith('test/'));

/** Paths in backquotes or links, without those that name a pattern. */
function* named(text: string): Generator<string> {
  for (const [, quoted, linked] of text.matchAll(
    /`([\w./-]+\.(?:ts|js|cjs|md))`|\]\(([\w./-]+)(?:#[\w-]*)?\)/g,
  )) {
    const path = quoted ?? linked ?? '';
    if (path !== '') yield path;
  }
}

t.test('every file that a document names is there', async (t) => {
  for (const document of DOCUMENTS) {
    const missing = [...named(read(document))].filter((path) => {
      if (existsSync(resolve(TOP, document, '..', path)) || existsSync(resolve(TOP, path))) return false;
      // Named by its end, where the text around it says the folder.
      return !FILES.some((file) => file.endsWith(`/${path}`));
    });
    t.same(missing, [], document);
  }
});

t.test('every file of code says in its first lines what it holds', async (t) => {
  const silent = FILES.filter((name) => /\.(ts|js|cjs)$/.test(name)).filter((name) => {
    const [first = '', second = ''] = read(name).split('\n');
    return !/^\/[/*]/.test(first.startsWith('#!') ? second : first);
  });
  t.same(silent, []);
});

/** A heading as a link names it: as GitHub does. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[`*]/g, '')
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

t.test('every link to a place in a document leads there', async (t) => {
  let links = 0;
  for (const document of DOCUMENTS) {
    for (const [, path = '', anchor = ''] of read(document).matchAll(/\]\(([\w./-]*)#([^)]+)\)/g)) {
      links++;
      const there = path === '' ? read(document) : readFileSync(resolve(TOP, document, '..', path), 'utf8');
      const anchors = [...there.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
      t.ok(anchors.includes(anchor), `${document}: ${path}#${anchor}`);
    }
  }
  t.ok(links > 10);
});

/** Columns, fields and methods, which are written as events are. */
const NO_EVENTS: ReadonlySet<string> = new Set([
  'calls.owner',
  'connection.read',
  'deliveries.lease_owner',
  'idempotency_keys.owner',
  'metadata.source',
  'metadata.draft',
]);

t.test('commands, settings, metrics and events that a document names are there', async (t) => {
  const source = FILES.filter((name) => /\.(ts|js|cjs|yaml)$/.test(name) && name !== 'test/documents.test.ts')
    .map(read)
    .join('\n');
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  let names = 0;
  const is = (there: boolean, what: string) => {
    names++;
    // One line for what is missing, none for the hundreds that are not.
    if (!there) t.fail(what);
  };
  for (const document of DOCUMENTS) {
    const text = read(document);
    for (const [command, script = ''] of text.matchAll(/\bnpm run (?:-s )?([a-z][\w:-]*)/g))
      is(Object.hasOwn(scripts, script), `${document}: ${command}`);
    for (const [, quoted = ''] of text.matchAll(/`([^`\n]+)`/g)) {
      for (const [setting] of quoted.matchAll(/\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b/g))
        is(source.includes(setting), `${document}: ${setting}`);
      for (const [, metric = ''] of quoted.matchAll(/\boffhook_([a-z0-9_]+)/g))
        is(source.includes(metric), `${document}: offhook_${metric}`);
      if (
        /^[a-z_]+(\.[a-z_]+)+$/.test(quoted) &&
        !/\.(ts|js|md|json|key|db|example|service|conf|yaml|lock|made)$/.test(quoted)
      )
        is(NO_EVENTS.has(quoted) || source.includes(`'${quoted}'`), `${document}: ${quoted}`);
    }
  }
  t.ok(names > 200, `${names} names`);
});

/** The section under a heading. */
function section(text: string, heading: string): string {
  const from = text.indexOf(`\n## ${heading}\n`);
  if (from === -1) throw new Error(`there is no section "${heading}"`);
  return text.slice(from, text.indexOf('\n## ', from + 1));
}

t.test('a first question is answered by three files at most', async (t) => {
  const rows = section(read('ARCHITECTURE.md'), 'First questions').match(/^\| .*\? \|.*$/gm) ?? [];
  t.equal(rows.length, 5);
  for (const row of rows) {
    const files = [...row.matchAll(/`([\w./-]+\/)`|`([\w./-]+\.ts)`/g)].map(
      ([, folder, file]) => folder ?? file ?? '',
    );
    t.ok(files.length >= 1 && files.length <= 3, row);
    for (const file of files) t.ok(existsSync(resolve(TOP, file)), file);
  }
});

t.test('a walk names functions that its files have, and comes back into no file', async (t) => {
  const walks = section(read('ARCHITECTURE.md'), 'Five walks').split(/^\*\*/m).slice(1);
  t.equal(walks.length, 5);
  for (const walk of walks) {
    const [title = ''] = walk.split('**');
    const seen = new Set<string>();
    for (const [, file = '', functions = ''] of walk.matchAll(/`([\w./-]+\.ts)`((?:,? `#?\w+`)*)/g)) {
      t.notOk(seen.has(file), `${title}: ${file} once`);
      seen.add(file);
      const text = read(file);
      for (const [, name = ''] of functions.matchAll(/`(#?\w+)`/g))
        t.match(text, new RegExp(`(^|[^\\w])${name}\\b`), `${title}: ${file} has ${name}`);
    }
    t.ok(seen.size >= 3, title);
  }
});
