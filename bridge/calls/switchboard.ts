// The switchboard: live calls as the control plane and the rest of the program see them. Dials, cancels and hangs up;
// the desk keeps the calls, the inboxes read what comes in.
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import { maskNumber } from '../../log.ts';
import type { CallRecord, EventType } from '../../storage/records.ts';
import type { Carrier, HookHandlers } from '../carriers/carrier.ts';
import type { Fault, HangupCause } from '../protocol/call-reasons.ts';
import type { EndReason, FromMedia } from '../protocol/messages.ts';
import { type CallDesk, type CallDeskOptions, type LiveEntry, openCallDesk } from './call-desk.ts';
import { machinePlan, streamPath } from './call-plan.ts';
import { type CallEvent, isTerminal } from './call-state.ts';
import type { Calls } from './calls.ts';
import { openCarrierInbox } from './carrier-inbox.ts';
import { openMediaInbox } from './media-inbox.ts';
import type { MediaThreads } from './media-threads.ts';

/** The carrier's own limit of a call lies behind ours, so that the longest call ends by us and says why. */
const CARRIER_GRACE_SECONDS = 30;

export interface Switchboard extends Calls, HookHandlers {
  onMedia(message: FromMedia): void;
  onThreadLost(callIds: readonly string[]): void;
  carrierOf(call: Pick<CallRecord, 'carrier'>): Carrier;
  /** Applies an event to a call; answers the call as it is afterwards. */
  apply(callId: string, event: CallEvent): Promise<CallRecord | null>;
  entries(): ReadonlyMap<string, LiveEntry>;
  /** Has the media thread end the talk, with a spoken line or at once. */
  finish(callId: string, reason: EndReason, say: string | null): void;
  /** Ends a call at the carrier and records the end, whatever the media does. */
  endNow(callId: string, cause: HangupCause, error: Fault | null): Promise<CallRecord | null>;
  /** Lets go of a call that is over, whatever its media thread still does. */
  forget(callId: string): void;
  setAccepting(accepting: boolean): void;
  /** Stores what waits to be stored in batches. */
  flush(): void;
  /** Ends the recordings of live calls; the calls go on. */
  stopRecordings(): void;
  attach(threads: MediaThreads): void;
}

/** The first callback of a call comes within this, unless the carrier still keeps the call in its queue. */
const CALLBACK_WAIT_MS = 2_000;

