// PURE. A scenario: what the agent's side says and does in which situation, what it takes from a transcript, and which
// faults and timings it runs under. The format is described in README.md.
import { Ajv } from 'ajv';
import { FAULT_SCHEMA, type Fault } from './faults.ts';
import { FAST, HOSTED, type Pacing } from './pacing.ts';

const OCCASIONS = [
  'greeting',
  'caller',
  'silence',
  'tool_result',
  'voicemail',
  'resume',
  'out_of_band',
  'any',
] as const;
export type Occasion = (typeof OCCASIONS)[number];

export interface ToolCall {
  name: string;
  /** Texts in it take {{places}}; a text given for the whole is sent as it is, valid JSON or not. */
  arguments?: Record<string, unknown> | string;
}

export interface Rule {
  on: Occasion;
  heard?: RegExp;
  /** Only in this turn of the caller's, counted from 1. */
  turn?: number;
  /** Tested on the instructions of the single response, without the session's. */
  instructions?: RegExp;
  /** Tested on what the model was told (system items) since the caller's or its own last words. */
  told?: RegExp;
  /** For tool_result: the tool's name, and what its output must match. */
  toolName?: string;
  result?: RegExp;
  once: boolean;
  say?: string;
  tools: ToolCall[];
}

export interface ExtractionValue {
  /** Matched with the whole name of a field. */
  field: RegExp;
  pattern: RegExp;
  /** JSON; `$1` in a text is what the pattern's group caught. */
  value: unknown;
}

export const EXTRACTION_MODES = [
  'ok',
  'reasoning',
  'refusal',
  'incomplete',
  'content_filter',
  'rate_limited',
  'server_error',
  'timeout',
  'reset',
  'truncated_json',
  'schema_violation',
  'wrong_finish_reason',
] as const;
export type ExtractionMode = (typeof EXTRACTION_MODES)[number];

export interface Profile {
  dialect: 'ga' | 'beta';
  /** A commit starts the response by itself, as some self-hosted servers do. */
  commitResponds: boolean;
  truncateAck: boolean;
  /** Errors name the client's event_id. */
  echoEventId: boolean;
  /** Every item.added is followed by the older item.created. */
  itemCreated: boolean;
}

export interface Recording {
  file: string;
  words: [number, number, string][];
}

export interface Scenario {
  name: string;
  /** Only for sessions whose instructions match, when several scenarios are loaded. */
  for: RegExp | null;
  /** Recordings given in place, or the path of a JSON file with them, beside the scenario. */
  hears: string | Recording[];
  /** The transcript of audio in which nothing known was found. */
  unclear: string;
  occasions: readonly (readonly [Occasion, RegExp])[];
  rules: Rule[];
  extraction: { mode: ExtractionMode; latencyMs: number; values: ExtractionValue[] };
  pacing: Pacing;
  seed: number;
  faults: Fault[];
  profile: Profile;
}

const pattern = { type: 'string', format: 'pattern' };
const range = { type: 'array', items: { type: 'number', minimum: 0 }, minItems: 2, maxItems: 2 };
const toolSchema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string' }, arguments: { type: ['object', 'string'] } },
};
const SCHEMA = {
  type: 'object',
  required: ['rules'],
  additionalProperties: false,
  properties: {
    name: { type: 'string' },
    about: { type: 'string' },
    for: pattern,
    hears: {
      type: ['string', 'array'],
      items: {
        type: 'object',
        required: ['file', 'words'],
        additionalProperties: false,
        properties: {
          file: { type: 'string' },
          words: {
            type: 'array',
            items: {
              type: 'array',
              items: [{ type: 'number' }, { type: 'number' }, { type: 'string' }],
              minItems: 3,
              maxItems: 3,
            },
          },
        },
      },
    },
    unclear: { type: 'string' },
    occasions: { type: 'object', propertyNames: { enum: OCCASIONS }, additionalProperties: pattern },
    rules: {
      type: 'array',
      items: {
        type: 'object',
        required: ['on'],
        additionalProperties: false,
        properties: {
          on: { enum: OCCASIONS },
          heard: pattern,
          turn: { type: 'integer', minimum: 1 },
          instructions: pattern,
          told: pattern,
          tool_name: { type: 'string' },
          result: pattern,
          once: { type: 'boolean' },
          say: { type: 'string' },
          tool: { anyOf: [toolSchema, { type: 'array', items: toolSchema }] },
          // biome-ignore lint/suspicious/noThenProperty: the file's own word for what follows a reply
          then: { enum: ['end_call'] },
        },
      },
    },
    extraction: {
      type: 'object',
      additionalProperties: false,
      properties: {
        mode: { enum: EXTRACTION_MODES },
        latency_ms: { type: 'number', minimum: 0 },
        values: {
          type: 'array',
          items: {
            type: 'object',
            required: ['field', 'pattern', 'value'],
            additionalProperties: false,
            properties: { field: pattern, pattern, value: {} },
          },
        },
      },
    },
    pacing: {
      anyOf: [
        { enum: ['hosted', 'fast'] },
        {
          type: 'object',
          additionalProperties: false,
          properties: {
            base: { enum: ['hosted', 'fast'] },
            profile: { enum: ['burst', 'full-burst', 'slow', 'stall'] },
            created_ms: range,
            first_audio_ms: range,
            speed: range,
            delta_ms: range,
            cancel_ms: range,
            transcription_ms: range,
            stall_after_ms: { type: 'number', minimum: 0 },
            stall_ms: { type: 'number', minimum: 0 },
          },
        },
      ],
    },
    seed: { type: 'integer' },
    faults: { type: 'array', items: FAULT_SCHEMA },
    profile: {
      type: 'object',
      additionalProperties: false,
      properties: {
        dialect: { enum: ['ga', 'beta'] },
        commit_responds: { type: 'boolean' },
        truncate_ack: { type: 'boolean' },
        echo_event_id: { type: 'boolean' },
        item_created: { type: 'boolean' },
      },
    },
  },
};

