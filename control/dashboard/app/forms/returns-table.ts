// A returns schema as rows of a table, and back. PURE. The table and the JSON beside it are two views of the same thing:
// what one cannot say is a fault, never lost. The daemon has the last word (parseReturns); this says the same sooner.

export type ReturnsSpec = string | { type: string; description?: string; enum?: string[] };
export type ReturnsJson = Record<string, ReturnsSpec>;

export const BASE_TYPES = ['string', 'number', 'integer', 'boolean', 'date', 'datetime', 'enum'] as const;
export type BaseType = (typeof BASE_TYPES)[number];

/** What each type is called in the table. */
export const TYPE_LABEL: Readonly<Record<BaseType, string>> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
  date: 'Date',
  datetime: 'Date and time',
  enum: 'One of a list',
};

export interface ReturnsRow {
  name: string;
  base: BaseType;
  isList: boolean;
  description: string;
  /** Of type enum only. */
  values: string[];
}

export type RowsRead = { ok: true; rows: ReturnsRow[] } | { ok: false; message: string };

const MAX_FIELDS = 100;
const MAX_DESCRIPTION = 500;
const MAX_VALUES = 100;
const MAX_VALUE_LENGTH = 100;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const ALLOWED =
  'use string, number, integer, boolean, date, datetime or enum(a|b|c), with [] behind it for a list';

