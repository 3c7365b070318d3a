// The borders between rooms hold, and what crosses one is named.
import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import t, { type Test } from 'tap';
import { circles, type Tree } from '../../scripts/borders/graph.ts';
import { DOORS, ROOMS, THREADS } from '../../scripts/borders/rooms.ts';
import { checkImports, roomOf } from '../../scripts/check-imports.ts';

/** What the check says of a tree of these files. */
function complaints(t: Test, files: Record<string, string>): string[] {
  const root = t.testdir({});
  for (const folder of ['audio', 'bridge', 'control', 'storage', 'scripts', 'examples', 'test'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return checkImports(root);
}

t.test('this tree is clean', async (t) => {
  t.same(checkImports(), []);
});

t.test('imports that cross a border are found', async (t) => {
  for (const [file, text] of [
    ['audio/a.ts', "import { b } from '../storage/b.ts';"],
    ['audio/a.ts', "import { AppError } from '../errors.ts';"],
    ['storage/a.ts', "import { b } from '../bridge/b.ts';"],
    ['storage/a.ts', "import { b } from './sqlite/b.ts';"],
    ['storage/postgres/a.ts', "import { b } from '../sqlite/b.ts';"],
    ['bridge/a.ts', "import { b } from '../control/b.ts';"],
    ['bridge/media/a.ts', "import type { b } from '../../storage/b.ts';"],
    ['bridge/media/a.ts', "import { b } from '../carriers/twilio/wire.ts';"],
    ['bridge/calls/a.ts', "import type { b } from '../media/b.ts';"],
    ['bridge/calls/a.ts', "import { b } from '../carriers/twilio/client.ts';"],
    ['bridge/turns/a.ts', "import { b } from '../media/b.ts';"],
    ['bridge/carriers/a.ts', "import { b } from '../models/b.ts';"],
    ['bridge/carriers/a.ts', "import { b } from './twilio/b.ts';"],
    ['bridge/carriers/telnyx/a.ts', "import type { b } from '../twilio/b.ts';"],
    ['bridge/models/gemini/a.ts', "export { b } from '../openai/b.ts';"],
    ['bridge/models/gemini/a.ts', "import type { b } from '../../carriers/b.ts';"],
    ['bridge/models/gemini/setup.ts', "import { b } from './session.ts';"],
    ['bridge/setups.ts', "import { b } from './carriers/twilio/rest.ts';"],
    ['control/cli/a.ts', "import { b } from '../../bridge/carriers/twilio/setup.ts';"],
    ['bridge/fresh/a.ts', 'export const a = 1;'],
    ['control/a.ts', "import { b } from '../scripts/b.ts';"],
    ['control/a.ts', "const b = await import('../test/b.ts');"],
    ['control/http/a.ts', "import type { b } from '../api/b.ts';"],
    ['control/http/a.ts', "let b: import('../agents/b.ts').B;"],
    ['control/egress/a.ts', "import '../webhooks/b.ts';"],
    ['control/api/a.ts', "import { b } from '../dashboard/b.ts';"],
    ['control/api/a.ts', "import {\n  b,\n} from '../reference/b.ts';"],
    ['control/api/a.ts', "import { b } from '../app.ts';"],
    ['scripts/a.ts', "import { b } from '../control/b.ts';"],
    ['scripts/model-simulator/a.ts', "import { b } from '../carrier-simulator/b.ts';"],
    ['control/dashboard/app/a.ts', "import { b } from '../pages.ts';"],
    ['control/dashboard/app/a.ts', "import type { b } from '../../http/route.ts';"],
    ['control/dashboard/app/a.ts', "import { z } from 'zod';"],
    ['control/dashboard/app/a.ts', "import 'node:fs';"],
    ['control/sdk/a.ts', "import { b } from '../http/route.ts';"],
    ['examples/a.ts', "import { b } from '../control/sdk/index.ts';"],
    ['examples/a.ts', "import { fetch } from 'undici';"],
    ['control/sdk/a.ts', "const { b } = await import('preact');"],
    ['control/api/a.ts', "import Database from 'better-sqlite3';"],
    ['storage/a.ts', "import Database from 'better-sqlite3';"],
    ['storage/a.ts', "import type { Database } from 'better-sqlite3';"],
    ['control/operations/metrics.ts', "import type { b } from '../../storage/sqlite/integrity.ts';"],
    ['control/operations/a.ts', "import { b } from '../../storage/sqlite/database.ts';"],
    ['bridge/calls/a.ts', "import type { b } from '../../storage/sqlite/store.ts';"],
    ['daemon.ts', "import { b } from './storage/sqlite/database.ts';"],
    ['bridge/calls/a.ts', "import { WebSocket } from 'ws';"],
    ['control/agents/a.ts', "import { request } from 'undici';"],
    ['storage/a.ts', "const all = 'SELECT id FROM calls';"],
    ['control/api/a.ts', 'const gone = `DELETE FROM calls WHERE id = ?`;'],
    ['control/a.ts', 'const port = process.env.PORT;'],
    ['control/a.ts', 'const began = Date.now();'],
    ['bridge/a.ts', 'const began = new Date();'],
  ] as const) {
    t.equal(complaints(t, { [file]: text }).length, 1, `${file}: ${text}`);
  }
  t.same(
    complaints(t, {
      'control/a.ts': "import { b } from '../bridge/b.ts';\nimport { c } from '../errors.ts';",
      'control/api/a.ts': "// import { b } from '../dashboard/b.ts';\nimport { b } from '../http/b.ts';",
      'bridge/carriers/telnyx/a.ts': "import type { b } from '../carrier.ts';\nimport { c } from './c.ts';",
      'bridge/carriers/carriers.ts': "import { b } from './telnyx/a.ts';",
      'bridge/calls/a.ts': "import type { WebSocket } from 'ws';",
      'daemon.ts': "import { openStore } from './storage/sqlite/store.ts';",
      'control/operations/a.ts': "import { b } from '../../storage/sqlite/host-commands.ts';",
      'storage/sqlite/a.ts': "import Database from 'better-sqlite3';\nconst all = 'SELECT id FROM calls';",
      'control/dashboard/app/a.ts':
        "import { render } from 'preact';\nimport { b } from './b.ts';\nimport { c } from '../../sdk/c.ts';",
    }),
    [],
  );
});

t.test('what a thread loads through others is found, what it only knows by type is not', async (t) => {
  const found = complaints(t, {
    'bridge/media/media-thread.ts': "import { a } from '../models/models.ts';",
    'bridge/models/models.ts':
      "import { b } from './openai/session.ts';\nimport type { c } from './model.ts';",
    'bridge/models/openai/session.ts': "const d = await import('../../../storage/d.ts');",
    'bridge/models/model.ts': "import { e } from '../../storage/e.ts';",
    'storage/d.ts': 'export const d = 1;',
    'storage/e.ts': 'export const e = 1;',
  });
  t.match(
    found.filter((one) => one.includes('is loaded by')),
    [/^storage\/d\.ts: is loaded by bridge\/media\/media-thread\.ts/],
  );
  t.equal(found.filter((one) => one.includes('is loaded by')).length, 1);
});

t.test('a circle of files is found, by types too, in scripts and tests as well', async (t) => {
  const round = complaints(t, {
    'audio/a.ts': "import { b } from './b.ts';",
    'audio/b.ts': "import type { c } from './c.ts';",
    'audio/c.ts': "export { a } from './a.ts';",
    'audio/d.ts': "import { a } from './a.ts';",
    'test/e.ts': "import { f } from './f.ts';",
    'test/f.ts': "type E = typeof import('./e.ts');",
  });
  t.same(round, [
    'audio/a.ts: a circle: audio/a.ts -> audio/b.ts -> audio/c.ts -> audio/a.ts',
    'test/e.ts: a circle: test/e.ts -> test/f.ts -> test/e.ts',
  ]);
  t.same(
    complaints(t, {
      'audio/a.ts': "import { b } from './b.ts';\nimport { c } from './c.ts';",
      'audio/b.ts': "import { c } from './c.ts';",
      'audio/c.ts': 'export const c = 1;',
    }),
    [],
    'a diamond is none',
  );
});

t.test('the table: its rooms are in no circle, and what it names is there', async (t) => {
  const lines = Object.keys(ROOMS).filter((line) => !/^(scripts|examples|test)/.test(line));
  const named = (may: string) =>
    may.endsWith('/*')
      ? lines.filter((line) => line.startsWith(may.slice(0, -1)) && !line.endsWith('.ts'))
      : [may];
  const tree: Tree = new Map(
    lines.map((line) => [
      line,
      {
        text: '',
        imports: (ROOMS[line]?.may ?? [])
          .flatMap(named)
          .filter((target) => target !== line)
          .map((target) => ({ target, isPackage: false, isType: false })),
      },
    ]),
  );
  t.same(circles(tree), []);
  const top = resolve(import.meta.dirname, '../..');
  const isThere = (name: string) => globSync(name, { cwd: top }).length > 0;
  for (const name of [...Object.keys(ROOMS), ...THREADS.map(({ begins }) => begins)])
    t.ok(isThere(name), name);
  for (const name of [
    ...Object.values(ROOMS).flatMap(({ may }) => may),
    ...THREADS.flatMap(({ loads }) => loads),
    ...Object.values(DOORS).flatMap(({ rooms }) => rooms),
  ]) {
    if (name === '.' || name === '*') continue;
    t.ok(isThere(name) && (name.endsWith('/*') || roomOf(name)), name);
  }
});

t.test('a file that says PURE and is not is found', async (t) => {
  for (const line of [
    "import { readFile } from 'node:fs';",
    "import { createHash } from 'node:crypto';\nimport { readFile } from 'node:fs';",
    'const t = Date.now();',
    'const d = new Date();',
    'setTimeout(f, 1);',
    'Math.random();',
    'process.cwd();',
  ]) {
    const found = complaints(t, { 'audio/a.ts': `// PURE.\n${line}` });
    t.equal(found.filter((one) => one.includes('says PURE')).length, 1, line);
    t.same(complaints(t, { 'scripts/a.ts': `// Says nothing.\n${line}` }), [], line);
  }
  t.same(
    complaints(t, { 'audio/a.ts': "// PURE.\nimport { createHash } from 'node:crypto';\nnew Date(5);" }),
    [],
  );
});
