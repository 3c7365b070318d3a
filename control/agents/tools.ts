// The in-call tools of an agent: checking what a client gave, and what the speech model is told of them. PURE.
// Running HTTP tools is tool-runner.ts; ending, transferring and key tones are the bridge's.
import { z } from 'zod';
import type { ModelTool } from '../../bridge/models/model.ts';
import { AppError } from '../../errors.ts';
import { redact } from '../../log.ts';
import type { Tool } from '../../storage/records.ts';
import { MASK } from '../../storage/views.ts';
import { CONNECTION_HEADERS } from '../egress/connection-headers.ts';
import { BUILT_IN, sayFirst } from './texts/tools.ts';
import { closeSchema, faultOfParameters } from './tool-schema.ts';

export const DEFAULT_TOOL_TIMEOUT_MS = 10_000;
const MAX_TOOLS = 20;
/** A server of a model may refuse a tool of which more is told. UNVERIFIED for the Realtime API; others of OpenAI's do. */
const MAX_DESCRIPTION = 1024;
const MAX_HEADERS = 20;

/** Names that the bridge answers itself. */
const BUILT_IN_TOOLS = ['end_call', 'transfer_call', 'send_dtmf', 'do_not_call'] as const;

/** There on every telephone call, and no tool that an agent names. */
const DO_NOT_CALL: ModelTool = {
  name: 'do_not_call',
  description: BUILT_IN.do_not_call.use,
  parameters: { type: 'object', properties: {}, required: [], additionalProperties: false },
};

/** What the client decides, compression too, is refused when a tool is made and not only left out when it asks. */
const CLOSED_HEADERS: ReadonlySet<string> = new Set([
  ...CONNECTION_HEADERS,
  'accept-encoding',
  'content-encoding',
  'proxy-authenticate',
]);

const printable = (text: string) => !/\p{Cc}/u.test(text);

const headers = z.record(z.string(), z.string()).superRefine((given, context) => {
  const refuse = (name: string, message: string) =>
    context.addIssue({ code: 'custom', message, path: [name.slice(0, 64)] });
  const names = Object.keys(given);
  if (names.length > MAX_HEADERS) {
    context.addIssue({ code: 'custom', message: `may have ${MAX_HEADERS} headers at most` });
  }
  const seen = new Set<string>();
  for (const name of names) {
    const lower = name.toLowerCase();
    if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(name)) refuse(name, 'is no header name');
    else if (CLOSED_HEADERS.has(lower) || lower.startsWith('offhook-'))
      refuse(name, 'is a header that may not be set');
    else if (seen.has(lower)) refuse(name, 'is given twice');
    else if (!/^[\t\x20-\x7e]{0,4096}$/.test(given[name] ?? '')) {
      refuse(name, 'must have a value of printable ASCII, 4096 characters at most');
    }
    seen.add(lower);
  }
});