/** Opens the switchboard; its media threads are attached once they run, since each needs the other. */
export function openSwitchboard(o: CallDeskOptions): Switchboard {
  const { store, carrier, log } = o;
  const desk: CallDesk = openCallDesk(o);
  const { live, apply, endNow } = desk;

  /** Stores a call and has a media thread open its model. */
  async function open(call: CallRecord, event: EventType, patience = 1): Promise<LiveEntry> {
    const opened = await desk.open(() => {
      const recording_path = o.recordCalls ? join('recordings', `${call.id}.wav`) : null;
      return store.createCall(
        { ...call, recording_path },
        { events: [event], reserve: Math.ceil(o.pricePerMinute * o.reserveMinutes) },
      );
    }, patience);
    if ('conflict' in opened) {
      throw new AppError(
        'insufficient_credit',
        'The credit left does not cover the start of a call; add credit and try again.',
      );
    }
    return opened.entry;
  }

  async function awaitStream(
    call: CallRecord,
    { patience }: { patience: number },
  ): ReturnType<Calls['awaitStream']> {
    const event = call.direction === 'inbound' ? 'call.ringing' : 'call.queued';
    const entry = await open(call, event, patience);
    log.info({ call_id: call.id, carrier: call.carrier, thread: entry.thread }, 'call.awaited');
    // There is no other side to accept it: from here on the call is its stream's.
    const accepted = await apply(call.id, { type: 'accepted', carrierCallId: call.id });
    return {
      call: accepted ?? call,
      path: streamPath(entry.thread, entry.carrier, call.id),
      token: desk.streamAnswer(entry).parameters.token ?? '',
    };
  }

  async function dispatch(call: CallRecord): Promise<CallRecord> {
    const entry = await open(call, 'call.queued');
    o.failpoint?.('row_before_dial');
    log.info({ call_id: call.id, to: maskNumber(call.to_number), thread: entry.thread }, 'call.dispatched');
    try {
      const machine = machinePlan(call, carrier);
      const { carrierCallId } = await carrier.placeCall({
        callId: call.id,
        to: call.to_number,
        from: call.from_number,
        ringSeconds: o.ringSeconds,
        maxSeconds: o.maxSeconds + CARRIER_GRACE_SECONDS,
        machineDetection: machine === 'none' ? null : machine === 'hangup' ? 'detect' : 'message_end',
      });
      o.failpoint?.('dialled_before_record');
      return (await apply(call.id, { type: 'accepted', carrierCallId })) ?? call;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'carrier_error') throw error;
      const adopted = error.carrierCode === 'no_answer_from_carrier' ? await adopt(call) : null;
      if (adopted !== null) return adopted;
      await apply(call.id, {
        type: 'refused',
        at: o.now().toISOString(),
        code: error.carrierCode ?? null,
        message: error.message,
      });
      throw error;
    }
  }

  /**
   * The carrier's answer to a dial was lost: it is asked for the call, and never dialled again. Its own first callback
   * names the call for certain; only without it, another call to the same number is taken for this one.
   */
  async function adopt(call: CallRecord): Promise<CallRecord | null> {
    try {
      for (let waitedMs = 0; waitedMs < CALLBACK_WAIT_MS; waitedMs += 100) {
        const known = await store.findCall(call.id);
        if (known !== null && known.carrier_call_id !== null) return known;
        await new Promise((again) => setTimeout(again, 100));
      }
      const found = await carrier.findCalls({
        to: call.to_number,
        from: call.from_number,
        since: call.created_at,
      });
      for (const snapshot of found) {
        if ((await store.findCallByCarrierId(carrier.name, snapshot.carrierCallId)) !== null) continue;
        return await apply(call.id, { type: 'accepted', carrierCallId: snapshot.carrierCallId });
      }
    } catch (error) {
      log.warn({ call_id: call.id, err: error }, 'call.not_adopted');
    }
    return null;
  }

  async function owned(orgId: string, id: string): Promise<CallRecord> {
    const call = await store.getCall(orgId, id);
    if (call === null) throw new AppError('not_found', `There is no call ${id}.`);
    if (isTerminal(call.status)) throw new AppError('call_ended', `The call has ended (${call.status}).`);
    return call;
  }

  return {
    ...openCarrierInbox(desk),
    onMedia: openMediaInbox(desk),
    dispatch,
    awaitStream,
    carrierOf: desk.carrierOf,
    async cancel(orgId, id) {
      const call = await owned(orgId, id);
      if (call.status === 'in_progress') {
        throw new AppError('conflict', 'The call was answered already; use hangup to end it.');
      }
      return (await endNow(id, 'canceled', null)) ?? call;
    },
    async hangUp(orgId, id) {
      const call = await owned(orgId, id);
      return (await endNow(id, call.answered_at === null ? 'canceled' : 'hangup_requested', null)) ?? call;
    },
    live: () => [...live.values()].map(({ callId, thread, floor }) => ({ callId, thread, floor })),
    accepting: desk.accepting,
    setAccepting: desk.setAccepting,
    attach: desk.attach,
    flush: desk.turnLog.flush,
    stopRecordings() {
      for (const callId of live.keys()) desk.pool().post(callId, { type: 'stop-recording', callId });
    },
    onThreadLost(callIds) {
      for (const callId of callIds) {
        endNow(callId, 'thread_lost', {
          code: 'media_thread_lost',
          message: 'The thread that carried the audio stopped.',
        }).catch((error: unknown) => log.error({ call_id: callId, err: error }, 'call.step_failed'));
      }
    },
    apply: (callId: string, event: CallEvent) => apply(callId, event),
    entries: () => live,
    forget: desk.forget,
    finish(callId, reason, say) {
      desk.pool().post(callId, { type: 'finish', callId, reason, say });
    },
    endNow,
  };
}
