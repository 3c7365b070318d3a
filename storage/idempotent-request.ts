// What becomes of a request with an Idempotency-Key: who runs it, who waits, who is given an answer, who finds out what came
// of an intent. PURE: the engine keeps a row per key; by which marks it tells the states apart is its own.
import type { Conflict, Store } from './store.ts';

/** For so long a repeat is given the answer. */
const KEPT_MS = 24 * 60 * 60 * 1000;
/** A request in progress for longer has got lost in this process; another daemon's is left to that one while it lives. */
const ABANDONED_MS = 2 * 60 * 1000;

/** How far a request has come. */
export type Progress =
  | { state: 'in_progress' }
  /** What is about to be done, or was, with nobody left who knows what came of it. */
  | { state: 'intended'; body: string }
  | { state: 'done'; status: number; body: string };

export interface KeptRequest {
  requestHash: string;
  createdAt: string;
  /** When whoever runs it now began. */
  begunAt: string;
  /** The daemon that runs it, by its epoch; null: none does. */
  owner: number | null;
  progress: Progress;
}

/** Keys made then or before are free again. */
export function forgottenUpTo(now: string): string {
  return new Date(Date.parse(now) - KEPT_MS).toISOString();
}

/**
 * A request comes with a key: what it is answered, and the request as it is from now on where this daemon runs it; null:
 * nothing changes.
 */
export function begun(
  found: KeptRequest | null,
  { requestHash, owner, now }: { requestHash: string; owner: number; now: string },
): { answer: Awaited<ReturnType<Store['beginIdempotent']>>; request: KeptRequest | null } {
  if (found === null || found.createdAt <= forgottenUpTo(now)) {
    const progress = { state: 'in_progress' } as const;
    return {
      answer: { state: 'new' },
      request: { requestHash, createdAt: now, begunAt: now, owner, progress },
    };
  }
  if (found.requestHash !== requestHash) return { answer: { state: 'reused' }, request: null };
  const { progress } = found;
  const wait = { answer: { state: 'in_progress' }, request: null } as const;
  // Also of an intent: what comes of it is known when that request is over.
  if (found.owner !== null && found.owner !== owner) return wait;
  const again = { ...found, begunAt: now, owner };
  switch (progress.state) {
    case 'done':
      return { answer: progress, request: null };
    case 'intended':
      return { answer: progress, request: again };
    case 'in_progress': {
      const abandoned = Date.parse(now) - Date.parse(found.begunAt) >= ABANDONED_MS;
      return abandoned ? { answer: { state: 'new' }, request: again } : wait;
    }
  }
}

/** Before the effect: stored by whoever runs it. Conflict not_owner: it must not be done here. */
export function intended(found: KeptRequest | null, owner: number, body: string): KeptRequest | Conflict {
  if (found === null || found.owner !== owner) return { conflict: 'not_owner' };
  return { ...found, progress: { state: 'intended', body } };
}

/** It is over, with an answer, or (status null) with an intent of which nobody knows what came; null: it is another's. */
export function finished(
  found: KeptRequest | null,
  owner: number,
  { status, body }: { status: number | null; body: string },
): KeptRequest | null {
  if (found === null || found.owner !== owner) return null;
  const progress: Progress = status === null ? { state: 'intended', body } : { state: 'done', status, body };
  return { ...found, owner: null, progress };
}

/** Whether the key of a request that came to nothing is free again; one with an intent is not. */
export function mayDrop(found: KeptRequest | null, owner: number): boolean {
  return found?.owner === owner && found.progress.state === 'in_progress';
}

/**
 * What a daemon that is gone was running: a repeat need not wait until it counts as abandoned; of an intent, the repeat finds
 * what came of it. Null: the key is free again.
 */
export function left(found: KeptRequest): KeptRequest | null {
  return found.progress.state === 'in_progress' ? null : { ...found, owner: null };
}
