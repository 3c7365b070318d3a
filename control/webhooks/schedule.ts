// When a webhook delivery is tried again, and when it is given up. PURE: attempts, outcome and a random number in, a verdict out.

/** Seconds from one attempt to the next: ten attempts over about 28 hours. */
export const RETRY_SECONDS = [5, 30, 120, 600, 1800, 7200, 18_000, 36_000, 36_000] as const;
export const MAX_ATTEMPTS = RETRY_SECONDS.length + 1;
/** Each wait is spread by a fifth to both sides, so that a receiver that comes back is not met by all at once. */
const JITTER = 0.2;
/** A receiver that is overloaded (429, or no answer in time) gets at least this long. */
const OVERLOADED_SECONDS = 60;

/** What an attempt came to. `status` is null when there was no answer. */
export interface AttemptResult {
  status: number | null;
  error: 'blocked' | 'timeout' | 'failed' | null;
  /** As the receiver asked, in ms from now. */
  retryAfterMs?: number | null;
}

export type Verdict = { do: 'deliver' } | { do: 'retry'; delayMs: number } | { do: 'exhaust' };

/**
 * @param attemptsMade attempts since the schedule began, this one included.
 * @param random in [0, 1).
 * @param scale of all times; 1 but in tests.
 */
export function judgeAttempt(
  attemptsMade: number,
  result: AttemptResult,
  { random, scale }: { random: number; scale: number },
): Verdict {
  const { status, error } = result;
  if (error === null && status !== null && status >= 200 && status <= 299) return { do: 'deliver' };
  // 410: the receiver says that it is gone for good. A blocked address will not open by waiting.
  if (status === 410 || error === 'blocked') return { do: 'exhaust' };
  const scheduled = RETRY_SECONDS[attemptsMade - 1];
  if (scheduled === undefined) return { do: 'exhaust' };

  const overloaded = status === 429 || error === 'timeout';
  const baseMs = (overloaded ? Math.max(scheduled, OVERLOADED_SECONDS) : scheduled) * 1000 * scale;
  const asked = result.retryAfterMs ?? null;
  if (asked !== null) {
    // Waits less than asked only where twice the base is less; the spread goes upwards alone.
    const clampedMs = Math.min(Math.max(asked, baseMs), 2 * baseMs);
    return { do: 'retry', delayMs: Math.min(clampedMs * (1 + JITTER * random), 2 * baseMs) };
  }
  const spreadMs = baseMs * (1 - JITTER + 2 * JITTER * random);
  return {
    do: 'retry',
    delayMs: overloaded ? Math.max(spreadMs, OVERLOADED_SECONDS * 1000 * scale) : spreadMs,
  };
}

/**
 * A `Retry-After` header (RFC 9110, 10.2.3: seconds, or an HTTP date) as ms from `nowMs`; null when it says nothing.
 */
export function readRetryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\s*\d{1,10}\s*$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, at - nowMs);
}
