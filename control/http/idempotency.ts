// Requests made once: an Idempotency-Key's first request runs, a repeat is answered what the first was. Where an effect
// cannot be taken back (a phone rings), an intent is stored before it, so that a repeat after a crash finds it.
import { createHash } from 'node:crypto';
import type { Response } from 'express';
import { AppError } from '../../errors.ts';
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import type { Answer } from './answer.ts';
import { errorBody, toAppError } from './error-answer.ts';

/** Codes of failures that come before any effect, so that a repeat may try again. */
const HARMLESS = new Set(['at_capacity', 'draining', 'storage_low']);

/** What this process is running. The store forgets who runs, after a while; this does not. */
const running = new Set<string>();

/**
 * The header's value, or null without one.
 * @throws AppError invalid_request when it is not 1 to 255 visible characters
 */
export function checkIdempotencyKey(value: string | undefined): string | null {
  if (value === undefined) return null;
  if (!/^[\x20-\x7e]{1,255}$/.test(value)) {
    throw new AppError('invalid_request', 'Idempotency-Key must have 1 to 255 visible ASCII characters.', {
      param: 'Idempotency-Key',
    });
  }
  return value;
}

const inProgress = () =>
  new AppError(
    'idempotency_in_progress',
    'A request with this Idempotency-Key is running; ask again in a moment for its answer.',
    { param: 'Idempotency-Key', retryAfterSeconds: 1, retryable: true },
  );

export interface OnceOptions {
  store: Pick<Store, 'beginIdempotent' | 'intendIdempotent' | 'finishIdempotent' | 'dropIdempotent'>;
  log: Pick<Log, 'error'>;
  orgId: string;
  key: string;
  /** All that makes two requests the same; only its hash is kept. */
  request: string;
  now: Date;
  requestId: string;
  failures: 'kept' | 'dropped';
  /** What came of an intent, or null for nothing. */
  recover: (id: string) => Promise<Answer | null>;
  /** Of a good answer. */
  status: number;
  res: Response;
}

/**
 * Runs `run` unless the key has been used: then the stored answer is written to `res` and null comes back.
 * A refusal (4xx) is not stored: the same request may be made again once its cause is mended.
 * @throws AppError idempotency_key_reused, idempotency_in_progress, and whatever `run` throws
 */
export async function once(
  o: OnceOptions,
  run: (intend: (id: string) => Promise<void>) => Promise<Answer | null>,
): Promise<Answer | null> {
  const hash = createHash('sha256').update(o.request).digest('hex');
  const begun = await o.store.beginIdempotent(o.orgId, o.key, hash, o.now.toISOString());
  const own = `${o.orgId} ${o.key}`;
  if (begun.state === 'reused') {
    throw new AppError(
      'idempotency_key_reused',
      'This Idempotency-Key was used with another request; use a new key for a new request.',
      { param: 'Idempotency-Key' },
    );
  }
  if (begun.state === 'in_progress' || running.has(own)) throw inProgress();
  if (begun.state === 'done') {
    o.res.status(begun.status).set('Idempotent-Replayed', 'true').type('application/json').send(begun.body);
    return null;
  }

  let intended = begun.state === 'intended';
  const finish = (status: number | null, body: unknown) =>
    o.store.finishIdempotent(o.orgId, o.key, status, JSON.stringify(body ?? null));
  // What has happened has happened, also when its answer cannot be stored: the intent or the begun key stays, and a repeat
  // finds that.
  const settle = (write: Promise<void>) =>
    write.catch((error: unknown) => {
      o.log.error({ err: error, request_id: o.requestId, org_id: o.orgId }, 'idempotency.not_stored');
    });

  running.add(own);
  failpoint('key_taken');
  try {
    if (begun.state === 'intended') {
      const { id } = JSON.parse(begun.body) as { id: string | null };
      const recovered = id === null ? null : await o.recover(id);
      if (recovered !== null) {
        await settle(finish(o.status, recovered.body));
        return { ...recovered, headers: { ...recovered.headers, 'Idempotent-Replayed': 'true' } };
      }
    }
    const answer = await run(async (id) => {
      const refused = await o.store.intendIdempotent(o.orgId, o.key, JSON.stringify({ id }));
      // Another daemon has taken this one for dead and the request for its own: nothing is done here any more.
      if (refused !== null) throw inProgress();
      intended = true;
    });
    await settle(finish(o.status, answer?.body));
    return answer;
  } catch (thrown) {
    const error = toAppError(thrown);
    const keep = error.status >= 500 && o.failures === 'kept' && !HARMLESS.has(error.code);
    if (keep) await settle(finish(error.status, errorBody(error, o.requestId)));
    else if (intended) await settle(finish(null, { id: null }));
    else {
      // Before the key is free again, or a repeat would be refused that has begun.
      running.delete(own);
      await settle(o.store.dropIdempotent(o.orgId, o.key));
    }
    throw thrown;
  } finally {
    running.delete(own);
  }
}
