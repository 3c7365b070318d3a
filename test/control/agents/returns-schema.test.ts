// The returns schema: what a client may give, the strict schema made of it, and which answers become a result.
import { Ajv } from 'ajv';
import t from 'tap';
import { parseReturns, readResult, returnsJsonSchema } from '../../../control/agents/returns-schema.ts';

const every = {
  name: 'string',
  amount: 'number',
  people: 'integer',
  confirmed: 'boolean',
  day: 'date',
  at: { type: 'datetime', description: 'When to call back' },
  mood: 'enum(happy|neutral|angry)',
  plan: { type: 'string', enum: ['basic', 'a | b', 'pro'] },
  colors: 'enum(red|green)[]',
  topics: 'string[]',
  counts: 'integer[]',
  days: 'date[]',
};

t.test('what a client may give comes back as it is', async (t) => {
  t.strictSame(parseReturns(every), every);
  t.strictSame(parseReturns(null), {});
  t.strictSame(parseReturns(undefined), {});
  t.strictSame(parseReturns({}), {});
  for (const type of ['number[]', 'boolean[]', 'datetime[]', 'enum( a | b )', 'enum(a)']) {
    t.strictSame(parseReturns({ x: type }), { x: type }, type);
  }
  t.strictSame(parseReturns({ x: { type: 'enum', enum: ['a'] } }), { x: { type: 'enum', enum: ['a'] } });
  t.strictSame(parseReturns({ x: { type: 'string[]', enum: ['a'] } }), {
    x: { type: 'string[]', enum: ['a'] },
  });
  for (const name of [
    'constructor',
    'toString',
    'hasOwnProperty',
    'prototype',
    '0',
    'a-b_C',
    'x'.repeat(64),
  ]) {
    t.strictSame(parseReturns({ [name]: 'string' }), { [name]: 'string' }, name);
  }
  const given = { x: { type: 'string', enum: ['a'] } };
  const parsed = parseReturns(given);
  given.x.enum.push('b');
  t.strictSame(parsed, { x: { type: 'string', enum: ['a'] } }, 'a copy');
});

const refused: [string, unknown, string][] = [
  ['a list', ['string'], 'returns'],
  ['a text', 'string', 'returns'],
  ['a number', 7, 'returns'],
  ['101 fields', Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`f${i}`, 'string'])), 'returns'],
  ['an unknown type', { age: 'int' }, 'returns.age'],
  ['a type in capitals', { age: 'String' }, 'returns.age'],
  ['a nested list', { age: 'string[][]' }, 'returns.age'],
  ['a list type the other way', { age: '[]string' }, 'returns.age'],
  ['null as a type', { age: null }, 'returns.age'],
  ['a list as a type', { age: ['string'] }, 'returns.age'],
  ['a JSON Schema object', { age: { type: 'object', properties: {} } }, 'returns.age'],
  ['an unknown key', { age: { type: 'string', default: 'x' } }, 'returns.age'],
  ['no type', { age: { description: 'x' } }, 'returns.age'],
  ['an inherited type', { age: Object.create({ type: 'string' }) }, 'returns.age'],
  ['a description that is no text', { age: { type: 'string', description: 1 } }, 'returns.age'],
  ['a long description', { age: { type: 'string', description: 'x'.repeat(501) } }, 'returns.age'],
  ['an enum without values', { age: 'enum' }, 'returns.age'],
  ['an empty enum', { age: 'enum()' }, 'returns.age'],
  ['an empty enum value', { age: 'enum(a||b)' }, 'returns.age'],
  ['an enum value twice', { age: 'enum(a|b|a)' }, 'returns.age'],
  ['brackets in an enum', { age: 'enum(a|(b))' }, 'returns.age'],
  ['a line end in an enum', { age: 'enum(a|b\nc)' }, 'returns.age'],
  ['values behind another type', { age: 'string(a|b)' }, 'returns.age'],
  ['both ways of an enum', { age: { type: 'enum(a|b)', enum: ['a'] } }, 'returns.age'],
  ['an enum of numbers', { age: { type: 'integer', enum: ['1'] } }, 'returns.age'],
  ['an enum that is no list of texts', { age: { type: 'string', enum: [1] } }, 'returns.age'],
  ['an empty enum list', { age: { type: 'string', enum: [] } }, 'returns.age'],
  ['101 enum values', { age: `enum(${Array.from({ length: 101 }, (_, i) => i).join('|')})` }, 'returns.age'],
  ['a long enum value', { age: `enum(${'x'.repeat(101)})` }, 'returns.age'],
  ['an empty name', { '': 'string' }, 'returns.'],
  ['a name with a space', { 'a b': 'string' }, 'returns.a b'],
  ['a name with a dot', { 'a.b': 'string' }, 'returns.a.b'],
  ['a name with a line end', { 'a\n': 'string' }, 'returns.a\n'],
  ['a name of 65 characters', { ['x'.repeat(65)]: 'string' }, `returns.${'x'.repeat(64)}`],
  ['__proto__', JSON.parse('{"__proto__": "string"}'), 'returns.__proto__'],
];
for (const [name, input, param] of refused) {
  t.test(`refused: ${name}`, async (t) => {
    t.throws(() => parseReturns(input), { code: 'invalid_returns', param, status: 400 });
  });
}

