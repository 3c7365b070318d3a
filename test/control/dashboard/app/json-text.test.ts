// JSON as a person types it: the value, or where it stops being JSON.
import t from 'tap';
import { readJson, sayFault, writeJson } from '../../../../control/dashboard/app/forms/json-text.ts';

// text -> what is said of its first fault
const FAULTS: [string, string][] = [
  ['{"a": 1,}', 'Line 1, column 9: take out the comma before this }.'],
  ['[1, 2, ]', 'Line 1, column 8: take out the comma before this ].'],
  ["{'a': 1}", 'Line 1, column 2: use double quotes.'],
  ['{"a": \'x\'}', 'Line 1, column 7: use straight double quotes: ".'],
  ['{“a”: 1}', 'Line 1, column 2: a name in double quotes is expected here.'],
  ['{\n  "a": 1\n  "b": 2\n}', 'Line 3, column 3: a comma is missing before this.'],
  ['{\n  a: 1\n}', 'Line 2, column 3: a name in double quotes is expected here.'],
  ['{"a" 1}', 'Line 1, column 6: a colon is expected after "a".'],
  ['{"a": yes}', 'Line 1, column 7: yes needs double quotes around it.'],
  ['{"a": True}', 'Line 1, column 7: write true instead of True.'],
  ['{"a": None}', 'Line 1, column 7: write null instead of None.'],
  ['{"a": 1', 'Line 1, column 1: this { is never closed; add a }.'],
  ['{\n "a": [1, 2\n', 'Line 2, column 7: this [ is never closed; add a ].'],
  ['{"a": [1}', 'Line 1, column 9: this } closes a [; write ].'],
  ['{"a": "x', 'Line 1, column 7: this text has no closing quote.'],
  [
    '{"a": "x\ny"}',
    'Line 1, column 9: a line break may not stand inside a text; write \\n, or close the quote before it.',
  ],
  ['{"a": "\\d"}', 'Line 1, column 8: a backslash stands alone; write \\\\ for one.'],
  ['{"a": 01}', 'Line 1, column 7: this is no number; write 12, 0.5 or -3, or put quotes around it.'],
  ['{"a": .5}', 'Line 1, column 7: “.” cannot begin a value.'],
  ['{"a": 1} // note', 'Line 1, column 10: JSON has no comments; take it out.'],
  ['{"a": 1} x', 'Line 1, column 10: nothing may follow the end of the value, but “x” does.'],
  ['{"a": }', 'Line 1, column 7: a value is missing before “}”.'],
  ['{"a": 1, "a": 2}', 'Line 1, column 10: the name "a" is there twice.'],
  ['', 'Line 1, column 1: a value is missing at the end.'],
];

for (const [text, said] of FAULTS) {
  t.test(`${JSON.stringify(text)} -> ${said}`, async (t) => {
    const read = readJson(text);
    t.equal(read.ok ? 'no fault' : sayFault(read.fault), said);
  });
}

t.test('refuses what JSON.parse refuses, and takes what it takes, but for names given twice', async (t) => {
  const texts = [
    '{}',
    '[]',
    'null',
    'true',
    '-0.5e+3',
    '1e400',
    '"\\u00e9\\n"',
    ' { "a" : [ { } , [ ] ] } ',
    '"\u2028"',
    '{"a":1}}',
    '+1',
    '1.',
    '0x10',
    'NaN',
    '[1 2]',
    '{"a":1,,}',
    '"\\x41"',
    '\ufeff{}',
    '{"a"}',
    '[,]',
    'tru',
    '-',
    '"\t"',
    ...FAULTS.map(([text]) => text),
  ];
  for (const [at, text] of texts.entries()) {
    let value: unknown;
    let parses = true;
    try {
      value = JSON.parse(text);
    } catch {
      parses = false;
    }
    const read = readJson(text);
    const twice = !read.ok && /twice/.test(read.fault.message);
    t.equal(read.ok || twice, parses, `text ${at}`);
    if (read.ok) t.same(read.value, value);
  }
});

t.test('a text nested beyond reason is a fault, not a crash', async (t) => {
  const read = readJson('['.repeat(100_000));
  t.match(read, { ok: false, fault: { message: /nested too deep/ } });
});

t.test('what is written reads back, with short lists of words on one line', async (t) => {
  const value = {
    when: { type: 'enum', enum: ['soon', 'a, "b"', 'never'] },
    n: [1, 2],
    empty: [],
    text: '[\n"x"\n]',
  };
  const text = writeJson(value);
  t.same(JSON.parse(text), value);
  t.match(text, '"enum": ["soon", "a, \\"b\\"", "never"]');
  const long = { enum: Array.from({ length: 40 }, (_, i) => `value number ${i}`) };
  t.same(JSON.parse(writeJson(long)), long);
});
