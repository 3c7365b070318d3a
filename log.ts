// The log: one wide JSON line per thing that happened, ids as fields. Never speech, digits, keys or whole numbers.
import { pino } from 'pino';

export type Log = Pick<ReturnType<typeof pino>, 'debug' | 'info' | 'warn' | 'error'> & {
  child(fields: Record<string, unknown>): Log;
};

/** A logger writing JSON lines to standard output. `level`: debug, info, warn, error or silent. */
export function openLog(level: string): Log {
  return pino({
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    messageKey: 'event',
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: [
        '*.authorization',
        '*.cookie',
        '*.token',
        '*.secret',
        '*.password',
        'authorization',
        'token',
        'secret',
      ],
      censor: '[redacted]',
    },
  });
}

/** A phone number as a log may show it: the country and the last two digits. */
export function maskNumber(e164: string): string {
  return e164.length < 8 ? '***' : `${e164.slice(0, 3)}***${e164.slice(-2)}`;
}
