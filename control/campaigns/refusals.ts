// What a refusal means for a campaign: the contact is called later, or never; or nothing is begun for a while. PURE.
import type { AppError } from '../../errors.ts';

export type Refused =
  /** The contact is not called before. */
  | { means: 'postpone'; ms: number }
  /** He is not called at all. */
  | { means: 'never' }
  /** Nobody is, for a while; `unknown`: it may be this contact's own, who is called last then. */
  | { means: 'hold'; ms: number; unknown?: true }
  /** The attempt was made, and has ended with its call. */
  | { means: 'made' }
  /** Somebody was first, or the campaign stands otherwise now: it is looked at again. */
  | { means: 'again' };

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** Where the refusal does not say how long. */
const RULES: Readonly<Record<string, Refused>> = {
  do_not_call: { means: 'never' },
  destination_closed: { means: 'never' },
  destination_not_allowed: { means: 'never' },
  consent_missing: { means: 'never' },
  invalid_number: { means: 'never' },
  outside_calling_hours: { means: 'postpone', ms: HOUR_MS },
  too_many_to_destination: { means: 'postpone', ms: 6 * HOUR_MS },
  calls_per_minute: { means: 'hold', ms: 5 * SECOND_MS },
  daily_spend_reached: { means: 'hold', ms: 15 * MINUTE_MS },
  insufficient_credit: { means: 'hold', ms: MINUTE_MS },
  at_capacity: { means: 'hold', ms: 5 * SECOND_MS },
  storage_low: { means: 'hold', ms: 30 * SECOND_MS },
  draining: { means: 'again' },
  conflict: { means: 'again' },
  carrier_error: { means: 'made' },
};
const UNKNOWN: Refused = { means: 'hold', ms: 30 * SECOND_MS, unknown: true };

/** So many calls that the carrier refused, one after the other: it is left alone for a while. */
export const CARRIER_ERRORS = 5;
export const CARRIER_REST_MS = MINUTE_MS;

export function refusedBy(error: Pick<AppError, 'code' | 'retryAfterSeconds'> | null): Refused {
  const rule = error === null ? UNKNOWN : (RULES[error.code] ?? UNKNOWN);
  const said = error?.retryAfterSeconds;
  return 'ms' in rule && said !== undefined ? { ...rule, ms: Math.max(1, said) * SECOND_MS } : rule;
}
