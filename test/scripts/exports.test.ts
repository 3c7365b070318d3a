// No value is exported that no other file imports. Types may be: they name what an exported function takes or gives.
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '../..');
const sources = new Map(
  globSync('{*.{ts,js},{audio,bridge,control,storage,scripts,test,examples}/**/*.{ts,js,cjs,mjs}}', {
    cwd: root,
  })
    .filter((file) => !file.includes('node_modules'))
    .map((file) => [normalize(file), readFileSync(join(root, file), 'utf8')] as const),
);

/** Exported for whoever installs the package, and what a loader puts in another file's place. */
const FROM_OUTSIDE = /^control\/sdk\/|^test\/storage\/late-open\.ts$/;

const EXPORTED = /^export (?:async )?(?:function\*?|const|let|class) (\w+)/gm;
const IMPORTED = /(?:import|export)\s+(?:type\s+)?([^'";]*?)\s*from\s+'(\.[^']+)'/g;
const LOADED = /import\('(\.[^']+)'\)/g;

t.test('whatever is exported is imported somewhere', async (t) => {
  const imported = new Set<string>();
  const whole = new Set<string>();
  for (const [file, text] of sources) {
    const target = (path: string) => normalize(join(dirname(file), path));
    for (const [, names = '', path = ''] of text.matchAll(IMPORTED)) {
      if (names.includes('*')) whole.add(target(path));
      for (const name of names.replace(/[{}]/g, '').split(','))
        imported.add(
          `${target(path)}#${name
            .replace(/^\s*type\s/, '')
            .split(' as ')[0]
            ?.trim()}`,
        );
    }
    for (const [, path = ''] of text.matchAll(LOADED)) whole.add(target(path));
  }
  t.ok(imported.size > 1_000, 'the imports were read');
  const unused: string[] = [];
  for (const [file, text] of sources) {
    if (FROM_OUTSIDE.test(file) || whole.has(file)) continue;
    // What stands in a text is shown, and is no code of ours.
    const code = text.replace(/`(?:[^`\\]|\\.)*`/g, '``');
    for (const [, name] of code.matchAll(EXPORTED)) {
      if (!imported.has(`${file}#${name}`)) unused.push(`${file}: ${name}`);
    }
  }
  t.strictSame(unused, []);
});
