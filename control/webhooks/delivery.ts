// One attempt of one delivery: take it by a lease, sign and post the stored bytes, record what came of it.
// When to attempt is the schedule's and the dispatcher's business; where a URL may lead is the egress's.
import { type Clock, systemClock } from '../../clock.ts';
import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import { receiverOf } from '../../storage/due-delivery.ts';
import type { AttemptOutcome, ClaimedDelivery, Store } from '../../storage/store.ts';
import { type Egress, EgressError, type EgressErrorKind } from '../egress/egress.ts';
import { type AttemptResult, judgeAttempt, RETRY_SECONDS, readRetryAfter } from './schedule.ts';
import { isOurFault, REACH_WINDOW_MS, type Reach } from './sender-fault.ts';
import { signWebhook } from './signature.ts';

/** A receiver answers within this, connecting included. */
export const ATTEMPT_TIMEOUT_MS = 15_000;
/** How long a taken delivery stays out of everybody else's hands: an attempt, and a wait for its receiver's turn before it. */
export const LEASE_MS = 60_000;
/** When an attempt that was not charged, because the fault was ours, is made again. */
const UNCHARGED_RETRY_MS = 60_000;
/** A timer may be early by a moment; by more, it is none of ours. */
const EARLY_MS = 1_000;
const MAX_RESPONSE_BYTES = 16 * 1024;
const EXCERPT_BYTES = 2048;
/** A fault that looks like ours for longer than the whole schedule is charged after all: nothing may stay pending for ever. */
const SCHEDULE_MS = RETRY_SECONDS.reduce((sum, seconds) => sum + seconds, 0) * 1000;
const MAX_REACHES_KEPT = 200;

/** `last_error` of a delivery, by what went wrong. Refused and closed read the same. */
export const ERROR_NAME: Record<EgressErrorKind, string> = {
  blocked: 'blocked_address',
  dns: 'dns_error',
  connect: 'connection_failed',
  tls: 'tls_error',
  timeout: 'timeout',
  reset: 'connection_failed',
  protocol: 'protocol_error',
};

export interface Delivery {
  /** Takes a delivery that had so many attempts; null when there is nothing to do. */
  claim(id: string, attempt: number): Promise<ClaimedDelivery | null>;
  /**
   * Posts and records; storage tells its listeners of the next attempt. One that is not charged because the fault was
   * ours comes up again in a minute, one cut by `stop` at the next start. Rejects only when storage does.
   */
  attempt(claimed: ClaimedDelivery, stop: AbortSignal): Promise<void>;
  /** Gives a taken delivery back as it was, for anybody to take. Rejects only when storage does. */
  giveBack(claimed: ClaimedDelivery): Promise<void>;
}

export interface DeliveryOptions {
  store: Pick<Store, 'claimDelivery' | 'recordAttempt' | 'releaseDelivery'>;
  egress: Pick<Egress, 'request'>;
  log: Log;
  /** Scales the schedule; 1 but in tests. */
  retryScale: number;
  version: string;
  leaseMs?: number;
  clock?: Clock;
}

function headersOf(claimed: ClaimedDelivery, startedAtMs: number, version: string): Record<string, string> {
  const { delivery, body, secrets } = claimed;
  const timestampSeconds = Math.floor(startedAtMs / 1000);
  return {
    'Content-Type': 'application/json; charset=utf-8',
    'User-Agent': `Offhook-Webhooks/${version}`,
    'Service-Event-Id': delivery.id,
    'Service-Event-Type': delivery.event_type,
    'Service-Event-Sequence': String(claimed.sequence),
    'Service-Delivery-Attempt': String(delivery.attempt_count + 1),
    ...(claimed.replay ? { 'Service-Replay': 'true' } : {}),
    'webhook-id': delivery.id,
    'webhook-timestamp': String(timestampSeconds),
    'webhook-signature': signWebhook({ id: delivery.id, timestampSeconds, body, secrets }),
  };
}

/** The start of an answer as text; a character cut in two at the end is left out. */
function excerptOf(body: Buffer): string | null {
  if (body.length === 0) return null;
  const text = new TextDecoder().decode(body.subarray(0, EXCERPT_BYTES), { stream: true });
  return text.replaceAll('\u0000', '');
}

