// Requests a second: one token bucket per key, one per address for requests without a good key, and buckets of their own for
// what costs more. In memory: a restart fills every bucket.
import type { RequestHandler, Response } from 'express';
import { AppError } from '../../errors.ts';
import { contextOf } from './request-context.ts';

interface Bucket {
  tokens: number;
  /** When `tokens` was right. */
  at: number;
}

export interface Taken {
  allowed: boolean;
  /** Whole requests left now. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  resetSeconds: number;
  /** Seconds until one more request is allowed; 0 when one is. */
  waitSeconds: number;
}

export interface TokenBuckets {
  /** Takes one token of the bucket `name`. `now` in milliseconds, of a clock that only goes forward. */
  take(name: string, now: number): Taken;
}

/** @param capacity buckets remembered; past it the ones asked longest ago are forgotten, which fills them. */
export function tokenBuckets(perSecond: number, burst: number, capacity = 10_000): TokenBuckets {
  // In the order of last use: each use moves a bucket to the end.
  const buckets = new Map<string, Bucket>();
  return {
    take(name, now) {
      const bucket = buckets.get(name) ?? { tokens: burst, at: now };
      bucket.tokens = Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1000) * perSecond);
      bucket.at = now;
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      buckets.delete(name);
      buckets.set(name, bucket);
      if (buckets.size > capacity) {
        for (const oldest of buckets.keys()) {
          buckets.delete(oldest);
          break;
        }
      }
      return {
        allowed,
        remaining: Math.floor(bucket.tokens),
        resetSeconds: Math.ceil((burst - bucket.tokens) / perSecond),
        waitSeconds: bucket.tokens >= 1 ? 0 : (1 - bucket.tokens) / perSecond,
      };
    },
  };
}

export interface RateLimit {
  /** Counts the request against its key. After authentication, before the body is read. */
  byKey: RequestHandler;
  /** Counts a request without a good key against its address. @throws AppError rate_limited */
  byAddress(address: string, res: Response): void;
}

/** Full buckets for every key and address. @param o.perSecond how fast they fill; `burst` is what one holds */
export function rateLimit(o: { perSecond: number; burst: number; monotonicMs: () => number }): RateLimit {
  const keys = tokenBuckets(o.perSecond, o.burst);
  const addresses = tokenBuckets(o.perSecond, o.burst);

  function apply(buckets: TokenBuckets, name: string, res: Response): void {
    const taken = buckets.take(name, o.monotonicMs());
    // The names of draft-ietf-httpapi-ratelimit-headers-06, which most clients read.
    res.set('RateLimit-Limit', String(o.burst));
    res.set('RateLimit-Remaining', String(taken.remaining));
    res.set('RateLimit-Reset', String(taken.resetSeconds));
    res.set('RateLimit-Policy', `${o.perSecond};w=1;burst=${o.burst}`);
    if (!taken.allowed) {
      throw new AppError(
        'rate_limited',
        `More than ${o.perSecond} requests a second; wait as long as Retry-After says.`,
        {
          retryAfterSeconds: taken.waitSeconds,
          retryable: true,
        },
      );
    }
  }

  return {
    byKey: (_req, res, next) => {
      apply(keys, contextOf(res).keyId ?? '', res);
      next();
    },
    byAddress: (address, res) => apply(addresses, address, res),
  };
}

/** A limit beside that of the key. @throws AppError rate_limited when the bucket `name` is empty; `what` is told apart */
export function checkOwnLimit(buckets: TokenBuckets, name: string, nowMs: number, what: string): void {
  const taken = buckets.take(name, nowMs);
  if (taken.allowed) return;
  throw new AppError('rate_limited', `${what}; wait as long as Retry-After says.`, {
    retryAfterSeconds: taken.waitSeconds,
    retryable: true,
  });
}
