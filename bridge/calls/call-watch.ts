// What happens to calls left alone: recovery after a crash, calls whose callbacks never come, limits, credit, and the
// orderly end of all of them. Asks the carrier, then lets call-state decide. Never dials.
import type { Log } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import type { CarrierCallSnapshot } from '../carriers/carrier.ts';
import type { Fault, HangupCause } from '../protocol/call-reasons.ts';
import type { LiveEntry } from './call-desk.ts';
import { endBy, isTerminal } from './call-state.ts';
import type { Switchboard } from './switchboard.ts';

export interface CallWatch {
  /** Calls that were taken over from a process that is dead reach their end. Resolves when all have. */
  recover(calls: readonly CallRecord[]): Promise<void>;
  /** Looks at every live call now; `start` has it done every few seconds. */
  look(): Promise<void>;
  start(): void;
  /** Waits for live calls up to `seconds`, then has the agents say a closing line, then hangs up. */
  drain(seconds: number): Promise<void>;
  /** Hangs up everything and records each end, whatever the carrier answers, in `withinMs`. */
  endAll(cause: StopCause, withinMs: number): Promise<void>;
  close(): void;
}

export interface CallWatchOptions {
  switchboard: Switchboard;
  store: Store;
  log: Log;
  now: () => Date;
  /** The clock of the switchboard's entries. */
  monotonicMs: () => number;
  ringSeconds: number;
  maxSeconds: number;
  pricePerMinute: number;
  reserveMinutes: number;
  /** What an agent says before its call is ended from outside. */
  closingLine: string;
  everyMs?: number;
  /** A named place at which chaos tests kill the process. */
  failpoint?: (name: string) => void;
}

/** The carrier ends a call soon after we asked; after this it is asked what became of it. */
const END_GRACE_MS = 10_000;
/** A spoken last line may take this much longer. */
const SPOKEN_GRACE_MS = 20_000;
/** Key tones take less; and how often the carrier is asked about a call that was handed over. */
const AWAY_MS = 60_000;
/** Between the answer and the media stream. */
const STREAM_GRACE_MS = 30_000;
/** A media thread tells every few seconds that it looks after a call. */
const MEDIA_SILENT_MS = 30_000;
/** And lets go of one that is over, once its last words are written down. */
const RELEASE_MS = 30_000;
/** The closing line is given this long before the cap of a drain, or before the credit is used up. */
const CLOSING_LINE_MS = 15_000;

/** At the cap of a drain: to hang up what is left. */
const END_ALL_MS = 4_500;

/** Why all calls are ended at once. */
export type StopCause = Extract<HangupCause, 'draining' | 'daemon_stopped' | 'daemon_crashed'>;

const ENDED = new Set(['completed', 'busy', 'no_answer', 'failed', 'canceled']);

const RESTARTED = {
  code: 'daemon_restart',
  message: 'The service was restarted during the call.',
} as const;

const max = (a: string, b: string) => (a > b ? a : b);

