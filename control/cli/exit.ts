// How a command ends: exit codes for scripts, and what an error says to a person.
import { OffhookConnectionError, OffhookError } from '../sdk/index.ts';

/** Documented in `offhook --help`; added to, never changed. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  unauthorized: 3,
  notFound: 4,
  refused: 5,
  unreachable: 6,
  busy: 7,
  /** With --wait or --watch: nobody was reached (no answer, busy, canceled). */
  notReached: 10,
  /** With --wait or --watch: the call failed. */
  callFailed: 11,
} as const;

export const EXIT_HELP = `Exit codes:
  0 done   1 failed   2 wrong usage   3 key missing or refused   4 nothing there   5 refused (see the message)
  6 no daemon answers, or not in time   7 the daemon is busy or failing
  10 --wait, --watch: nobody was reached   11 --wait, --watch: the call failed`;

/** A mistake in how a command was used: its message is all there is to say. */
export class UsageError extends Error {}

/** Ends with a code of its own; the message, if any, is printed. */
export class Ending extends Error {
  readonly exitCode: number;
  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

/** One of EXIT, or the code that an Ending brings. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof Ending) return error.exitCode;
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof OffhookConnectionError) return EXIT.unreachable;
  if (!(error instanceof OffhookError)) return EXIT.failed;
  if (error.status === 401 || error.status === 403) return EXIT.unauthorized;
  if (error.status === 404) return EXIT.notFound;
  if (error.status === 429 || error.status >= 500) return EXIT.busy;
  return EXIT.refused;
}

/** What to print of an error: what happened, and what to do. */
export function explain(error: unknown, url: string): string[] {
  if (error instanceof OffhookConnectionError) {
    return error.code === 'timeout'
      ? [error.message]
      : [
          `Nothing answers at ${url}.`,
          'Is the daemon running there? Another address: --url, OFFHOOK_URL, or "offhook login".',
        ];
  }
  if (error instanceof OffhookError) {
    const lines = [error.message];
    if (error.param !== null) lines.push(`Field: ${error.param}`);
    if (error.status === 401) lines.push('Set a key with "offhook login", OFFHOOK_API_KEY or --api-key.');
    lines.push(
      `(${error.code}${error.carrierCode === null ? '' : `, carrier ${error.carrierCode}`}${error.requestId === null ? '' : `, request ${error.requestId}`})`,
    );
    return lines;
  }
  return [error instanceof Error ? error.message : String(error)];
}
