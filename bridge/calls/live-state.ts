// What this daemon knows of a call beside its row, what comes in about it, and what is to be done for it. PURE types, and
// how a live state begins. What each input makes of both is call-step.ts.
import type { CallRecord, CallStatus, EventType, GapReason, LedgerRecord } from '../../storage/records.ts';
import type { CarrierCallSnapshot, CarrierEvent } from '../carriers/carrier.ts';
import type { LineTexts, SpokenLine } from '../protocol/agent-texts.ts';
import type { Fault, FaultCode, HangupCause } from '../protocol/call-reasons.ts';
import type {
  Disclosure,
  EndReason,
  MachineVerdict,
  StreamLoss,
  ToMedia,
  ToolCall,
} from '../protocol/messages.ts';
import type { CallEvent } from './call-state.ts';

/** Why a call is ended. */
export interface End {
  cause: HangupCause;
  error: Fault | null;
}

/**
 * When it was made, rang, was answered, had its first stream and ended, by a clock that only goes forward; null while that has not
 * happened.
 */
export interface CallTimes {
  madeAt: number;
  rangAt: number | null;
  answeredAt: number | null;
  streamAt: number | null;
  endedAt: number | null;
}

/** Whether the carrier has the line, and whether it rings or talks, is in the row. */
export type LineState =
  | { at: 'open' }
  /** The carrier was asked to end it. `unanswered`: what follows when it does not say that it has. */
  | { at: 'ending'; since: number; cause: HangupCause; unanswered: 'ask_again' | 'record' };

/** How the sound of a stream that is gone was lost: it broke, or nothing came by it, or went. */
export type LostBy = 'stream_lost' | Exclude<StreamLoss, 'closed'>;

/** Times in `…Ms` count from the first stream's start. `brief`: so many in a row were brought anew and carried little. */
export type StreamState =
  | { at: 'awaited' }
  /** `lostAt`: when the one before it was lost, where it follows a loss. */
  | { at: 'on'; fromMs: number; brief: number; lostAt: number | null }
  /** By the carrier, which will say why. */
  | { at: 'stopped'; atMs: number; brief: number }
  /** Broken off without the carrier's word. `toldAt`: when the carrier was last told to bring the next one. */
  | { at: 'lost'; why: LostBy; since: number; brief: number; toldAt: number | null };

export type MediaState =
  /** Its thread looks after it, and last said so at `aliveAt`; null: it has not yet. */
  | { at: 'carried'; aliveAt: number | null }
  /** It is over, and the thread was told to let go of it; then its result is worked out, or its cost alone. */
  | { at: 'releasing'; since: number; settle: Settle }
  /** Its thread has died, or its process: another thread is to take it, or it comes to its end. What comes for it waits. */
  | { at: 'coming'; since: number; why: LeftBy }
  /** No thread has it: not yet, or not any more. */
  | { at: 'none' };

/** Who carried a call and died. */
export type LeftBy = Exclude<GapReason, 'stream_lost'>;

/** What is worked out of a call that is let go of; nothing of one that has another owner. */
export type Settle = 'result' | 'cost' | 'nothing';

/** The line is with key tones or another party, asked for by a tool; its answer waits for the line's return. */
export interface Away {
  why: 'digits' | 'transfer';
  toolCallId: string;
  since: number;
  /** When the carrier was last asked about it. */
  askedAt: number;
  /** What the model is told when the line is back. */
  result: ToolResult;
  /** The model was lost meanwhile: there is nobody to come back to. */
  modelLost: boolean;
}

/** Why the carrier did not take the line out of the talk. */
export type NotAway = 'not_possible' | 'refused';

export type ToolResult = { ok: true } | { ok: false; error: string };

/** The talk is over, ended by us or with its stream, and the carrier's word of the end is awaited. */
export interface Finishing {
  at: number;
  /** A line is still to be spoken. */
  speaking: boolean;
  /** Why the talk ended, where it says so itself. */
  talk: End | null;
}

export interface LiveState {
  /** Null for a call of a process that has died: what is known of its times is in its row. */
  times: CallTimes | null;
  line: LineState;
  stream: StreamState;
  /** Of the stream's token: a used one is good for no other stream. */
  token: 'fresh' | 'used';
  media: MediaState;
  model: 'opening' | 'ready' | 'gone';
  away: Away | null;
  finishing: Finishing | null;
  credit: { reservedMinutes: number; asking: boolean; warned: boolean };
  usage: Record<string, number>;
}

/** A call that was made here and is now on its media thread. */
export function newLiveState(nowMs: number, reservedMinutes: number): LiveState {
  return {
    times: { madeAt: nowMs, rangAt: null, answeredAt: null, streamAt: null, endedAt: null },
    line: { at: 'open' },
    stream: { at: 'awaited' },
    token: 'fresh',
    media: { at: 'carried', aliveAt: null },
    model: 'opening',
    away: null,
    finishing: null,
    credit: { reservedMinutes, asking: false, warned: false },
    usage: {},
  };
}

