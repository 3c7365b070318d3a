// A call's life: (call, event, now) -> change, events, money and effects, or null when the event changes nothing.
// PURE. Monotonic: late, repeated and reordered events add missing times and nothing else.
import type { CallRecord, CallStatus, EventType, LedgerRecord } from '../../storage/records.ts';
import type { CarrierCallSnapshot, CarrierStatus } from '../carriers/carrier.ts';
import type { FaultCode, HangupCause } from '../protocol/call-reasons.ts';

/** How long a call has lasted, in milliseconds, by a clock that is never set; its times are by the wall's, which may be. */
export interface Lasted {
  /** From its ringing, else from when it was made. */
  call: number;
  /** From its answer; null when that was not seen. */
  connected: number | null;
}

export type CallEvent =
  | { type: 'accepted'; carrierCallId: string }
  | { type: 'refused'; at: string; code: string | null; message: string; lastedMs?: Lasted | undefined }
  | { type: 'ringing'; at: string }
  /** The carrier says so, or the media stream has started: both prove that someone picked up. */
  | { type: 'answered'; at: string }
  | {
      type: 'ended';
      at: string;
      outcome: Extract<CarrierStatus, 'completed' | 'busy' | 'no_answer' | 'failed' | 'canceled'>;
      /** Connected seconds by the carrier's count, where it told. */
      durationSeconds: number | null;
      cause: string | null;
      errorCode: string | null;
      errorMessage: string | null;
      /** The carrier says that it had rung, though its callback of that is still under way. */
      rang?: boolean;
      lastedMs?: Lasted | undefined;
    }
  /** The talk is ended by us and this is why; whoever says so hangs up, and the carrier's own end follows. */
  | { type: 'finishing'; cause: HangupCause; errorCode: FaultCode | null; errorMessage: string | null }
  | { type: 'machine-detected'; answeredBy: string };

export type CallEffect =
  /** The carrier has taken a call that has ended here: it must not go on there, and nobody else asks. */
  | 'hang-up'
  /** The media thread lets go of the call. */
  | 'release'
  /** The conversation is over: its result can be worked out. */
  | 'settle-result';

export interface Step {
  from: readonly CallStatus[];
  change: Partial<CallRecord>;
  events: readonly EventType[];
  /**
   * What is given back follows from what is held: storage works it out, and the rows always add up. A charge that hold
   * and balance together do not cover is cut there to what is left.
   */
  ledger: readonly { kind: LedgerRecord['kind']; amountMilliCents: number }[];
  effects: readonly CallEffect[];
}

/** The end of a call as the carrier tells of it when it is asked; null while it lives there. @param now where it names no time */
export function endBy(
  snapshot: CarrierCallSnapshot,
  now: string,
): Extract<CallEvent, { type: 'ended' }> | null {
  const { status } = snapshot;
  if (status === 'queued' || status === 'initiated' || status === 'ringing' || status === 'answered')
    return null;
  return {
    type: 'ended',
    at: snapshot.endedAt ?? now,
    outcome: status,
    durationSeconds: snapshot.durationSeconds,
    cause: null,
    errorCode: null,
    errorMessage: null,
  };
}

const EVENT_OF: Record<'completed' | 'busy' | 'no_answer' | 'failed' | 'canceled', EventType> = {
  completed: 'call.completed',
  busy: 'call.busy',
  no_answer: 'call.no_answer',
  failed: 'call.failed',
  canceled: 'call.canceled',
};

/** True for a status that no event leaves. */
export function isTerminal(
  status: CallStatus,
): status is 'completed' | 'busy' | 'no_answer' | 'failed' | 'canceled' {
  return status in EVENT_OF;
}

/** Whole seconds from one time to another, rounded up, never negative. */
function secondsBetween(from: string, to: string): number {
  return Math.max(0, Math.ceil((Date.parse(to) - Date.parse(from)) / 1000));
}

/** Whole seconds, rounded up, of a measured time, else of what its two records say. */
function secondsOf(measuredMs: number | null | undefined, from: string, to: string): number {
  return measuredMs == null ? secondsBetween(from, to) : Math.max(0, Math.ceil(measuredMs / 1000));
}

/** The price of connected seconds at a price per minute, rounded up to a whole milli-cent. */
export function chargeFor(seconds: number, pricePerMinute: number): number {
  return Math.ceil((seconds * pricePerMinute) / 60);
}

/** An answer that overtook the callback of the ringing proves that it rang: every order of callbacks tells the same. */
function missedRinging(status: CallStatus): readonly EventType[] {
  return status === 'queued' || status === 'initiated' ? ['call.ringing'] : [];
}

