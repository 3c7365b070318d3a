// What a carrier must do for us: bring and end calls on its line, tell what happens to them, sell numbers. PURE types.
// Each carrier is a folder here and a line in carriers.ts; its media side is a wire (media-wire.ts) and a line in media.ts.
import type { Router } from 'express';
import type { SpokenLine } from '../protocol/agent-texts.ts';

/**
 * A carrier, its parts put together. Errors of all its verbs are AppError('carrier_error') with the carrier's code in
 * `carrierCode`, `retryable` for 429, 5xx and no answer; what it cannot do at all it refuses with NOT_POSSIBLE.
 */
export interface Carrier {
  readonly name: string;
  readonly capabilities: CarrierCapabilities;
  readonly line: Line;
  /** Null where it has no numbers to sell. */
  readonly numbers: Numbers | null;
  /** Its hooks, to be mounted at the path it was opened with; null where it tells in another way. */
  readonly hooks: Router | null;
  /** What its media upgrades are proven by (media.ts); empty where nothing is shared. */
  readonly mediaSecret: string;
  /** Whether it can be reached and takes our credentials: one request that changes nothing. Null: there is nobody to ask. */
  readonly check: (() => Promise<void>) | null;
  /**
   * Begins to tell what happens, by its hooks or by a connection that it holds from now on. Until then nothing is told,
   * and the line can be asked already. Once.
   */
  open(tell: TellEvent): Promise<void>;
  /** Tells nothing more. Safe to call twice. */
  close(): Promise<void>;
}

/** Where carriers differ in what a call of theirs is; each is read where it matters, and nobody asks for the name. */
export interface CarrierCapabilities {
  /** Its calls go over the telephone network; else their other side is a page of ours. */
  readonly telephone: boolean;
  /** Tells answering machines from people. Without it the agent waits for no verdict. */
  readonly detectsMachines: boolean;
  /** The media stream is the whole call: its end is the end of the call, and nobody else tells of it. */
  readonly streamIsCall: boolean;
  /** A call that nobody has answered ends after this; null: after the time it may ring. */
  readonly answerSeconds: number | null;
}

/** What a call's record names the side that is a page of ours. */
export const A_PAGE = 'browser';

/** The `carrierCode` of what a carrier cannot do at all; the message then says so to the agent. */
export const NOT_POSSIBLE = 'not_possible';

/** The `carrierCode` of a number that is ordered, and not ours yet: to be asked for again, which orders nothing twice. */
export const ORDER_PENDING = 'order_pending';

/** The `carrierCode` when nobody knows whether the carrier has done what was asked. */
export const NO_ANSWER = 'no_answer_from_carrier';

/** Commands on calls. What a carrier wants as the answer to a hook of its own, it makes of them by itself. */
export interface Line {
  /**
   * Asks for a call. Resolves when the carrier has accepted it: it is not ringing yet. Never retried by itself; rejects
   * with NO_ANSWER, not retryable, where the call may have been placed all the same.
   */
  place(o: PlaceCall): Promise<{ carrierCallId: string }>;
  /**
   * Brings the call's sound to a stream of ours: answers a call that was offered, and connects one that waits for its
   * stream or has lost it. Never fails for a call that is gone.
   */
  connect(carrierCallId: string, stream: StreamOffer): Promise<void>;
  /** Refuses a call that was offered. Never fails for a call that is gone. */
  reject(carrierCallId: string, reason: 'busy' | 'rejected'): Promise<void>;
  /**
   * Ends a call, rung or answered. Never fails for a call that is gone.
   * @param o.answered as far as we know: some carriers end a call that rings in another way
   */
  hangUp(carrierCallId: string, o: { answered: boolean }): Promise<'ended' | 'already_ended'>;
  /** Hands the caller to another number after the current audio; the stream ends. */
  transfer(carrierCallId: string, to: string, o: { callId: string; from: string }): Promise<void>;
  /** Plays key tones to the other side. Where the stream ends for that, it is wanted again afterwards. */
  sendKeys(carrierCallId: string, keys: string, o: { callId: string }): Promise<void>;
  /**
   * Says a line with the carrier's own voice, in its language, and hangs up: for when the model is gone. Never fails for a call
   * that is gone.
   */
  sayAndHangUp(carrierCallId: string, line: SpokenLine): Promise<void>;
  /** A call as the carrier has it; null where it knows none. */
  lookUp(carrierCallId: string): Promise<CarrierCallSnapshot | null>;
  /**
   * What may be a call of ours whose acceptance was never heard, newest first: the one that bears its id, where the carrier
   * was told it; else the calls to its number since then.
   */
  find(o: { callId: string; to: string; from: string; since: string }): Promise<CarrierCallSnapshot[]>;
}

export interface PlaceCall {
  callId: string;
  to: string;
  from: string;
  ringSeconds: number;
  maxSeconds: number;
  /** Answering-machine detection, always asynchronous: verdict at once, or at the end of the greeting. */
  machineDetection: 'detect' | 'message_end' | null;
}