export function emptyRow(): ReturnsRow {
  return { name: '', base: 'string', isList: false, description: '', values: [] };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readSpec(name: string, spec: unknown): ReturnsRow | string {
  let type: unknown = spec;
  let description = '';
  let listed: unknown;
  if (isObject(spec)) {
    const strange = Object.keys(spec).find((key) => !['type', 'description', 'enum'].includes(key));
    if (strange !== undefined) {
      return `“${name}” has “${strange}”, but only type, description and enum are known`;
    }
    type = spec.type;
    listed = spec.enum;
    if (spec.description !== undefined) {
      if (typeof spec.description !== 'string') return `the description of “${name}” must be a text`;
      description = spec.description;
    }
  }
  if (typeof type !== 'string') return `“${name}” needs a type: ${ALLOWED}`;
  const match = /^(string|number|integer|boolean|date|datetime|enum)(?:\(([^()]*)\))?(\[\])?$/.exec(type);
  if (match === null || (match[1] !== 'enum' && match[2] !== undefined)) {
    return `“${name}” has the type “${type.slice(0, 40)}”, which is unknown: ${ALLOWED}`;
  }
  let base = match[1] as BaseType;
  let values: string[] = [];
  if (listed !== undefined) {
    if (match[2] !== undefined || (base !== 'enum' && base !== 'string')) {
      return `“${name}” may have a list “enum” only beside the type string or enum`;
    }
    if (!Array.isArray(listed) || !listed.every((value) => typeof value === 'string')) {
      return `“enum” of “${name}” must be a list of texts`;
    }
    base = 'enum';
    values = [...listed];
  } else if (base === 'enum') {
    if (match[2] === undefined) return `“${name}” needs its values: enum(a|b|c), or a list “enum”`;
    values = match[2].split('|').map((value) => value.trim());
  }
  return { name, base, isList: match[3] !== undefined, description, values };
}

/** The rows of a schema as JSON has it; null and undefined have none. */
export function rowsOf(value: unknown): RowsRead {
  if (value === null || value === undefined) return { ok: true, rows: [] };
  if (!isObject(value)) {
    return { ok: false, message: 'It must be an object in braces: { "field": "type" }.' };
  }
  const rows: ReturnsRow[] = [];
  for (const [name, spec] of Object.entries(value)) {
    const row = readSpec(name, spec);
    if (typeof row === 'string')
      return { ok: false, message: `${row.replace(/^./, (c) => c.toUpperCase())}.` };
    rows.push(row);
  }
  const fault = faultsOf(rows).find((one) => one.message !== '');
  return fault === undefined
    ? { ok: true, rows }
    : { ok: false, message: `“${rows[fault.row]?.name}”: ${fault.message}` };
}

export interface RowFault {
  row: number;
  cell: 'name' | 'description' | 'values';
  message: string;
}

/** What is wrong in the table, cell by cell. */
export function faultsOf(rows: readonly ReturnsRow[]): RowFault[] {
  const faults: RowFault[] = [];
  const first = new Map<string, number>();
  for (const [row, { name, base, description, values }] of rows.entries()) {
    const say = (cell: RowFault['cell'], message: string) => faults.push({ row, cell, message });
    if (name === '') say('name', 'Give the field a name.');
    else if (!NAME.test(name) || name === '__proto__') {
      say('name', 'Use letters, digits, _ and - only, 64 at most: new_date.');
    } else if (first.has(name)) say('name', `Row ${(first.get(name) ?? 0) + 1} has this name already.`);
    else first.set(name, row);
    if (description.length > MAX_DESCRIPTION) {
      say('description', `${MAX_DESCRIPTION} characters at most; it has ${description.length}.`);
    }
    if (base !== 'enum') continue;
    if (values.length === 0) say('values', 'Name at least one value.');
    else if (values.length > MAX_VALUES) say('values', `${MAX_VALUES} values at most.`);
    else if (values.some((value) => value.trim() === '')) say('values', 'A value is empty.');
    else if (values.some((value) => value.length > MAX_VALUE_LENGTH)) {
      say('values', `A value may have ${MAX_VALUE_LENGTH} characters at most.`);
    } else if (values.some((value) => /\p{C}/u.test(value))) {
      say('values', 'A value holds a character that cannot be printed.');
    } else if (new Set(values).size !== values.length) say('values', 'A value is there twice.');
  }
  if (rows.length > MAX_FIELDS) {
    faults.push({ row: MAX_FIELDS, cell: 'name', message: `${MAX_FIELDS} fields at most.` });
  }
  return faults;
}

/** The schema of the rows, each field in its shortest form. Rows without a name, or with one that was there, are left out. */
export function jsonOf(rows: readonly ReturnsRow[]): ReturnsJson {
  // Without a prototype, so that a field named __proto__ is a field and not a setting.
  const json = Object.create(null) as ReturnsJson;
  for (const { name, base, isList, description, values } of rows) {
    if (name === '' || Object.hasOwn(json, name)) continue;
    const list = isList ? '[]' : '';
    const described = description === '' ? {} : { description };
    if (base !== 'enum') {
      json[name] = description === '' ? base + list : { type: base + list, ...described };
    } else if (
      description === '' &&
      values.length > 0 &&
      values.every((value) => !/[|()]/.test(value) && value === value.trim())
    ) {
      json[name] = `enum(${values.join('|')})${list}`;
    } else json[name] = { type: `enum${list}`, ...described, enum: [...values] };
  }
  return { ...json };
}

/** The values that a person typed into one field, separated by commas or lines. */
export function readValues(text: string): string[] {
  return text
    .split(/[,\n]/)
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** A list with the item at `from` brought to `to`; itself when there is no such place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const copy = [...list];
  if (from < 0 || to < 0 || from >= copy.length || to >= copy.length) return copy;
  copy.splice(to, 0, ...copy.splice(from, 1));
  return copy;
}

/** What a result by this schema could look like: shown beside the table. */
export function exampleOf(rows: readonly ReturnsRow[]): Record<string, unknown> {
  const one: Record<BaseType, (row: ReturnsRow) => unknown> = {
    string: () => 'text',
    number: () => 12.5,
    integer: () => 3,
    boolean: () => true,
    date: () => '2027-03-01',
    datetime: () => '2027-03-01T15:00:00',
    enum: (row) => row.values[0] ?? 'value',
  };
  return Object.fromEntries(
    rows
      .filter((row) => row.name !== '')
      .map((row) => [row.name, row.isList ? [one[row.base](row)] : one[row.base](row)]),
  );
}
