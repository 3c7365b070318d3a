// The pieces that every request and answer schema is made of, and how a schema's refusal becomes the API's error. PURE.
// What each resource takes and answers stands in <resource>-schemas.ts; rules that need the store stand in the routes.
import { z } from 'zod';
import { AppError, type ErrorCode } from '../../errors.ts';
import { redact } from '../../log.ts';

/** ITU E.164: a plus, no leading zero, 7 to 15 digits. */
const E164 = /^\+[1-9]\d{6,14}$/;

/** A string that must pass `test`; a refusal carries an error code of its own instead of `invalid_request`. */
function coded(code: ErrorCode, test: (value: string) => boolean, message: string) {
  return z.string().check((context) => {
    if (!test(context.value)) {
      context.issues.push({ code: 'custom', message, params: { code }, input: context.value });
    }
  });
}

export const id = z.guid('must be a UUID').toLowerCase();
export const time = z.string().meta({ format: 'date-time', examples: ['2026-03-01T12:00:00.000Z'] });

export const e164 = coded(
  'invalid_number',
  (value) => E164.test(value),
  'must be an E.164 number: a plus, the country code and the number, digits only, such as +15551234567',
).meta({ pattern: E164.source, examples: ['+15551234567'] });

/** An absolute URL by length and type only; whether it may be reached is the egress check's to say. */
export const url = z
  .string()
  .min(1, 'must be an http or https URL')
  .max(2048, 'may have 2048 characters at most');

export const persona = z.string().max(32_000, 'may have 32,000 characters at most');
export const instructions = z.string().max(32_000, 'may have 32,000 characters at most');

export const context = z.record(z.string(), z.unknown(), 'must be a JSON object').check((c) => {
  // Counted in bytes of UTF-8, as the limit is: 64 KiB.
  if (Buffer.byteLength(JSON.stringify(c.value)) > 65_536) {
    c.issues.push({ code: 'custom', message: 'may be 64 KB of JSON at most', input: c.value });
  }
});

export const metadata = z.record(z.string(), z.unknown(), 'must be a JSON object').check((c) => {
  const entries = Object.entries(c.value);
  if (entries.length > 50) {
    c.issues.push({ code: 'custom', message: 'may have 50 keys at most', input: c.value });
  }
  for (const [key, value] of entries) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text.length > 500 || key.length > 500) {
      c.issues.push({
        code: 'custom',
        message: 'keys and values may have 500 characters at most',
        input: value,
        path: [key.slice(0, 100)],
      });
    }
  }
});

/** `limit` and `starting_after`, which every list takes. */
export const pageQuery = z.strictObject({
  limit: z.coerce
    .number('must be a number')
    .int()
    .min(1)
    .max(100)
    .default(50)
    .describe('How many items a page holds at most.'),
  starting_after: id
    .optional()
    .describe('Id of the last item of the page before. The Link header of a page carries it already.'),
});

/** A number in a query: `+` unescaped arrives as a space, which no number holds. */
export const numberQuery = z.preprocess(
  (value) => (typeof value === 'string' ? value.replace(/^ (?=\d)/, '+') : value),
  e164,
);

/** A point in time in a query, brought to UTC with milliseconds, as times are stored. */
export const timeQuery = z.preprocess(
  (value) => (typeof value === 'string' ? value.replace(/ (?=\d\d:\d\d$)/, '+') : value),
  z.iso
    .datetime({ offset: true, error: 'must be an ISO 8601 time such as 2026-01-31T12:00:00Z' })
    .overwrite((value) => {
      const at = new Date(value);
      return Number.isNaN(at.getTime()) ? value : at.toISOString();
    }),
);

export const booleanQuery = z.enum(['true', 'false'], 'must be true or false');

/** The body of every error. */
export const errorAnswer = z
  .strictObject({
    error: z.strictObject({
      code: z.string().describe('Stable and machine-readable; the table of errors lists every one.'),
      message: z
        .string()
        .describe('For people: what is wrong and what to do about it. Its wording may change.'),
      param: z
        .string()
        .optional()
        .describe('The field to blame, as a path: `to`, `tools[0].url`. Absent when no single field is.'),
      carrier_code: z
        .string()
        .optional()
        .describe("Only with `carrier_error`: the carrier's own error code."),
      evidence: z
        .looseObject({
          codes: z
            .array(z.string())
            .optional()
            .describe('Every code that speaks against the call, this one too.'),
        })
        .optional()
        .describe(
          'Only of a call that is not placed by the rules of outbound calls: what the code rests on, such as the count and the limit, or the time there. An override must name all of its `codes`.',
        ),
      request_id: z.string().describe('The same as the X-Request-Id header; the log has it too.'),
    }),
  })
  .meta({
    id: 'Error',
    description: 'The body of every error answer.',
    examples: [
      {
        error: {
          code: 'from_number_not_attached',
          message:
            'from_number is not attached to this agent; leave it out for the primary number, or attach it first.',
          param: 'from_number',
          request_id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c11',
        },
      },
    ],
  });

/** `a.b[0]`, as a client would spell the way to a field; a key or a number that stands as a name is masked. */
function paramOf(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((way, part) => {
    if (typeof part === 'number') return `${way}[${part}]`;
    return way === '' ? String(part) : `${way}.${String(part)}`;
  }, '');
  return redact(text);
}

function isAbsent(input: unknown, path: readonly PropertyKey[]): boolean {
  let at: unknown = input;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return true;
    at = (at as Record<PropertyKey, unknown>)[part];
  }
  return at === undefined;
}

/**
 * What a request gave, as its schema has it.
 * @param hints what to say of a field that is not taken here though a client may expect it
 * @throws AppError unknown_parameter, missing_parameter, invalid_request or the field's own code, with `param`.
 */
export function parse<S extends z.ZodType>(
  schema: S,
  input: unknown,
  hints: Readonly<Record<string, string>> = {},
): z.output<S> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues;

  const unknown = issues.find((issue) => issue.code === 'unrecognized_keys');
  if (unknown?.code === 'unrecognized_keys') {
    const key = unknown.keys[0] ?? '';
    const param = paramOf([...unknown.path, key.slice(0, 100)]);
    const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
    throw new AppError(
      'unknown_parameter',
      hint ?? `${param} is not a parameter of this request; leave it out.`,
      {
        param,
      },
    );
  }
  const missing = issues.find((issue) => isAbsent(input, issue.path));
  if (missing) {
    const param = paramOf(missing.path);
    throw new AppError('missing_parameter', hints[`missing ${param}`] ?? `${param} is required.`, { param });
  }
  const issue = issues[0];
  const param = paramOf(issue?.path ?? []);
  const code = issue?.code === 'custom' ? (issue.params?.code as ErrorCode | undefined) : undefined;
  const message = sentence(param, issue?.message ?? 'is invalid');
  throw new AppError(code ?? 'invalid_request', message, param === '' ? {} : { param });
}

/** zod's own messages stand alone ("Invalid input: …"), ours go on from the field's name. */
function sentence(param: string, message: string): string {
  const end = message.endsWith('.') ? '' : '.';
  if (/^[A-Z]/.test(message)) return param === '' ? `${message}${end}` : `${param}: ${message}${end}`;
  return `${param === '' ? 'The request' : param} ${message}${end}`;
}
