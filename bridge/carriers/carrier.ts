// What a carrier must do for us: place and end calls, sell numbers, turn its hooks into events. PURE types.
// A carrier is a client (REST), a hooks file (HTTP in) where it has hooks, and a PURE wire (media messages); a line in
// carriers.ts names it.
import type { AudioFormat } from '../../audio/format.ts';

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

export interface PlaceCall {
  callId: string;
  to: string;
  from: string;
  ringSeconds: number;
  maxSeconds: number;
  /** Answering-machine detection, always asynchronous: verdict at once, or at the end of the greeting. */
  machineDetection: 'detect' | 'message_end' | null;
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

export interface NumberSearch {
  country: string;
  type: 'local' | 'mobile' | 'toll_free' | 'national';
  areaCode?: string | undefined;
  contains?: string | undefined;
  locality?: string | undefined;
  region?: string | undefined;
  limit: number;
}

export interface OwnedNumber {
  carrierNumberId: string;
  e164: string;
  friendlyName: string;
  countryCode: string;
  numberType: string;
  monthlyCostCents: number;
}

/** The `carrierCode` of what a carrier cannot do at all; the message then says so to the agent. */
export const NOT_POSSIBLE = 'not_possible';

/** Errors are AppError('carrier_error') with the carrier's code in `carrierCode`; `retryable` for 429, 5xx and no answer. */
export interface Carrier {
  readonly name: string;
  readonly capabilities: {
    /** Marks come back when their audio was played. */
    marks: boolean;
    /** A clear sends every pending mark back. */
    clearReturnsMarks: boolean;
    /** Tells answering machines from people. Without it the agent waits for no verdict. */
    detectsMachines: boolean;
    /** The media stream is the whole call: its end is the end of the call, and nobody else tells of it. */
    streamIsCall: boolean;
    /** A call that nobody has answered ends after this; null: after the time it may ring. */
    answerSeconds: number | null;
  };
  /** Asks for a call. Resolves when the carrier has accepted it: it is not ringing yet. Never retried by itself. */
  placeCall(o: PlaceCall): Promise<{ carrierCallId: string }>;
  /** Never fails for a call that is gone. */
  hangUp(carrierCallId: string): Promise<'ended' | 'already_ended'>;
  /** Ends a call that has not been answered, and one that was answered meanwhile; `already_ended` when it has ended. */
  cancel(carrierCallId: string): Promise<'ended' | 'already_ended'>;
  /** Hands the caller to another number after the current audio; the stream ends. */
  transfer(carrierCallId: string, to: string, o: { callId: string; from: string }): Promise<void>;
  /** Plays key tones to the other side, then connects the stream again. */
  sendDigits(carrierCallId: string, digits: string, o: { callId: string }): Promise<void>;
  /** Says a line with the carrier's own voice and hangs up: for when the model is gone. Never fails for a call that is gone. */
  speakAndHangUp(carrierCallId: string, text: string): Promise<void>;
  fetchCall(carrierCallId: string): Promise<CarrierCallSnapshot | null>;
  /** Calls to a number since a time, to adopt one whose acceptance was never heard. */
  findCalls(o: { to: string; from: string; since: string }): Promise<CarrierCallSnapshot[]>;
  searchNumbers(o: NumberSearch): Promise<AvailableNumber[]>;
  /**
   * Buys and points the number's hooks at us. Asks first whether it is ours already, so a lost answer never buys twice.
   * Refuses with `number_unavailable` what is not for sale, and with `price_unknown` what has no known price.
   */
  buyNumber(o: { e164: string; friendlyName?: string | undefined }): Promise<OwnedNumber>;
  releaseNumber(carrierNumberId: string): Promise<void>;
  /** Whether it can be reached and takes our credentials: one request that changes nothing. */
  check(): Promise<void>;
}

/** What a carrier's hooks report. Any of them may come twice, late, or out of order. */
export type CarrierEvent =
  | {
      type: 'status';
      /** From the hook's own path; null for a call we know by the carrier's id only. */
      callId: string | null;
      carrierCallId: string;
      status: CarrierStatus;
      at: string;
      durationSeconds: number | null;
      /** Telephony-level reason as text, e.g. SIP 486. */
      cause: string | null;
      errorCode: string | null;
      errorMessage: string | null;
      /** Of an end: the call had rung before, as far as the hook itself shows. */
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
    }
  | { type: 'stream-failed'; callId: string; carrierCallId: string; error: string; at: string };

export interface InboundCall {
  carrierCallId: string;
  to: string;
  /** E.164; a SIP address or the like of a caller without a number; `anonymous` when it is withheld. */
  from: string;
}

/** How a call that wants a media stream is answered. */
export type StreamAnswer =
  | { answer: 'stream'; url: string; parameters: Record<string, string>; streamStatusUrl?: string }
  | { answer: 'reject'; reason: 'busy' | 'rejected' }
  | { answer: 'hang-up' };

/** What the hooks need of the program. All may reject: the hook then answers 5xx and the carrier asks again. */
export interface HookHandlers {
  event(event: CarrierEvent): Promise<void>;
  /** An inbound call asks what to do. */
  inbound(call: InboundCall): Promise<StreamAnswer>;
  /** An outbound call was answered, or comes back after key tones, and asks for its stream. */
  answered(callId: string, carrierCallId: string): Promise<StreamAnswer>;
  /** The document after a stream ended, or after a transfer failed: then with how, in the carrier's word. */
  afterStream(callId: string, carrierCallId: string, transfer?: string): Promise<StreamAnswer>;
}

// ---- media messages, on the media thread ----

/** A media message of the carrier, decoded. `payload` is in the stream's format and only valid until the next decode. */
export type MediaMessage =
  | { type: 'connected' }
  | {
      type: 'started';
      streamId: string;
      carrierCallId: string;
      parameters: Record<string, string>;
      /** What the caller's sound of this stream is in. */
      format: AudioFormat;
    }
  | { type: 'audio'; payload: Buffer; timestampMs: number; chunk: number }
  | { type: 'digit'; digit: string }
  /** Words typed by the other side, where a line has keys to type with (a call from a browser). */
  | { type: 'text'; text: string }
  | { type: 'mark'; name: string }
  | { type: 'stopped' }
  | { type: 'ignored'; event: string }
  | { type: 'malformed'; why: string };

/** The codec of one media socket; no I/O. */
export interface MediaWire {
  /** What the agent's sound goes out in, and the caller's comes in where a stream does not say otherwise. */
  readonly format: AudioFormat;
  /** Never throws: what cannot be read is `malformed`. */
  decode(data: Buffer, isBinary: boolean): MediaMessage;
  /** Sound in the wire's format, whole frames of 20 ms; copied. */
  audio(streamId: string, payload: Buffer): string | Buffer;
  mark(streamId: string, name: string): string | Buffer;
  clear(streamId: string): string | Buffer;
}
