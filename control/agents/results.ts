// The result of an ended call: settled once, with its call.completed event, also when the program ended in between.
// Asking the model is extraction.ts; the bridge says when a transcript is final.

import { failpoint } from '../../failpoints.ts';
import type { Log } from '../../log.ts';
import type { CallCost, CallRecord } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';
import { openExtraction } from './extraction.ts';
import { noConversation } from './extraction-input.ts';

const MAX_AT_ONCE = 8;
/** A store that fails is asked again, less and less often; what still fails then (after some 3 min) waits for the next start. */
const MAX_STORE_PAUSE_MS = 30_000;
const MAX_STORE_TRIES = 12;

export interface Results {
  /**
   * Settles the result of a call that was completed so many milliseconds ago, in its own time. A repeat, and a call with
   * nothing to settle, changes nothing.
   */
  settle(callId: string, endedMsAgo?: number): void;
  /** Notes what a call cost that ended without anything to settle; all of its usage is in. */
  settleCost(callId: string): void;
  /** Settles what is pending and not under way: what a process that is dead has left, once its calls are this one's. */
  takeUp(): void;
  /** Stops what is under way; what is not settled stays pending for the next start. */
  close(): Promise<void>;
}

type Verdict = Pick<CallRecord, 'result' | 'result_status' | 'result_error'>;

/** Judged calls and, where a model was asked, what it used. */
interface Judgement {
  verdict: Verdict;
  about: Record<string, unknown>;
  usage?: Record<string, number>;
}

const failed = (why: string): Verdict => ({ result: null, result_status: 'failed', result_error: why });

/** Thrown to leave a job when the program ends. */
const CLOSED = new Error('closed');

/**
 * Opens the settling of results, and takes up what an earlier run of the program left pending.
 * `deadlineMs`: from a call's end to its verdict; calls that were left pending get as long from now.
 * `retryBaseMs`: the first pause before something is tried again, by the model or the store; it doubles.
 */
