// How a refusal of the outbound gate is told to whoever asked for the call. PURE.
import { AppError } from '../../errors.ts';
import type { GateRefusal } from '../../storage/outbound/outbound-records.ts';

export function refusedCall(refusal: GateRefusal): AppError {
  const { code, reason, evidence, codes, retry_after_seconds } = refusal;
  return new AppError(code, reason, {
    param: 'to',
    evidence: { ...evidence, codes },
    retryable: retry_after_seconds !== null,
    ...(retry_after_seconds === null ? {} : { retryAfterSeconds: retry_after_seconds }),
  });
}