/**
 * Where a call's stream is awaited, and the one-time token that it must bring: as its parameter `token` (media-wire.ts), or,
 * where a carrier carries no parameters or signs no upgrades (media.ts), behind the address: `url/token`.
 */
export interface StreamOffer {
  callId: string;
  /** ws:// or wss://, to the letter as it will be verified, but for the token behind it. */
  url: string;
  token: string;
}

export interface CarrierCallSnapshot {
  carrierCallId: string;
  status: CarrierStatus;
  to: string;
  from: string;
  /** Connected seconds, once ended. */
  durationSeconds: number | null;
  startedAt: string | null;
  endedAt: string | null;
}

export type CarrierStatus =
  | 'queued'
  | 'initiated'
  | 'ringing'
  | 'answered'
  | 'completed'
  | 'busy'
  | 'no_answer'
  | 'failed'
  | 'canceled';

/**
 * Hears one event. Resolves when it is stored and the commands that follow from it were given; rejects when it could not
 * be taken: the carrier then has to tell it again.
 */
export type TellEvent = (event: CarrierEvent) => Promise<void>;

/**
 * What a carrier reports. Any of it may come twice, late, or out of order. A call that was offered, or is without its
 * stream, is told `connect` or `reject` before `TellEvent` resolves, or nothing: then nobody wants it, and a carrier that
 * has to be told what comes next ends it.
 */
export type CarrierEvent =
  /** A call comes in. */
  | {
      type: 'call-offered';
      carrierCallId: string;
      to: string;
      /** E.164; a SIP address or the like of a caller without a number; `anonymous` when it is withheld. */
      from: string;
    }
  /** An outbound call was answered, or has played its key tones, and is without a stream. */
  | { type: 'stream-wanted'; callId: string; carrierCallId: string }
  /** The stream has ended, and the call has not. */
  | { type: 'stream-over'; callId: string; carrierCallId: string }
  /** The stream could not be opened, or broke. */
  | { type: 'stream-failed'; callId: string; carrierCallId: string; error: string; at: string }
  /** Nobody took the call that was to be handed over: it is back, without a stream. */
  | {
      type: 'transfer-failed';
      callId: string;
      carrierCallId: string;
      why: 'busy' | 'no_answer' | 'failed';
    }
  | {
      type: 'status';
      /** Null where the carrier was not told ours: then the carrier's id tells. */
      callId: string | null;
      carrierCallId: string;
      status: CarrierStatus;
      at: string;
      durationSeconds: number | null;
      /** The carrier's word for the cause, such as `SIP 486`. */
      cause: string | null;
      errorCode: string | null;
      errorMessage: string | null;
      /** Of an end: the call had rung before, as far as the event itself shows. */
      rang?: boolean;
    }
  | {
      type: 'machine-detection';
      callId: string;
      carrierCallId: string;
      /** `machine`: a greeting is being spoken; `machine_ready`: the greeting has ended, speak now. */
      verdict: 'human' | 'machine' | 'machine_ready' | 'fax' | 'unknown';
      raw: string;
      at: string;
    };

/** Numbers of the carrier's account. */
export interface Numbers {
  search(o: NumberSearch): Promise<AvailableNumber[]>;
  /**
   * Points a number of ours at this daemon; null when it is not ours. Changes nothing that a repeat would change again.
   * Refuses with `price_unknown` what has no known price.
   */
  adopt(o: NumberOrder): Promise<OwnedNumber | null>;
  /**
   * Buys a number that is not ours and points it at this daemon. A lost answer is looked into: it buys nothing twice.
   * Refuses with `number_unavailable` what is not for sale, and with `price_unknown` what has no known price. An order that
   * is not done at once is waited for, within reason; one that is pending still is refused with ORDER_PENDING, retryable.
   * There is no record of such a number: whoever asks again finds it by `adopt` when it is ours, and an order that stands
   * is not placed a second time.
   */
  buy(o: NumberOrder): Promise<OwnedNumber>;
  /** Gives a number back; one that is gone already is none to complain of. */
  release(carrierNumberId: string): Promise<void>;
}

export interface NumberOrder {
  e164: string;
  friendlyName?: string | undefined;
}

export interface NumberSearch {
  country: string;
  type: 'local' | 'mobile' | 'toll_free' | 'national';
  areaCode?: string | undefined;
  contains?: string | undefined;
  locality?: string | undefined;
  region?: string | undefined;
  limit: number;
}

export interface AvailableNumber {
  e164: string;
  friendly_name: string;
  country_code: string;
  number_type: string;
  locality: string | null;
  region: string | null;
  /** Null: the carrier names no price. */
  monthly_cost_cents: number | null;
}

export interface OwnedNumber {
  carrierNumberId: string;
  e164: string;
  friendlyName: string;
  countryCode: string;
  numberType: string;
  monthlyCostCents: number;
}