const url = z.string().superRefine((text, context) => {
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  if (text.length > 2048) return refuse('may have 2048 characters at most');
  if (/[{}]/.test(text)) {
    return refuse(
      'has no placeholders: arguments go to the query string of GET and DELETE, else to the JSON body',
    );
  }
  if (!URL.canParse(text)) return refuse('is no URL');
  const parsed = new URL(text);
  if (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')
    return refuse('must be an http or https URL');
  if (parsed.username !== '' || parsed.password !== '') return refuse('may carry no user name or password');
  if (parsed.hash !== '' || text.includes('#')) return refuse('may have no fragment');
});

const http = z
  .strictObject({
    type: z.literal('http').describe('Calls a URL of yours.'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be 1 to 64 letters, digits, _ or -')
      .refine(
        (name) => !(BUILT_IN_TOOLS as readonly string[]).includes(name),
        'is the name of a built-in tool',
      )
      .describe('What the model calls it by; each name once per agent.'),
    description: z
      .string()
      .max(MAX_DESCRIPTION, `may have ${MAX_DESCRIPTION} characters at most`)
      .trim()
      .min(1, 'may not be empty')
      .describe('What it does and when to use it, for the model.'),
    parameters: z
      .record(z.string(), z.unknown(), 'must be a JSON Schema object')
      .superRefine((schema, context) => {
        const fault = faultOfParameters(schema);
        if (fault !== null) context.addIssue({ code: 'custom', message: fault });
      })
      .default({ type: 'object', properties: {} })
      .describe(
        'JSON Schema of an object: what the model fills in. No references, patterns or open objects; 8 levels, 16 KB at most.',
      ),
    url: url.describe(
      'Where the arguments go: in the query string of GET and DELETE, else as the JSON body. Fixed: no placeholders.',
    ),
    method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST').describe('HTTP method.'),
    headers: headers
      .optional()
      .describe(
        `Sent as they are; the model never sees them. Offhook-Call-Id, Offhook-Direction, Offhook-Caller (the other side, where it is a number) and Idempotency-Key (another one for each use) are sent beside them. 20 at most. Values are stored encrypted and shown as \`${MASK}\`; one that is given back so keeps what it was, while the URL keeps scheme, host and port.`,
      ),
    timeout_ms: z
      .int('must be a whole number of milliseconds')
      .min(100, 'must be 100 at least')
      .max(20_000, 'must be 20000 at most')
      .default(DEFAULT_TOOL_TIMEOUT_MS)
      .describe('Milliseconds until it is given up; the agent is told.'),
    speak_first: z
      .string()
      .max(500, 'may have 500 characters at most')
      .trim()
      .min(1, 'may not be empty')
      .refine(printable, 'may have no control characters')
      .optional()
      .describe('A line the agent says before the tool runs.'),
  })
  .superRefine((tool, context) => {
    // An argument of the model must never stand in for a parameter that the URL has fixed.
    if (!inQuery(tool.method) || !URL.canParse(tool.url)) return;
    const properties = tool.parameters.properties;
    if (typeof properties !== 'object' || properties === null) return;
    for (const name of new URL(tool.url).searchParams.keys()) {
      if (Object.hasOwn(properties, name)) {
        context.addIssue({
          code: 'custom',
          path: ['parameters'],
          message: `has "${name}", which the URL fixes already`,
        });
      }
    }
  });

const target = z.strictObject({
  name: z
    .string()
    .max(64, 'may have 64 characters at most')
    .trim()
    .min(1, 'may not be empty')
    .refine(printable, 'may have no control characters')
    .describe('What the model calls it by.'),
  number: z
    .string()
    .regex(/^\+[1-9]\d{6,14}$/, 'must be a phone number in E.164: +14155550123')
    .describe('Where the call goes, E.164; the model never sees it.'),
});

/** One tool; the reference is made from it too. */
export const tool = z.discriminatedUnion(
  'type',
  [
    http,
    z.strictObject({ type: z.literal('end_call').describe('Hangs up. Always there, named or not.') }),
    z.strictObject({
      type: z.literal('transfer_call').describe('Hands the call over to a number of yours.'),
      targets: z
        .array(target)
        .min(1, 'needs at least one target')
        .max(20, 'may have 20 targets at most')
        .refine(
          (targets) => new Set(targets.map((one) => one.name.toLowerCase())).size === targets.length,
          'has the same name twice',
        )
        .describe('Whom the model may choose from.'),
    }),
    z.strictObject({ type: z.literal('send_dtmf').describe('Presses keys of the phone, for voice menus.') }),
  ],
  'must be an object of type http, end_call, transfer_call or send_dtmf',
);

const toolList = z
  .array(tool, 'must be a list of tools')
  .max(MAX_TOOLS, `may have ${MAX_TOOLS} tools at most`);

/** True where a tool's arguments travel in the query string; else they are the JSON body. */
export function inQuery(method: string): boolean {
  return method === 'GET' || method === 'DELETE';
}

function spell(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>(
    (way, part) => (typeof part === 'number' ? `${way}[${part}]` : `${way}.${String(part)}`),
    'tools',
  );
  return redact(text);
}

/**
 * The tools of an agent as a client gave them, checked, with defaults filled in; null and undefined: null.
 * Addresses are not resolved here: ask the egress about each of toolUrls.
 * @throws AppError invalid_tool, its `param` naming the field (`tools[0].url`)
 */
export function parseTools(input: unknown): Tool[] | null {
  if (input === undefined || input === null) return null;
  const refuse = (param: string, message: string) =>
    new AppError('invalid_tool', `${param} ${message}`, { param });
  const read = toolList.safeParse(input);
  if (!read.success) {
    const issue = read.error.issues[0];
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    if (unknown !== undefined)
      throw refuse(spell([...(issue?.path ?? []), unknown.slice(0, 64)]), 'is unknown');
    throw refuse(spell(issue?.path ?? []), issue?.message ?? 'is wrong');
  }
  const seen = new Set<string>();
  return read.data.map((one, at): Tool => {
    const name = one.type === 'http' ? one.name : one.type;
    if (seen.has(name)) {
      throw refuse(spell([at, one.type === 'http' ? 'name' : 'type']), `is there twice: ${name}`);
    }
    seen.add(name);
    if (one.type !== 'http') return one;
    const { headers: fixed, speak_first: line, ...rest } = one;
    return {
      ...rest,
      ...(fixed === undefined ? {} : { headers: fixed }),
      ...(line === undefined ? {} : { speak_first: line }),
    };
  });
}

/**
 * Tools with the headers that came back masked, as they were shown, in the values they have: of the tool of that name, else
 * of the one in that place, and only where its URL keeps scheme, host and port. Whoever may change an agent may so keep a
 * secret, and cannot have it sent to where it can be read.
 * @throws AppError invalid_tool where there is nothing to keep
 */
export function keepMasked(given: Tool[] | null, stored: readonly Tool[] | null): Tool[] | null {
  if (given === null) return null;
  const before = (stored ?? []).map((one) => (one.type === 'http' ? one : null));
  return given.map((one, at): Tool => {
    if (one.type !== 'http' || one.headers === undefined) return one;
    const same = before.find((other) => other?.name === one.name) ?? before[at];
    const known = same != null && new URL(same.url).origin === new URL(one.url).origin ? same.headers : {};
    const kept = Object.entries(one.headers).map(([name, value]) => {
      if (value !== MASK) return [name, value];
      const found = Object.entries(known ?? {}).find(([other]) => other.toLowerCase() === name.toLowerCase());
      if (found !== undefined) return [name, found[1]];
      const param = spell([at, 'headers', name.slice(0, 64)]);
      throw new AppError(
        'invalid_tool',
        `${param} is masked, and there is no value to keep: give it in full (a new tool, header or host takes none over)`,
        { param },
      );
    });
    return { ...one, headers: Object.fromEntries(kept) };
  });
}

/** The URLs of HTTP tools with the request field of each, for the egress to check. */
export function toolUrls(tools: readonly Tool[] | null): { url: string; param: string }[] {
  return (tools ?? []).flatMap((one, at) =>
    one.type === 'http' ? [{ url: one.url, param: `tools[${at}].url` }] : [],
  );
}

/** Its line is told with what it is for, or, where that leaves no room, with its parameters. */
function describeHttp(one: Extract<Tool, { type: 'http' }>): ModelTool {
  const { name, description } = one;
  const parameters = closeSchema(one.parameters);
  if (one.speak_first === undefined) return { name, description, parameters };
  const line = sayFirst(one.speak_first);
  const whole = `${description}\n${line}`;
  if (whole.length <= MAX_DESCRIPTION) return { name, description: whole, parameters };
  const said = typeof parameters.description === 'string' ? `${line}\n${parameters.description}` : line;
  return { name, description, parameters: { ...parameters, description: said } };
}

function describe(one: Tool): ModelTool {
  switch (one.type) {
    case 'http':
      return describeHttp(one);
    case 'end_call':
      return {
        name: 'end_call',
        description: BUILT_IN.end_call.use,
        parameters: {
          type: 'object',
          properties: { reason: { type: 'string', description: BUILT_IN.end_call.reason } },
          required: [],
          additionalProperties: false,
        },
      };
    case 'transfer_call':
      return {
        name: 'transfer_call',
        description: BUILT_IN.transfer_call.use,
        parameters: {
          type: 'object',
          properties: {
            target: {
              type: 'string',
              enum: one.targets.map((to) => to.name),
              description: BUILT_IN.transfer_call.target,
            },
          },
          required: ['target'],
          additionalProperties: false,
        },
      };
    case 'send_dtmf':
      return {
        name: 'send_dtmf',
        description: BUILT_IN.send_dtmf.use,
        parameters: {
          type: 'object',
          properties: {
            digits: {
              type: 'string',
              pattern: '^[0-9*#w]{1,32}$',
              description: BUILT_IN.send_dtmf.digits,
            },
          },
          required: ['digits'],
          additionalProperties: false,
        },
      };
  }
}

/**
 * What the model is told. end_call is always among them; numbers, URLs and headers never are.
 * @param o.optOut the other side has a number, and may ask that it is not called again
 */
export function modelTools(tools: readonly Tool[] | null, o: { optOut?: boolean } = {}): ModelTool[] {
  const given = (tools ?? []).filter((one) => one.type !== 'end_call').map(describe);
  const end = describe({ type: 'end_call' });
  if (o.optOut !== true) return [end, ...given];
  return [end, ...given.filter(({ name }) => name !== DO_NOT_CALL.name), DO_NOT_CALL];
}
