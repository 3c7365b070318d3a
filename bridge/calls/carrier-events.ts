// What a carrier's hooks report and ask, translated and handed to the calls they are about. Any of it may come twice, late or
// out of order: what it means for a call is the call's.
import { AppError } from '../../errors.ts';
import type { AgentView, CallRecord } from '../../storage/records.ts';
import type { Carrier, CarrierEvent, HookHandlers, InboundCall, StreamAnswer } from '../carriers/carrier.ts';
import { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { StatusEvent } from './live-state.ts';
import type { NewCalls } from './new-calls.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** How long an inbound call rings on while its model session is being opened. */
const INBOUND_MODEL_WAIT_MS = 1_500;

/**
 * How long the carrier's question after a stream waits for our own word on why it ended: a media thread that died is heard of
 * a moment later than the carrier sees its socket go, and is the better reason.
 */
const REASON_WAIT_MS = 300;

/** Why a call that could be taken is not taken now: the caller hears the line busy. */
const REFUSALS: ReadonlySet<string> = new Set(['at_capacity', 'draining', 'storage_low']);

export interface CarrierEventsOptions {
  context: CallContext;
  owned: OwnedCalls;
  newCalls: NewCalls;
  /** Whose hooks they are. */
  carrier: Carrier;
  /** Makes the record of an inbound call for its agent. */
  inboundCall(o: { agent: AgentView } & InboundCall): CallRecord;
}

/** The handlers of a carrier's hooks. */
export class CarrierEvents implements HookHandlers {
  readonly #o: CarrierEventsOptions;
  readonly #context: CallContext;

  constructor(o: CarrierEventsOptions) {
    this.#o = o;
    this.#context = o.context;
  }

  async event(event: CarrierEvent): Promise<void> {
    const { log, store } = this.#context;
    if (event.type === 'stream-failed') {
      log.warn({ call_id: event.callId, error: event.error }, 'stream.failed');
      return;
    }
    const record =
      event.callId === null
        ? await store.findCallByCarrierId(this.#o.carrier.name, event.carrierCallId)
        : await store.findCall(event.callId);
    if (record === null) {
      log.warn({ carrier_call_id: event.carrierCallId }, 'hook.unknown_call');
      return;
    }
    const call = this.#o.owned.writerOf(record, (found) => new Call(this.#context, found, () => {}));
    if (event.type === 'machine-detection')
      await call.tell({ type: 'machine-verdict', verdict: event.verdict });
    else {
      const { carrierCallId } = event;
      await call.tell({ type: 'carrier-status', carrierCallId, event: statusEvent(event) });
    }
  }

  async inbound(inbound: InboundCall): Promise<StreamAnswer> {
    const { store, observer } = this.#context;
    const before = await this.#known(inbound);
    if (before !== null) return before;
    const number = await store.findActiveNumber(inbound.to);
    const agent =
      number === null || number.inbound_agent_id === null
        ? null
        : await store.getAgent(number.org_id, number.inbound_agent_id);
    if (agent === null || agent.archived_at !== null) {
      observer.refused?.('no_agent');
      return { answer: 'reject', reason: 'rejected' };
    }
    const record = this.#o.inboundCall({ agent, ...inbound });
    const call = await this.#o.newCalls.receive(record).catch((error: unknown) => {
      if (error instanceof AppError && REFUSALS.has(error.code)) return null;
      throw error;
    });
    if (call === null || 'conflict' in call) {
      // The same question may have come twice at once: then the other one has the line.
      const meanwhile = await this.#known(inbound);
      if (meanwhile !== null) return meanwhile;
      if (call !== null) observer.refused?.(call.conflict);
      return { answer: 'reject', reason: 'busy' };
    }
    // It rings on until the model can talk, within reason.
    if ((await call.modelReady(INBOUND_MODEL_WAIT_MS)) === false) return { answer: 'reject', reason: 'busy' };
    return this.answered(call.id, inbound.carrierCallId);
  }

  async answered(callId: string, carrierCallId: string): Promise<StreamAnswer> {
    const answer = await this.#o.owned.get(callId)?.answer({ type: 'stream-asked', carrierCallId });
    return answer === undefined || answer === 'wait' ? { answer: 'hang-up' } : answer;
  }

  async afterStream(callId: string, carrierCallId: string, transfer?: string): Promise<StreamAnswer> {
    const call = this.#o.owned.get(callId);
    if (call === undefined) return { answer: 'hang-up' };
    const asked = { type: 'stream-over', carrierCallId, transfer: transfer ?? null } as const;
    let answer = await call.answer({ ...asked, waited: false });
    if (answer === 'wait') {
      await new Promise((later) => setTimeout(later, REASON_WAIT_MS));
      answer = await call.answer({ ...asked, waited: true });
    }
    return answer === 'wait' ? { answer: 'hang-up' } : answer;
  }

  /** The carrier asks again: the same answer, as long as the call lives. Null: it is a new one. */
  async #known({ carrierCallId }: InboundCall): Promise<StreamAnswer | null> {
    const record = await this.#context.store.findCallByCarrierId(this.#o.carrier.name, carrierCallId);
    return record === null ? null : this.answered(record.id, carrierCallId);
  }
}

/** Null where the carrier only says that it has the call. */
function statusEvent(event: Extract<CarrierEvent, { type: 'status' }>): StatusEvent | null {
  const { at } = event;
  const { status } = event;
  switch (status) {
    case 'queued':
    case 'initiated':
      return null;
    case 'ringing':
    case 'answered':
      return { type: status, at };
    default:
      return {
        type: 'ended',
        at,
        outcome: status,
        durationSeconds: event.durationSeconds,
        cause: event.cause,
        errorCode: event.errorCode,
        errorMessage: event.errorMessage,
        rang: event.rang ?? false,
      };
  }
}
