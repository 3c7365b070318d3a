// What the SDK throws: one class for what the API refuses, one for what never reached it.

/** The API refused: its status and the fields of its error body. */
export class OffhookError extends Error {
  override name = 'OffhookError';
  /** HTTP status; 0 when there was no answer at all (see `OffhookConnectionError`). */
  readonly status: number;
  /** Stable and machine-readable, e.g. `from_number_not_attached`. */
  readonly code: string;
  /** The field to blame, as a path; null when no single one is. */
  readonly param: string | null;
  /** The carrier's own code, with `carrier_error`. */
  readonly carrierCode: string | null;
  /** Of a call that the rules of outbound calls refuse: what the code rests on. */
  readonly evidence: Record<string, unknown> | null;
  /** The same as in the daemon's log. */
  readonly requestId: string | null;
  /** Seconds the API asks to wait before another try; null when it did not say. */
  readonly retryAfterSeconds: number | null;

  constructor(
    message: string,
    o: {
      status: number;
      code: string;
      param?: string | null;
      carrierCode?: string | null;
      evidence?: Record<string, unknown> | null;
      requestId?: string | null;
      retryAfterSeconds?: number | null;
      cause?: unknown;
    },
  ) {
    super(message, { cause: o.cause });
    this.status = o.status;
    this.code = o.code;
    this.param = o.param ?? null;
    this.carrierCode = o.carrierCode ?? null;
    this.evidence = o.evidence ?? null;
    this.requestId = o.requestId ?? null;
    this.retryAfterSeconds = o.retryAfterSeconds ?? null;
  }
}

/** No answer came: nothing listens there, the line broke, or it took too long. `code`: `connection_failed` or `timeout`. */
export class OffhookConnectionError extends OffhookError {
  override name = 'OffhookConnectionError';

  constructor(message: string, o: { code: 'connection_failed' | 'timeout'; cause?: unknown }) {
    super(message, { status: 0, ...o });
  }
}

/** A webhook that is not what it says it is: do not act on it. */
export class WebhookVerificationError extends Error {
  override name = 'WebhookVerificationError';
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : null);

/** An answer that is none of 2xx, as the error to throw. Answers of a proxy in between have no error body. */
export async function errorOf(response: Response): Promise<OffhookError> {
  let fields: Record<string, unknown> = {};
  const body = await response.text().catch(() => '');
  try {
    const parsed = JSON.parse(body) as { error?: unknown } | null;
    if (typeof parsed?.error === 'object' && parsed.error !== null) {
      fields = parsed.error as Record<string, unknown>;
    }
  } catch {
    // Not JSON: not from the daemon.
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new OffhookError(text(fields.message) ?? `HTTP ${response.status} ${response.statusText}`.trim(), {
    status: response.status,
    code: text(fields.code) ?? `http_${response.status}`,
    param: text(fields.param),
    carrierCode: text(fields.carrier_code),
    evidence:
      typeof fields.evidence === 'object' ? (fields.evidence as Record<string, unknown> | null) : null,
    requestId: text(fields.request_id) ?? response.headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : null,
  });
}
