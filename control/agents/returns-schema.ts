// The returns schema: checking what a client gave, the strict JSON schema a model must answer by, and the check of that
// answer. PURE. Asking the model is extraction.ts.
import { AppError } from '../../errors.ts';
import { redact } from '../../log.ts';
import { type Returns, SENTIMENTS, type Sentiment } from '../../storage/records.ts';
import { cutText } from './fenced-data.ts';
import { isDate, isDatetime } from './iso-time.ts';
import { SCHEMA_TEXTS } from './texts/extraction.ts';

const MAX_FIELDS = 100;
const MAX_DESCRIPTION = 500;
// Strict schemas take 1000 enum values in all, 120,000 characters of names and values, 15,000 in one long enum.
const MAX_ENUM_VALUES = 100;
const MAX_ENUM_VALUES_IN_ALL = 1000;
const MAX_ENUM_LENGTH = 100;
const MAX_TEXT = 10_000;
const MAX_ITEMS = 200;

const BASES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'enum'] as const;
type Base = (typeof BASES)[number];

const ALLOWED =
  'use string, number, integer, boolean, date, datetime or enum(a|b|c), with [] behind for a list, or an object {type, description, enum}';

interface Field {
  base: Base;
  isArray: boolean;
  values: string[];
  description: string | null;
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Own property only: `constructor` and the like are names a client may use. */
function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** One field's spec as parsed, or what is wrong with it. */
function readField(spec: unknown): Field | string {
  let type: unknown = spec;
  let description: string | null = null;
  let listed: unknown;
  if (isPlainObject(spec)) {
    for (const key of Object.keys(spec)) {
      if (!['type', 'description', 'enum'].includes(key)) return `does not know "${key}": ${ALLOWED}`;
    }
    type = own(spec, 'type');
    listed = own(spec, 'enum');
    const given = own(spec, 'description');
    if (given !== undefined) {
      if (typeof given !== 'string' || given.length > MAX_DESCRIPTION) {
        return `needs a description that is a text of ${MAX_DESCRIPTION} characters at most`;
      }
      description = given;
    }
  }
  if (typeof type !== 'string') return `needs a type: ${ALLOWED}`;
  const match = /^(string|number|integer|boolean|date|datetime|enum)(?:\(([^()]*)\))?(\[\])?$/.exec(type);
  const inBrackets = match?.[2];
  if (match === null || (match[1] !== 'enum' && inBrackets !== undefined)) {
    return `has an unknown type: ${ALLOWED}`;
  }
  let base = match[1] as Base;
  let values: string[] = [];
  if (listed !== undefined) {
    if (inBrackets !== undefined || (base !== 'enum' && base !== 'string')) {
      return 'may have an enum list only beside the type string or enum';
    }
    if (!Array.isArray(listed) || !listed.every((value) => typeof value === 'string')) {
      return 'needs an enum that is a list of texts';
    }
    base = 'enum';
    values = listed;
  } else if (base === 'enum') {
    if (inBrackets === undefined) return 'needs the values of its enum: enum(a|b|c), or an enum list';
    values = inBrackets.split('|').map((value) => value.trim());
  }
  if (base === 'enum') {
    if (values.length === 0 || values.length > MAX_ENUM_VALUES) {
      return `needs 1 to ${MAX_ENUM_VALUES} enum values`;
    }
    if (
      values.some((value) => value.trim() === '' || value.length > MAX_ENUM_LENGTH || /\p{C}/u.test(value))
    ) {
      return `needs enum values of 1 to ${MAX_ENUM_LENGTH} printable characters`;
    }
    if (new Set(values).size !== values.length) return 'has the same enum value twice';
  }
  return { base, isArray: match[3] !== undefined, values, description };
}

/**
 * A returns schema as a client gave it, checked; null and undefined mean an empty one.
 * @throws AppError invalid_returns, its `param` naming the field
 */
export function parseReturns(input: unknown): Returns {
  if (input === undefined || input === null) return {};
  const refuse = (message: string, param = 'returns') => new AppError('invalid_returns', message, { param });
  if (!isPlainObject(input)) throw refuse('returns must be an object: field name -> type');
  const names = Object.keys(input);
  if (names.length > MAX_FIELDS) throw refuse(`returns may have ${MAX_FIELDS} fields at most`);
  const returns: Returns = {};
  let enumValues = 0;
  for (const name of names) {
    const shown = `returns.${redact(name.slice(0, 64))}`;
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__') {
      throw refuse(
        `${shown}: a field name has 1 to 64 letters, digits, _ or - (and is not __proto__)`,
        shown,
      );
    }
    const spec = input[name];
    const field = readField(spec);
    if (typeof field === 'string') throw refuse(`${shown} ${field}`, shown);
    enumValues += field.values.length;
    if (enumValues > MAX_ENUM_VALUES_IN_ALL) {
      throw refuse(
        `${shown}: the enums of all fields may have ${MAX_ENUM_VALUES_IN_ALL} values together`,
        shown,
      );
    }
    returns[name] = structuredClone(spec) as Returns[string];
  }
  return returns;
}

/** The fields of a schema that parseReturns has let through. */
function fieldsOf(returns: Returns): [string, Field][] {
  return Object.entries(returns).map(([name, spec]) => {
    const field = readField(spec);
    if (typeof field === 'string') throw new AppError('invalid_returns', `returns.${name} ${field}`);
    return [name, field];
  });
}

