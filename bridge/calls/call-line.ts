// The line of one call at its carrier: every request about it that is made of a carrier, each with an answer that a step can
// read. Decides nothing.
import { AppError } from '../../errors.ts';
import { type Log, maskNumber } from '../../log.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import {
  type Carrier,
  type CarrierCallSnapshot,
  NOT_POSSIBLE,
  type StreamOffer,
} from '../carriers/carrier.ts';
import { machinePlan } from './call-plan.ts';
import { refuseTaken } from './elsewhere.ts';
import type { Ask, CallRules, Input, NotAway, Seen } from './live-state.ts';

/** The carrier's own limit of a call lies behind ours, so that the longest call ends by us and says why. */
const CARRIER_GRACE_SECONDS = 30;

/** Between requests to end a line that nobody waits for, the last over and over: until the carrier's own limit of it holds. */
const HANG_UP_AGAIN_MS = [1_000, 5_000, 20_000];
const HANG_UP_LATER_MS = 60_000;

export interface CallLineOptions {
  callId: string;
  store: Pick<Store, 'mayWrite' | 'ownerOf'>;
  carrier: Carrier;
  /** Whether a call may be handed over to a number, by the organization's rules. */
  mayHandOver(to: string): Promise<boolean>;
  log: Log;
  ringSeconds: number;
  maxSeconds: number;
  /** Waits, and does not keep the process. */
  pause(ms: number): Promise<void>;
}

export class CallLine {
  readonly #o: CallLineOptions;
  readonly #carrier: Carrier;

  constructor(o: CallLineOptions) {
    this.#o = o;
    this.#carrier = o.carrier;
  }

  get rules(): CallRules['carrier'] {
    return this.#carrier.capabilities;
  }

  machinePlan(call: CallRecord): ReturnType<typeof machinePlan> {
    return machinePlan(call, this.#carrier);
  }

  /** Asks for the call; never repeated. @throws AppError carrier_error */
  async dial(call: CallRecord): Promise<string> {
    const machine = this.machinePlan(call);
    await this.#refuseTaken();
    const { carrierCallId } = await this.#carrier.line.place({
      callId: call.id,
      to: call.to_number,
      from: call.from_number,
      ringSeconds: this.#o.ringSeconds,
      maxSeconds: this.#o.maxSeconds + CARRIER_GRACE_SECONDS,
      machineDetection: machine === 'none' ? null : machine === 'hangup' ? 'detect' : 'message_end',
    });
    return carrierCallId;
  }

  /** Lines to the same number since the call was made: one may be its own, where the answer to its dial was lost. */
  async candidates(call: CallRecord): Promise<CarrierCallSnapshot[]> {
    const { id: callId, to_number: to, from_number: from, created_at: since } = call;
    return this.#carrier.line.find({ callId, to, from, since });
  }

  /** Ends a line that is no call's. @throws CallElsewhere */
  async endStray(carrierCallId: string): Promise<void> {
    await this.#refuseTaken();
    await this.#carrier.line.hangUp(carrierCallId, { answered: false });
  }

  /** Null: the carrier did not answer. @throws CallElsewhere */
  async hangUp({
    carrierCallId,
    answered,
  }: Omit<Ask<'hang-up'>, 'do'>): Promise<Input<'hang-up-answered'>['answer']> {
    await this.#refuseTaken();
    try {
      return await this.#carrier.line.hangUp(carrierCallId, { answered });
    } catch (error) {
      this.#o.log.warn({ call_id: this.#o.callId, err: error }, 'carrier.hang_up_failed');
      return null;
    }
  }

  /** A line that nobody waits for any more: the carrier is asked until it answers, or its own limit of the call holds. */
  async hangUpAtLast(ask: Ask<'hang-up-at-last'>): Promise<void> {
    const { ringSeconds, maxSeconds, pause } = this.#o;
    const limitMs = (ringSeconds + maxSeconds) * 1000;
    for (let tries = 0, waitedMs = 0; waitedMs <= limitMs; tries++) {
      // Whose the call is now sees to its line.
      if ((await this.hangUp(ask).catch(() => 'another’s')) !== null) return;
      const pauseMs = HANG_UP_AGAIN_MS[tries] ?? HANG_UP_LATER_MS;
      await pause(pauseMs);
      waitedMs += pauseMs;
    }
  }

  /** Has the call's sound brought to its stream. */
  async connect(carrierCallId: string, stream: StreamOffer): Promise<void> {
    await this.#refuseTaken();
    await this.#carrier.line.connect(carrierCallId, stream);
  }

  /** As `connect`, without a question of the carrier's: it is asked for again, where this fails. */
  async connectUnasked(carrierCallId: string, stream: StreamOffer): Promise<void> {
    try {
      await this.connect(carrierCallId, stream);
    } catch (error) {
      this.#o.log.warn({ call_id: this.#o.callId, err: error }, 'carrier.not_connected');
    }
  }

  /** Null: it has no such call. */
  async lookUp(carrierCallId: string): Promise<Seen> {
    try {
      return await this.#carrier.line.lookUp(carrierCallId);
    } catch (error) {
      this.notAsked(error);
      return 'unknown';
    }
  }

  /** Before each command. @throws CallElsewhere */
  #refuseTaken(): Promise<void> {
    return refuseTaken(this.#o.store, this.#o.callId);
  }

  notAsked(error: unknown): void {
    this.#o.log.warn({ call_id: this.#o.callId, err: error }, 'carrier.not_asked');
  }

  /** False: the carrier did not take it. @throws CallElsewhere */
  async speakAndHangUp({ carrierCallId, line }: Ask<'speak-and-hang-up'>): Promise<boolean> {
    await this.#refuseTaken();
    return this.#carrier.line.sayAndHangUp(carrierCallId, line).then(
      () => true,
      () => false,
    );
  }

  /** Null when the line leaves, else why not. @throws CallElsewhere */
  async leave(ask: Ask<'send-digits'> | Ask<'transfer'>): Promise<NotAway | null> {
    const { carrierCallId } = ask;
    const { callId } = this.#o;
    await this.#refuseTaken();
    if (ask.do === 'transfer' && !(await this.#o.mayHandOver(ask.to).catch(() => false))) {
      this.#o.log.warn({ call_id: callId, to: maskNumber(ask.to) }, 'call.handover_refused');
      return 'refused';
    }
    try {
      if (ask.do === 'send-digits') await this.#carrier.line.sendKeys(carrierCallId, ask.digits, { callId });
      else await this.#carrier.line.transfer(carrierCallId, ask.to, { callId, from: ask.from });
      return null;
    } catch (error) {
      this.#o.log.warn(
        { call_id: callId, why: ask.do === 'transfer' ? 'transfer' : 'digits', err: error },
        'carrier.not_away',
      );
      return error instanceof AppError && error.carrierCode === NOT_POSSIBLE ? 'not_possible' : 'refused';
    }
  }
}