/** Looks after nothing until it is started; `recover` comes first. */
export function openCallWatch(o: CallWatchOptions): CallWatch {
  const { switchboard, store, log } = o;
  const { carrierOf } = switchboard;
  let timer: NodeJS.Timeout | null = null;
  let running = false;
  /** Calls in which the agent was asked for its closing line, because the credit runs out. */
  const toldOfCredit = new WeakSet<LiveEntry>();

  async function ask(call: CallRecord): Promise<CarrierCallSnapshot | null | 'unknown'> {
    if (call.carrier_call_id === null) return null;
    try {
      return await carrierOf(call).fetchCall(call.carrier_call_id);
    } catch (error) {
      log.warn({ call_id: call.id, err: error }, 'carrier.not_asked');
      return 'unknown';
    }
  }

  /** Records what the carrier says became of a call; false while it lives or nobody knows. */
  async function settleBy(
    call: CallRecord,
    snapshot: CarrierCallSnapshot | null | 'unknown',
  ): Promise<boolean> {
    if (snapshot === 'unknown' || snapshot === null) return false;
    const end = endBy(snapshot, o.now().toISOString());
    if (end !== null) await switchboard.apply(call.id, end);
    return end !== null;
  }

  /**
   * The process died between its intent to dial and the carrier's answer: the call may be ringing somewhere. Of several
   * that may be its own, none is adopted and all are hung up: a call must not get another's end and bill.
   */
  async function findLeg(call: CallRecord): Promise<CallRecord> {
    const unfinished = await store.unfinishedCalls();
    const hasRival = unfinished.some(
      (other) =>
        other.id !== call.id &&
        other.carrier_call_id === null &&
        other.to_number === call.to_number &&
        other.from_number === call.from_number,
    );
    const carrier = carrierOf(call);
    let adopted = call;
    try {
      const found = await carrier.findCalls({
        to: call.to_number,
        from: call.from_number,
        since: call.created_at,
      });
      for (const { carrierCallId, status } of found) {
        if ((await store.findCallByCarrierId(carrier.name, carrierCallId)) !== null) continue;
        if (!hasRival && adopted === call) {
          adopted = (await switchboard.apply(call.id, { type: 'accepted', carrierCallId })) ?? call;
        } else if (!ENDED.has(status)) await carrier.cancel(carrierCallId);
      }
    } catch (error) {
      log.warn({ call_id: call.id, err: error }, 'carrier.not_asked');
    }
    return adopted;
  }

  async function recoverOne(found: CallRecord): Promise<void> {
    let call = found.carrier_call_id === null ? await findLeg(found) : found;
    const snapshot = await ask(call);
    // We had ended the talk ourselves, or nobody had answered: then the carrier's own account is the true one.
    if ((call.hangup_cause !== null || call.answered_at === null) && (await settleBy(call, snapshot))) return;
    if (snapshot !== null && snapshot !== 'unknown') {
      if (snapshot.status === 'answered' && call.answered_at === null) {
        const at = snapshot.startedAt ?? o.now().toISOString();
        call = (await switchboard.apply(call.id, { type: 'answered', at: max(at, call.created_at) })) ?? call;
      } else if (ENDED.has(snapshot.status)) {
        // The line was cut with the process, perhaps long ago: it ended then, by the carrier's count, and by our fault.
        await switchboard.apply(call.id, {
          type: 'finishing',
          cause: RESTARTED.code,
          errorCode: RESTARTED.code,
          errorMessage: RESTARTED.message,
        });
        await settleBy(call, snapshot);
        return;
      }
    }
    const ended = await switchboard.endNow(call.id, 'daemon_restart', RESTARTED);
    if (ended !== null && !isTerminal(ended.status)) {
      // The carrier did not answer. The record must not wait for it; its leg is bounded by its own time limit.
      await switchboard.apply(call.id, {
        type: 'ended',
        at: o.now().toISOString(),
        outcome: 'failed',
        durationSeconds: longest(call),
        cause: 'daemon_restart',
        errorCode: RESTARTED.code,
        errorMessage: RESTARTED.message,
      });
    }
  }

  /** Connected seconds of a call whose end nobody saw: up to now, and no more than the carrier lets any call last. */
  function longest(call: CallRecord): number | null {
    if (call.answered_at === null) return null;
    const seconds = Math.ceil((o.now().getTime() - Date.parse(call.answered_at)) / 1000);
    return Math.min(o.maxSeconds, Math.max(0, seconds));
  }

  async function topUp(entry: LiveEntry, call: CallRecord, connectedMs: number): Promise<void> {
    if (o.pricePerMinute === 0) return;
    // A minute ahead of what is used up, so that the line is never cut in a minute already paid for.
    if (connectedMs < (entry.reservedMinutes - 1) * 60_000) return;
    // As much as usual, else a minute: the last of the credit can be talked away too.
    for (const minutes of new Set([o.reserveMinutes, 1])) {
      // A disk that takes no writes is no fault of the caller's: at the end, what was used is charged, as far as there is
      // credit.
      if (!store.writable()) return;
      const saved = await store.saveCall(call.id, {
        from: ['in_progress'],
        change: {},
        ledger: [{ kind: 'top_up', amountMilliCents: -Math.ceil(o.pricePerMinute * minutes) }],
      });
      if (!('conflict' in saved)) {
        entry.reservedMinutes += minutes;
        return;
      }
      // Anything else means that the call has ended meanwhile.
      if (saved.conflict !== 'insufficient_credit') return;
    }
    const leftMs = entry.reservedMinutes * 60_000 - connectedMs;
    if (leftMs <= 0) await switchboard.endNow(call.id, 'credit_exhausted', null);
    else if (leftMs <= CLOSING_LINE_MS && !toldOfCredit.has(entry)) {
      toldOfCredit.add(entry);
      switchboard.finish(call.id, 'credit_exhausted', o.closingLine);
    }
  }

  async function look(entry: LiveEntry, now: number): Promise<void> {
    const call = await store.findCall(entry.callId);
    if (call === null) return;
    if (isTerminal(call.status)) {
      if (entry.releasedAt === null || now - entry.releasedAt < RELEASE_MS) return;
      log.error({ call_id: call.id, thread: entry.thread }, 'media.not_released');
      switchboard.forget(call.id);
      return;
    }
    if (entry.finishing !== null) {
      const grace = entry.finishing.speaking ? SPOKEN_GRACE_MS : END_GRACE_MS;
      if (now - entry.finishing.at < grace) return;
      if (await settleBy(call, await ask(call))) return;
      const { talk } = entry.finishing;
      await switchboard.endNow(call.id, talk?.cause ?? 'stream_ended', talk?.error ?? null);
      return;
    }
    if (entry.aliveAt !== null && now - entry.aliveAt > MEDIA_SILENT_MS) {
      if (await settleBy(call, await ask(call))) return;
      await switchboard.endNow(call.id, 'stalled', {
        code: 'media_silent',
        message: 'The part of the service that carries the audio said nothing more of the call.',
      });
      return;
    }
    if (entry.away !== null && now - entry.away.since > AWAY_MS) {
      entry.away.since = now;
      if (await settleBy(call, await ask(call))) return;
      if (entry.away.why === 'digits') {
        await switchboard.endNow(call.id, 'stream_lost', {
          code: 'stream_lost',
          message: 'The audio of the call did not come back after key tones.',
        });
        return;
      }
    }
    if (call.answered_at === null) {
      const limit = (carrierOf(call).capabilities.answerSeconds ?? o.ringSeconds + 30) * 1000;
      if (now - entry.since < limit) return;
      if (await settleBy(call, await ask(call))) return;
      await switchboard.endNow(call.id, 'no_answer', null);
      return;
    }
    if (entry.lostAt !== null && now - entry.lostAt > END_GRACE_MS) {
      // The carrier has said neither that the call is over nor asked what comes next.
      if (await settleBy(call, await ask(call))) return;
      await switchboard.endNow(call.id, 'stream_lost', {
        code: 'stream_lost',
        message: 'The audio of the call was lost, and the carrier did not say why.',
      });
      return;
    }
    const connectedMs = now - (entry.answeredAt ?? now);
    if (!entry.streaming && entry.mediaStartedAt === null && connectedMs > STREAM_GRACE_MS) {
      if (await settleBy(call, await ask(call))) return;
      await switchboard.endNow(call.id, 'stream_lost', {
        code: 'stream_never_started',
        message:
          'The call was answered and its audio never came: check that PUBLIC_URL reaches this daemon for websockets.',
      });
      return;
    }
    if (connectedMs > (o.maxSeconds + 30) * 1000) {
      await switchboard.endNow(call.id, 'max_duration', null);
      return;
    }
    await topUp(entry, call, connectedMs);
  }

  async function round(): Promise<void> {
    if (running) return;
    running = true;
    try {
      const now = o.monotonicMs();
      for (const entry of [...switchboard.entries().values()]) {
        await look(entry, now).catch((error: unknown) =>
          log.error({ call_id: entry.callId, err: error }, 'call.watch_failed'),
        );
      }
    } finally {
      running = false;
    }
  }

  const idle = () => switchboard.entries().size === 0;

  async function waitIdle(ms: number): Promise<boolean> {
    const until = performance.now() + ms;
    while (!idle() && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 50));
    return idle();
  }

  /** While the carrier is being asked for a call nobody can hang it up: it could ring after its record has ended. */
  async function dialOver(callId: string, until: number): Promise<boolean> {
    for (;;) {
      const call = await store.findCall(callId);
      if (call === null || call.carrier_call_id !== null || isTerminal(call.status)) return true;
      if (performance.now() >= until) return false;
      await new Promise((again) => setTimeout(again, 20));
    }
  }

  async function endAll(cause: StopCause, withinMs: number): Promise<void> {
    const until = performance.now() + withinMs;
    const carrierUntil = performance.now() + withinMs * 0.6;
    const error: Fault | null =
      cause === 'draining' ? null : { code: cause, message: 'The service was stopped during the call.' };
    const late = new Promise((resolve) => setTimeout(resolve, withinMs * 0.6 + 50));
    async function endOne(callId: string): Promise<void> {
      // Still being dialled: the next start asks the carrier what became of it, and hangs it up.
      if (!(await dialOver(callId, carrierUntil))) return;
      await Promise.race([switchboard.endNow(callId, cause, error).catch(() => null), late]);
      // The carrier did not answer in time. The record does not wait for it; its leg is bounded by its own time limit.
      await switchboard.apply(callId, {
        type: 'ended',
        at: o.now().toISOString(),
        outcome: (await store.findCall(callId))?.answered_at == null ? 'canceled' : 'completed',
        durationSeconds: null,
        cause,
        errorCode: null,
        errorMessage: null,
      });
    }
    await Promise.all(
      [...switchboard.entries().keys()].map((callId) =>
        endOne(callId).catch((failure: unknown) =>
          log.error({ call_id: callId, err: failure }, 'call.not_ended'),
        ),
      ),
    );
    await waitIdle(until - performance.now());
  }

  return {
    async recover(calls) {
      if (calls.length > 0) log.warn({ count: calls.length }, 'calls.recovering');
      // A few at a time: a carrier limits requests at once.
      const queue = [...calls];
      await Promise.all(
        Array.from({ length: 4 }, async () => {
          for (let call = queue.shift(); call !== undefined; call = queue.shift()) {
            const { id } = call;
            await recoverOne(call).catch((error: unknown) =>
              log.error({ call_id: id, err: error }, 'call.not_recovered'),
            );
            o.failpoint?.('one_recovered');
          }
        }),
      );
    },
    look: round,
    start() {
      timer ??= setInterval(() => void round(), o.everyMs ?? 5_000);
      timer.unref();
    },
    async drain(seconds) {
      switchboard.setAccepting(false);
      log.info({ live: switchboard.entries().size, seconds }, 'drain.started');
      const closingMs = Math.min(CLOSING_LINE_MS, (seconds * 1000) / 2);
      if (await waitIdle(seconds * 1000 - closingMs)) return;
      for (const callId of switchboard.entries().keys())
        switchboard.finish(callId, 'draining', o.closingLine);
      if (await waitIdle(closingMs)) return;
      await endAll('draining', END_ALL_MS);
    },
    endAll: (cause, withinMs) => {
      switchboard.setAccepting(false);
      return endAll(cause, withinMs);
    },
    close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
    },
  };
}
