// How a call begins: it takes its slot, has its owner and its row, its media thread opens the model, and it is dialled, or
// its stream is awaited, or its caller is answered.
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import { maskNumber } from '../../log.ts';
import type { CallRecord, EventType } from '../../storage/records.ts';
import type { Conflict } from '../../storage/store.ts';
import { Call } from './call.ts';
import type { CallContext } from './call-context.ts';
import type { CallSlots } from './call-slots.ts';
import type { AskedBy, Calls } from './calls.ts';
import type { OwnedCalls } from './owned-calls.ts';
import { refusedCall } from './refused-call.ts';

export class NewCalls {
  readonly #o: CallContext;
  readonly #owned: OwnedCalls;
  readonly #slots: CallSlots;

  constructor(o: CallContext, owned: OwnedCalls, slots: CallSlots) {
    this.#o = o;
    this.#owned = owned;
    this.#slots = slots;
  }

  /** As `Calls.dispatch`. */
  async dispatch(record: CallRecord, asked: AskedBy = {}): Promise<CallRecord> {
    const { call } = await this.#begin(record, 'call.queued', 1, asked);
    this.#o.failpoint('row_before_dial');
    const { thread } = call.picture ?? {};
    this.#o.log.info({ call_id: call.id, to: maskNumber(record.to_number), thread }, 'call.dispatched');
    return call.dial();
  }

  /** As `Calls.awaitStream`. */
  async awaitStream(record: CallRecord, patience: number): ReturnType<Calls['awaitStream']> {
    const event = record.direction === 'inbound' ? 'call.ringing' : 'call.queued';
    const { call } = await this.#begin(record, event, patience);
    const { thread } = call.picture ?? {};
    this.#o.log.info({ call_id: call.id, carrier: record.carrier, thread }, 'call.awaited');
    // There is no other side to accept it: from here on the call is its stream's.
    const accepted = await call.tell({ type: 'dial-accepted', carrierCallId: call.id });
    return { call: accepted, ...call.awaited };
  }

  /** A call that rings here; a conflict where it cannot be taken. @throws AppError draining, storage_low, at_capacity */
  async receive(record: CallRecord): Promise<Call | Conflict> {
    const opened = await this.#open(record, 'call.ringing', 1);
    if ('conflict' in opened) return opened;
    const { call } = opened;
    this.#o.failpoint('inbound_before_answer');
    const { thread } = call.picture ?? {};
    this.#o.log.info({ call_id: call.id, from: maskNumber(record.from_number), thread }, 'call.received');
    return call;
  }

  async #begin(
    record: CallRecord,
    event: EventType,
    patience: number,
    asked: AskedBy = {},
  ): Promise<{ call: Call }> {
    const opened = await this.#open(record, event, patience, asked);
    if ('conflict' in opened) {
      if (opened.refusal !== undefined) throw refusedCall(opened.refusal);
      if (record.contact_id !== null && opened.conflict !== 'insufficient_credit')
        throw new AppError('conflict', `The campaign does not begin this call: ${opened.conflict}.`);
      throw new AppError(
        'insufficient_credit',
        'The credit left does not cover the start of a call; add credit and try again.',
      );
    }
    return opened;
  }

  async #open(
    record: CallRecord,
    event: EventType,
    patience: number,
    asked: AskedBy = {},
  ): Promise<{ call: Call } | Conflict> {
    const { store, recordCalls, pricePerMinute, reserveMinutes } = this.#o;
    const recording_path = recordCalls ? join('recordings', `${record.id}.wav`) : null;
    const wanted = { ...record, recording_path };
    // It has its owner before it is stored: whoever asks about the row finds him.
    const call = await this.#slots.admit(() => {
      const owner = new Call(this.#o, wanted, (over) => this.#owned.letGo(over));
      this.#owned.own(owner);
      return owner;
    });
    const reserve = Math.ceil(pricePerMinute * reserveMinutes);
    const made = await call.create(
      () => store.createCall(wanted, { events: [event], reserve, ...asked }),
      patience,
    );
    return 'conflict' in made ? made : { call };
  }
}