interface ScenarioFile {
  name?: string;
  for?: string;
  hears?: string | Recording[];
  unclear?: string;
  occasions?: Partial<Record<Occasion, string>>;
  rules: {
    on: Occasion;
    heard?: string;
    turn?: number;
    instructions?: string;
    told?: string;
    tool_name?: string;
    result?: string;
    once?: boolean;
    say?: string;
    tool?: ToolCall | ToolCall[];
    then?: 'end_call';
  }[];
  extraction?: {
    mode?: ExtractionMode;
    latency_ms?: number;
    values?: { field: string; pattern: string; value: unknown }[];
  };
  pacing?: 'hosted' | 'fast' | Record<string, unknown>;
  seed?: number;
  faults?: Fault[];
  profile?: Record<string, unknown>;
}

const ajv = new Ajv({ strict: false });
ajv.addFormat('pattern', {
  validate: (source: string) => {
    try {
      new RegExp(source, 'imu');
      return true;
    } catch {
      return false;
    }
  },
});
const check = ajv.compile<ScenarioFile>(SCHEMA);

/**
 * In which situation a response is, told from its own instructions, in this order. They are the words that a client
 * would use towards any model; a scenario may give its own.
 */
const DEFAULT_OCCASIONS: readonly (readonly [Occasion, string])[] = [
  ['resume', '(?:do not|don.t|without) (?:greet|start(?:ing)? over)|(?:line|connection) was interrupted'],
  ['voicemail', 'voice ?mail|answering machine|leave (?:a|the|this|your|exactly this)\\b.*\\bmessage'],
  ['silence', 'silen|\\bidle\\b|still there|nobody answers|(?:said|heard|saying) nothing|has been quiet'],
  [
    'greeting',
    '\\bgreet|answered the (?:call|phone)|picked up|open the (?:call|conversation)|introduce yourself',
  ],
];

const camel = (name: string): string =>
  name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
const camelKeys = (fields: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).map(([key, value]) => [camel(key), value]));

function pacingOf(given: ScenarioFile['pacing'], base: Pacing): Pacing {
  if (given === undefined) return base;
  if (given === 'fast') return FAST;
  if (given === 'hosted') return HOSTED;
  const { base: baseName, ...rest } = given;
  const from = baseName === 'fast' ? FAST : baseName === 'hosted' ? HOSTED : base;
  return { ...from, ...(camelKeys(rest) as Partial<Pacing>) };
}

/** Reads a scenario from parsed JSON. `pacing` holds where the scenario says nothing. Throws with the place that is wrong. */
export function parseScenario(json: unknown, pacing: Pacing = HOSTED): Scenario {
  if (!check(json)) {
    const error = check.errors?.[0];
    throw new Error(
      `scenario${error?.instancePath ?? ''}: ${error?.message ?? 'is wrong'} ${JSON.stringify(error?.params ?? {})}`,
    );
  }
  const regex = (source: string) => new RegExp(source, 'imu');
  const named = json.occasions ?? {};
  return {
    name: json.name ?? 'unnamed',
    for: json.for === undefined ? null : regex(json.for),
    hears: json.hears ?? [],
    unclear: json.unclear ?? '',
    occasions: [
      ...Object.entries(named).map(([occasion, source]) => [occasion as Occasion, regex(source)] as const),
      ...DEFAULT_OCCASIONS.filter(([occasion]) => !(occasion in named)).map(
        ([occasion, source]) => [occasion, regex(source)] as const,
      ),
    ],
    rules: json.rules.map((rule) => ({
      on: rule.on,
      ...(rule.heard === undefined ? {} : { heard: regex(rule.heard) }),
      ...(rule.turn === undefined ? {} : { turn: rule.turn }),
      ...(rule.instructions === undefined ? {} : { instructions: regex(rule.instructions) }),
      ...(rule.told === undefined ? {} : { told: regex(rule.told) }),
      ...(rule.tool_name === undefined ? {} : { toolName: rule.tool_name }),
      ...(rule.result === undefined ? {} : { result: regex(rule.result) }),
      once: rule.once ?? false,
      ...(rule.say === undefined ? {} : { say: rule.say }),
      tools: [
        ...(rule.tool === undefined ? [] : Array.isArray(rule.tool) ? rule.tool : [rule.tool]),
        ...(rule.then === 'end_call' ? [{ name: 'end_call' }] : []),
      ],
    })),
    extraction: {
      mode: json.extraction?.mode ?? 'ok',
      latencyMs: json.extraction?.latency_ms ?? 0,
      values: (json.extraction?.values ?? []).map(({ field, pattern, value }) => ({
        field: regex(`^(?:${field})$`),
        pattern: regex(pattern),
        value,
      })),
    },
    pacing: pacingOf(json.pacing, pacing),
    seed: json.seed ?? 1,
    faults: json.faults ?? [],
    profile: {
      dialect: 'ga',
      commitResponds: false,
      truncateAck: true,
      echoEventId: true,
      itemCreated: false,
      ...(camelKeys(json.profile ?? {}) as Partial<Profile>),
    },
  };
}