/**
 * A time by somebody else's clock, which may count in whole seconds: never before what is known to have come before it.
 * Those of a call are in order, created, rung, answered, ended, whoever told of them.
 */
function notBefore(at: string, ...earlier: (string | null)[]): string {
  return earlier.reduce<string>((latest, time) => (time !== null && time > latest ? time : latest), at);
}

/** The time of the answer as the end tells it, where the callback of the answer has not come. */
function inferredAnswer(call: CallRecord, endedAt: string, seconds: number): string {
  const at = new Date(Date.parse(endedAt) - seconds * 1000).toISOString();
  return notBefore(at, call.created_at, call.started_at);
}

/** Whether the time of the answer was worked out from the end. */
function isInferredAnswer(call: CallRecord): boolean {
  const { ended_at, billed_duration_seconds: seconds } = call;
  if (call.answered_at === null || ended_at === null || seconds === null) return false;
  return call.answered_at === inferredAnswer(call, ended_at, seconds);
}

function step(
  from: CallStatus,
  change: Partial<CallRecord>,
  rest: Partial<Omit<Step, 'from' | 'change'>> = {},
): Step {
  return { from: [from], change, events: [], ledger: [], effects: [], ...rest };
}

/** Why a call that ended without a conversation has no result. */
const NO_CONVERSATION: Record<string, string> = {
  busy: 'The line was busy: there was no conversation to take a result from.',
  no_answer: 'Nobody answered: there was no conversation to take a result from.',
  canceled: 'The call was canceled before anyone answered.',
  failed: 'The call failed: there is no finished conversation to take a result from.',
};

function end(call: CallRecord, event: Extract<CallEvent, { type: 'ended' }>, pricePerMinute: number): Step {
  const endedAt = notBefore(event.at, call.created_at, call.started_at, call.answered_at);
  // `completed` for a call never seen answered means that the callback of the answer was lost or is late.
  const answeredAt =
    call.answered_at ??
    (event.outcome === 'completed' ? inferredAnswer(call, endedAt, event.durationSeconds ?? 0) : null);
  const connected = answeredAt !== null;
  const failed = connected && (call.error_code !== null || event.outcome === 'failed');
  // A call that we gave up before anyone answered, because of a fault of ours, has failed and was not canceled.
  const status = connected
    ? failed
      ? 'failed'
      : 'completed'
    : call.error_code === null || event.outcome === 'completed'
      ? event.outcome
      : 'failed';
  const billed = connected
    ? (event.durationSeconds ?? secondsOf(event.lastedMs?.connected, answeredAt, endedAt))
    : null;
  const amount = billed === null ? null : chargeFor(billed, pricePerMinute);
  const rang = connected || status === 'no_answer' || event.rang === true;
  const noReturns = Object.keys(call.returns).length === 0;
  const ours: HangupCause = status === 'completed' ? 'remote_hangup' : status;
  return step(
    call.status,
    {
      status,
      ...(call.answered_at === null && connected ? { answered_at: answeredAt } : {}),
      ended_at: endedAt,
      // The carrier's count of the talk and ours of the whole are two measures: the whole is never the shorter.
      duration_seconds: Math.max(
        billed ?? 0,
        secondsOf(event.lastedMs?.call, call.started_at ?? call.created_at, endedAt),
      ),
      billed_duration_seconds: billed,
      billing_amount_milli_cents: amount,
      reservation_status: connected ? 'settled' : 'released',
      reserved_milli_cents: 0,
      hangup_cause: call.hangup_cause ?? (status === 'completed' ? ours : (event.cause ?? ours)),
      ...failure(call, event, status),
      ...(status === 'completed'
        ? {}
        : noReturns
          ? { result_status: 'completed' }
          : { result_status: 'failed', result_error: NO_CONVERSATION[status] ?? null }),
    },
    {
      events: [
        ...(rang ? missedRinging(call.status) : []),
        ...(call.answered_at === null && connected ? (['call.answered'] as const) : []),
        // call.completed waits for the result; every other end is told at once.
        ...(status === 'completed' ? [] : [EVENT_OF[status]]),
      ],
      ledger: connected
        ? [{ kind: 'settle', amountMilliCents: 0 }]
        : [{ kind: 'release', amountMilliCents: 0 }],
      effects: ['release', ...(status === 'completed' ? (['settle-result'] as const) : [])],
    },
  );
}