const FORMAT_HINT: Partial<Record<Base, string>> = {
  date: SCHEMA_TEXTS.date,
  datetime: SCHEMA_TEXTS.datetime,
};

function fieldSchema(field: Field): Record<string, unknown> {
  const jsonType =
    field.base === 'number' || field.base === 'integer' || field.base === 'boolean' ? field.base : 'string';
  const description = [field.description, FORMAT_HINT[field.base]].filter((part) => part != null).join(' ');
  const described = description === '' ? {} : { description };
  if (field.isArray) {
    const items = field.base === 'enum' ? { type: 'string', enum: [...field.values] } : { type: jsonType };
    return { type: ['array', 'null'], items, ...described };
  }
  if (field.base === 'enum') return { type: ['string', 'null'], enum: [...field.values, null], ...described };
  return { type: [jsonType, 'null'], ...described };
}

function strictObject(properties: [string, unknown][], description: string): Record<string, unknown> {
  return {
    type: 'object',
    description,
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
  };
}

/**
 * The strict JSON schema of the model's answer (every property required, nothing else allowed, unknown is null):
 * `{"fields": {<field>: value or null}, "not_stated": {<field>: why it is null, or null}}`.
 * Only `fields` becomes the result: `not_stated` is there so that a model has a place for its doubt instead of guessing.
 * A call that is summed up has `summary` and `sentiment` beside them.
 * Formats are not left to the server (`format`, `pattern`: not all know them); readResult checks them.
 */
export function returnsJsonSchema(returns: Returns, summarize = false): Record<string, unknown> {
  const fields = fieldsOf(returns);
  const summary: [string, unknown][] = [
    ['summary', { type: 'string', description: SCHEMA_TEXTS.summary }],
    ['sentiment', { type: 'string', enum: [...SENTIMENTS], description: SCHEMA_TEXTS.sentiment }],
  ];
  const asked: [string, unknown][] = [
    [
      'fields',
      strictObject(
        fields.map(([name, field]) => [name, fieldSchema(field)]),
        SCHEMA_TEXTS.fields,
      ),
    ],
    [
      'not_stated',
      strictObject(
        fields.map(([name]) => [name, { type: ['string', 'null'] }]),
        SCHEMA_TEXTS.notStated,
      ),
    ],
  ];
  return strictObject(
    [
      ...(summarize ? summary : []),
      // A server may refuse an object that can hold nothing.
      ...(fields.length === 0 ? [] : asked),
    ],
    SCHEMA_TEXTS.whole,
  );
}

/** What is wrong with one value of a field, or null. Never quotes the value. */
function faultOf(field: Field, value: unknown): string | null {
  switch (field.base) {
    case 'boolean':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) ? null : 'must be a number';
    case 'integer':
      return Number.isSafeInteger(value) ? null : 'must be a whole number';
    case 'string':
      if (typeof value !== 'string') return 'must be a text';
      return value.length <= MAX_TEXT ? null : `must have ${MAX_TEXT} characters at most`;
    case 'date':
      return typeof value === 'string' && isDate(value) ? null : 'must be a calendar date, YYYY-MM-DD';
    case 'datetime':
      return typeof value === 'string' && isDatetime(value) ? null : 'must be a date and time in ISO 8601';
    case 'enum':
      return typeof value === 'string' && field.values.includes(value)
        ? null
        : 'must be one of its enum values';
  }
}

/**
 * Checks a model's answer against the schema and makes the result of it: every field of the schema, in its order, and
 * no other. Nothing is converted; what the answer holds beyond the schema is left behind. `error` names the field.
 */
export function readResult(
  returns: Returns,
  answer: unknown,
): { result: Record<string, unknown> } | { error: string } {
  if (Object.keys(returns).length === 0) return { result: {} };
  const fields = isPlainObject(answer) ? own(answer, 'fields') : undefined;
  if (!isPlainObject(fields)) return { error: 'the answer has no object "fields"' };
  const result: Record<string, unknown> = {};
  for (const [name, field] of fieldsOf(returns)) {
    if (!Object.hasOwn(fields, name)) return { error: `"${name}" is missing` };
    const value = fields[name];
    if (value === null) {
      result[name] = null;
    } else if (field.isArray) {
      if (!Array.isArray(value)) return { error: `"${name}" must be a list` };
      if (value.length > MAX_ITEMS) return { error: `"${name}" must have ${MAX_ITEMS} items at most` };
      for (const item of value) {
        const fault = faultOf(field, item);
        if (fault !== null) return { error: `each item of "${name}" ${fault}` };
      }
      result[name] = [...value];
    } else {
      const fault = faultOf(field, value);
      if (fault !== null) return { error: `"${name}" ${fault}` };
      result[name] = value;
    }
  }
  return { result };
}

const MAX_SUMMARY = 2_000;

/** The summary that a model's answer holds; null where it holds none that can be used: it is worth no other try. */
export function readSummary(answer: unknown): { summary: string; sentiment: Sentiment | null } | null {
  if (!isPlainObject(answer)) return null;
  const summary = own(answer, 'summary');
  if (typeof summary !== 'string' || summary.trim() === '') return null;
  const sentiment = SENTIMENTS.find((one) => one === own(answer, 'sentiment')) ?? null;
  return { summary: cutText(summary.trim(), MAX_SUMMARY), sentiment };
}