t.test('the refusal of a type names what is allowed', async (t) => {
  t.throws(() => parseReturns({ age: 'int' }), {
    message: /returns\.age .*string, number, integer, boolean, date, datetime or enum\(a\|b\|c\)/,
  });
});

t.test('enums of all fields together have a limit', async (t) => {
  const hundred = (n: number) => `enum(${Array.from({ length: 100 }, (_, i) => `${n}v${i}`).join('|')})`;
  const fields = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`f${i}`, hundred(i)]));
  t.throws(() => parseReturns(fields), { code: 'invalid_returns', param: 'returns.f10' });
});

/** The rules a strict schema must keep, as the Responses API states them, walked by hand. */
function strictFaults(schema: unknown, path = '$'): string[] {
  if (typeof schema !== 'object' || schema === null) return [`${path} is no schema`];
  const s = schema as Record<string, unknown>;
  const faults: string[] = [];
  const known = ['type', 'description', 'properties', 'required', 'additionalProperties', 'items', 'enum'];
  for (const key of Object.keys(s)) if (!known.includes(key)) faults.push(`${path}.${key} is not allowed`);
  if (s.type === 'object') {
    const properties = s.properties as Record<string, unknown>;
    if (s.additionalProperties !== false) faults.push(`${path} is open`);
    const required = [...(s.required as string[])].sort();
    if (JSON.stringify(required) !== JSON.stringify(Object.keys(properties).sort())) {
      faults.push(`${path} does not require all`);
    }
    for (const [name, inner] of Object.entries(properties))
      faults.push(...strictFaults(inner, `${path}.${name}`));
  }
  if (s.items !== undefined) faults.push(...strictFaults(s.items, `${path}[]`));
  return faults;
}

t.test('the schema keeps the strict rules and every field may be null', async (t) => {
  const schema = returnsJsonSchema(parseReturns(every));
  t.strictSame(strictFaults(schema), []);
  t.equal(schema.type, 'object');
  const fields = (
    schema as { properties: { fields: { properties: Record<string, Record<string, unknown>> } } }
  ).properties.fields.properties;
  t.strictSame(Object.keys(fields), Object.keys(every), 'in the order of the client');
  t.strictSame(fields.name, { type: ['string', 'null'] });
  t.strictSame(fields.mood, { type: ['string', 'null'], enum: ['happy', 'neutral', 'angry', null] });
  t.strictSame(fields.colors, {
    type: ['array', 'null'],
    items: { type: 'string', enum: ['red', 'green'] },
  });
  t.strictSame(fields.counts, { type: ['array', 'null'], items: { type: 'integer' } });
  t.match(fields.at, { type: ['string', 'null'], description: /^When to call back Date and time/ });
  const validate = new Ajv({ strict: true, allowUnionTypes: true }).compile(schema);
  const nulls = Object.fromEntries(Object.keys(every).map((name) => [name, null]));
  t.ok(validate({ fields: nulls, not_stated: nulls }), 'all null is an answer');
  t.notOk(validate({ fields: nulls }), 'the reasons are required too');
});

const good = {
  name: 'Ann',
  amount: 12.5,
  people: 4,
  confirmed: false,
  day: '2028-02-29',
  at: '2026-11-20T15:00:00+01:00',
  mood: 'angry',
  plan: 'a | b',
  colors: ['red', 'red'],
  topics: [],
  counts: [0, -3],
  days: ['2026-12-31'],
};

t.test('a right answer becomes the result, in the order of the schema', async (t) => {
  const answer = readResult(every, { fields: good, not_stated: {} });
  t.strictSame(answer, { result: good });
  t.strictSame(Object.keys((answer as { result: object }).result), Object.keys(every));
  const nulls = Object.fromEntries(Object.keys(every).map((name) => [name, null]));
  t.strictSame(readResult(every, { fields: nulls }), { result: nulls });
});

