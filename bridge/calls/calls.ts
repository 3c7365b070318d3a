// What the control plane asks of calls. PURE types; call-control.ts does it.
import type { Doer, GateOverride } from '../../storage/outbound/outbound-records.ts';
import type { AgentView, CallRecord } from '../../storage/records.ts';
import type { Carrier } from '../carriers/carrier.ts';
import type { FloorHolder } from '../protocol/messages.ts';

export interface LiveCall {
  callId: string;
  thread: number;
  /** Who has the floor. */
  floor: FloorHolder;
}

/** Ends a call that was not answered; ends a call. */
export type EndVerb = 'cancel' | 'hang-up';

/** Has the daemon that has a call end it. @throws CallElsewhere when it does not answer; AppError as it refuses */
export type PassOn = (verb: EndVerb, orgId: string, callId: string) => Promise<void>;

/** Who asks for a call, and what he lets pass though the outbound gate would refuse it. */
export interface AskedBy {
  by?: Doer | undefined;
  override?: GateOverride | undefined;
}

export interface Calls {
  /**
   * Stores the call (status `queued`), asks a media thread and the carrier, and answers the call as it then stands.
   * @throws AppError carrier_error (the call is kept as failed), at_capacity, draining, insufficient_credit, and the codes
   *   of the outbound gate (GATE_CODES), which refuses before anything is stored
   */
  dispatch(call: CallRecord, asked?: AskedBy): Promise<CallRecord>;
  /**
   * Stores a call that nobody dials, asks a media thread, and answers where its stream is awaited and the token that the
   * stream must bring, once. The call ends soon when no stream comes.
   * @param o.patience how many times longer than usual the agent waits for the other side to say something
   * @throws AppError at_capacity, draining, storage_low, insufficient_credit
   */
  awaitStream(
    call: CallRecord,
    o: { patience: number },
  ): Promise<{ call: CallRecord; path: string; token: string }>;
  /** Ends a call that was not answered, also another daemon's. @throws AppError call_ended, conflict, not_found, call_elsewhere */
  cancel(orgId: string, id: string): Promise<CallRecord>;
  /** Ends a call, whatever it is doing, also another daemon's. @throws AppError call_ended, not_found, call_elsewhere */
  hangUp(orgId: string, id: string): Promise<CallRecord>;
  live(): LiveCall[];
  /** False while draining. */
  accepting(): boolean;
}

/** Makes the record of a call that came in, for the agent that takes it. `from`: a number, an address, or `anonymous`. */
export type InboundCall = (o: {
  agent: AgentView;
  to: string;
  from: string;
  carrier: Carrier;
  carrierCallId: string;
}) => CallRecord | null | Promise<CallRecord | null>;

/** Runs a tool of a call and answers the text for the model. Never rejects: a failure is a text that says so. */
export type RunTool = (request: {
  call: CallRecord;
  /** As the model names it: another one for each use. */
  toolCallId: string;
  name: string;
  argumentsJson: string;
  signal: AbortSignal;
}) => Promise<{ ok: boolean; output: string }>;