/** A call that no media thread of this process has: long over, and something is heard late. */
export function leftBehind(): LiveState {
  return { ...newLiveState(0, 0), times: null, media: { at: 'none' }, model: 'gone' };
}

/** One of a process that has died, before the carrier has said what became of it. */
export function takenOver(nowMs: number): LiveState {
  return { ...leftBehind(), media: { at: 'coming', since: nowMs, why: 'daemon_restart' } };
}

/** The live state when the carrier has not said that it ends the line: it is asked again, a little later. */
export function stillUp(live: LiveState, nowMs: number): LiveState {
  const finishing = live.finishing ?? { at: nowMs, speaking: false, talk: null };
  return { ...live, line: { at: 'open' }, finishing };
}

/** What is told of a talk as it goes on, and nobody waits for. */
export const isPatient = ({ type }: Pick<CallInput, 'type'>): boolean =>
  type === 'alive' || type === 'usage' || type === 'disclosure';

/**
 * The live state when a step could not be written. What came in has happened all the same; but nothing follows of it: the
 * line was not asked to end, no stream was asked for or awaited, and the media thread not told to let go.
 * @param decided what the step made of `before`
 */
export function unwritten(before: LiveState, decided: LiveState, nowMs: number): LiveState {
  const live = {
    ...decided,
    times: decided.times && { ...decided.times, endedAt: before.times?.endedAt ?? null },
    media: undone(before.media, decided.media),
    token: before.token === 'used' ? before.token : decided.token,
    stream:
      decided.stream.at === 'lost' ? { ...decided.stream, toldAt: toldAt(before.stream) } : decided.stream,
  };
  return live.line.at === 'ending' ? stillUp(live, nowMs) : live;
}

const toldAt = (stream: StreamState): number | null => (stream.at === 'lost' ? stream.toldAt : null);

/** The media side when what was to follow was not done: not released, and no thread found. */
function undone(before: MediaState, decided: MediaState): MediaState {
  if (decided.at === 'releasing') return before;
  return decided.at === 'coming' && before.at !== 'coming' ? { at: 'none' } : decided;
}

/** All that can come in about a call. */
export type CallInput =
  // by the carrier's hooks
  /** `event`: null where it only says that it has the call. Its time is the carrier's. */
  | { type: 'carrier-status'; carrierCallId: string; event: StatusEvent | null }
  | { type: 'machine-verdict'; verdict: MachineVerdict }
  /** The call is without a stream: it was answered, or is back from elsewhere. */
  | { type: 'stream-asked'; carrierCallId: string }
  /**
   * The stream has ended, or a transfer failed, and the call is still there. `waited`: our own word on why it ended has had
   * its time.
   */
  | { type: 'stream-over'; carrierCallId: string; transfer: TransferFailure | null; waited: boolean }
  // by the carrier's answers to our requests
  | { type: 'dial-accepted'; carrierCallId: string }
  | { type: 'dial-refused'; code: string | null; message: string }
  /** Null: it did not answer. */
  | { type: 'hang-up-answered'; answer: 'ended' | 'already_ended' | null }
  /** `why`: as it was asked. */
  | { type: 'looked-up'; seen: Seen; why: LookUp }
  | { type: 'not-spoken' }
  /** The line never left: the carrier can never do it, or not now. */
  | { type: 'not-away'; toolCallId: string; why: NotAway }
  // by the media thread
  | { type: 'alive' }
  | { type: 'model-ready' }
  | { type: 'media-started'; carrierCallId: string; at: string; atMs: number }
  | { type: 'stream-ended'; how: 'stopped' | 'lost'; why: StreamLoss; atMs: number }
  | { type: 'usage'; usage: Readonly<Record<string, number>> }
  /** The other side asks not to be called again. */
  | ({ type: 'opted-out'; itemId: string | null } & Asked)
  /** Its number is on the do-not-call list. */
  | ({ type: 'opt-out-noted' } & Asked)
  /** So much was heard of the line that is said before all else. */
  | { type: 'disclosure'; disclosure: Disclosure }
  | ({ type: 'tool-called' } & ToolCall)
  | { type: 'digits-requested'; toolCallId: string; digits: string }
  | { type: 'transfer-requested'; toolCallId: string; number: string }
  | { type: 'talk-finished'; reason: EndReason; error: Fault | null; speak: SpokenLine | null }
  | { type: 'released' }
  /** `silentMs`: for so long it had said nothing before. */
  | { type: 'thread-lost'; silentMs: number }
  /** Another thread has it now. `running`: tools that this daemon still runs. */
  | { type: 'carried-again'; running: readonly string[] }
  /** There is no thread to be had. */
  | { type: 'not-carried' }
  // by the organization, the daemon and time
  | { type: 'hang-up-requested' }
  | ({ type: 'end' } & End)
  /** The agent is to say a last line and end the talk. */
  | { type: 'last-line'; reason: EndReason }
  | { type: 'stop-recording' }
  /** A tool that the daemon ran has answered, and its line is stored. */
  | { type: 'tool-answered'; toolCallId: string }
  /** The end is recorded now, whatever the carrier says. */
  | { type: 'record-end'; cause: HangupCause }
  /** Another daemon owns it now. */
  | { type: 'replaced' }
  /** Time has passed: whatever has taken too long is looked into. */
  | { type: 'look' }
  | { type: 'top-up-answered'; minutes: number; answer: 'taken' | 'no_credit' | 'failed' }
  /** The process that had it has died, and this is what the carrier says of it. `aliveAt`: when that process last said that it lived. */
  | { type: 'recovered'; seen: Seen; aliveAt: string | null };

