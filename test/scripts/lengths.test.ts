// No function of the daemon is over 120 lines and no file over 400, but those on the list with their reason.
import { resolve } from 'node:path';
import t from 'tap';
import { readTree } from '../../scripts/borders/graph.ts';
import { LONGER, tooLong } from '../../scripts/borders/lengths.ts';

const TOP = resolve(import.meta.dirname, '../..');

t.test('what is long has a reason, and every reason is needed', async (t) => {
  const long = new Map<string, number>();
  for (const [file, { text }] of readTree(TOP, ['audio', 'bridge', 'control', 'storage']))
    for (const { name, lines } of tooLong(file, text)) long.set(name, lines);
  const unlisted = [...long].filter(([name]) => !(name in LONGER));
  t.same(unlisted, [], 'too long: cut it, or say in scripts/borders/lengths.ts why not');
  t.same(
    Object.keys(LONGER).filter((name) => !long.has(name)),
    [],
    'on the list without need',
  );
});

t.test(
  'lengths are counted by function, methods and arrows too, nested ones with what holds them',
  async (t) => {
    const lines = (n: number) => '  count++;\n'.repeat(n);
    const cases: [string, string[]][] = [
      [`function short(): void {\n${lines(118)}}\n`, []],
      [`function long(n: number): void {\n${lines(119)}}\n`, ['a.ts long']],
      [`const arrow = (n: number) => {\n${lines(119)}};\n`, ['a.ts arrow']],
      [`class A {\n  #step(n: number): void {\n${lines(119)}  }\n}\n`, ['a.ts step']],
      [`const verbs = {\n  save: async (n: number) => {\n${lines(119)}  },\n};\n`, ['a.ts save']],
      [`function holds() {\n  return () => {\n${lines(119)}  };\n}\n`, ['a.ts holds', 'a.ts holds']],
      [`const a = 1;\n${lines(400)}`, ['a.ts']],
      [`const a = 1;\n${lines(399)}`, []],
    ];
    for (const [text, names] of cases)
      t.same(
        [...tooLong('a.ts', text)].map(({ name }) => name),
        names,
        names.join() || 'short',
      );
  },
);
