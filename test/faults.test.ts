// Holds docs/faults.md to the tests: every test it names is there, by its name or, where that is put together, by its parts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');
const page = readFileSync(join(ROOT, 'docs/faults.md'), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| ') && !/^\| (fault|---) /.test(line));

/** Every literal of a file, template parts in braces as `…`. */
function literals(file: string): Set<string> {
  const source = readFileSync(join(ROOT, 'test', file), 'utf8');
  const found = source.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g);
  return new Set(
    [...found].flatMap(([, single, double, template]) => {
      const text = (single ?? double ?? template ?? '').replace(/\\(.)/g, '$1');
      return template === undefined ? [text] : [text.replaceAll(/\$\{[^}]*\}/g, '…')];
    }),
  );
}

t.test('every row names tests that exist', async (t) => {
  t.ok(rows.length > 45, `${rows.length} rows`);
  for (const row of rows) {
    const proofs = row.split(' | ').at(-1)?.replace(/ \|$/, '').split(' <br> ') ?? [];
    for (const proof of proofs) {
      const [, file = '', name = ''] = /^`([^`]+)` › (.+)$/.exec(proof) ?? [];
      if (file === '' || !existsSync(join(ROOT, 'test', file))) t.fail(`not a proof: ${proof}`);
      // A name whose parts stand in a table is `…` there; a case of a table is a literal of its own.
      else if (!literals(file).has(name)) t.fail(`test/${file} has no "${name}"`);
    }
  }
});
