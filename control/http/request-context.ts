// What the control plane knows of a request while it answers it: kept in `res.locals`, read through one typed function. PURE.
import type { Response } from 'express';
import type { Actor } from './actor.ts';

export interface RequestContext {
  /** Answered as X-Request-Id and in every error. */
  requestId: string;
  /** The path with its parameters' names, for logs and metrics; null until a route took the request. */
  route: string | null;
  /** Null until the key was found. */
  orgId: string | null;
  keyId: string | null;
  /** Where it comes from, as far as one can see. */
  address: string | null;
  /** Who asks; null until the key or the session was found. */
  actor: Actor | null;
  /** Whether the key, or the session, is still good: to be asked again by what answers late. */
  isStillGood: () => Promise<boolean>;
  /** What the error handler answered, for the request's log line. */
  error: unknown;
}

/** The context of the request this answer belongs to. */
export function contextOf(res: Response): RequestContext {
  return res.locals as unknown as RequestContext;
}