/** What was said, and when, by which the other side asks not to be called again. */
interface Asked {
  by: 'words' | 'tool';
  text: string;
  atMs: number;
}

export type Input<T extends CallInput['type']> = Extract<CallInput, { type: T }>;

export type TransferFailure = Extract<CarrierEvent, { type: 'transfer-failed' }>['why'];

export type StatusEvent = Extract<CallEvent, { type: 'ringing' | 'answered' | 'ended' }>;

/** What the carrier says of a call. `unknown`: it did not answer; null: it has no such call. */
export type Seen = CarrierCallSnapshot | 'unknown' | null;

/** Something takes too long, or the call had ended before we ended it. */
export type LookUp = 'overdue' | 'ended';

/** What is to be done for a call once the step is written. Those of the carrier are answered by an input each. */
export type Command =
  | { do: 'hang-up'; carrierCallId: string; answered: boolean }
  /** The carrier has taken a call that is over: it is asked until it has ended it. */
  | { do: 'hang-up-at-last'; carrierCallId: string; answered: boolean }
  /** The call's sound comes to its stream. */
  | { do: 'connect'; carrierCallId: string }
  /** As `connect`, of a carrier that has not asked: it is asked again when this fails. */
  | { do: 'connect-unasked'; carrierCallId: string }
  | { do: 'look-up'; carrierCallId: string; why: LookUp }
  | { do: 'speak-and-hang-up'; carrierCallId: string; line: SpokenLine }
  | { do: 'send-digits'; carrierCallId: string; toolCallId: string; digits: string }
  | { do: 'transfer'; carrierCallId: string; toolCallId: string; to: string; from: string }
  /** The number goes on the do-not-call list, with where that was said. */
  | ({ do: 'note-opt-out'; number: string; itemId: string | null } & Asked)
  /** A message for its media thread. */
  | { do: 'tell-media'; message: ToMedia }
  /** Another thread takes the call, with what was said on it. */
  | { do: 'carry-again' }
  /** The next stream needs a token of its own. */
  | { do: 'expect-stream' }
  | ({ do: 'run-tool' } & ToolCall)
  /** More credit is held, or the answer is that there is none. */
  | { do: 'top-up'; minutes: number; amountMilliCents: number }
  /** The media thread lets go of the call. */
  | { do: 'release' }
  /** The call is nobody's any more: its result is worked out, or what it cost. */
  | { do: 'let-go'; settle: Settle; endedAt: number | null }
  | { do: 'log'; level: 'info' | 'warn' | 'error'; event: string; fields: Record<string, unknown> };

export type Ask<D extends Command['do']> = Extract<Command, { do: D }>;

/** What is written of a step, in one transaction. */
export interface CallWrite {
  from: readonly CallStatus[];
  change: Partial<CallRecord>;
  events: readonly EventType[];
  ledger: readonly { kind: LedgerRecord['kind']; amountMilliCents: number }[];
}

/** What an input makes of a call. */
export interface Next {
  /** Null: the row stays as it is. */
  write: CallWrite | null;
  live: LiveState;
  commands: readonly Command[];
  /** What was written, by name. */
  happened: readonly CallEvent['type'][];
  /** The same input is wanted again, a little later. */
  again: boolean;
}

/** What holds of all calls, and what their carrier can do. */
export interface CallRules {
  /** Milli-cents a connected minute. */
  pricePerMinute: number;
  reserveMinutes: number;
  ringSeconds: number;
  maxSeconds: number;
  carrier: { streamIsCall: boolean; answerSeconds: number | null };
  /** What the agent is told of its line. */
  texts: LineTexts;
}

/** The moment of a step. */
export interface Moment {
  /** Of a clock that only goes forward, in milliseconds. */
  nowMs: number;
  /** By the wall clock, ISO. */
  now: string;
  /** The disk takes writes. */
  writable: boolean;
}

/** The process that had the call has died. */
export const RESTARTED: End & { cause: FaultCode } = {
  cause: 'daemon_restart',
  error: { code: 'daemon_restart', message: 'The service was restarted during the call.' },
};