/** What went wrong: ours where we know it, else the carrier's; a failed call says it even where the carrier gave no code. */
function failure(
  call: CallRecord,
  event: Extract<CallEvent, { type: 'ended' }>,
  status: CallStatus,
): Pick<CallRecord, 'error_code' | 'error_message'> {
  const code = call.error_code ?? event.errorCode;
  const message = call.error_message ?? event.errorMessage;
  if (status !== 'failed') return { error_code: code, error_message: message };
  const reason = event.cause === null ? '' : ` (${event.cause})`;
  return {
    error_code: code ?? ('carrier_failed' satisfies FaultCode),
    error_message: message ?? `The carrier could not connect the call, or lost it${reason}.`,
  };
}

/** A ringing that is heard of after the end: its time, and an answer worked out from the end is not before it. */
function lateRinging(call: CallRecord, at: string, endedAt: string): Step | null {
  if (at > endedAt) return null;
  // No longer than from when it was made, which was measured, and no shorter than the talk.
  const whole = Math.min(secondsBetween(at, endedAt), call.duration_seconds ?? Number.POSITIVE_INFINITY);
  const seconds = Math.max(whole, call.billed_duration_seconds ?? 0);
  const change = { started_at: at, duration_seconds: seconds };
  if (call.answered_at === null || at <= call.answered_at) return step(call.status, change);
  return isInferredAnswer(call) ? step(call.status, { ...change, answered_at: at }) : null;
}

/**
 * What an event does to a call.
 * @param pricePerMinute milli-cents a connected minute
 * @returns null when the event comes too late or says nothing new
 */
export function next(call: CallRecord, event: CallEvent, pricePerMinute: number): Step | null {
  const { status } = call;
  if (isTerminal(status)) {
    // Both ends hang up at once, and callbacks come late: only what is still missing is noted.
    const { ended_at } = call;
    if (event.type === 'ringing' && call.started_at === null && ended_at !== null && event.at <= ended_at) {
      return lateRinging(call, notBefore(event.at, call.created_at), ended_at);
    }
    if (event.type === 'answered' && ended_at !== null && event.at <= ended_at) {
      const at = notBefore(event.at, call.created_at, call.started_at);
      const isNews = at !== call.answered_at && isInferredAnswer(call);
      return isNews ? step(status, { answered_at: at }) : null;
    }
    if (event.type === 'machine-detected' && call.answered_by === null) {
      return step(status, { answered_by: event.answeredBy });
    }
    if (event.type === 'accepted' && call.carrier_call_id === null) {
      // The call was given up while the carrier was still asked: it must not ring on.
      return step(status, { carrier_call_id: event.carrierCallId }, { effects: ['hang-up'] });
    }
    return null;
  }
  switch (event.type) {
    case 'accepted':
      if (call.carrier_call_id !== null && status !== 'queued') return null;
      return step(status, {
        carrier_call_id: event.carrierCallId,
        ...(status === 'queued' ? { status: 'initiated' as const } : {}),
      });
    case 'refused':
      if (status !== 'queued') return null;
      return step(
        status,
        {
          status: 'failed',
          ended_at: notBefore(event.at, call.created_at),
          duration_seconds: secondsOf(event.lastedMs?.call, call.created_at, event.at),
          error_code: event.code,
          error_message: event.message,
          hangup_cause: 'refused_by_carrier' satisfies HangupCause,
          reservation_status: 'released',
          reserved_milli_cents: 0,
          ...(Object.keys(call.returns).length === 0
            ? { result_status: 'completed' as const }
            : { result_status: 'failed' as const, result_error: 'The carrier refused the call.' }),
        },
        {
          events: ['call.failed'],
          ledger: [{ kind: 'release', amountMilliCents: 0 }],
          effects: ['release'],
        },
      );
    case 'ringing': {
      const at = notBefore(event.at, call.created_at);
      if (status === 'queued' || status === 'initiated') {
        return step(
          status,
          { status: 'ringing', started_at: call.started_at ?? at },
          { events: ['call.ringing'] },
        );
      }
      return call.started_at === null && at <= (call.answered_at ?? at)
        ? step(status, { started_at: at })
        : null;
    }
    case 'answered':
      if (status === 'in_progress') return null;
      return step(
        status,
        { status: 'in_progress', answered_at: notBefore(event.at, call.created_at, call.started_at) },
        { events: [...missedRinging(status), 'call.answered'] },
      );
    case 'finishing':
      if (call.hangup_cause !== null) return null;
      return step(status, {
        hangup_cause: event.cause,
        ...(event.errorCode === null
          ? {}
          : { error_code: event.errorCode, error_message: event.errorMessage }),
      });
    case 'machine-detected':
      return call.answered_by === event.answeredBy ? null : step(status, { answered_by: event.answeredBy });
    case 'ended':
      return end(call, event, pricePerMinute);
  }
}
