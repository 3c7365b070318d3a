// PURE. The rules that structured outputs set for a strict JSON Schema, and the generation of a value that keeps to one.

type Schema = Record<string, unknown>;

const FORBIDDEN = [
  'allOf',
  'not',
  'if',
  'then',
  'else',
  'dependentRequired',
  'dependentSchemas',
  'dependencies',
  'patternProperties',
  'uniqueItems',
  'contains',
  'minContains',
  'maxContains',
  'unevaluatedItems',
  'unevaluatedProperties',
  'propertyNames',
  'minProperties',
  'maxProperties',
  'oneOf',
  'prefixItems',
];
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];
const FORMATS = ['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid'];
const MOST_PROPERTIES = 5000;
const MOST_LEVELS = 10;
const MOST_ENUM_VALUES = 1000;
const MOST_CHARACTERS = 120_000;

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface Counts {
  properties: number;
  enums: number;
  characters: number;
}

const typesOf = (schema: Schema): string[] =>
  Array.isArray(schema.type) ? schema.type.map(String) : typeof schema.type === 'string' ? [schema.type] : [];

function refTarget(root: Schema, ref: unknown): Schema | null {
  if (ref === '#') return root;
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(ref));
  const group = match === null ? undefined : root[match[1]!];
  const target = isSchema(group) ? group[match![2]!] : undefined;
  return isSchema(target) ? target : null;
}

function checkAt(
  schema: unknown,
  root: Schema,
  path: string[],
  level: number,
  counts: Counts,
): string | null {
  const context = `In context=(${path.map((name) => `'${name}'`).join(', ')}${path.length === 1 ? ',' : ''})`;
  if (!isSchema(schema)) return `${context}, schema must be an object.`;
  if (level > MOST_LEVELS) return `${context}, the schema has more than ${MOST_LEVELS} levels of nesting.`;
  for (const keyword of FORBIDDEN) if (keyword in schema) return `${context}, '${keyword}' is not permitted.`;
  if ('$ref' in schema)
    return refTarget(root, schema.$ref) === null
      ? `${context}, reference '${String(schema.$ref)}' can not be resolved.`
      : null;
  const variants = schema.anyOf;
  if (variants !== undefined) {
    if (!Array.isArray(variants) || variants.length === 0)
      return `${context}, 'anyOf' must be a non-empty array.`;
    for (const [index, variant] of variants.entries()) {
      const wrong = checkAt(variant, root, [...path, 'anyOf', String(index)], level, counts);
      if (wrong !== null) return wrong;
    }
  }
  const types = typesOf(schema);
  if (types.length === 0 && variants === undefined && schema.enum === undefined && schema.const === undefined)
    return `${context}, schema must have a 'type' key.`;
  for (const type of types) if (!TYPES.includes(type)) return `${context}, '${type}' is not a valid type.`;
  if (Array.isArray(schema.enum)) {
    counts.enums += schema.enum.length;
    counts.characters += schema.enum.reduce((sum: number, value) => sum + String(value).length, 0);
  }
  if (schema.format !== undefined && !FORMATS.includes(String(schema.format)))
    return `${context}, '${String(schema.format)}' is not a valid format.`;
  if (types.includes('object') || 'properties' in schema) {
    const properties = isSchema(schema.properties) ? schema.properties : {};
    if (schema.additionalProperties !== false)
      return `${context}, 'additionalProperties' is required to be supplied and to be false.`;
    const required = Array.isArray(schema.required) ? schema.required.map(String) : null;
    const missing = Object.keys(properties).find((name) => !(required ?? []).includes(name));
    if (missing !== undefined || (required === null && Object.keys(properties).length > 0))
      return `${context}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${missing}'.`;
    const extra = required?.find((name) => !(name in properties));
    if (extra !== undefined) return `${context}, 'required' names '${extra}', which is no property.`;
    for (const [name, property] of Object.entries(properties)) {
      counts.properties++;
      counts.characters += name.length;
      const wrong = checkAt(property, root, [...path, 'properties', name], level + 1, counts);
      if (wrong !== null) return wrong;
    }
  }
  if (types.includes('array')) {
    if (!isSchema(schema.items)) return `${context}, array schema missing items.`;
    return checkAt(schema.items, root, [...path, 'items'], level + 1, counts);
  }
  return null;
}

/** What is wrong with a schema for strict output, in the words of the hosted API's 400; null when nothing is. */
export function strictSchemaError(schema: unknown): string | null {
  if (!isSchema(schema)) return 'schema must be a JSON Schema object.';
  if (schema.type !== 'object' || 'anyOf' in schema)
    return `schema must be a JSON Schema of 'type: "object"', got 'type: "${String(schema.type ?? 'None')}"'.`;
  const counts = { properties: 0, enums: 0, characters: 0 };
  const wrong = checkAt(schema, schema, [], 1, counts);
  if (wrong !== null) return wrong;
  for (const group of ['$defs', 'definitions']) {
    for (const [name, definition] of Object.entries(isSchema(schema[group]) ? schema[group] : {})) {
      counts.characters += name.length;
      const inside = checkAt(definition, schema, [group, name], 1, counts);
      if (inside !== null) return inside;
    }
  }
  if (counts.properties > MOST_PROPERTIES) return `the schema has more than ${MOST_PROPERTIES} properties.`;
  if (counts.enums > MOST_ENUM_VALUES) return `the schema has more than ${MOST_ENUM_VALUES} enum values.`;
  if (counts.characters > MOST_CHARACTERS)
    return `the schema has more than ${MOST_CHARACTERS} characters of names and values.`;
  return null;
}

