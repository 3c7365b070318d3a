// Request bodies out of the OpenAPI document's schemas: good ones, ones with something wrong in them, and hostile bytes.
// All of it follows from a seed.
import { gzipSync } from 'node:zlib';
import type { JsonSchema } from '../../control/reference/openapi.ts';
import { seeded } from '../random.ts';

export interface Random {
  /** A whole number from 0 to n - 1. */
  below(n: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** The same numbers for the same seed (mulberry32). */
export function randomOf(seed: number): Random {
  const next = seeded(seed);
  return {
    below: (n) => Math.floor(next() * n),
    chance: (probability) => next() < probability,
    pick: (from) => from[Math.floor(next() * from.length)] as (typeof from)[number],
  };
}

export interface Source {
  random: Random;
  schemas: Record<string, JsonSchema>;
  /** Ids by the field that asks for one. */
  idFor(field: string): string;
}

const TEXTS = [
  'Remind the person.',
  'a',
  'é ü 漢字 🎈',
  '\u202eright to left',
  'a\u0000b',
  '\ud800',
  "'; DROP TABLE calls; --",
  '<script>alert(1)</script>',
  '{{7*7}} %s %n',
  '../../etc/passwd',
  'constructor',
];
const URLS = [
  'https://example.com/hook',
  'https://example.com/hook?x=1',
  'https://example.com:8443/a/b',
  'http://example.com/',
  'https://127.0.0.1/',
  'https://[::1]/',
  'https://169.254.169.254/latest/meta-data',
  'javascript:alert(1)',
  'file:///etc/passwd',
  'not a url',
];
/** Tried one after another where a pattern asks for something special. */
const CANDIDATES = [
  '+14155550123',
  '+442079460000',
  'field_1',
  'string',
  'boolean',
  'enum(a|b)',
  'enum',
  'date[]',
  'US',
  '415',
  'Hello there.',
];
const KEYS = ['a', 'field_1', 'constructor', 'toString', 'hasOwnProperty', 'valueOf', '0', 'x-y'];

function textFor(schema: JsonSchema, field: string, source: Source): string {
  const { random } = source;
  if (schema.format === 'uuid') return source.idFor(field);
  if (schema.format === 'date-time') return '2026-03-01T12:00:00.000Z';
  const min = Number(schema.minLength ?? 0);
  const max = Number(schema.maxLength ?? 100_000);
  const examples = (schema.examples ?? []) as string[];
  if (typeof schema.pattern === 'string') {
    const pattern = new RegExp(schema.pattern, 'u');
    const fresh = `+1555${String(random.below(10_000_000)).padStart(7, '0')}`;
    if (field === 'e164' && pattern.test(fresh)) return fresh;
    return random.pick([...examples, ...CANDIDATES].filter((one) => pattern.test(one)));
  }
  if (examples.length > 0 && random.chance(0.7)) return random.pick(examples);
  if (/url$/.test(field)) return random.chance(0.7) ? 'https://example.com/hook' : random.pick(URLS);
  if (random.chance(0.03) && max < 100_000) return 'x'.repeat(max);
  const text = random.chance(0.7) ? 'Remind the person.' : random.pick(TEXTS);
  return text.length < min || text.length > max ? 'a'.repeat(Math.max(1, min)) : text;
}

function numberFor(schema: JsonSchema, random: Random): number {
  const min = typeof schema.minimum === 'number' ? schema.minimum : -1000;
  const max = typeof schema.maximum === 'number' ? schema.maximum : 100_000;
  return random.pick([min, max, Math.max(min, 0), Math.floor((min + max) / 2)]);
}

/** Any JSON, no deeper than asked. */
function anything(random: Random, depth: number): unknown {
  const flat = [null, true, 0, -1, 1.5, 1e308, '', 'text', '\ud800', 'a\u0000b'];
  const kind = random.below(depth > 0 ? flat.length + 4 : flat.length);
  if (kind < flat.length) return flat[kind];
  if (kind % 2 === 0) return Array.from({ length: random.below(4) }, () => anything(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: random.below(4) }, () => [random.pick(KEYS), anything(random, depth - 1)]),
  );
}

/** A value that the schema allows. */
export function derive(schema: JsonSchema, field: string, source: Source): unknown {
  const { random, schemas } = source;
  if (schema.$ref !== undefined) {
    return derive(schemas[schema.$ref.slice(schema.$ref.lastIndexOf('/') + 1)] ?? {}, field, source);
  }
  if (schema.const !== undefined) return schema.const;
  if (Array.isArray(schema.enum)) return random.pick(schema.enum);
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return derive(random.pick(choices), field, source);
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  const type = types.length > 1 && random.chance(0.8) ? types[0] : random.pick(types);
  switch (type) {
    case 'string':
      return textFor(schema, field, source);
    case 'integer':
    case 'number':
      return numberFor(schema, random);
    case 'boolean':
      return random.chance(0.5);
    case 'null':
      return null;
    case 'array': {
      const least = Number(schema.minItems ?? 0);
      const count = least + random.below(3);
      return Array.from({ length: count }, () => derive(schema.items ?? {}, field, source));
    }
    case 'object':
      return deriveObject(schema, field, source);
    default:
      return anything(random, 3);
  }
}

function deriveObject(schema: JsonSchema, field: string, source: Source): Record<string, unknown> {
  const { random } = source;
  if (schema.properties === undefined) {
    // A JSON Schema of a tool's parameters is no free object.
    if (field === 'parameters') return { type: 'object', properties: { a: { type: 'string' } } };
    const values = schema.additionalProperties;
    const names = schema.propertyNames as JsonSchema | undefined;
    return Object.fromEntries(
      Array.from({ length: random.below(4) }, (_none, at) => [
        names === undefined ? random.pick(KEYS) : `field_${at}`,
        typeof values === 'object' && values !== null
          ? derive(values as JsonSchema, '', source)
          : anything(random, 3),
      ]),
    );
  }
  const made: Record<string, unknown> = {};
  for (const [name, inner] of Object.entries(schema.properties)) {
    if (schema.required?.includes(name) !== true && random.chance(0.6)) continue;
    made[name] = derive(inner, name, source);
  }
  return made;
}

/** A number that JavaScript cannot hold, put in by its text. */
const BEYOND = '\u0001beyond\u0001';
const PROTO = '\u0001proto\u0001';

const WRONG: readonly ((random: Random) => unknown)[] = [
  () => null,
  (random) => random.chance(0.5),
  () => -1,
  () => 1.5,
  () => 2 ** 60,
  () => BEYOND,
  () => '',
  () => '   ',
  () => '\ud800',
  () => 'x'.repeat(40_000),
  () => [],
  () => ({}),
  () => [[[[[]]]]],
  () => Array.from({ length: 2000 }, () => 'a'),
  () => ({ toString: 'x', valueOf: null, constructor: { prototype: { polluted: true } } }),
  () => ({ [PROTO]: { polluted: true } }),
  (random) => anything(random, 4),
  (random) => {
    let nested: unknown = 1;
    for (let depth = 20 + random.below(100); depth > 0; depth--)
      nested = random.chance(0.5) ? [nested] : { a: nested };
    return nested;
  },
];

/** Every object and list inside a value, itself included. */
function containers(value: unknown): (Record<string, unknown> | unknown[])[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(containers)];
}

