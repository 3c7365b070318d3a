// The parameters of an HTTP tool (a JSON Schema of an object) as rows of a table, and back. PURE.
// The table speaks of flat objects only; a schema that says more is edited as JSON, and nothing of it is lost.

export const PARAMETER_TYPES = ['string', 'number', 'integer', 'boolean'] as const;
export type ParameterType = (typeof PARAMETER_TYPES)[number];

export const PARAMETER_LABEL: Readonly<Record<ParameterType, string>> = {
  string: 'Text',
  number: 'Number',
  integer: 'Whole number',
  boolean: 'Yes or no',
};

/** Formats of texts that the daemon checks. */
export const FORMATS = ['', 'date', 'date-time', 'email', 'uuid'] as const;
export type ParameterFormat = (typeof FORMATS)[number];

export interface ParameterRow {
  name: string;
  type: ParameterType;
  isList: boolean;
  description: string;
  required: boolean;
  /** The only values there are; of texts alone. */
  values: string[];
  /** Of texts without values alone. */
  format: ParameterFormat;
}

export type ParametersRead = { ok: true; rows: ParameterRow[] } | { ok: false; message: string };

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

export function emptyParameter(): ParameterRow {
  return { name: '', type: 'string', isList: false, description: '', required: true, values: [], format: '' };
}

type Schema = Record<string, unknown>;

function isObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function hasOnly(schema: Schema, keys: readonly string[]): boolean {
  return Object.keys(schema).every((key) => keys.includes(key));
}

function readProperty(name: string, given: unknown, required: boolean): ParameterRow | string {
  const more = `“${name}” says more than the table can show`;
  if (!isObject(given)) return `“${name}” must be an object such as { "type": "string" }`;
  const isList = given.type === 'array';
  const inner = isList ? given.items : given;
  if (isList && (!isObject(inner) || !hasOnly(given, ['type', 'items', 'description']))) return more;
  if (!isObject(inner)) return more;
  if (!hasOnly(inner, isList ? ['type', 'enum', 'format'] : ['type', 'enum', 'format', 'description']))
    return more;
  if (!(PARAMETER_TYPES as readonly unknown[]).includes(inner.type)) return more;
  const type = inner.type as ParameterType;
  const description = given.description ?? '';
  if (typeof description !== 'string') return more;
  const values = inner.enum ?? [];
  if (!Array.isArray(values) || !values.every((value) => typeof value === 'string')) return more;
  if (inner.enum !== undefined && (values.length === 0 || type !== 'string')) return more;
  const format = inner.format ?? '';
  if (!(FORMATS as readonly unknown[]).includes(format)) return more;
  if (format !== '' && (type !== 'string' || values.length > 0)) return more;
  return {
    name,
    type,
    isList,
    description,
    required,
    values: [...values],
    format: format as ParameterFormat,
  };
}

/** The rows of a schema, or why it has to be edited as JSON. */
export function parameterRowsOf(schema: unknown): ParametersRead {
  const refuse = (message: string): ParametersRead => ({ ok: false, message });
  if (!isObject(schema))
    return refuse('The parameters must be an object: { "type": "object", "properties": {} }.');
  if (schema.type !== 'object') return refuse('The parameters need "type": "object" at the top.');
  if (!hasOnly(schema, ['type', 'properties', 'required', 'additionalProperties'])) {
    return refuse('The top of the schema says more than the table can show.');
  }
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    return refuse('Leave additionalProperties out, or make it false: the agent fills named parameters only.');
  }
  const properties = schema.properties ?? {};
  if (!isObject(properties)) return refuse('“properties” must be an object: name -> schema.');
  const required = schema.required ?? [];
  if (!Array.isArray(required)) return refuse('“required” must be a list of names.');
  const stranger = required.find((name) => typeof name !== 'string' || !Object.hasOwn(properties, name));
  if (stranger !== undefined)
    return refuse(`“required” names ${JSON.stringify(stranger)}, which is no parameter.`);
  const rows: ParameterRow[] = [];
  for (const [name, given] of Object.entries(properties)) {
    const row = readProperty(name, given, required.includes(name));
    if (typeof row === 'string') return refuse(`${row}.`);
    rows.push(row);
  }
  return { ok: true, rows };
}

/** The schema of the rows; those without a name, or with one that was there, are left out. */
export function schemaOf(rows: readonly ParameterRow[]): Record<string, unknown> {
  const properties = new Map<string, Schema>();
  const required: string[] = [];
  for (const row of rows) {
    if (row.name === '' || properties.has(row.name)) continue;
    const values = row.type === 'string' ? row.values : [];
    const inner: Schema = {
      type: row.type,
      ...(values.length === 0 ? {} : { enum: [...values] }),
      ...(row.type === 'string' && values.length === 0 && row.format !== '' ? { format: row.format } : {}),
    };
    const described = row.description === '' ? {} : { description: row.description };
    properties.set(
      row.name,
      row.isList ? { type: 'array', items: inner, ...described } : { ...inner, ...described },
    );
    if (row.required) required.push(row.name);
  }
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length === 0 ? {} : { required }),
  };
}

export interface ParameterFault {
  row: number;
  message: string;
}

/** What is wrong with the names and values of the rows. */
export function parameterFaults(rows: readonly ParameterRow[]): ParameterFault[] {
  const faults: ParameterFault[] = [];
  const first = new Map<string, number>();
  for (const [row, { name, values }] of rows.entries()) {
    if (name === '') faults.push({ row, message: 'Give the parameter a name.' });
    else if (!NAME.test(name) || name === '__proto__') {
      faults.push({ row, message: 'Use letters, digits, _ and - only, 64 at most.' });
    } else if (first.has(name)) {
      faults.push({ row, message: `Row ${(first.get(name) ?? 0) + 1} has this name already.` });
    } else first.set(name, row);
    if (new Set(values).size !== values.length) faults.push({ row, message: 'A value is there twice.' });
  }
  return faults;
}
