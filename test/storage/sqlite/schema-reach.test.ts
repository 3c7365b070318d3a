// Which program may use which database: by their schemas alone.
import t from 'tap';
import type { Migration } from '../../../storage/sqlite/migrations.ts';
import { isAddedBeside, mayUse, oldestReader } from '../../../storage/sqlite/schema-reach.ts';

/** Steps by a letter each: c changes, a adds, f fills. */
const steps = (kinds: string): Migration[] =>
  [...kinds].map((letter, index) => ({
    name: `${index}`,
    sql: '',
    ...(letter === 'a' ? { kind: 'adds' as const } : letter === 'f' ? { kind: 'fills' as const } : {}),
  }));

t.test('the oldest program that may use what steps lead to knows the last that changed something', (t) => {
  for (const [kinds, oldest] of [
    ['', 0],
    ['c', 1],
    ['cc', 2],
    ['cca', 2],
    ['ccaf', 2],
    ['ccafc', 5],
    ['ccafca', 5],
  ] as const)
    t.equal(oldestReader(steps(kinds)), oldest, kinds);
  t.end();
});

t.test('a program and a database', (t) => {
  for (const [known, version, noted, may] of [
    [2, 0, null, true],
    [2, 2, null, true],
    [2, 2, '2', true],
    [2, 3, null, false],
    [2, 3, '', false],
    [2, 3, 'two', false],
    [2, 3, '2', true],
    [2, 9, '2', true],
    [2, 9, '1', true],
    [2, 3, '3', false],
  ] as const) {
    const title = `knows ${known}, schema ${version}, for ${noted}`;
    t.equal(mayUse(steps('c'.repeat(known)), version, noted), may, title);
  }
  t.end();
});

t.test('beside others is taken what only adds', (t) => {
  for (const [kinds, version, may] of [
    ['cca', 2, true],
    ['ccaa', 2, true],
    ['ccaf', 2, false],
    ['ccaf', 3, false],
    ['ccac', 2, false],
    ['ccca', 2, false],
    ['ccca', 3, true],
  ] as const)
    t.equal(isAddedBeside(steps(kinds), version), may, `${kinds} from ${version}`);
  t.end();
});
