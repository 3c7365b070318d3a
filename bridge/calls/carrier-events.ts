// What carriers tell, translated and handed to the calls it is about. Any of it may come twice, late or out of order: what it
// means for a call is the call's.
import { AppError } from '../../errors.ts';
import type { Carrier, CarrierEvent } from '../carriers/carrier.ts';
import { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { InboundCall } from './calls.ts';
import { refuseElsewhere, refuseTaken } from './elsewhere.ts';
import type { StatusEvent, TransferFailure } from './live-state.ts';
import type { NewCalls } from './new-calls.ts';
import type { OwnedCalls } from './owned-calls.ts';

/** How long an inbound call rings on while its model session is being opened. */
const INBOUND_MODEL_WAIT_MS = 1_500;

/**
 * How long a carrier that asks what comes after a stream waits for our own word on why it ended, where there is none yet: a
 * media thread that died is heard of a moment later than the carrier sees its socket go. What was lost is brought anew at once.
 */
const REASON_WAIT_MS = 300;

/** So many calls that were refused are remembered: their carrier goes on to tell how they ended. */
const REFUSED_KEPT = 1_000;

/** Why a call that could be taken is not taken now: the caller hears the line busy. */
const REFUSALS: ReadonlySet<string> = new Set(['at_capacity', 'draining', 'storage_low']);

type Told<T extends CarrierEvent['type']> = Extract<CarrierEvent, { type: T }>;

export interface CarrierEventsOptions {
  context: CallContext;
  owned: OwnedCalls;
  newCalls: NewCalls;
  inboundCall: InboundCall;
}

export class CarrierEvents {
  readonly #o: CarrierEventsOptions;
  readonly #context: CallContext;
  /** Calls that were refused and have no record, by carrier and its id, the oldest first. */
  readonly #refused = new Set<string>();
  /** Offers in hand, by carrier and its id: each resolves when what became of it is stored. */
  readonly #offers = new Map<string, Promise<void>>();

  constructor(o: CarrierEventsOptions) {
    this.#o = o;
    this.#context = o.context;
  }

  /**
   * Resolves when it is written and the commands that follow from it were given.
   * @throws CallElsewhere for a call that is on at another daemon: without a command its line would end
   */
  async take(carrier: Carrier, event: CarrierEvent): Promise<void> {
    switch (event.type) {
      case 'call-offered':
        return this.#offered(carrier, event);
      case 'stream-wanted':
        return this.#streamWanted(carrier, event);
      case 'stream-over':
        return this.#streamOver(carrier, event, null);
      case 'transfer-failed':
        return this.#streamOver(carrier, event, event.why);
      case 'stream-failed':
        this.#context.log.warn({ call_id: event.callId, error: event.error }, 'stream.failed');
        return;
      case 'status':
      case 'machine-detection':
        return this.#changed(carrier, event);
    }
  }

  async #changed(carrier: Carrier, event: Told<'status'> | Told<'machine-detection'>): Promise<void> {
    const { log, store } = this.#context;
    const { callId, carrierCallId } = event;
    const record =
      callId === null
        ? await store.findCallByCarrierId(carrier.name, carrierCallId)
        : await store.findCall(callId);
    if (record === null) {
      if (!this.#refused.has(callKey(carrier, carrierCallId)))
        log.warn({ carrier_call_id: carrierCallId }, 'carrier.event.unknown_call');
      return;
    }
    if (this.#isOthers(carrier, record)) return;
    // Its owner knows more of it than its row says.
    if (this.#o.owned.get(record.id) === undefined) await refuseElsewhere(store, record);
    const call = this.#o.owned.writerOf(record, (found) => new Call(this.#context, found, () => {}));
    if (event.type === 'machine-detection')
      await call.tell({ type: 'machine-verdict', verdict: event.verdict });
    else await call.tell({ type: 'carrier-status', carrierCallId, event: statusEvent(event) });
  }

  async #offered(carrier: Carrier, event: Told<'call-offered'>): Promise<void> {
    const call = await this.#taken(carrier, event);
    if (call === null) return;
    const { carrierCallId } = event;
    // It rings on until the model can talk, within reason.
    if ((await call.modelReady(INBOUND_MODEL_WAIT_MS)) === false) {
      await refuseTaken(this.#context.store, call.id);
      return carrier.line.reject(carrierCallId, 'busy');
    }
    await call.withoutStream({ type: 'stream-asked', carrierCallId });
  }

  /** As `#take`; of one call that is offered twice at once, the second when what became of the first is stored. */
  async #taken(carrier: Carrier, event: Told<'call-offered'>): Promise<Call | null> {
    const key = callKey(carrier, event.carrierCallId);
    const taken = (this.#offers.get(key) ?? Promise.resolve()).then(() => this.#take(carrier, event));
    const over = taken.then(
      () => {},
      () => {},
    );
    this.#offers.set(key, over);
    try {
      return await taken;
    } finally {
      if (this.#offers.get(key) === over) this.#offers.delete(key);
    }
  }

  /** A call that is offered, once it has its row. Null: it had one, or was refused, and the carrier is answered. */
  async #take(carrier: Carrier, event: Told<'call-offered'>): Promise<Call | null> {
    const { store, observer } = this.#context;
    const { carrierCallId, to, from } = event;
    if (await this.#known(carrier, event)) return null;
    const number = await store.findActiveNumber(to);
    // Of a number at another carrier this one has no calls to bring.
    const agent =
      number === null || number.carrier !== carrier.name || number.inbound_agent_id === null
        ? null
        : await store.getAgent(number.org_id, number.inbound_agent_id);
    if (agent === null || agent.archived_at !== null) {
      observer.refused?.('no_agent');
      await this.#refuse(carrier, carrierCallId, 'rejected');
      return null;
    }
    const record = await this.#o.inboundCall({ agent, to, from, carrier, carrierCallId });
    if (record === null) {
      observer.refused?.('no_model');
      await this.#refuse(carrier, carrierCallId, 'rejected');
      return null;
    }
    const call = await this.#o.newCalls.receive(record).catch((error: unknown) => {
      if (error instanceof AppError && REFUSALS.has(error.code)) return null;
      throw error;
    });
    if (call === null || 'conflict' in call) {
      // It may have been offered to two daemons at once: then the other one has the line.
      if (await this.#known(carrier, event)) return null;
      if (call !== null) observer.refused?.(call.conflict);
      await this.#refuse(carrier, carrierCallId, 'busy');
      return null;
    }
    return call;
  }

  /** Refuses a call that has no record, and goes on knowing it. */
  async #refuse(carrier: Carrier, carrierCallId: string, why: 'busy' | 'rejected'): Promise<void> {
    this.#refused.add(callKey(carrier, carrierCallId));
    for (const oldest of this.#refused) {
      if (this.#refused.size <= REFUSED_KEPT) break;
      this.#refused.delete(oldest);
    }
    await carrier.line.reject(carrierCallId, why);
  }

  /** Offered again: connected again, as long as the call lives. False: it is a new one. */
  async #known(carrier: Carrier, { carrierCallId }: Told<'call-offered'>): Promise<boolean> {
    const record = await this.#context.store.findCallByCarrierId(carrier.name, carrierCallId);
    if (record === null) return false;
    await this.#streamWanted(carrier, { callId: record.id, carrierCallId });
    return true;
  }

  async #streamWanted(
    carrier: Carrier,
    { callId, carrierCallId }: Omit<Told<'stream-wanted'>, 'type'>,
  ): Promise<void> {
    const call = await this.#here(callId);
    if (call === null || this.#isOthers(carrier, call)) return;
    await call.withoutStream({ type: 'stream-asked', carrierCallId });
  }

  async #streamOver(
    carrier: Carrier,
    { callId, carrierCallId }: Told<'stream-over'> | Told<'transfer-failed'>,
    transfer: TransferFailure | null,
  ): Promise<void> {
    const call = await this.#here(callId);
    if (call === null || this.#isOthers(carrier, call)) return;
    const over = { type: 'stream-over', carrierCallId, transfer } as const;
    if (!(await call.withoutStream({ ...over, waited: false }))) return;
    await new Promise((later) => setTimeout(later, REASON_WAIT_MS));
    await call.withoutStream({ ...over, waited: true });
  }

  /** Null for a call that is over, or none. @throws CallElsewhere */
  async #here(callId: string): Promise<Call | null> {
    const call = this.#o.owned.get(callId);
    if (call !== undefined) return call;
    const { store } = this.#context;
    const record = await store.findCall(callId);
    if (record !== null) await refuseElsewhere(store, record);
    return null;
  }

  /** Whoever signs as one carrier has no say over another's calls. */
  #isOthers(carrier: Carrier, call: { id: string; carrier: string }): boolean {
    if (call.carrier === carrier.name) return false;
    this.#context.log.warn({ call_id: call.id, carrier: carrier.name }, 'carrier.event.other_carrier');
    return true;
  }
}

function callKey(carrier: Carrier, carrierCallId: string): string {
  return `${carrier.name} ${carrierCallId}`;
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
