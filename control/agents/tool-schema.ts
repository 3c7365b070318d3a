// The JSON Schema of a tool's parameters: the subset that is taken, and the check of a model's arguments by it. PURE.
// What is left out: references (recursion), patterns (a regular expression may run for ever on the control thread), open
// objects (the model fills named parameters only) and keywords that models do not know.
import { Ajv, type ErrorObject } from 'ajv';
import { isDate, isDatetime } from './iso-time.ts';

const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_DEPTH = 8;
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'];

const KEYWORDS = new Set([
  'type',
  'title',
  'description',
  'default',
  'examples',
  'enum',
  'const',
  'format',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'properties',
  'required',
  'additionalProperties',
  'items',
  'minItems',
  'maxItems',
  'anyOf',
]);

const FORMATS = {
  date: isDate,
  'date-time': isDatetime,
  email: (text: string) => text.length <= 254 && /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(text),
  uuid: (text: string) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
};

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema with every object closed, so that no argument gets in that it does not name. */
export function closeSchema(schema: Schema): Schema {
  const closed: Schema = { ...schema };
  if (isSchema(schema.properties)) {
    closed.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, inner]) => [
        name,
        isSchema(inner) ? closeSchema(inner) : inner,
      ]),
    );
  }
  if (isSchema(schema.items)) closed.items = closeSchema(schema.items);
  if (Array.isArray(schema.anyOf)) {
    closed.anyOf = schema.anyOf.map((inner) => (isSchema(inner) ? closeSchema(inner) : inner));
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (types.includes('object')) {
    closed.properties ??= {};
    closed.additionalProperties = false;
  }
  return closed;
}

function openAjv(): Ajv {
  return new Ajv({
    strict: true,
    allowUnionTypes: true,
    strictRequired: false,
    coerceTypes: false,
    useDefaults: false,
    allErrors: false,
    // `constructor` in arguments is an argument only when it is there itself.
    ownProperties: true,
    formats: FORMATS,
    logger: false,
  });
}

function faultOf(schema: unknown, at: string, depth: number): string | null {
  if (!isSchema(schema)) return `${at} must be a schema object`;
  if (depth > MAX_DEPTH) return `${at} is nested too deep: ${MAX_DEPTH} levels at most`;
  for (const key of Object.keys(schema)) {
    if (!KEYWORDS.has(key)) {
      return `${at} may not use "${key.slice(0, 40)}": known are ${[...KEYWORDS].join(', ')}`;
    }
  }
  const types = Array.isArray(schema.type) ? schema.type : [schema.type];
  if (schema.type === undefined) {
    if (schema.enum === undefined && schema.const === undefined && schema.anyOf === undefined) {
      return `${at} needs a type`;
    }
  } else if (types.length === 0 || !types.every((type) => TYPES.includes(type as string))) {
    return `${at} has an unknown type: use ${TYPES.join(', ')}`;
  }
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    return `${at} may not be open: leave additionalProperties out, or make it false`;
  }
  if (schema.format !== undefined && !Object.hasOwn(FORMATS, String(schema.format))) {
    return `${at} has an unknown format: use ${Object.keys(FORMATS).join(', ')}`;
  }
  if (schema.properties !== undefined) {
    if (!isSchema(schema.properties)) return `${at}.properties must be an object`;
    for (const [name, inner] of Object.entries(schema.properties)) {
      if (!/^[A-Za-z0-9_-]{1,64}$/.test(name) || name === '__proto__') {
        return `${at} has a parameter whose name is not 1 to 64 letters, digits, _ or -`;
      }
      const fault = faultOf(inner, `${at}.properties.${name}`, depth + 1);
      if (fault !== null) return fault;
    }
  }
  if (schema.items !== undefined) {
    const fault = faultOf(schema.items, `${at}.items`, depth + 1);
    if (fault !== null) return fault;
  }
  if (schema.anyOf !== undefined) {
    if (!Array.isArray(schema.anyOf) || schema.anyOf.length === 0)
      return `${at}.anyOf must be a list of schemas`;
    for (const [i, inner] of schema.anyOf.entries()) {
      const fault = faultOf(inner, `${at}.anyOf[${i}]`, depth + 1);
      if (fault !== null) return fault;
    }
  }
  return null;
}

/** What is wrong with a tool's parameters (a JSON Schema of an object), in words for its author, or null. */
export function faultOfParameters(schema: unknown): string | null {
  if (!isSchema(schema)) return 'must be a JSON Schema object';
  if (schema.type !== 'object') return 'must be a JSON Schema of type object';
  const fault = faultOf(schema, 'parameters', 1);
  if (fault !== null) return fault;
  if (Buffer.byteLength(JSON.stringify(schema), 'utf8') > MAX_SCHEMA_BYTES) {
    return `may have ${MAX_SCHEMA_BYTES} bytes at most`;
  }
  const ajv = openAjv();
  try {
    if (ajv.validateSchema(schema) !== true) return `is no valid JSON Schema: ${inWords(ajv.errors)}`;
    ajv.compile(closeSchema(schema));
    return null;
  } catch (error) {
    return `is no valid JSON Schema: ${error instanceof Error ? error.message.slice(0, 200) : 'unknown'}`;
  }
}

function inWords(errors: ErrorObject[] | null | undefined): string {
  const error = errors?.[0];
  if (error === undefined) return 'unknown';
  const where = error.instancePath === '' ? 'the whole' : error.instancePath.slice(1).replaceAll('/', '.');
  return `${where} ${error.message ?? 'is wrong'}`;
}

/**
 * Makes the check of a model's arguments by parameters that faultOfParameters has let through. The check answers what is
 * wrong, in words that hold nothing of the arguments, or null; it converts nothing.
 */
export function compileParameters(schema: Schema): (args: unknown) => string | null {
  const validate = openAjv().compile(closeSchema(schema));
  return (args) => (validate(args) ? null : inWords(validate.errors));
}
