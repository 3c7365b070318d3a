// How many requests of one kind an organization may have under way at once. In memory, for this process.
import { AppError } from '../../errors.ts';

/** Runs `work` as one of those that may. @throws AppError rate_limited at once when `most` of the organization run */
export type ConcurrencyLimit = <T>(orgId: string, work: () => Promise<T>) => Promise<T>;

/** @param refusal what to say to the one too many, and when it may come again */
export function concurrencyLimit(
  most: number,
  refusal: { message: string; retryAfterSeconds: number },
): ConcurrencyLimit {
  const inside = new Map<string, number>();
  return async (orgId, work) => {
    const others = inside.get(orgId) ?? 0;
    if (others >= most) {
      const { message, retryAfterSeconds } = refusal;
      throw new AppError('rate_limited', message, { retryAfterSeconds, retryable: true });
    }
    inside.set(orgId, others + 1);
    try {
      return await work();
    } finally {
      const left = (inside.get(orgId) ?? 1) - 1;
      if (left > 0) inside.set(orgId, left);
      else inside.delete(orgId);
    }
  };
}
