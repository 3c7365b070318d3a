// The log: one wide JSON line for each thing that happened, ids as fields. Never speech, digits, keys or whole numbers.
// Whoever logs keeps speech out; what has a shape (keys, numbers, URLs' secrets) is masked here, in every line, whatever
// field or foreign error it came in with.
import { pino } from 'pino';
import { visible } from './terminal-text.ts';

export type Log = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error'> & {
  child(fields: Record<string, unknown>): Log;
};

const CENSOR = '[redacted]';
/** Of a chain of causes, or of an AggregateError's errors; the rest tells nothing new. */
const MAX_CAUSES = 4;
const MAX_FRAMES = 8;
/** A shorter secret would be found in ordinary words. */
const MIN_SECRET_LENGTH = 6;

/**
 * A logger writing JSON lines to standard output.
 * @param level debug, info, warn, error or silent
 * @param secrets values that no line may hold, besides everything that looks like a secret
 * @param also is given each line as it is written, too
 */
export function openLog(
  level: string,
  secrets: readonly string[] = [],
  to?: { write(line: string): void },
  also?: (line: string) => void,
): Log {
  // As they stand in JSON; the longest first, since one may be a part of another.
  const hidden = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH)
    .map((secret) => JSON.stringify(secret).slice(1, -1))
    .sort((a, b) => b.length - a.length);
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'event',
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: (error: unknown) => (isDescribed(error) ? error : describeError(error)) },
    hooks: {
      streamWrite: (line: string) => {
        // Somebody reads it on a terminal.
        const shown = visible(redact(hidden.reduce((text, secret) => text.replaceAll(secret, CENSOR), line)));
        also?.(shown);
        return shown;
      },
    },
    redact: {
      paths: ['authorization', 'cookie', 'token', 'secret', 'password'].flatMap((name) => [
        name,
        `*.${name}`,
      ]),
      censor: CENSOR,
    },
  };
  return to === undefined ? pino(options) : pino(options, to);
}

const SHAPES: readonly [RegExp, string | ((found: string) => string)][] = [
  [/(:\/\/)[^\s"'/\\@?#]*@/g, `$1${CENSOR}@`],
  [/(:\/\/[^\s"'\\?#]+)[?#][^\s"'\\]+/g, `$1?${CENSOR}`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/gi, `$1 ${CENSOR}`],
  [/whsec_[\w+/=-]{6,}/g, CENSOR],
  [/(?<=^|[^A-Za-z0-9]|\\[nrtbf])sk[-_][\w-]{6,}/g, CENSOR],
  // E.164, also as people and URLs write it.
  [/(?:\+|%2B)[1-9](?:[ ().-]{0,2}\d){6,14}(?!\d)/gi, maskNumber],
  // Digits alone, where they stand in text: neither a number of JSON nor part of an id, a time or a version.
  [/(?<![\w.:,[+-])\d{10,15}(?![\w.:-])/g, maskNumber],
];

/** Text without keys, secrets of URLs and whole phone numbers, whatever it is. JSON stays JSON. */
export function redact(text: string): string {
  return SHAPES.reduce((masked, [shape, by]) => masked.replace(shape, by as string), text);
}

/** A phone number as a log may show it: its first and its last two digits. */
export function maskNumber(number: string): string {
  const plain = number.replace(/^%2B/i, '+').replaceAll(/[^+\d]/g, '');
  return plain.length < 8 ? '***' : `${plain.slice(0, 3)}***${plain.slice(-2)}`;
}

/**
 * An error as the log shows it: what it says, where it comes from, and why. Nothing else of it: libraries hang requests
 * and answers on theirs.
 */
export function describeError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : String(error);
  const { code, carrierCode, status } = error as { code?: unknown; carrierCode?: unknown; status?: unknown };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const errors = error instanceof AggregateError ? error.errors.slice(0, MAX_CAUSES) : [];
  return {
    type: error.name,
    message: withoutExcerpt(error),
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    ...(typeof carrierCode === 'string' ? { carrier_code: carrierCode } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    stack: frames
      .slice(0, MAX_FRAMES)
      .map((line) => line.trim())
      .join('\n'),
    ...(error.cause === undefined || depth >= MAX_CAUSES
      ? {}
      : { cause: describeError(error.cause, depth + 1) }),
    ...(errors.length === 0 || depth >= MAX_CAUSES
      ? {}
      : { errors: errors.map((one) => describeError(one, depth + 1)) }),
  };
}

/** An error that another thread has described. */
function isDescribed(error: unknown): boolean {
  return (
    typeof error === 'object' &&
    error !== null &&
    !(error instanceof Error) &&
    'type' in error &&
    'stack' in error
  );
}

/** JSON.parse quotes what it could not read, and that may be anything. */
function withoutExcerpt(error: Error): string {
  return error instanceof SyntaxError
    ? error.message.replace(/^(Unexpected token .{1,4}?), [\s\S]+$/, '$1 in what is not JSON')
    : error.message;
}
