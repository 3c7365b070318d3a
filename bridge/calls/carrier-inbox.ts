// What a carrier's hooks report and ask, brought to the calls they are about. Any of it may come twice, late or out of order.
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import { maskNumber } from '../../log.ts';
import type { CarrierEvent, HookHandlers, InboundCall, StreamAnswer } from '../carriers/carrier.ts';
import type { CallDesk } from './call-desk.ts';
import { happenedAt } from './call-plan.ts';
import { isTerminal } from './call-state.ts';

/** How long an inbound call rings on while its model session is being opened. */
const INBOUND_MODEL_WAIT_MS = 1_500;

/** How long the carrier's question after a stream waits for our own word on why it ended. */
const REASON_WAIT_MS = 300;

/** Why a call that could be taken is not taken now: the caller hears the line busy. */
const REFUSALS: ReadonlySet<string> = new Set(['at_capacity', 'draining', 'storage_low']);

/** The handlers of a carrier's hooks. */
export function openCarrierInbox(desk: CallDesk): HookHandlers {
  const { live, apply, streamAnswer } = desk;
  const { store, carrier, log } = desk.o;
  const o = desk.o;

  /** What the agent is told of a transfer that did not come about. */
  function transferError(why: string): string {
    const told = o.texts.line.transferFailed;
    return why === 'busy' || why === 'no-answer' ? told[why] : told.failed;
  }

  async function carrierEvent(event: CarrierEvent): Promise<void> {
    if (event.type === 'machine-detection') {
      const answeredBy = event.verdict === 'machine_ready' ? 'machine' : event.verdict;
      await apply(event.callId, { type: 'machine-detected', answeredBy });
      desk.pool().post(event.callId, {
        type: 'machine-detection',
        callId: event.callId,
        verdict: event.verdict,
      });
      return;
    }
    if (event.type === 'stream-failed') {
      log.warn({ call_id: event.callId, error: event.error }, 'stream.failed');
      return;
    }
    const call =
      event.callId === null
        ? await store.findCallByCarrierId(carrier.name, event.carrierCallId)
        : await store.findCall(event.callId);
    if (call === null) {
      log.warn({ carrier_call_id: event.carrierCallId }, 'hook.unknown_call');
      return;
    }
    if (call.carrier_call_id !== null && call.carrier_call_id !== event.carrierCallId) {
      log.warn({ call_id: call.id, carrier_call_id: event.carrierCallId }, 'hook.other_call');
      return;
    }
    // A callback may overtake the answer to our own request.
    if (call.carrier_call_id === null) {
      await apply(call.id, { type: 'accepted', carrierCallId: event.carrierCallId });
    }
    const at = happenedAt(event.at, o.now(), call.created_at);
    switch (event.status) {
      case 'queued':
      case 'initiated':
        return;
      case 'ringing':
        await apply(call.id, { type: 'ringing', at });
        return;
      case 'answered': {
        await apply(call.id, { type: 'answered', at });
        const entry = live.get(call.id);
        if (entry !== undefined) entry.answered = true;
        return;
      }
      default:
        await apply(call.id, {
          type: 'ended',
          at,
          outcome: event.status,
          durationSeconds: event.durationSeconds,
          cause: event.cause,
          errorCode: event.errorCode,
          errorMessage: event.errorMessage,
          rang: event.rang ?? false,
        });
    }
  }

  /** The carrier asks again: the same answer, as long as the call lives. Null: it is a new one. */
  async function knownInbound(call: InboundCall): Promise<StreamAnswer | null> {
    const known = await store.findCallByCarrierId(carrier.name, call.carrierCallId);
    if (known === null) return null;
    const entry = live.get(known.id);
    return entry === undefined || isTerminal(known.status) ? { answer: 'hang-up' } : streamAnswer(entry);
  }

  async function inbound(call: InboundCall): Promise<StreamAnswer> {
    const before = await knownInbound(call);
    if (before !== null) return before;
    const number = await store.findActiveNumber(call.to);
    const agent =
      number === null || number.inbound_agent_id === null
        ? null
        : await store.getAgent(number.org_id, number.inbound_agent_id);
    if (agent === null || agent.archived_at !== null) {
      o.observer.refused?.('no_agent');
      return { answer: 'reject', reason: 'rejected' };
    }
    const opened = await desk
      .open(() => {
        const record = o.inboundCall({ agent, ...call });
        if (o.recordCalls) record.recording_path = join('recordings', `${record.id}.wav`);
        return store.createCall(record, {
          events: ['call.ringing'],
          reserve: Math.ceil(o.pricePerMinute * o.reserveMinutes),
        });
      })
      .catch((error: unknown) => {
        if (error instanceof AppError && REFUSALS.has(error.code)) return null;
        throw error;
      });
    if (opened === null || 'conflict' in opened) {
      // The same question may have come twice at once: then the other one has the line.
      const meanwhile = await knownInbound(call);
      if (meanwhile !== null) return meanwhile;
      if (opened !== null) o.observer.refused?.(opened.conflict);
      return { answer: 'reject', reason: 'busy' };
    }
    const { entry } = opened;
    o.failpoint?.('inbound_before_answer');
    log.info({ call_id: entry.callId, from: maskNumber(call.from), thread: entry.thread }, 'call.received');
    // It rings on until the model can talk, within reason.
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), INBOUND_MODEL_WAIT_MS);
    });
    const ready = await Promise.race([entry.modelReady, late]);
    clearTimeout(timer);
    if (ready === false) return { answer: 'reject', reason: 'busy' };
    return streamAnswer(entry);
  }

  async function streamFor(callId: string, carrierCallId: string): Promise<StreamAnswer> {
    const call = await store.findCall(callId);
    const entry = live.get(callId);
    if (call === null || entry === undefined || isTerminal(call.status) || entry.finishing !== null)
      return { answer: 'hang-up' };
    if (call.carrier_call_id === null) await apply(callId, { type: 'accepted', carrierCallId });
    else if (call.carrier_call_id !== carrierCallId) return { answer: 'hang-up' };
    return streamAnswer(entry);
  }

  return {
    event: carrierEvent,
    inbound,
    answered: streamFor,
    async afterStream(callId, carrierCallId, transfer) {
      const entry = live.get(callId);
      if (transfer !== undefined && entry?.away?.why === 'transfer') {
        if (entry.away.modelLost) {
          await desk.endNow(callId, 'transfer_failed', null);
          return { answer: 'hang-up' };
        }
        // Nobody took the call: it goes on with the agent, which is told why.
        entry.away.result = { ok: false, error: transferError(transfer) };
        return streamFor(callId, carrierCallId);
      }
      if (entry === undefined || entry.finishing !== null || entry.away !== null)
        return { answer: 'hang-up' };
      // A media thread that died is heard of a moment later than the carrier sees its socket go, and is the better reason.
      await new Promise((later) => setTimeout(later, REASON_WAIT_MS));
      const call = await store.findCall(callId);
      if (call === null || isTerminal(call.status) || call.hangup_cause !== null)
        return { answer: 'hang-up' };
      // The line lives, nobody has ended the talk, and only its audio is gone. The media thread may say so later.
      await desk.endNow(
        callId,
        'stream_lost',
        entry.mediaStartedAt === null
          ? { code: 'stream_never_started', message: 'The audio of the call never came.' }
          : { code: 'stream_lost', message: 'The audio of the call was lost while the line was still up.' },
      );
      return { answer: 'hang-up' };
    },
  };
}