/** What is known of a field: its value, or undefined when the transcript did not say. */
export type Lookup = (field: string) => unknown;

/** A found value in a schema's type, or undefined when it does not fit. */
function fitted(value: unknown, type: string, schema: Schema, lookup: Lookup, root: Schema): unknown {
  const options = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [schema.const] : null;
  if (options !== null) {
    const wanted = String(value).trim().toLowerCase();
    return options.find((option) => String(option).toLowerCase() === wanted);
  }
  switch (type) {
    case 'string': {
      if (typeof value === 'object') return undefined;
      const text = String(value);
      if (schema.format === 'date' && !/^\d{4}-\d\d-\d\d$/.test(text)) return undefined;
      if (schema.format === 'date-time' && !/^\d{4}-\d\d-\d\dT/.test(text)) return undefined;
      if (schema.format === 'email' && !text.includes('@')) return undefined;
      if (typeof schema.pattern === 'string' && !new RegExp(schema.pattern, 'u').test(text)) return undefined;
      return text;
    }
    case 'number':
    case 'integer': {
      const number =
        typeof value === 'number' ? value : Number(String(value).replaceAll(/[^\d.-]/g, '') || 'NaN');
      if (!Number.isFinite(number)) return undefined;
      if (typeof schema.minimum === 'number' && number < schema.minimum) return undefined;
      if (typeof schema.maximum === 'number' && number > schema.maximum) return undefined;
      return type === 'integer' ? Math.round(number) : number;
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      return /^(true|yes)$/i.test(String(value))
        ? true
        : /^(false|no)$/i.test(String(value))
          ? false
          : undefined;
    case 'array': {
      const items = isSchema(schema.items) ? schema.items : {};
      const list = Array.isArray(value) ? value : [value];
      return list.map((entry) => generate(items, root, '', () => entry)).filter((entry) => entry !== null);
    }
    case 'object':
      return isSchema(value)
        ? generate(schema, root, '', (field) => value[field] ?? lookup(field))
        : undefined;
    default:
      return undefined;
  }
}

/** The least a type allows, for a field that must not be null. */
function least(type: string, schema: Schema): unknown {
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if ('const' in schema) return schema.const;
  if (type === 'string') return '';
  if (type === 'number' || type === 'integer') return typeof schema.minimum === 'number' ? schema.minimum : 0;
  if (type === 'boolean') return false;
  return type === 'array' ? [] : null;
}

/**
 * A value for a schema (checked by `strictSchemaError`): each field as the lookup knows it, else null where the schema
 * has null, else the least it allows. Keys come in the schema's order.
 */
export function generate(schema: Schema, root: Schema, field: string, lookup: Lookup, depth = 0): unknown {
  if ('$ref' in schema) {
    const target = refTarget(root, schema.$ref);
    return target === null || depth > 20 ? null : generate(target, root, field, lookup, depth + 1);
  }
  const variants: Schema[] = Array.isArray(schema.anyOf)
    ? schema.anyOf.filter(isSchema)
    : typesOf(schema).length > 1
      ? typesOf(schema).map((type) => ({ ...schema, type }))
      : [schema];
  const value = lookup(field);
  const nullable = variants.some((variant) => variant.type === 'null');
  for (const variant of variants) {
    if (variant.type === 'null') continue;
    if (Array.isArray(schema.anyOf) && '$ref' in variant)
      return generate(variant, root, field, (name) => (name === field ? value : lookup(name)), depth + 1);
    const type = typesOf(variant)[0] ?? 'string';
    if (type === 'object' && !isSchema(value)) {
      // An object has no value of its own: it is as full as its fields, and null when all of them are unknown.
      if (depth > 20) return null;
      const properties = isSchema(variant.properties) ? variant.properties : {};
      const entries = Object.entries(properties).map(([name, property]) => [
        name,
        generate(isSchema(property) ? property : {}, root, name, lookup, depth + 1),
      ]);
      if (nullable && entries.every(([, entry]) => entry === null)) return null;
      return Object.fromEntries(entries);
    }
    if (value === undefined || value === null) continue;
    const fit = fitted(value, type, variant, lookup, root);
    if (fit !== undefined) return fit;
  }
  if (nullable) return null;
  const first = variants[0] ?? {};
  return least(typesOf(first)[0] ?? 'string', first);
}
