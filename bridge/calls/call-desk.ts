// The desk of live calls: who is on which line, one event at a time a call, and the effects that call-state asks for.
// What comes in from carriers, media threads and the control plane is read by the inboxes and dispatch, not here.
import { createHash, randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type {
  AgentView,
  CallRecord,
  InterruptionRecord,
  TranscriptItemRecord,
  TurnRecord,
} from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import type { Carrier, StreamAnswer } from '../carriers/carrier.ts';
import type { Fault, HangupCause } from '../protocol/call-reasons.ts';
import type { ToMedia } from '../protocol/messages.ts';
import {
  type AgentTexts,
  type ModelAccess,
  machinePlan,
  planCall,
  streamPath,
  streamUrl,
} from './call-plan.ts';
import type { CallRamp } from './call-ramp.ts';
import { type CallEvent, endBy, isTerminal, next } from './call-state.ts';
import type { RunTool } from './calls.ts';
import type { MediaThreads } from './media-threads.ts';
import { openTurnLog, type TurnLog } from './turn-log.ts';

/** What the program watches of the bridge; metrics and live views hang on it. */
export interface CallObserver {
  /** A call was made or has another state, and has not ended. */
  changed?(call: CallRecord): void;
  /** `atMs` since the media stream's start. */
  floor?(callId: string, floor: LiveEntry['floor'], atMs: number): void;
  /** What was said, as it was just stored; an item comes again when it has changed. */
  words?(callId: string, items: readonly TranscriptItemRecord[]): void;
  ended?(call: CallRecord): void;
  /** A turn, once its first sound was heard or it came to nothing. */
  turn?(turn: TurnRecord): void;
  /** Speech into the agent's voice, also where it was taken back. */
  interruption?(interruption: InterruptionRecord): void;
  refused?(why: string): void;
}

export interface CallDeskOptions {
  store: Store;
  /** The carrier of phone calls: it dials, and its hooks tell of calls that come in. */
  carrier: Carrier;
  /** Carriers of calls that come about in other ways. */
  otherCarriers?: readonly Carrier[];
  log: Log;
  now: () => Date;
  /** Of a clock that only goes forward: what lasts is measured by it. */
  monotonicMs: () => number;
  texts: AgentTexts;
  access: ModelAccess;
  publicUrl: string;
  dataDir: string;
  recordCalls: boolean;
  maxCalls: number;
  maxSeconds: number;
  ringSeconds: number;
  pricePerMinute: number;
  reserveMinutes: number;
  runTool: RunTool;
  /** Makes the record of an inbound call for its agent. */
  inboundCall(o: { agent: AgentView; to: string; from: string; carrierCallId: string }): CallRecord;
  /** The call has been over for so long, and its transcript is final. */
  settleResult(callId: string, endedMsAgo: number): void;
  /** The call is over, has no result to settle, and all of its usage is stored. */
  settleCost(callId: string): void;
  observer: CallObserver;
  /** How many calls may begin in a second; without one, any number. */
  ramp?: Pick<CallRamp, 'turn'>;
  /** The disk has too little left for new calls. */
  storageLow?: () => boolean;
  /** Waits before the carrier is asked again, and does not keep the process; a test makes it shorter. */
  pause?: (ms: number) => Promise<void>;
  /** A named place at which chaos tests kill the process. */
  failpoint?: (name: string) => void;
}

export interface Away {
  why: 'digits' | 'transfer';
  toolCallId: string;
  /** Since when, or when the carrier was last asked about it; monotonic. */
  since: number;
  /** What the model is told when the line is back. */
  result: Record<string, unknown>;
  /** The model was lost meanwhile: there is nobody to come back to. */
  modelLost: boolean;
}

/** A call that is on. Its times are monotonic, in milliseconds. */
export interface LiveEntry {
  callId: string;
  /** Name of its carrier. */
  carrier: string;
  thread: number;
  /** The one-time token; a new one for each stream. */
  token: { plain: string; used: boolean };
  floor: 'agent' | 'caller' | 'none';
  since: number;
  /** When it rang, was answered, and ended; null while that has not happened. */
  rangAt: number | null;
  answeredAt: number | null;
  endedAt: number | null;
  answered: boolean;
  streaming: boolean;
  /** When the stream broke off without the carrier's word; null while it has not. */
  lostAt: number | null;
  /** The line is with key tones or another party, asked for by a tool; its answer waits for the line's return. */
  away: Away | null;
  /** When the talk was ended by us, whether a spoken line is still to be heard, and why it ended where the talk itself says so. */
  finishing: {
    at: number;
    speaking: boolean;
    talk?: { cause: HangupCause; error: Fault | null };
  } | null;
  modelReady: Promise<boolean>;
  tellModelReady(ready: boolean): void;
  tools: AbortController;
  toolItems: Map<string, TranscriptItemRecord>;
  mediaStartedAt: string | null;
  usage: Record<string, number>;
  reservedMinutes: number;
  settle: boolean;
  /** When its media thread last said that it looks after the call, and when it was told to let go of it. */
  aliveAt: number | null;
  releasedAt: number | null;
}

export interface CallDesk {
  readonly o: CallDeskOptions;
  readonly live: Map<string, LiveEntry>;
  readonly turnLog: TurnLog;
  /** The media threads. @throws AppError at_capacity while they are not there yet */
  pool(): MediaThreads;
  attach(threads: MediaThreads): void;
  /** The carrier of a call. */
  carrierOf(call: Pick<CallRecord, 'carrier'>): Carrier;
  accepting(): boolean;
  setAccepting(accepting: boolean): void;
  /** One piece of work at a time a call, in the order asked for. */
  inOrder<T>(callId: string, work: () => Promise<T>): Promise<T>;
  /** Applies an event to a call: stores the step, performs its effects, answers the call as it is afterwards. */
  apply(callId: string, event: CallEvent): Promise<CallRecord | null>;
  /** Ends a call at the carrier and records the end, whatever the media does. */
  endNow(callId: string, cause: HangupCause, error: Fault | null): Promise<CallRecord | null>;
  /**
   * Takes a slot, makes the call's row and has its media thread open the model. `create` answers the record or a refusal.
   * @throws AppError draining, storage_low, at_capacity
   */
  open<R extends { conflict: string }>(
    create: () => Promise<CallRecord | R>,
    patience?: number,
  ): Promise<{ call: CallRecord; entry: LiveEntry } | R>;
  streamAnswer(entry: LiveEntry): Extract<StreamAnswer, { answer: 'stream' }>;
  /** The media thread has let go of the call. */
  forget(callId: string): void;
}

/** Between requests to end a line that nobody waits for, the last over and over: until the carrier's own limit of it holds. */
const HANG_UP_AGAIN_MS = [1_000, 5_000, 20_000];
const HANG_UP_LATER_MS = 60_000;

const hashOf = (token: string) => createHash('sha256').update(token).digest('hex');
const newToken = () => randomBytes(32).toString('base64url');

/** An empty desk; the media threads are attached once they run. */
export function openCallDesk(o: CallDeskOptions): CallDesk {
  const { store, log } = o;
  const pause = o.pause ?? ((ms) => new Promise<void>((over) => setTimeout(over, ms).unref()));
  const carriers = new Map([o.carrier, ...(o.otherCarriers ?? [])].map((carrier) => [carrier.name, carrier]));
  const live = new Map<string, LiveEntry>();
  const turnLog = openTurnLog(store, log);
  /** One event at a time a call: steps are read, decided and written in order. */
  const chains = new Map<string, Promise<unknown>>();
  /** Calls that are being ended, until the carrier has answered. */
  const ending = new Map<string, Promise<CallRecord | null>>();
  let threads: MediaThreads | null = null;
  let accepting = true;
  /** Slots taken by calls that are being made and are not in `live` yet. */
  let opening = 0;
  /** Why calls are not taken, as the log was told. */
  let refusing: string | null = null;

  function pool(): MediaThreads {
    if (threads === null)
      throw new AppError('at_capacity', 'The daemon is still starting.', { retryAfterSeconds: 1 });
    return threads;
  }

  function carrierOf(call: Pick<CallRecord, 'carrier'>): Carrier {
    return carriers.get(call.carrier) ?? o.carrier;
  }

  function inOrder<T>(callId: string, work: () => Promise<T>): Promise<T> {
    const before = chains.get(callId) ?? Promise.resolve();
    const after = before.then(work, work);
    const tail = after.catch(() => undefined);
    chains.set(callId, tail);
    void tail.then(() => {
      if (chains.get(callId) === tail) chains.delete(callId);
    });
    return after;
  }

  /** When what is told now happened: as long ago as its record says, unless the wall clock was set since. */
  function monotonicOf(entry: LiveEntry, at: string): number {
    const nowMs = o.monotonicMs();
    const ageMs = o.now().getTime() - Date.parse(at);
    return ageMs > 0 && ageMs <= nowMs - entry.since ? nowMs - ageMs : nowMs;
  }

  /** An end with how long the call has lasted. */
  function measured(call: CallRecord, event: CallEvent): CallEvent {
    if (event.type !== 'ended' && event.type !== 'refused') return event;
    const entry = live.get(call.id);
    if (entry !== undefined) {
      const endMs = monotonicOf(entry, event.at);
      const connected = entry.answeredAt === null ? null : endMs - entry.answeredAt;
      return { ...event, lastedMs: { call: endMs - (entry.rangAt ?? entry.since), connected } };
    }
    // The process that knew it has died: the records tell, and the carrier lets no call last longer than this.
    if (call.answered_at === null) return event;
    const mostMs = (o.ringSeconds + o.maxSeconds) * 1000;
    const connected = Math.min(o.maxSeconds * 1000, Date.parse(event.at) - Date.parse(call.answered_at));
    const whole = Math.min(mostMs, Date.parse(event.at) - Date.parse(call.started_at ?? call.created_at));
    return { ...event, lastedMs: { call: whole, connected } };
  }

  /** Notes when the steps of a call happened, so that what lasts can be measured. */
  function mark(call: CallRecord, event: CallEvent): void {
    const entry = live.get(call.id);
    if (entry === undefined) return;
    const atMs = 'at' in event ? monotonicOf(entry, event.at) : o.monotonicMs();
    if (event.type === 'ringing') entry.rangAt ??= atMs;
    if (event.type === 'answered') entry.answeredAt ??= atMs;
    if (isTerminal(call.status)) entry.endedAt ??= atMs;
  }

  function apply(callId: string, event: CallEvent): Promise<CallRecord | null> {
    return inOrder(callId, async () => {
      for (let attempt = 0; attempt < 3; attempt++) {
        let call = await store.findCall(callId);
        if (call === null) return null;
        // Whoever hangs up then, the agent had handed the call over.
        const handedOver = event.type === 'ended' && live.get(callId)?.away?.why === 'transfer';
        if (handedOver && call.hangup_cause === null) call = { ...call, hangup_cause: 'transferred' };
        const step = next(call, measured(call, event), o.pricePerMinute);
        if (step === null) return call;
        const saved = await store.saveCall(callId, step);
        if ('conflict' in saved) continue;
        mark(saved, event);
        o.failpoint?.(`${event.type.replace('-', '_')}_stored`);
        for (const effect of step.effects) {
          if (effect === 'hang-up') void hangUpLeft(saved);
          else if (effect === 'release') release(callId, step.effects.includes('settle-result'));
        }
        if (isTerminal(saved.status) && !isTerminal(call.status)) {
          log.info(
            {
              call_id: callId,
              status: saved.status,
              cause: saved.hangup_cause,
              error_code: saved.error_code,
              seconds: saved.billed_duration_seconds,
            },
            'call.ended',
          );
          o.observer.ended?.(saved);
        } else if (!isTerminal(saved.status)) o.observer.changed?.(saved);
        return saved;
      }
      throw new AppError('conflict', 'The call changed while it was being changed; try again.', {
        retryable: true,
      });
    });
  }

  /** Asks the carrier to end a call; null when it did not answer. */
  async function hangUpAtCarrier(call: CallRecord): Promise<'ended' | 'already_ended' | null> {
    if (call.carrier_call_id === null) return 'ended';
    const carrier = carrierOf(call);
    try {
      const unanswered = call.direction === 'outbound' && call.answered_at === null;
      return await (unanswered ? carrier.cancel(call.carrier_call_id) : carrier.hangUp(call.carrier_call_id));
    } catch (error) {
      log.warn({ call_id: call.id, err: error }, 'carrier.hang_up_failed');
      return null;
    }
  }

  /** The line of a call that is over for us: no watch looks at it any more, so that the carrier is asked again from here. */
  async function hangUpLeft(call: CallRecord): Promise<void> {
    const limitMs = (o.ringSeconds + o.maxSeconds) * 1000;
    for (let tries = 0, waitedMs = 0; waitedMs <= limitMs; tries++) {
      if ((await hangUpAtCarrier(call)) !== null || live.has(call.id)) return;
      const pauseMs = HANG_UP_AGAIN_MS[tries] ?? HANG_UP_LATER_MS;
      await pause(pauseMs);
      waitedMs += pauseMs;
    }
  }

  /** A call that had ended at the carrier before we asked: how, by its account; null where it has none. */
  async function endAtCarrier(call: CallRecord): Promise<CallEvent | null> {
    const carrier = carrierOf(call);
    if (call.carrier_call_id === null || carrier.capabilities.streamIsCall) return null;
    try {
      const seen = await carrier.fetchCall(call.carrier_call_id);
      return seen === null ? null : endBy(seen, o.now().toISOString());
    } catch (error) {
      log.warn({ call_id: call.id, err: error }, 'carrier.not_asked');
      return null;
    }
  }

  /** Lets the media thread go; the result is settled once the last words are in. */
  function release(callId: string, settle: boolean): void {
    const entry = live.get(callId);
    if (entry === undefined) {
      if (settle) o.settleResult(callId, 0);
      else o.settleCost(callId);
      return;
    }
    entry.settle = settle;
    entry.releasedAt ??= o.monotonicMs();
    entry.tools.abort();
    entry.tellModelReady(false);
    if (threads?.threadOf(callId) === null || threads === null) forget(callId);
    else threads.post(callId, { type: 'release', callId });
  }

  function forget(callId: string): void {
    const entry = live.get(callId);
    if (entry === undefined) return;
    turnLog.flush();
    turnLog.forget(callId);
    live.delete(callId);
    threads?.unassign(callId);
    if (entry.settle) o.settleResult(callId, o.monotonicMs() - (entry.endedAt ?? o.monotonicMs()));
    else o.settleCost(callId);
  }

  /** Counts a call that is not taken; the log has a line when a reason begins to hold, not one a call. */
  function refuse(
    code: 'draining' | 'storage_low' | 'at_capacity',
    why: string,
    message: string,
    retryAfterSeconds: number,
  ): never {
    o.observer.refused?.(why);
    if (refusing !== why) log.warn({ why, live: live.size }, 'calls.refused');
    refusing = why;
    throw new AppError(code, message, { retryAfterSeconds });
  }

  /**
   * Takes a slot, or throws before anything is left behind. Nothing is waited for between the look and the taking: of
   * any number of calls at the last slot one gets it.
   */
  function takeSlot(): void {
    look();
    if (live.size + opening >= o.maxCalls) {
      refuse(
        'at_capacity',
        'at_capacity',
        `All ${o.maxCalls} lines are in use; try again when a call has ended.`,
        5,
      );
    }
    opening++;
  }

  /** Throws when no call is taken now, however many lines are free. */
  function look(): void {
    if (!accepting) {
      refuse('draining', 'draining', 'The daemon is shutting down and takes no new calls.', 30);
    }
    if (o.storageLow?.() || !store.writable()) {
      refuse(
        'storage_low',
        'storage_low',
        'The disk of the daemon is nearly full, or takes no writes; no new calls are taken.',
        30,
      );
    }
    if (pool().ready() && !pool().admits()) {
      refuse(
        'at_capacity',
        'late',
        'The media threads run late: no call is taken until they keep time again, so that those on the line stay good.',
        5,
      );
    }
  }

  /** A call that has its slot waits for its turn to begin, and looks again when that took a while. */
  async function waitForTurn(): Promise<void> {
    const turn = o.ramp?.turn() ?? true;
    if (turn !== true) {
      if (!(await turn)) {
        refuse(
          'at_capacity',
          'ramp',
          'More calls came at once than can be begun well; try again in a moment.',
          2,
        );
      }
      look();
    }
    if (refusing !== null) log.info({ live: live.size }, 'calls.taken_again');
    refusing = null;
  }

  function prepare(call: CallRecord, patience: number): LiveEntry {
    const thread = pool().assign(call.id);
    const plain = newToken();
    let tellModelReady: (ready: boolean) => void = () => {};
    const modelReady = new Promise<boolean>((resolve) => {
      tellModelReady = resolve;
    });
    const entry: LiveEntry = {
      callId: call.id,
      carrier: call.carrier,
      thread,
      token: { plain, used: false },
      floor: 'none',
      since: o.monotonicMs(),
      rangAt: null,
      answeredAt: null,
      endedAt: null,
      answered: false,
      streaming: false,
      lostAt: null,
      away: null,
      finishing: null,
      modelReady,
      tellModelReady,
      tools: new AbortController(),
      toolItems: new Map(),
      mediaStartedAt: null,
      usage: {},
      reservedMinutes: o.reserveMinutes,
      settle: false,
      aliveAt: null,
      releasedAt: null,
    };
    live.set(call.id, entry);
    const message: ToMedia = {
      type: 'prepare',
      ...planCall(call, {
        tokenHash: hashOf(plain),
        machine: machinePlan(call, carrierOf(call)),
        patience,
        texts: o.texts,
        access: o.access,
        recordingPath: call.recording_path === null ? null : join(o.dataDir, call.recording_path),
        maxSeconds: o.maxSeconds,
        language: call.chosen_language,
      }),
    };
    pool().post(call.id, message);
    return entry;
  }

  function streamAnswer(entry: LiveEntry): Extract<StreamAnswer, { answer: 'stream' }> {
    if (entry.token.used) {
      entry.token = { plain: newToken(), used: false };
      pool().post(entry.callId, {
        type: 'expect-stream',
        callId: entry.callId,
        tokenHash: hashOf(entry.token.plain),
      });
    }
    return {
      answer: 'stream',
      url: streamUrl(o.publicUrl, streamPath(entry.thread, entry.carrier, entry.callId)),
      parameters: { callId: entry.callId, token: entry.token.plain },
      streamStatusUrl: `${o.publicUrl}/carriers/${entry.carrier}/calls/${entry.callId}/stream`,
    };
  }

  type End = (callId: string, cause: HangupCause, error: Fault | null) => Promise<CallRecord | null>;

  /** Of several that end a call at once the first does it, and the carrier is asked once. */
  const endNow: End = (callId, cause, error) => {
    const under = ending.get(callId);
    if (under !== undefined) return under;
    const end = endOnce(callId, cause, error).finally(() => ending.delete(callId));
    ending.set(callId, end);
    return end;
  };

  const endOnce: End = async (callId, cause, error) => {
    const call = await apply(callId, {
      type: 'finishing',
      cause,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    });
    if (call === null || isTerminal(call.status)) return call;
    const answer = await hangUpAtCarrier(call);
    if (answer === null) {
      // The watch asks the carrier again until it knows.
      const entry = live.get(callId);
      if (entry !== undefined) entry.finishing ??= { at: o.monotonicMs(), speaking: false };
      return call;
    }
    if (call.carrier_call_id !== null) o.failpoint?.('hung_up_before_end');
    const seen = answer === 'already_ended' ? await endAtCarrier(call) : null;
    if (seen !== null) return apply(callId, seen);
    return apply(callId, {
      type: 'ended',
      at: o.now().toISOString(),
      outcome: call.answered_at === null ? 'canceled' : 'completed',
      durationSeconds: null,
      cause,
      errorCode: null,
      errorMessage: null,
    });
  };

  return {
    o,
    live,
    turnLog,
    pool,
    attach(pool) {
      threads = pool;
    },
    carrierOf,
    accepting: () => accepting,
    setAccepting(value) {
      accepting = value;
    },
    inOrder,
    apply,
    endNow,
    async open(create, patience = 1) {
      takeSlot();
      try {
        await waitForTurn();
        const call = await create();
        if ('conflict' in call) return call;
        o.observer.changed?.(call);
        try {
          return { call, entry: prepare(call, patience) };
        } catch (error) {
          const at = o.now().toISOString();
          await apply(call.id, {
            type: 'refused',
            at,
            code: 'at_capacity',
            message: 'No media thread was free.',
          });
          throw error;
        }
      } finally {
        opening--;
      }
    },
    streamAnswer,
    forget,
  };
}