export function openDelivery(o: DeliveryOptions): Delivery {
  const leaseMs = o.leaseMs ?? LEASE_MS;
  const clock = o.clock ?? systemClock;
  let lately: Reach[] = [];

  function noteReach(reach: Reach): void {
    lately = lately.filter((old) => old.atMs > reach.atMs - REACH_WINDOW_MS).slice(-MAX_REACHES_KEPT);
    lately.push(reach);
  }

  return {
    async claim(id, attempt) {
      const now = clock.now();
      const claimed = await o.store.claimDelivery(id, attempt, now.toISOString(), leaseMs);
      if (claimed === null) return null;
      // The queue goes by the wall clock, and that was set.
      const early = Date.parse(claimed.delivery.next_attempt_at) - now.getTime() > EARLY_MS;
      if (!early) return claimed;
      await o.store.releaseDelivery(id, null);
      return null;
    },

    async giveBack({ delivery }) {
      await o.store.releaseDelivery(delivery.id, null);
    },

    async attempt(claimed, stop) {
      const { delivery, body } = claimed;
      const attemptsMade = delivery.attempt_count + 1;
      const ofSchedule = attemptsMade - delivery.attempts_before;
      failpoint('claimed_before_post');
      const startedAtMs = clock.now().getTime();
      const begun = clock.monotonicMs();
      const receiver = receiverOf(delivery);
      let status: number | null = null;
      let error: string | null = null;
      let excerpt: string | null = null;
      let result: AttemptResult;
      try {
        const answer = await o.egress.request(delivery.url, {
          method: 'POST',
          headers: headersOf(claimed, startedAtMs, o.version),
          body,
          timeoutMs: ATTEMPT_TIMEOUT_MS,
          maxResponseBytes: MAX_RESPONSE_BYTES,
          signal: stop,
        });
        status = answer.status;
        excerpt = excerptOf(answer.body);
        if (status < 200 || status > 299) {
          error = status >= 300 && status <= 399 ? 'redirect_not_followed' : `http_status_${status}`;
        }
        const retryAfterMs = readRetryAfter(answer.headers['retry-after'], clock.now().getTime());
        result = { status, error: error === null ? null : 'failed', retryAfterMs };
        noteReach({ atMs: clock.monotonicMs(), receiver, reached: true, ours: false });
      } catch (cause) {
        if (stop.aborted) return;
        if (!(cause instanceof EgressError)) throw cause;
        error = ERROR_NAME[cause.kind];
        const kind = cause.kind === 'blocked' || cause.kind === 'timeout' ? cause.kind : 'failed';
        result = { status: null, error: kind };
        if (kind !== 'blocked') {
          const reach = { atMs: clock.monotonicMs(), receiver, reached: cause.connected, ours: cause.ours };
          noteReach(reach);
          const pendingMs = clock.now().getTime() - Date.parse(delivery.created_at);
          if (isOurFault(reach, lately) && pendingMs < SCHEDULE_MS * o.retryScale) {
            o.log.warn({ delivery_id: delivery.id, error, err: cause.cause }, 'delivery.not_charged');
            const again = new Date(clock.now().getTime() + Math.ceil(UNCHARGED_RETRY_MS * o.retryScale));
            await o.store.releaseDelivery(delivery.id, again.toISOString());
            return;
          }
        }
      }
      const latencyMs = Math.round(clock.monotonicMs() - begun);
      failpoint('posted_before_record');

      const verdict = judgeAttempt(ofSchedule, result, { random: Math.random(), scale: o.retryScale });
      const atMs = verdict.do === 'retry' ? Math.ceil(clock.now().getTime() + verdict.delayMs) : null;
      const outcome: AttemptOutcome = {
        attempt: {
          started_at: new Date(startedAtMs).toISOString(),
          latency_ms: latencyMs,
          response_status: status,
          error,
          response_excerpt: excerpt,
        },
        status: verdict.do === 'deliver' ? 'delivered' : verdict.do === 'exhaust' ? 'exhausted' : 'pending',
        ...(atMs === null ? {} : { nextAttemptAt: new Date(atMs).toISOString() }),
      };
      const recorded = await o.store.recordAttempt(delivery.id, outcome);
      o.log.info(
        {
          delivery_id: delivery.id,
          endpoint_id: delivery.endpoint_id,
          call_id: delivery.call_id,
          type: delivery.event_type,
          attempt: attemptsMade,
          replay: claimed.replay,
          status: 'conflict' in recorded ? `conflict: ${recorded.conflict}` : recorded.status,
          response_status: status,
          error,
          latency_ms: latencyMs,
        },
        'delivery.attempted',
      );
    },
  };
}
