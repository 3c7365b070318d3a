// AppError, the one error type that crosses layers, and the HTTP status of each code. PURE.

/** Stable, machine-readable codes of the API's `error.code`, each with the HTTP status it answers with. */
export const ERROR_STATUS = {
  invalid_request: 400,
  invalid_json: 400,
  unknown_parameter: 400,
  missing_parameter: 400,
  invalid_number: 400,
  invalid_voice: 400,
  invalid_model: 400,
  invalid_language: 400,
  invalid_returns: 400,
  invalid_tool: 400,
  invalid_url: 400,
  blocked_address: 400,
  agent_not_found: 400,
  agent_archived: 400,
  agent_not_outbound: 400,
  agent_has_no_number: 400,
  from_number_not_attached: 400,
  from_number_not_owned: 400,
  no_active_number: 400,
  number_not_found: 400,
  primary_number_not_attached: 400,
  unauthorized: 401,
  insufficient_credit: 402,
  daily_spend_reached: 402,
  forbidden: 403,
  destination_not_allowed: 403,
  destination_closed: 403,
  do_not_call: 403,
  consent_missing: 403,
  outside_calling_hours: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  number_taken: 409,
  number_attached: 409,
  number_unavailable: 409,
  price_unknown: 409,
  call_ended: 409,
  legal_hold: 409,
  endpoint_disabled: 409,
  endpoint_deleted: 409,
  idempotency_key_reused: 409,
  idempotency_in_progress: 409,
  changed_meanwhile: 412,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  too_many_to_destination: 429,
  calls_per_minute: 429,
  internal: 500,
  carrier_error: 502,
  at_capacity: 503,
  draining: 503,
  storage_low: 503,
  call_elsewhere: 503,
} as const;

export type ErrorCode = keyof typeof ERROR_STATUS;

export interface AppErrorOptions {
  cause?: unknown;
  /** The request field to blame, as the client spells it. */
  param?: string;
  /** Whether the same request may succeed later. */
  retryable?: boolean;
  /** For `carrier_error`: the carrier's own code, as text. */
  carrierCode?: string;
  /** For a call that the outbound gate refuses: what the code rests on. */
  evidence?: Record<string, unknown>;
  /** For 429 and 503: seconds for `Retry-After`. */
  retryAfterSeconds?: number;
}

/** An error with a meaning to whoever called; everything else is `internal` to the user and logged for the operator. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly param: string | undefined;
  readonly retryable: boolean;
  readonly carrierCode: string | undefined;
  readonly evidence: Record<string, unknown> | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.param = options.param;
    this.retryable = options.retryable ?? ERROR_STATUS[code] >= 500;
    this.carrierCode = options.carrierCode;
    this.evidence = options.evidence;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return ERROR_STATUS[this.code];
  }
}

/** A call is another daemon's of the same data: nothing is done of it here, and whoever has asked may be passed on. */
export class CallElsewhere extends AppError {
  readonly callId: string;

  constructor(callId: string, owner: { epoch: number; pid: number; host: string } | null) {
    const where = owner === null ? '' : ` (number ${owner.epoch}, process ${owner.pid} on ${owner.host})`;
    super(
      'call_elsewhere',
      `Call ${callId} is on another daemon${where}, which does not answer now. Try again in a moment.`,
      { retryAfterSeconds: 1 },
    );
    this.name = 'CallElsewhere';
    this.callId = callId;
  }
}
