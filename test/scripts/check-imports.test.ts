import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { checkImports } from '../../scripts/check-imports.ts';

/** What the check says of a tree of these files. */
function complaints(t: Test, files: Record<string, string>): string[] {
  const root = t.testdir({});
  for (const folder of ['audio', 'bridge', 'control', 'storage', 'scripts', 'test'])
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

t.test('imports against the direction are found', async (t) => {
  for (const [file, text] of [
    ['audio/a.ts', "import { b } from '../storage/b.ts';"],
    ['audio/a.ts', "import { AppError } from '../errors.ts';"],
    ['storage/a.ts', "import { b } from '../bridge/b.ts';"],
    ['bridge/a.ts', "import { b } from '../control/b.ts';"],
    ['bridge/media/a.ts', "import type { b } from '../../storage/b.ts';"],
    ['bridge/carriers/a.ts', "import { b } from '../models/b.ts';"],
    ['control/a.ts', "import { b } from '../scripts/b.ts';"],
    ['scripts/a.ts', "import { b } from '../control/b.ts';"],
    ['control/a.ts', "const b = await import('../test/b.ts');"],
    ['control/a.ts', 'const port = process.env.PORT;'],
    ['control/a.ts', 'const began = Date.now();'],
    ['bridge/a.ts', 'const began = new Date();'],
    ['control/dashboard/app/a.ts', "import { b } from '../pages.ts';"],
    ['control/dashboard/app/a.ts', "import type { b } from '../../route.ts';"],
    ['control/dashboard/app/a.ts', "import { z } from 'zod';"],
    ['control/dashboard/app/a.ts', "import 'node:fs';"],
    ['control/sdk/a.ts', "import { b } from '../route.ts';"],
    ['control/sdk/a.ts', "const { b } = await import('preact');"],
  ] as const) {
    t.equal(complaints(t, { [file]: text }).length, 1, `${file}: ${text}`);
  }
  t.same(
    complaints(t, {
      'control/a.ts': "import { b } from '../bridge/b.ts';\nimport { c } from '../errors.ts';",
      'control/dashboard/app/a.ts':
        "import { render } from 'preact';\nimport { b } from './b.ts';\nimport { c } from '../../sdk/c.ts';",
    }),
    [],
  );
});

t.test('a file that says PURE and is not is found', async (t) => {
  for (const line of [
    "import { readFile } from 'node:fs';",
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
