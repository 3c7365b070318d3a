// TAP as test files write it, read to what passed, what failed and where.
import t from 'tap';
import { TapReader } from '../../scripts/test-tap.ts';

const read = (text: string) => {
  const tap = new TapReader();
  for (const line of text.split('\n')) tap.read(line);
  return tap;
};

const TWO = `TAP version 14
# Subtest: one
    ok 1 - an assertion
    not ok 2 - another # TODO
    1..2
ok 1 - one # time=3ms

# Subtest: two
    # note: half as fast
    # Subtest: inner
        ok 1 - an assertion
        1..1
    ok 1 - inner
    1..1
ok 2 - two # time=1ms
`;

for (const [what, text, passed, failed, skipped, isWhole] of [
  ['tests are counted, not what is in them', `${TWO}\n1..2`, 2, 0, 0, true],
  ['a test that fails', 'not ok 1 - one # time=3ms\n  ---\n  ok 7 - not one\n  ...\n\n1..1', 0, 1, 0, true],
  ['tests left out', 'ok 1 - one # SKIP no browser\nok 2 - two\n1..2', 1, 0, 1, true],
  ['a file left out', '1..0 # no browser', 0, 0, 1, true],
  [
    'a test with its parts in braces',
    'ok 1 - one # time=3ms {\n    ok 1 - inner\n    1..1\n}\n\n1..1',
    1,
    0,
    0,
    true,
  ],
  ['an assertion with no test around it, and no words', 'ok 1\n1..1', 1, 0, 0, true],
  ['a file that ended in the middle', TWO, 2, 0, 0, false],
  ['a file that told less than it planned', `${TWO}\n1..3`, 2, 0, 0, false],
  ['a file that said nothing', '', 0, 0, 0, false],
  ['what else is printed', 'ok then\nnot ok\n1..2 or 3\nok 1 - one\n1..1', 1, 0, 0, true],
] as const)
  t.test(what, async (t) => {
    const tap = read(text);
    t.same([tap.passed, tap.failed, tap.skipped.length, tap.isWhole], [passed, failed, skipped, isWhole]);
  });

t.test('notes are kept, whoever made them, and why a test was left out', async (t) => {
  t.same(read(TWO).notes, ['half as fast']);
  t.same(read('ok 1 - one # SKIP no browser').skipped, ['one # SKIP no browser']);
  t.same(read('1..0 # no browser').skipped, ['no browser']);
});