/** One or two things wrong with a body. It may still happen to be a good one. */
export function damage(body: unknown, random: Random): unknown {
  const copy = structuredClone(body);
  for (let times = 1 + random.below(2); times > 0; times--) {
    const places = containers(copy);
    // The outermost one most often: that is where the rules are.
    const place = random.chance(0.5) ? places[0] : random.pick(places);
    if (place === undefined) return random.pick(WRONG)(random);
    const keys = Object.keys(place);
    const at = place as Record<string, unknown>;
    switch (random.below(4)) {
      case 0:
        if (keys.length > 0) delete at[random.pick(keys)];
        break;
      case 1:
        at[random.pick([...KEYS, PROTO, 'odd', 'org_id', 'id', 'status', 'secret', ''])] =
          random.pick(WRONG)(random);
        break;
      default:
        if (keys.length > 0) at[random.pick(keys)] = random.pick(WRONG)(random);
    }
  }
  return copy;
}

/** A body's JSON, with what JavaScript has no value for. */
export function textOf(body: unknown): string {
  return (JSON.stringify(body) ?? 'null')
    .replaceAll(JSON.stringify(BEYOND), '1e999')
    .replaceAll(JSON.stringify(PROTO), '"__proto__"');
}

export interface Bytes {
  bytes: Buffer;
  headers: Record<string, string>;
  /** For a report. */
  kind: string;
  /** The headers alone are reason to refuse it. */
  wrongHeaders?: true;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Bytes that no JSON client would send, around a good body. */
export function hostile(good: string, random: Random): Bytes {
  const bytes = Buffer.from(good);
  const json = (kind: string, made: string | Buffer): Bytes => ({
    kind,
    bytes: Buffer.from(made),
    headers: JSON_TYPE,
  });
  const wrong = (kind: string, headers: Record<string, string>, made: Buffer = bytes): Bytes => ({
    kind,
    bytes: made,
    headers: { ...JSON_TYPE, ...headers },
    wrongHeaders: true,
  });
  const at = random.below(bytes.length);
  const nested = 33 + random.below(5000);
  return random.pick<() => Bytes>([
    () => json('cut short', bytes.subarray(0, at)),
    () => {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.below(8));
      return json('a bit flipped', flipped);
    },
    () => {
      // At the end of the last text, where nothing else is wrong with it.
      const end = bytes.lastIndexOf('"');
      const cut = end < 0 ? at : end;
      const stray = Buffer.from(random.pick([[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe9]]));
      return json('not UTF-8', Buffer.concat([bytes.subarray(0, cut), stray, bytes.subarray(cut)]));
    },
    () => json('UTF-16', Buffer.from(`\ufeff${good}`, 'utf16le')),
    () => json('a byte order mark', `\ufeff${good}`),
    () => json('twice', good + good),
    () => json('in a list', `[${good}]`),
    () => json('no object', random.pick(['null', '5', '"x"', 'true', '[]', '1e999', '-0'])),
    () =>
      json(
        'deep',
        `${good.slice(0, -1)}${good === '{}' ? '' : ','}"x":${'['.repeat(nested)}${']'.repeat(nested)}}`,
      ),
    () => json('very deep', '{"a":'.repeat(20_000)),
    () => json('__proto__', `{"__proto__":{"polluted":true},${good.slice(1)}`.replace(',}', '}')),
    () =>
      json(
        'constructor',
        `{"constructor":{"prototype":{"polluted":true}},${good.slice(1)}`.replace(',}', '}'),
      ),
    () =>
      json(
        'a huge number',
        `{"limit":${'9'.repeat(1 + random.below(3000))},${good.slice(1)}`.replace(',}', '}'),
      ),
    () => json('the same field twice', `{"name":1,"name":{},${good.slice(1)}`.replace(',}', '}')),
    () =>
      json(
        'no JSON',
        random.pick(['{', '}', '{"a":NaN}', "{'a':1}", '{"a":1,}', '\u0000', 'name=A', '<a/>', '{"a":0x1}']),
      ),
    () => json('too large', `{"x":"${'x'.repeat(262_144 + random.below(20_000))}"}`),
    () => json('empty', ''),
    () => wrong('gzip', { 'content-encoding': 'gzip' }, gzipSync(bytes)),
    () => wrong('an unknown encoding', { 'content-encoding': random.pick(['br', 'deflate', 'zip', 'x']) }),
    () =>
      wrong('another charset', {
        'content-type': `application/json; charset=${random.pick(['latin1', 'utf-16', 'x'])}`,
      }),
    () =>
      wrong('another type', {
        'content-type': random.pick([
          'text/plain',
          'application/x-www-form-urlencoded',
          'multipart/form-data; boundary=x',
          'application/jsonp',
          'application/ld+json',
          'json',
          'application/json, text/plain',
        ]),
      }),
  ])();
}
