// A returns schema as rows of a table, and back.
import t from 'tap';
import { parseReturns, readResult } from '../../../../control/agents/returns-schema.ts';
import {
  emptyRow,
  exampleOf,
  faultsOf,
  jsonOf,
  moved,
  type ReturnsRow,
  readValues,
  rowsOf,
} from '../../../../control/dashboard/app/forms/returns-table.ts';
import { ofRows, ofText, ofValue } from '../../../../control/dashboard/app/forms/table-text.ts';

const row = (name: string, more: Partial<ReturnsRow> = {}): ReturnsRow => ({ ...emptyRow(), name, ...more });

// JSON as a client wrote it -> its row -> the JSON the table writes
const FIELDS: [string, unknown, Partial<ReturnsRow>, unknown][] = [
  ['a type name', 'boolean', { base: 'boolean' }, 'boolean'],
  ['a list', 'string[]', { isList: true }, 'string[]'],
  ['an enum', 'enum(yes|no)', { base: 'enum', values: ['yes', 'no'] }, 'enum(yes|no)'],
  ['an enum with spaces', 'enum(yes | no)', { base: 'enum', values: ['yes', 'no'] }, 'enum(yes|no)'],
  ['a list of an enum', 'enum(a|b)[]', { base: 'enum', isList: true, values: ['a', 'b'] }, 'enum(a|b)[]'],
  [
    'a description',
    { type: 'date', description: 'the day asked for' },
    { base: 'date', description: 'the day asked for' },
    { type: 'date', description: 'the day asked for' },
  ],
  [
    'an enum list beside string',
    { type: 'string', enum: ['a (b)', 'c|d'] },
    { base: 'enum', values: ['a (b)', 'c|d'] },
    { type: 'enum', enum: ['a (b)', 'c|d'] },
  ],
  [
    'a described list of an enum',
    { type: 'enum[]', description: 'which ones', enum: ['a', 'b'] },
    { base: 'enum', isList: true, description: 'which ones', values: ['a', 'b'] },
    { type: 'enum[]', description: 'which ones', enum: ['a', 'b'] },
  ],
  ['an object that says no more than a name', { type: 'integer' }, { base: 'integer' }, 'integer'],
];

for (const [name, spec, wanted, written] of FIELDS) {
  t.test(`${name}: JSON -> row -> JSON, and the daemon takes both`, async (t) => {
    const read = rowsOf({ field: spec });
    t.same(read, { ok: true, rows: [row('field', wanted)] });
    if (!read.ok) return;
    t.same(jsonOf(read.rows), { field: written });
    parseReturns({ field: spec });
    parseReturns(jsonOf(read.rows));
    t.same(rowsOf(jsonOf(read.rows)), read, 'and back again');
  });
}

const REFUSED: [string, unknown, RegExp][] = [
  ['a list', [], /object in braces/],
  ['a text', 'boolean', /object in braces/],
  ['an unknown type', { a: 'text' }, /“a” has the type “text”, which is unknown/],
  ['a number for a type', { a: 5 }, /“a” needs a type/],
  ['an unknown key', { a: { type: 'string', required: true } }, /“required”/],
  ['an enum without values', { a: 'enum' }, /needs its values/],
  ['an enum list beside a number', { a: { type: 'number', enum: ['1'] } }, /only beside/],
  ['an enum of numbers', { a: { type: 'enum', enum: [1] } }, /list of texts/],
  ['values twice', { a: 'enum(x|x)' }, /twice/],
  ['an empty value', { a: 'enum(x|)' }, /empty/],
  ['a name with a space', { 'new date': 'date' }, /letters, digits/],
  ['parentheses behind a type that has none', { a: 'string(x)' }, /unknown/],
];

for (const [name, value, message] of REFUSED) {
  t.test(`${name} is explained, and the daemon refuses it too`, async (t) => {
    t.match(rowsOf(value), { ok: false, message });
    t.throws(() => parseReturns(value), { code: 'invalid_returns' });
  });
}

t.test('101 fields are one too many', async (t) => {
  const rows = Array.from({ length: 101 }, (_, i) => row(`f${i}`));
  t.match(faultsOf(rows), [{ row: 100, message: /100 fields/ }]);
  t.throws(() => parseReturns(jsonOf(rows)));
  t.same(faultsOf(rows.slice(1)), []);
});

t.test('faults of cells name row and cell', async (t) => {
  const rows = [
    row('ok'),
    row(''),
    row('ok'),
    row('bad name'),
    row('pick', { base: 'enum' }),
    row('long', { description: 'x'.repeat(501) }),
    row('same', { base: 'enum', values: ['a', 'a'] }),
  ];
  t.same(
    faultsOf(rows).map(({ row, cell }) => `${row} ${cell}`),
    ['1 name', '2 name', '3 name', '4 values', '5 description', '6 values'],
  );
});

t.test('a field named like a property of every object is a field', async (t) => {
  const rows = [row('constructor'), row('toString', { base: 'integer' })];
  t.same(Object.entries(jsonOf(rows)), [
    ['constructor', 'string'],
    ['toString', 'integer'],
  ]);
  t.match(faultsOf([row('__proto__')]), [{ cell: 'name' }]);
});

t.test('the example is a result that the daemon would take', async (t) => {
  const rows = [
    row('a'),
    row('b', { base: 'number' }),
    row('c', { base: 'integer', isList: true }),
    row('d', { base: 'boolean' }),
    row('e', { base: 'date' }),
    row('f', { base: 'datetime' }),
    row('g', { base: 'enum', values: ['x', 'y'] }),
    row('h', { base: 'enum', isList: true, values: ['x', 'y'] }),
  ];
  const example = exampleOf(rows);
  t.same(readResult(parseReturns(jsonOf(rows)), { fields: example }), { result: example });
});

t.test('values that were typed', async (t) => {
  t.same(readValues(' yes, no ,, later\nnever '), ['yes', 'no', 'later', 'never']);
  t.same(readValues('  '), []);
});

t.test('rows move; beyond the ends nothing does', async (t) => {
  t.same(moved(['a', 'b', 'c'], 0, 2), ['b', 'c', 'a']);
  t.same(moved(['a', 'b', 'c'], 2, 0), ['c', 'a', 'b']);
  t.same(moved(['a', 'b', 'c'], 0, -1), ['a', 'b', 'c']);
  t.same(moved(['a', 'b', 'c'], 2, 3), ['a', 'b', 'c']);
});

t.test('table and text stay in step, and a fault in the text keeps the rows', async (t) => {
  const start = ofValue({ will_come: 'boolean' }, rowsOf);
  t.same(start, {
    rows: [row('will_come', { base: 'boolean' })],
    text: '{\n  "will_come": "boolean"\n}',
    problem: null,
  });

  const table = ofRows([...start.rows, row('day', { base: 'date' })], jsonOf);
  t.same(JSON.parse(table.text), { will_come: 'boolean', day: 'date' });

  const broken = ofText(table, '{ "will_come": "boolean", }', rowsOf);
  t.match(broken, { problem: { kind: 'json', message: /take out the comma/ } });
  t.same(broken.rows, table.rows);

  const strange = ofText(broken, '{ "will_come": "yesno" }', rowsOf);
  t.match(strange, { problem: { kind: 'shape', message: /unknown/ } });

  const mended = ofText(strange, '{ "will_come": "enum(yes|no)" }', rowsOf);
  t.same(mended.problem, null);
  t.same(mended.rows, [row('will_come', { base: 'enum', values: ['yes', 'no'] })]);

  t.same(ofText(mended, '  ', rowsOf), { rows: [], text: '  ', problem: null }, 'nothing means no fields');
});
