// What a route's handler answers, as values. PURE.
import { AppError } from '../../errors.ts';

export interface Answer {
  body?: unknown;
  headers?: Record<string, string>;
  /** For the audit log: what else there is to say, small; and what was meant, where neither path nor body say it. */
  noted?: { detail?: Record<string, unknown>; targetId?: string };
}

/** What a change may be held to by If-Match. */
export function versionOf({ updated_at }: { updated_at: string }): Record<string, string> {
  return { ETag: `"${updated_at}"` };
}

/** What a store verb answers -> the value; null is a 404 that says `missing`. */
export function found<T>(value: T | null, missing: string): T {
  if (value === null) throw new AppError('not_found', missing);
  return value;
}
