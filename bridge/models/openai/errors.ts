// PURE. What an error of an OpenAI Realtime server means for the session: by its code, never by its words where a code is there.

/** A caller does not wait longer. */
const LONGEST_RETRY_MS = 8_000;

/** A key or an account that will not work later either: never tried again. */
const FATAL = new Set([
  'invalid_api_key',
  'insufficient_quota',
  'account_deactivated',
  'billing_hard_limit_reached',
  'model_not_found',
]);

/** Races that a phone call brings with it: the other side has ended the thing first. */
const HARMLESS = new Set([
  'item_truncate_invalid_item_id',
  'item_delete_invalid_item_id',
  'item_retrieve_invalid_item_id',
]);

const PASSING = new Set([
  'rate_limit_exceeded',
  'inference_rate_limit_exceeded',
  'server_error',
  'slow_down',
]);

export type Judgement =
  | { means: 'nothing' }
  | { means: 'fatal' }
  | { means: 'expired' }
  | { means: 'cancel-refused' }
  | { means: 'already-active' }
  | { means: 'commit-empty' }
  /** The item is shorter than the truncation; `availableMs` is what the server says it has. */
  | { means: 'truncate-too-long'; availableMs: number }
  | { means: 'passing'; retryAfterMs: number }
  | { means: 'unexpected' };

export function judgeError(error: { code: string; message: string; param: string | null }): Judgement {
  const { code, message } = error;
  if (FATAL.has(code)) return { means: 'fatal' };
  if (HARMLESS.has(code)) return { means: 'nothing' };
  if (code === 'session_expired') return { means: 'expired' };
  if (code === 'response_cancel_not_active') return { means: 'cancel-refused' };
  if (code === 'input_audio_buffer_commit_empty') return { means: 'commit-empty' };
  // By its words, as seen without a code in early versions: UNVERIFIED for those of today. So are the words below.
  if (code === 'conversation_already_has_active_response' || /already has an active response/i.test(message))
    return { means: 'already-active' };
  const shorter = /content of (\d+) ?ms is already shorter than/i.exec(message);
  if (shorter) return { means: 'truncate-too-long', availableMs: Number(shorter[1]) };
  if (PASSING.has(code)) return { means: 'passing', retryAfterMs: retryAfterMs(message, 0) };
  return { means: 'unexpected' };
}

/** True for a failed response that is worth asking for again. */
export function isPassing(code: string | null): boolean {
  return code !== null && PASSING.has(code);
}

export function isFatal(code: string | null): boolean {
  return code !== null && FATAL.has(code);
}

/** The server's own hint ("try again in 1.2s", "in 350ms"), else 0.5 s doubling by attempt; never longer than a caller waits. */
export function retryAfterMs(message: string | null, attempt: number): number {
  const hint = /try again in ([\d.]+) ?(ms|s)\b/i.exec(message ?? '');
  const hinted = hint ? Number(hint[1]) * (hint[2]?.toLowerCase() === 's' ? 1000 : 1) : Number.NaN;
  const wait = Number.isFinite(hinted) ? hinted : 500 * 2 ** attempt;
  return Math.min(Math.max(wait, 100), LONGEST_RETRY_MS);
}