export function openResults(o: {
  store: Pick<Store, 'findCall' | 'listTranscript' | 'pendingResults' | 'saveCall' | 'stored'>;
  log: Log;
  openai: { apiKey: string; baseUrl: string };
  model: string;
  deadlineMs?: number;
  retryBaseMs?: number;
  /** What a call cost, from its record as it then is; without it, nothing is said of cost. */
  costOf?: (call: CallRecord) => CallCost;
}): Results {
  const deadlineMs = o.deadlineMs ?? 60_000;
  const retryBaseMs = o.retryBaseMs ?? 500;
  const extract = openExtraction({
    openai: o.openai,
    model: o.model,
    retryBaseMs,
  });
  const closing = new AbortController();
  const jobs = new Map<string, Promise<void>>();
  const waiting: (() => void)[] = [];
  let atOnce = 0;

  /** A place among those who may ask the model, or false when `deadline` (performance.now()) or the end came first. */
  async function takePlace(deadline: number): Promise<boolean> {
    if (atOnce < MAX_AT_ONCE) {
      atOnce += 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const take = () => resolve(true);
    const leave = () => {
      const at = waiting.indexOf(take);
      if (at >= 0) waiting.splice(at, 1);
      resolve(false);
    };
    waiting.push(take);
    const timer = setTimeout(leave, Math.max(0, deadline - performance.now()));
    closing.signal.addEventListener('abort', leave, { once: true });
    const taken = await promise;
    clearTimeout(timer);
    closing.signal.removeEventListener('abort', leave);
    return taken;
  }

  function givePlace(): void {
    const next = waiting.shift();
    if (next === undefined) atOnce -= 1;
    else next();
  }

  async function pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    const stop = () => resolve();
    closing.signal.addEventListener('abort', stop, { once: true });
    await promise;
    clearTimeout(timer);
    closing.signal.removeEventListener('abort', stop);
  }

  /** A full disk or a busy file passes; a verdict that is not written would hold back call.completed until the next start. */
  async function stored<T>(verb: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      if (closing.signal.aborted) throw CLOSED;
      try {
        return await verb();
      } catch (error) {
        if (tries === MAX_STORE_TRIES) throw error;
        await pause(Math.min(MAX_STORE_PAUSE_MS, retryBaseMs * 2 ** (tries - 1)));
      }
    }
  }

  /** performance.now() by which the verdict must be there. */
  function deadlineOf(endedAtMs: number): number {
    // One that could not begin for long, as on a full disk, has a twelfth all the same.
    return Math.max(endedAtMs + deadlineMs, performance.now() + deadlineMs / 12);
  }

  async function judge(call: CallRecord, endedAtMs: number): Promise<Judgement> {
    if (Object.keys(call.returns).length === 0) {
      const verdict: Verdict = { result: null, result_status: 'completed', result_error: null };
      return { verdict, about: { why: 'nothing_asked' } };
    }
    const items = await stored(() => o.store.listTranscript(call.id));
    const nothing = noConversation(call, items);
    if (nothing !== null) return { verdict: failed(nothing), about: { why: 'no_conversation' } };
    const deadline = deadlineOf(endedAtMs);
    if (!(await takePlace(deadline))) {
      if (closing.signal.aborted) throw CLOSED;
      return {
        verdict: failed('The extraction model did not answer in time.'),
        about: { why: 'no_place' },
      };
    }
    try {
      const extraction = await extract({ call, items, deadline, signal: closing.signal });
      if (!extraction.ok && extraction.code === 'closed') throw CLOSED;
      const about = {
        attempts: extraction.attempts,
        input_tokens: extraction.inputTokens,
        output_tokens: extraction.outputTokens,
      };
      const usage = {
        attempts: extraction.attempts,
        input_tokens: extraction.inputTokens,
        cached_tokens: extraction.cachedTokens,
        output_tokens: extraction.outputTokens,
      };
      return extraction.ok
        ? {
            verdict: { result: extraction.result, result_status: 'completed', result_error: null },
            about: { why: 'extracted', ...about },
            usage,
          }
        : { verdict: failed(extraction.error), about: { why: extraction.code, ...about }, usage };
    } finally {
      givePlace();
    }
  }

  /** What a full disk keeps in memory of a call comes before what is made of it. */
  async function wholeInStore(callId: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const leave = () => resolve();
    closing.signal.addEventListener('abort', leave, { once: true });
    await Promise.race([o.store.stored(callId), promise]);
    closing.signal.removeEventListener('abort', leave);
    if (closing.signal.aborted) throw CLOSED;
  }

  async function settleOne(callId: string, endedAtMs: number, leftPending: boolean): Promise<void> {
    await wholeInStore(callId);
    const started = performance.now();
    const call = await stored(() => o.store.findCall(callId));
    if (call === null || call.status !== 'completed' || call.result_status !== 'pending') return;
    const { verdict, about, usage = null } = await judge(call, endedAtMs);
    failpoint('result_before_commit');
    // Read again: what the bridge counted meanwhile belongs to it.
    const latest = (await stored(() => o.store.findCall(callId))) ?? call;
    const judged = { ...latest, extraction_usage: usage };
    const change = {
      ...verdict,
      extraction_usage: usage,
      ...(o.costOf === undefined ? {} : { cost: o.costOf(judged) }),
    };
    const saved = await stored(() =>
      o.store.saveCall(callId, { from: ['completed'], change, events: ['call.completed'] }),
    );
    const fields = {
      call_id: callId,
      org_id: call.org_id,
      result_status: verdict.result_status,
      ...about,
      left_pending: leftPending,
      took_ms: Math.round(performance.now() - started),
    };
    if ('conflict' in saved) o.log.warn({ ...fields, conflict: saved.conflict }, 'result.not_settled');
    else o.log.info(fields, 'result.settled');
  }

  async function noteCost(callId: string): Promise<void> {
    await wholeInStore(callId);
    const call = await stored(() => o.store.findCall(callId));
    if (call === null || o.costOf === undefined || call.cost !== null || call.ended_at === null) return;
    const change = { cost: o.costOf(call) };
    await stored(() => o.store.saveCall(callId, { from: [call.status], change }));
  }

  function start(callId: string, work: () => Promise<void>): void {
    if (closing.signal.aborted || jobs.has(callId)) return;
    const job = work()
      .catch((error: unknown) => {
        if (error !== CLOSED) o.log.error({ call_id: callId, err: error }, 'result.failed');
      })
      .finally(() => jobs.delete(callId));
    jobs.set(callId, job);
  }

  let takenUp = takeUp();

  async function takeUp(): Promise<void> {
    try {
      for (const call of await stored(() => o.store.pendingResults())) {
        start(call.id, () => settleOne(call.id, performance.now(), true));
      }
    } catch (error) {
      if (error !== CLOSED) o.log.error({ err: error }, 'result.not_taken_up');
    }
  }

  return {
    settle(callId, endedMsAgo = 0) {
      const endedAtMs = performance.now() - endedMsAgo;
      start(callId, () => settleOne(callId, endedAtMs, false));
    },
    settleCost: (callId) => start(callId, () => noteCost(callId)),
    takeUp() {
      takenUp = Promise.all([takenUp, takeUp()]).then(() => {});
    },
    async close() {
      closing.abort();
      await takenUp;
      await Promise.all(jobs.values());
    },
  };
}