const values: [string, unknown, boolean][] = [
  ['string', '', true],
  ['string', 5, false],
  ['string', {}, false],
  ['string', 'x'.repeat(10_001), false],
  ['number', -0.5, true],
  ['number', '5', false],
  ['number', Number.POSITIVE_INFINITY, false],
  ['number', Number.NaN, false],
  ['number', true, false],
  ['integer', 3, true],
  ['integer', 3.5, false],
  ['integer', 2 ** 53, false],
  ['boolean', true, true],
  ['boolean', 'true', false],
  ['boolean', 0, false],
  ['date', '2026-02-28', true],
  ['date', '2026-02-29', false],
  ['date', '1900-02-29', false],
  ['date', '2000-02-29', true],
  ['date', '2026-04-31', false],
  ['date', '2026-13-01', false],
  ['date', '2026-00-10', false],
  ['date', '2026-1-1', false],
  ['date', '0000-01-01', false],
  ['date', '2026-01-01T00:00:00Z', false],
  ['date', '20260101', false],
  ['date', 'tomorrow', false],
  ['datetime', '2026-01-01T09:30', true],
  ['datetime', '2026-01-01T09:30:15', true],
  ['datetime', '2026-01-01T09:30:15.123Z', true],
  ['datetime', '2026-01-01T09:30:15-08:00', true],
  ['datetime', '2026-01-01 09:30', false],
  ['datetime', '2026-01-01T24:00:00Z', false],
  ['datetime', '2026-01-01T09:60:00Z', false],
  ['datetime', '2026-02-30T09:00:00Z', false],
  ['datetime', '2026-01-01T09:00:00+25:00', false],
  ['datetime', '2026-01-01', false],
  ['datetime', '2026-01-01T09:30:15Z\n', false],
  ['enum(a|b)', 'b', true],
  ['enum(a|b)', 'c', false],
  ['enum(a|b)', 'A', false],
  ['enum(a|b)', 0, false],
  ['string[]', ['a', 'b'], true],
  ['string[]', 'a', false],
  ['string[]', [null], false],
  ['string[]', ['a', ['b']], false],
  ['string[]', { 0: 'a', length: 1 }, false],
  ['string[]', Array.from({ length: 201 }, () => 'a'), false],
  ['date[]', ['2026-02-30'], false],
  ['enum(a|b)[]', ['a', 'z'], false],
];
for (const [type, value, right] of values) {
  const shown = JSON.stringify(value)?.slice(0, 40);
  t.test(`${type}: ${shown} is ${right ? 'taken' : 'refused'}`, async (t) => {
    const answer = readResult({ x: type }, { fields: { x: value } });
    if (right) t.strictSame(answer, { result: { x: value } });
    else t.match(answer, { error: /"x"/ });
  });
}

t.test('an answer of another shape is refused, and values are not quoted', async (t) => {
  for (const answer of [
    null,
    undefined,
    'x',
    7,
    [],
    {},
    { fields: null },
    { fields: [] },
    { name: 'flat' },
  ]) {
    t.match(readResult({ name: 'string' }, answer), { error: 'the answer has no object "fields"' });
  }
  t.strictSame(readResult({ name: 'string' }, { fields: {} }), { error: '"name" is missing' });
  const { error } = readResult({ n: 'integer' }, { fields: { n: 'secret words' } }) as { error: string };
  t.notMatch(error, 'secret');
});

t.test('only own properties count, and nothing beyond the schema gets in', async (t) => {
  t.strictSame(readResult({ toString: 'string' }, { fields: {} }), { error: '"toString" is missing' });
  t.strictSame(readResult({ name: 'string' }, Object.create({ fields: { name: 'x' } })), {
    error: 'the answer has no object "fields"',
  });
  t.strictSame(readResult({ name: 'string' }, { fields: Object.create({ name: 'x' }) }), {
    error: '"name" is missing',
  });
  const answer = readResult(
    { name: 'string' },
    JSON.parse(
      '{"fields":{"name":"x","__proto__":{"admin":true},"admin":true},"admin":true,"status":"failed"}',
    ),
  ) as { result: Record<string, unknown> };
  t.strictSame(Object.getOwnPropertyNames(answer.result), ['name']);
  t.equal(answer.result.admin, undefined);
  t.equal(Object.getPrototypeOf(answer.result), Object.prototype);
});
